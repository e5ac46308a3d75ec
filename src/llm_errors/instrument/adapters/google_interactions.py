"""Interactions of google-genai 2 and 3. Their resource class has its own retry loop: `create` may send several requests.

google-genai 1 has a Stainless client for interactions, which has its own row in `providers`.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions, results
from llm_errors.extract.answer import Answer
from llm_errors.extract.fields import field, parsed, text
from llm_errors.instrument import jobs
from llm_errors.instrument.adapters.speakeasy import follow
from llm_errors.instrument.adapters.unusual import poll, poll_async
from llm_errors.instrument.endpoints import split_address
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Kind, Target
from llm_errors.instrument.tap import tap_times
from llm_errors.safety import quietly

_STACK = "google.genai._gaos"


class GoogleInteractions(Adapter):
    """The adapter of `client.interactions.create`. No other method is a model call.

    `get` is patched to find background interactions that have failed.
    """

    def targets(self) -> Iterator[Target]:
        """The methods of the public resource class, the function that is called between two attempts, and close methods."""
        yield Target(f"{_STACK}.google_genai", "GeminiNextGenInteractions", "create", Kind.CALL)
        yield Target(f"{_STACK}.google_genai", "AsyncGeminiNextGenInteractions", "create", Kind.ASYNC_CALL)
        yield Target(f"{_STACK}.google_genai", "GeminiNextGenInteractions", "get", poll)
        yield Target(f"{_STACK}.google_genai", "AsyncGeminiNextGenInteractions", "get", poll_async)
        yield Target(f"{_STACK}.utils.retries", "", "_get_sleep_interval", Kind.RETRY)
        for prefix, kind in (("", Kind.CLOSE), ("Async", Kind.ASYNC_CLOSE)):
            yield Target(f"{_STACK}.utils.eventstreaming", f"{prefix}Stream", "close", kind)
            yield Target(f"{_STACK}.utils.response_helpers", f"_{prefix}APIResponseBase", "close", kind, optional=True)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes a call of `create`. The request body is in the keyword arguments, or in the argument `request`."""
        request = kwargs.get("request")
        body = kwargs if request is None else field(request, "body") or request
        model = field(body, "model", "agent")
        return self._info(instance, text(model, 256) or None, body)

    def _info(self, instance: Any, model: str | None, body: Any) -> CallInfo:
        client = field(instance, "_api_client")
        url = field(field(client, "_http_options"), "base_url")
        host, port = split_address(url) if isinstance(url, str) else (None, None)
        return self.info(
            provider="gcp.vertex_ai" if field(client, "vertexai") is True else "gcp.gemini",
            operation="generate_content",
            model=model,
            stream=field(body, "stream") is True,
            address=host,
            port=port,
            reader=results.INTERACTIONS,
            background=field(body, "background") is True,
        )

    def polled(self, instance: Any, result: Any) -> tuple[CallInfo, Answer] | None:
        """Describes a background interaction that failed. Any other interaction was reported by the call that created it."""
        raw = exceptions.loaded(field(result, "http_response"))
        if raw is not None:
            result = parsed(raw)
        if not text(field(result, "status")) or field(result, "background") is False:
            return None
        answer = results.INTERACTIONS.whole(result)
        return None if answer.suspicion is None else (self._info(instance, None, None), answer)

    def resumed(self, instance: Any, result: Any) -> CallInfo | None:
        """Describes the stream of a background interaction that the application resumes; None for any other result."""
        info = self._info(instance, None, None) if hasattr(result, "generator") else None
        return None if info is None else info._replace(stream=True, reader=jobs.Once(info.reader))

    def follow(self, call: Invocation, result: Any) -> None:
        """Read the events of a resumed stream."""
        follow(call, result)

    def returned(self, call: Invocation, result: Any) -> None:
        """Judge an interaction, or follow a stream.

        A raw response is judged now if its body is loaded; otherwise when the application parses it.
        """
        if not hasattr(result, "_parser"):
            _read(call, result)
        elif (body := exceptions.loaded(result.http_response)) is not None:
            call.judge_text(body)
        else:
            call.attach_finalizer(result, Answer)
            tap_times(call, result.http_response)
            result._parser = _listening(call, result._parser)

    def attempt_failed(self, call: Invocation, kwargs: dict[str, Any]) -> Evidence | None:
        """Evidence from the exception that the retry loop is handling, with the response if there was one."""
        raised = sys.exc_info()[1]
        return None if raised is None else exceptions.read(raised, self.row.dialect, call.info.provider, call.ambient)


def _listening(call: Invocation, parser: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wraps the parser of a raw response, to read the parsed result."""

    async def listen_async(response: Any) -> Any:
        try:
            result = await parser(response)
        except BaseException as exc:
            quietly("failed", None, call.failed, exc)
            raise
        quietly("answer", None, _read, call, result)
        return result

    def listen(response: Any) -> Any:
        try:
            result = parser(response)
        except BaseException as exc:
            quietly("failed", None, call.failed, exc)
            raise
        quietly("answer", None, _read, call, result)
        return result

    return listen_async if inspect.iscoroutinefunction(parser) else listen


def _read(call: Invocation, result: Any) -> None:
    if hasattr(result, "generator"):
        follow(call, result)
    else:
        call.judge(result)
