"""google-adk 2: the call limit of a run, and model calls that no adapter of an SDK observes.

ADK calls google-genai, litellm or anthropic. The adapters of these SDKs report the calls. This adapter adds what only ADK
knows: that `max_llm_calls` is reached (ADK then raises before it calls the model); calls of other models; and answers
that ADK itself finds empty.
"""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract.adk import LlmResponseReader, is_call_limit, model_of, provider_of
from llm_errors.extract.fields import field, text
from llm_errors.instrument.adapters.run_reports import Watched
from llm_errors.instrument.adapters.run_wrappers import async_steps
from llm_errors.instrument.protocol import Adapter, Function, Target
from llm_errors.instrument.wrappers import Edge
from llm_errors.safety import quietly

INVOKE_AGENT = "invoke_agent"
_RUN = "run_async"
_READER = LlmResponseReader()


class GoogleAdk(Adapter):
    """The adapter of ADK's flow and of its call limit."""

    def targets(self) -> Iterator[Target]:
        """The function that enforces the limit, the one that passes on every model's responses, and the run of an agent."""
        yield Target("google.adk.agents.invocation_context", "InvocationContext", "increment_llm_call_count", _limit)
        yield Target("google.adk.flows.llm_flows.base_llm_flow", "BaseLlmFlow", "_run_and_handle_error", _responses)
        yield Watched("google.adk.flows.llm_flows.base_llm_flow", "BaseLlmFlow", _RUN, async_steps)

    def refused(self, instance: Any, exc: BaseException) -> CallInfo | None:
        """Describes the run that has reached its call limit; None if the exception means something else."""
        if not is_call_limit(exc):
            return None
        agent = field(instance, "agent")
        return self.facts(INVOKE_AGENT, model_of(instance if agent is None else agent), False)

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """Describes the model call behind a stream of responses, or the run around it. A live session is not a model call."""
        if target.attribute == _RUN:
            return self.facts(INVOKE_AGENT, model_of(field(args[0], "agent")), False)
        context, request = args[0], args[1]
        config = field(context, "run_config")
        if field(config, "support_cfc"):
            return None
        model = text(field(request, "model"), 256) or model_of(field(context, "agent"))
        return self.facts("generate_content", model, text(field(config, "streaming_mode")) == "sse")

    def facts(self, operation: str, model: str, stream: bool) -> CallInfo:
        """Build the CallInfo of a framework call, for which ADK creates a span itself."""
        provider = provider_of(model)
        return self.info(
            operation=operation, model=model, stream=stream, provider=provider, reader=_READER, native_span=True
        )


def _limit(edge: Edge, original: Function) -> Function:
    """The wrapper of the function in which ADK raises if a run has reached its call limit."""

    def refused(args: tuple[Any, ...], exc: BaseException) -> None:
        adapter = edge.adapter
        info = adapter.refused(args[0], exc) if isinstance(adapter, GoogleAdk) else None
        call = edge.late(info, perf_counter()) if info is not None else None
        if call is not None:
            call.failed(exc)
            call.leave()

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except Exception as exc:
            quietly("refused", None, refused, args, exc)
            raise

    return wrapper


def _responses(edge: Edge, original: Function) -> Function:
    """The wrapper of an async generator function that receives the stream of the model's responses as its first argument."""

    def watched(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        instance, feed, *more = args
        outer = edge.outer((instance, *more), kwargs)
        return args if outer is None else (instance, outer.watch(feed), *more)

    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        responses = original(*quietly("begin", args, watched, args, kwargs), **kwargs)
        try:
            async for response in responses:
                yield response
        finally:
            await responses.aclose()

    return wrapper
