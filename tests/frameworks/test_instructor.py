"""instructor: what is counted of calls that it validates and retries."""

from typing import Any

import pytest

from tests.frameworks.wire import (
    ANSWER,
    BUSY,
    DOWN,
    MODEL,
    NO_RETRIES,
    counts,
    expected,
    tool_call,
)

instructor = pytest.importorskip("instructor")
openai = pytest.importorskip("openai")

from pydantic import BaseModel  # noqa: E402

from llm_errors import classify  # noqa: E402
from llm_errors.testing import replies  # noqa: E402


class Total(BaseModel):
    total: int


RIGHT, WRONG = tool_call("Total", total=3), tool_call("Total", total="many")


def ask(url: str, **options: Any) -> Any:
    """What instructor returned or raised."""
    client = instructor.from_openai(openai.OpenAI(base_url=f"{url}/v1", **NO_RETRIES))
    messages = [{"role": "user", "content": "hi"}]
    try:
        return client.chat.completions.create(model=MODEL, messages=messages, response_model=Total, **options)
    except Exception as raised:
        return raised


async def ask_async(url: str, **options: Any) -> Any:
    """The same, async."""
    client = instructor.from_openai(openai.AsyncOpenAI(base_url=f"{url}/v1", **NO_RETRIES))
    messages = [{"role": "user", "content": "hi"}]
    try:
        return await client.chat.completions.create(model=MODEL, messages=messages, response_model=Total, **options)
    except Exception as raised:
        return raised


async def done(outcome: Any) -> Any:
    """An outcome, of a coroutine or not."""
    return await outcome if hasattr(outcome, "__await__") else outcome


each_way = pytest.mark.parametrize("go", [ask, ask_async])


@each_way
async def test_a_valid_answer_is_one_call(observed, provider, go):
    assert (await done(go(provider([RIGHT]).url))).total == 3
    assert counts(observed) == expected(ok=1)


@each_way
async def test_an_answer_that_never_fits_is_one_error_of_the_last_call(observed, provider, go):
    raised = await done(go(provider([WRONG]).url, max_retries=2))
    assert type(raised).__name__ == "InstructorRetryException"
    calls = observed.outcomes()["ok"]
    assert calls >= 2
    assert counts(observed) == expected(ok=calls, TOOL_PROTOCOL__schema_mismatch=1)
    assert observed.counts("llm_errors_total", "gen_ai.operation.name") == {"chat": 1}


@each_way
async def test_an_answer_that_fits_after_a_retry_is_no_error(observed, provider, go):
    assert (await done(go(provider([WRONG, RIGHT]).url, max_retries=2))).total == 3
    assert counts(observed) == expected(ok=2)


@each_way
async def test_what_the_sdk_raises_is_counted_once(observed, provider, go):
    raised = await done(go(provider([BUSY]).url, max_retries=0))
    assert type(raised).__name__ == "InstructorRetryException"
    assert counts(observed) == expected(failed=1, RATE_LIMITED__requests=1)


def test_a_cut_answer_is_truncated_and_no_mismatch(observed, provider):
    cut = replies.openai_answer(None, "length", tool_calls=[replies.openai_call("Total", '{"total": ')])
    ask(provider([cut]).url, max_retries=0)
    assert counts(observed) == expected(failed=1, TRUNCATED__max_tokens=1)


def test_an_answer_without_the_tool_is_one_error(observed, provider):
    ask(provider([ANSWER]).url, max_retries=0)
    assert counts(observed) == expected(ok=1, TOOL_PROTOCOL__schema_mismatch=1)


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (WRONG, ("TOOL_PROTOCOL", "schema_mismatch")),
        (BUSY, ("RATE_LIMITED", "requests")),
        (DOWN, ("SERVER", "overloaded")),
    ],
)
def test_the_exception_has_the_class_of_its_last_attempt(provider, reply, verdict):
    found = classify(ask(provider([reply]).url, max_retries=0))
    assert found is not None
    assert (found.error_class.value, found.reason) == verdict
