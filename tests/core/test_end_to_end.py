import pytest

openai = pytest.importorskip("openai")

from llm_errors.testing.provider import Reply  # noqa: E402

HELLO = {
    "id": "c1",
    "object": "chat.completion",
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}],
}


def test_a_healthy_call_is_counted_ok(observed, provider):
    client = openai.OpenAI(base_url=provider([Reply(json=HELLO)]).url + "/v1", api_key="k", max_retries=0)
    client.chat.completions.create(model="m", messages=[])
    assert observed.outcomes() == {"ok": 1}
    assert observed.errors() == {}
    assert observed.span().name == "chat m"
    client.close()


def test_spent_quota(observed, provider):
    client = openai.OpenAI(
        base_url=provider([Reply(429, json={"error": {"code": "insufficient_quota"}})]).url + "/v1",
        api_key="k",
        max_retries=2,
    )
    with pytest.raises(openai.RateLimitError):
        client.chat.completions.create(model="m", messages=[])
    assert observed.errors() == {"CALL_BUDGET": 1}
    assert observed.retries() == {"CALL_BUDGET": 2}
    (log,) = observed.logs()
    assert log.attributes["llm.error.class"] == "CALL_BUDGET"
    client.close()
