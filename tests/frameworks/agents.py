"""Agents of frameworks over a scripted provider of openai's API; a framework that is not installed skips the test."""

from typing import Any

import pytest

from llm_errors.testing import replies
from llm_errors.testing.provider import Reply
from tests.frameworks.wire import MODEL


def counted(reply: Reply) -> Reply:
    """The same with the tokens that some frameworks insist on."""
    return Reply(json={**reply.json, "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}})


def ping() -> str:
    """Answer."""
    return "pong"


async def done(outcome: Any) -> Any:
    """An outcome, of a coroutine or not."""
    return await outcome if hasattr(outcome, "__await__") else outcome


def smolagent(url: str, steps: int) -> Any:
    smolagents = pytest.importorskip("smolagents")
    model = smolagents.OpenAIModel(
        MODEL, api_base=f"{url}/v1", api_key="k", client_kwargs={"max_retries": 0}, retry=False
    )
    return smolagents.ToolCallingAgent(tools=[smolagents.tool(ping)], model=model, max_steps=steps, verbosity_level=0)


def haystack_agent(url: str, steps: int) -> Any:
    pytest.importorskip("haystack")
    from haystack.components.agents import Agent
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.tools import Tool
    from haystack.utils import Secret

    model = OpenAIChatGenerator(model=MODEL, api_base_url=f"{url}/v1", api_key=Secret.from_token("k"), max_retries=0)
    tool = Tool("ping", "Answer.", {"type": "object", "properties": {}}, ping)
    return Agent(chat_generator=model, tools=[tool], max_agent_steps=steps)


def of_haystack(agent: Any) -> Any:
    from haystack.dataclasses import ChatMessage

    return agent.run(messages=[ChatMessage.from_user("hi")])


def of_haystack_async(agent: Any) -> Any:
    from haystack.dataclasses import ChatMessage

    return agent.run_async(messages=[ChatMessage.from_user("hi")])


def agno_agent(url: str, **options: Any) -> Any:
    pytest.importorskip("agno")
    from agno.agent import Agent
    from agno.models.openai import OpenAIChat

    model = OpenAIChat(id=MODEL, base_url=f"{url}/v1", api_key="k", max_retries=0)
    return Agent(model=model, tools=[ping], telemetry=False, **options)


def team(url: str, **options: Any) -> Any:
    pytest.importorskip("autogen_agentchat")
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.teams import RoundRobinGroupChat
    from autogen_ext.models.openai import OpenAIChatCompletionClient

    info = {
        "vision": False,
        "function_calling": True,
        "json_output": True,
        "family": "unknown",
        "structured_output": True,
    }
    model = OpenAIChatCompletionClient(
        model=MODEL, base_url=f"{url}/v1", api_key="k", max_retries=0, timeout=120.0, model_info=info
    )
    return RoundRobinGroupChat([AssistantAgent("helper", model_client=model)], **options)


async def kernel_answer(url: str, attempts: int) -> Any:
    pytest.importorskip("semantic_kernel")
    from openai import AsyncOpenAI
    from semantic_kernel import Kernel
    from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
    from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion, OpenAIChatPromptExecutionSettings
    from semantic_kernel.contents import ChatHistory
    from semantic_kernel.functions import kernel_function

    class Tools:
        @kernel_function(name="ping")
        def ping(self) -> str:
            """Answer."""
            return "pong"

    kernel = Kernel()
    kernel.add_plugin(Tools(), "tools")
    service = OpenAIChatCompletion(MODEL, async_client=AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0))
    behaviour = FunctionChoiceBehavior.Auto()
    behaviour.maximum_auto_invoke_attempts = attempts
    settings = OpenAIChatPromptExecutionSettings(function_choice_behavior=behaviour)
    history = ChatHistory()
    history.add_user_message("hi")
    return await service.get_chat_message_contents(history, settings, kernel=kernel)


def crew(url: str, limit: int) -> Any:
    crewai = pytest.importorskip("crewai")
    from crewai.tools import tool

    model = crewai.LLM(model=f"openai/{MODEL}", base_url=f"{url}/v1", api_key="k", max_retries=0)
    limits = {"max_iter": limit, "max_retry_limit": 0}
    helper = crewai.Agent(role="r", goal="g", backstory="b", llm=model, tools=[tool("ping")(ping)], **limits)
    task = crewai.Task(description="hi", expected_output="a word", agent=helper)
    return crewai.Crew(agents=[helper], tasks=[task], verbose=False)


def strand(url: str) -> Any:
    strands = pytest.importorskip("strands")
    from strands.models.openai import OpenAIModel

    model = OpenAIModel(client_args={"base_url": f"{url}/v1", "api_key": "k", "max_retries": 0}, model_id=MODEL)
    return strands.Agent(model=model, tools=[strands.tool(ping)], callback_handler=None)


def llama(url: str, **options: Any) -> Any:
    module = pytest.importorskip("llama_index.llms.openai")
    return module.OpenAI(model="gpt-4o-mini", api_base=f"{url}/v1", api_key="k", max_retries=0, timeout=120, **options)


def llama_agent(url: str, kind: str = "FunctionAgent", **options: Any) -> Any:
    pytest.importorskip("llama_index.llms.openai")
    from llama_index.core.agent import workflow

    return getattr(workflow, kind)(tools=[ping], llm=llama(url), streaming=False, **options)


def alone(url: str, **options: Any) -> Any:
    return llama_agent(url, **options)


def in_a_workflow(url: str, **options: Any) -> Any:
    one = llama_agent(url)
    from llama_index.core.agent.workflow import AgentWorkflow

    return AgentWorkflow([one], **options)


def dspy_model(url: str, engine: str = "litellm") -> Any:
    """A model of dspy over litellm, or over dspy's own HTTP client."""
    dspy = pytest.importorskip("dspy")
    return dspy.LM(f"openai/{MODEL}", api_base=f"{url}/v1", api_key="k", num_retries=0, cache=False, engine=engine)


def dspy_step(tool: str = "ping") -> Reply:
    """A thought of dspy's `ReAct` that calls a tool, and an answer for the call after the last thought."""
    said = f"[[ ## next_thought ## ]]\nx\n[[ ## next_tool_name ## ]]\n{tool}\n[[ ## next_tool_args ## ]]\n{{}}\n"
    said += "[[ ## reasoning ## ]]\nx\n[[ ## answer ## ]]\ny\n[[ ## completed ## ]]"
    return replies.openai_answer(said)
