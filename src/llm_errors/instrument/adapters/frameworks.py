"""Agent frameworks: what only they know. Their limits, and answers of a model that they cannot use.

The model calls themselves are reported by the adapters of the SDKs below. Each row says which function of a framework runs
model calls or shows a limit, and the exceptions that count.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from llm_errors import providers
from llm_errors.call import CallInfo
from llm_errors.evidence import Evidence
from llm_errors.extract import causes
from llm_errors.extract.answer import Answer, Chunks
from llm_errors.extract.fields import field, text
from llm_errors.instrument.adapters.run_wrappers import (
    Watched,
    async_run,
    async_steps,
    check,
    constructed,
)
from llm_errors.instrument.invocation import Invocation
from llm_errors.instrument.protocol import Adapter, Function, Target
from llm_errors.instrument.wrappers import Edge

INVOKE_AGENT: Final = "invoke_agent"
_OTHER: Final = "other"

Wrap = Callable[[Edge, Function], Function]


class _NoReader:
    """A framework's run is judged by its exceptions; its result is not read."""

    def whole(self, result: Any) -> Answer:
        """Nothing is wrong with it."""
        return Answer()

    def chunks(self) -> Chunks:
        """A run has no chunks."""
        raise NotImplementedError


def _row(where: str, wrap: Wrap, limits: str = "", verdicts: str = "", **more: Any) -> Watched:
    """A row. `where` is `module:Class.function` or `module:function`."""
    module, _, path = where.partition(":")
    owner, _, attribute = path.rpartition(".")
    return Watched(
        module, owner, attribute, wrap, limits=tuple(limits.split()), verdicts=tuple(verdicts.split()), **more
    )


_AGENTS_LIMITS = (
    "MaxTurnsExceeded InputGuardrailTripwireTriggered OutputGuardrailTripwireTriggered"
    " ToolInputGuardrailTripwireTriggered ToolOutputGuardrailTripwireTriggered"
)

TABLE: Final[dict[str, tuple[Watched, ...]]] = {
    "openai-agents": (
        _row("agents.run:AgentRunner.run", async_run, _AGENTS_LIMITS, "ModelBehaviorError"),
        _row("agents.agent_output:AgentOutputSchema.validate_json", check, "", "ModelBehaviorError"),
        _row("agents.run:start_streaming", async_run, _AGENTS_LIMITS, "ModelBehaviorError"),
        _row("agents.run_internal.run_loop:get_response_with_retry", async_run),
        _row("agents.run_internal.run_loop:stream_response_with_retry", async_steps),
        # It is created in every run that reaches the limit, also if an error handler of the application replaces it.
        _row("agents.exceptions:MaxTurnsExceeded.__init__", constructed, "MaxTurnsExceeded", elsewhere=("agents.result",)),
    ),
}  # fmt: skip


_SAID: Final = ((" not found in agent ", "unknown_tool"),)
"""Words of openai-agents' exception for a tool that does not exist; its class is the same as for an answer off the schema."""


class Framework(Adapter):
    """The adapter of every framework in the table."""

    def targets(self) -> Iterator[Target]:
        """The rows of the framework."""
        yield from TABLE[self.row.name]

    def describe(self, target: Target, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallInfo | None:
        """The run. Its model is that of the agent, which is the object of the method or its first argument."""
        model = next(
            (m for agent in (instance, *args[:1], kwargs.get("starting_agent")) if (m := _model_of(agent))), ""
        )
        return self.info(operation=INVOKE_AGENT, model=model, provider=_provider_of(model), reader=_NoReader())

    def failure(self, call: Invocation, exc: BaseException) -> Evidence | None:
        """The class alone decides. The text of a framework's exception may repeat what a user or a model wrote."""
        said = str(exc)[:400]
        facts = frozenset(fact for words, fact in _SAID if words in said)
        return Evidence(provider=call.info.provider, exceptions=(causes.names(exc),), facts=facts)


def _model_of(agent: Any) -> str:
    """The name of an agent's model: the attribute `model`, or a name that this has."""
    model = field(agent, "model")
    return text(model, 256) if isinstance(model, str) else text(field(model, "model", "model_name", "model_id"), 256)


def _provider_of(model: str) -> str:
    """The provider of a model, from the model's name or from a prefix such as `openai:` or `openai/`."""
    prefix = model.replace("/", ":").partition(":")[0]
    found = providers.provider_of_model(model) or providers.provider(prefix)
    return _OTHER if found is None else found.name
