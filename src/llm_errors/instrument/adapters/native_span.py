"""anthropic 2 creates its own span around a call. These wrappers write the error class on it before the SDK ends the span."""

from typing import Any

from llm_errors.instrument.finalizers import finalizer_of
from llm_errors.instrument.protocol import Function
from llm_errors.instrument.wrappers import Edge, before


def before_span_ends(edge: Edge, original: Function) -> Function:
    """The wrapper of `finish_api_call_span(client, span, result)`.

    The answer is parsed at this point. If the body is not read yet, the span stays open. A failure was reported before, by
    the wrapper of the call.
    """

    def judge(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        result = kwargs["result"] if "result" in kwargs else args[2]
        client = kwargs["client"] if "client" in kwargs else args[0]
        call = edge.active((client,))
        if call is not None and call.instance is client and getattr(result, "error", None) is None:
            call.returned(result.data)

    return before(original, "span end", judge)


def before_body_ends(edge: Edge, original: Function) -> Function:
    """The wrapper of `FirstEnd.end(how, error)`, which receives how the reading of a body ended."""

    def end(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        finalizer = finalizer_of(args[0])
        how = kwargs["how"] if "how" in kwargs else args[1]
        error = kwargs.get("error", args[2] if len(args) > 2 else None)
        if finalizer is not None and edge.patcher.active:
            finalizer.body_ended(how, error)

    return before(original, "close", end)
