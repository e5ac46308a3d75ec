"""The base of adapters for SDKs with one method per API. A subclass has a table of methods, and finds model and address."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import causes, exceptions
from llm_errors.extract.answer import Answer, Reader
from llm_errors.extract.fields import field, number, parsed, text
from llm_errors.instrument.adapters.received import Received
from llm_errors.instrument.endpoints import address_of
from llm_errors.instrument.invocation import NOTHING, Invocation
from llm_errors.instrument.protocol import Adapter, Kind, Target, Wrap
from llm_errors.providers import provider_of_host


class Method(NamedTuple):
    """A method that is a model call: where it is defined, how it behaves, its operation, and the reader of its answer."""

    module: str
    owner: str
    name: str
    kind: Kind | Wrap
    operation: str
    reader: Reader
    streams: bool | None = None
    """Whether the method always (True) or never (False) returns a stream. None: its argument `stream` decides."""
    model_position: int | None = None
    """The index of the model among the arguments after the object. None if the model is never positional."""


_UNREADABLE = (
    *("json.JSONDecodeError", "pydantic_core.ValidationError", "pydantic.ValidationError", "builtins.AttributeError"),
    *("builtins.KeyError", "builtins.TypeError"),
)
"""The exceptions that SDKs raise for a body that is not an answer."""


class Methods(Adapter):
    """The base of these adapters."""

    methods: tuple[Method, ...] = ()
    others: tuple[Target, ...] = ()
    """Other functions to patch: attempts, retries, and the steps and ends of streams."""

    def targets(self) -> Iterable[Target]:
        """The rows of `methods` and `others`."""
        return (*(Target(m.module, m.owner, m.name, m.kind) for m in self.methods), *self.others)

    @cached_property
    def _by_target(self) -> dict[tuple[str, str, str], Method]:
        return {(m.module, m.owner, m.name): m for m in self.methods}

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes the model call. Operation and reader are in the table; the subclass finds the model and the address."""
        method = self._by_target[target.module, target.owner, target.attribute]
        host, port = address_of(self.url(instance, kwargs))
        return self.info(
            operation=method.operation,
            model=text(self.model(instance, args, kwargs) or _positional(args, method.model_position), 256),
            stream=kwargs.get("stream") is True if method.streams is None else method.streams,
            provider=provider_of_host(host, port),
            address=host,
            port=port,
            reader=method.reader,
        )

    def model(self, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The requested model. By default, the argument `model`."""
        return kwargs.get("model")

    def url(self, instance: Any, kwargs: dict[str, Any]) -> Any:
        """The address that the client calls: a string, or an object with host and port. By default, none is known."""
        return None

    def is_of(self, call: Invocation, target: Target, instance: Any) -> bool:
        """Always true: a method of an inner object that runs inside the call belongs to the call."""
        return True

    def attempt_returned(self, call: Invocation, result: Any) -> Evidence | None:
        """Keep a response until the SDK has created its object. If the status is an error, the SDK may retry."""
        call.parsed = Received(result)
        status = number(field(result, "status_code", "status"))
        failed = status is not None and status >= _FAILED
        return exceptions.of_response(result, self.row.dialect, call.info.provider) if failed else None

    def failure(self, call: Invocation, exc: BaseException) -> Evidence | None:
        """The evidence that `read_failure` finds, marked as raised. None to use `extract.exceptions`."""
        kept, call.parsed = call.parsed, NOTHING
        response = kept.response if type(kept) is Received else None
        found = self.read_failure(call, exc, causes.names(exc), response)
        return None if found is None else replace(found, channel="thrown", provider=call.info.provider)

    def read_failure(
        self, call: Invocation, exc: BaseException, names: tuple[str, ...], response: Any
    ) -> Evidence | None:
        """Evidence from the exception, its class names, and the last response. By default, only from an unreadable body."""
        if response is None or not any(name in names for name in _UNREADABLE):
            return None
        body = exceptions.loaded(response)
        if (number(field(response, "status_code", "status")) or 0) >= _FAILED:
            found = exceptions.of_response(response, self.row.dialect, call.info.provider)
        else:
            answer: Answer = call.info.reader.whole(parsed(body or b""))
            if answer.suspicion is None:
                return None
            found = answer.suspicion
        return replace(found, exceptions=(names,))


def _positional(args: tuple[Any, ...], position: int | None) -> Any:
    return args[position] if position is not None and len(args) > position else None


_FAILED = 400
"""The lowest HTTP status of an error."""


def both(module: str, owner: str, name: str, operation: str, reader: Reader, **more: Any) -> Iterator[Method]:
    """The rows for a method of a client class and of its async twin: a class in the same module with the prefix `Async`."""
    yield Method(module, owner, name, Kind.CALL, operation, reader, **more)
    yield Method(module, f"Async{owner}", name, Kind.ASYNC_CALL, operation, reader, **more)
