"""A real ADK agent and runner over a model that plays a script."""

import warnings
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("google.adk.apps")
    from google.adk.agents import LlmAgent
    from google.adk.agents.run_config import RunConfig, StreamingMode
    from google.adk.apps import App
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_response import LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types


class ScriptedModel(BaseLlm):
    """Every call gets the next entry: responses to yield, an exception to raise among them."""

    script: list[Any] = []
    calls: int = 0

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> AsyncGenerator[Any, None]:
        entry = self.script[min(self.calls, len(self.script) - 1)]
        self.calls += 1
        for step in entry if isinstance(entry, list) else [entry]:
            if callable(step):
                yield await step()
            elif isinstance(step, BaseException):
                raise step
            else:
                yield step


@dataclass
class Outcome:
    """What a run came to."""

    events: list[Any] = field(default_factory=list)
    raised: BaseException | None = None
    state: dict[str, Any] = field(default_factory=dict)
    model: Any = None

    @property
    def texts(self) -> list[str]:
        """The texts the user saw."""
        parts = [p for e in self.events if e.content for p in e.content.parts or []]
        return [p.text for p in parts if p.text]


def ping() -> dict[str, bool]:
    """Answer that we are here."""
    return {"ok": True}


async def run(*script: Any, plugins: Any = (), limit: int = 0, stream: bool = False, model: Any = None) -> Outcome:
    """One turn of one user. The state is read back from the session service, so it is what was stored."""
    scripted = model or ScriptedModel(model="gemini-scripted", script=list(script))
    outcome = Outcome(model=scripted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent = LlmAgent(name="helper", model=scripted, tools=[ping])
        runner = InMemoryRunner(app=App(name="shop", root_agent=agent, plugins=list(plugins)))
        session = await runner.session_service.create_session(app_name="shop", user_id="u")
        options: dict[str, Any] = {"max_llm_calls": limit} if limit else {}
        if stream:
            options["streaming_mode"] = StreamingMode.SSE
        message = types.Content(role="user", parts=[types.Part(text="hi")])
        try:
            async for event in runner.run_async(
                user_id="u", session_id=session.id, new_message=message, run_config=RunConfig(**options)
            ):
                outcome.events.append(event)
        except Exception as error:
            outcome.raised = error
        stored = await runner.session_service.get_session(app_name="shop", user_id="u", session_id=session.id)
        outcome.state = dict(stored.state)
        await runner.close()
    return outcome


def said(text: str = "hello", **more: Any) -> Any:
    """A response with text."""
    finish = more.pop("finish", "STOP")
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LlmResponse(content=content, finish_reason=finish, **more)


def nothing(finish: str | None = "STOP", **more: Any) -> Any:
    """A response without content."""
    return LlmResponse(content=types.Content(role="model", parts=[]), finish_reason=finish, **more)


def tool_call() -> Any:
    """A response that calls the tool."""
    call = types.Part(function_call=types.FunctionCall(name="ping", args={}))
    return LlmResponse(content=types.Content(role="model", parts=[call]), finish_reason="STOP")
