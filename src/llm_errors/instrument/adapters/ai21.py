"""ai21: chat completions. Its HTTP client wraps `_run_request` to retry it when the client is created."""

from dataclasses import replace
from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions, results
from llm_errors.extract.answer import embedded_error
from llm_errors.extract.error_shapes import told_error
from llm_errors.extract.fields import field, is_object, items
from llm_errors.instrument.adapters.methods import Method, Methods
from llm_errors.instrument.adapters.stainless_tap import follow, is_stream
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Kind, Target

_CHAT, _HTTP = "ai21.clients.studio.resources.chat", "ai21.http_client"


class Ai21(Methods):
    """The adapter of ai21's clients, including those for Azure, Bedrock and Vertex."""

    methods = (
        Method(
            f"{_CHAT}.chat_completions", "ChatCompletions", "create", Kind.CALL, "chat", results.CHAT, model_position=1
        ),
        Method(
            f"{_CHAT}.async_chat_completions",
            "AsyncChatCompletions",
            "create",
            Kind.ASYNC_CALL,
            "chat",
            results.CHAT,
            model_position=1,
        ),
    )
    others = (
        Target(f"{_HTTP}.http_client", "AI21HTTPClient", "_run_request", Kind.ATTEMPT),
        Target(f"{_HTTP}.async_http_client", "AsyncAI21HTTPClient", "_run_request", Kind.ASYNC_ATTEMPT),
        Target("ai21.stream.stream", "Stream", "close", Kind.CLOSE),
        Target("ai21.stream.async_stream", "AsyncStream", "close", Kind.ASYNC_CLOSE),
    )

    def url(self, instance: Any, kwargs: dict[str, Any]) -> Any:
        """The base URL of the HTTP client."""
        return field(field(instance, "_client"), "_base_url")

    def returned(self, call: Invocation, result: Any) -> None:
        """Judge an answer, or follow a stream."""
        if is_stream(result):
            follow(call, result)
        else:
            call.judge(result)

    def read_failure(
        self, call: Invocation, exc: BaseException, names: tuple[str, ...], response: Any
    ) -> Evidence | None:
        """Evidence from the SDK's error and from the headers, which it lacks, or from an error that arrived as a chunk."""
        if "ai21.AI21APIError" in names and response is not None:
            found = exceptions.read(exc, self.row.dialect, call.info.provider, call.ambient)
            whole = exceptions.of_response(response, self.row.dialect, call.info.provider)
            return replace(found, retry_after=whole.retry_after)
        if call.info.stream and "pydantic_core.ValidationError" in names:
            error = _error_object(exc)
            if error is not None:
                return replace(embedded_error(self.row.dialect, error), exceptions=(names,))
        return super().read_failure(call, exc, names, response)


def _error_object(exc: Any) -> Any:
    """The error object that arrived as a chunk, from the input of the failed validation."""
    given = (field(entry, "input") for entry in items(exc.errors())[:4])
    return next((error for one in given if is_object(one) and (error := told_error(one)) is not None), None)
