"""The block of the recovery page for litellm: its logger is told the class of every failed attempt."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from llm_errors.testing.provider import Reply

from .litellm_provider import ANTHROPIC, OPENAI, error, given, litellm

PAGE = (Path(__file__).parents[2] / "src/llm_errors/docs/recovery.md").read_text()


@pytest.fixture
def notified():
    """What the block of the page tells an application."""
    told: list[str] = []
    code = re.search(r"## With litellm\n.*?```python\n(.*?)```", PAGE, re.DOTALL)
    assert code is not None
    exec(code[1], {"notify": told.append})
    yield told
    litellm.logging_callback_manager._reset_all_callbacks()


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
def test_a_failure_that_no_retry_helps_is_told_with_the_class_of_the_provider(provider, notified, model, asynchronous):
    arguments = given(model, provider([error(model, 401, "authentication_error")]).url)
    with pytest.raises(litellm.AuthenticationError):
        asyncio.run(_call(**arguments)) if asynchronous else litellm.completion(**arguments)
    assert notified == ["m: AUTH invalid_key"]


async def _call(**arguments: Any) -> Any:
    return await litellm.acompletion(**arguments)


def test_a_failure_that_a_retry_helps_is_not_told(provider, notified):
    with pytest.raises(litellm.InternalServerError):
        litellm.completion(**given(ANTHROPIC, provider([Reply(status=529)]).url))
    assert notified == []
