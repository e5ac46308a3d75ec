"""What happens inside one call of litellm: nested SDK calls, and the HTTP requests that litellm sends itself."""

from collections.abc import Callable
from functools import partial
from typing import Any

from llm_errors import providers
from llm_errors.call import CallInfo, CallRecorder
from llm_errors.extract import exceptions
from llm_errors.extract.fields import text
from llm_errors.extract.native_finish import NativeFinish
from llm_errors.instrument.adapters.litellm_apis import vendor_of
from llm_errors.instrument.nested import NESTED, NestedCalls
from llm_errors.instrument.protocol import Function
from llm_errors.instrument.tap import tap_body
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly


class Requests(NestedCalls):
    """The SDK calls and HTTP requests inside one call of litellm."""

    __slots__ = ("_marking", "_record", "entered", "native", "response", "twin", "url")

    def __init__(self, twin: str, record: Any) -> None:
        super().__init__()
        self.twin, self._record = twin, record
        """`twin` is the synchronous function that an async function calls to prepare its request. It is not a separate call."""
        self.entered = False
        self.url = ""
        self.response: Any = None
        self.native: NativeFinish | None = None
        self._marking: Callable[[bool], None] | None = None

    def replaces(self, recorder: CallRecorder) -> None:
        """This call replaces a failed attempt. When it has succeeded, the span that is current now is marked as recovered."""
        span = recorder.enclosing_span()
        if span is not None:
            self._marking = partial(recorder.recovered, span)

    def handled(self, streams: bool) -> None:
        """An SDK has returned. A whole answer is complete now, but a stream is not."""
        if not streams and not self.failed:
            self._mark()

    def ended(self, failed: bool) -> None:
        """A nested call has ended. If its answer is a stream, the last chunk has been read."""
        super().ended(failed)
        if not failed:
            self._mark()

    def _mark(self) -> None:
        marking, self._marking = self._marking, None
        if marking is not None:
            marking(True)

    def enters(self, name: str) -> bool:
        """Whether the function that begins is the twin of this call, which runs once. Later, it is a separate call."""
        enters = name == self.twin and not self.entered
        self.entered = self.entered or enters
        return enters

    def named(self, info: CallInfo) -> CallInfo:
        """The CallInfo of a nested SDK call. If its host is unknown, litellm's name of the provider is used."""
        vendor = "" if providers.provider_of_host(info.address, info.port) else vendor_of(self._record)
        known = providers.provider(vendor)
        provider = known.name if known is not None else vendor
        return super().named(info)._replace(provider=provider or info.provider, around="litellm")

    def sent(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """litellm sends a request with its HTTP handler."""
        self.url = text(kwargs["url"] if "url" in kwargs else args[1])

    def answered(self, response: Any) -> None:
        """The response has arrived. A stream is observed while it is read."""
        self.response = response
        self.native = None
        if exceptions.loaded(response) is None:
            self.native = NativeFinish()
            tap_body(response, self.native)


def request(edge: Edge, original: Function) -> Function:
    """The wrapper of the method with which litellm sends a request itself."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        requests = NESTED.get()
        if not isinstance(requests, Requests):
            return original(*args, **kwargs)
        quietly("attempt", None, requests.sent, args, kwargs)
        response = original(*args, **kwargs)
        quietly("attempt", None, requests.answered, response)
        return response

    return wrapper


def request_async(edge: Edge, original: Function) -> Function:
    """The same for the coroutine function."""

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        requests = NESTED.get()
        if not isinstance(requests, Requests):
            return await original(*args, **kwargs)
        quietly("attempt", None, requests.sent, args, kwargs)
        response = await original(*args, **kwargs)
        quietly("attempt", None, requests.answered, response)
        return response

    return wrapper
