"""Attempts that the SDK hides are counted with their class, and none is added.

Handed cases: ins-hidden-sdk-retries, ins-retry-after-garbage.
"""

import pytest

from tests.promises.wire import APIS, CHAT, MESSAGES, call, failure, half, stream, streamed, whole

RATE = {"retry_after_ms": "1"}


@pytest.mark.parametrize("api", APIS)
def test_two_hidden_attempts_then_success(api, provider, connect, observed):
    server = provider([failure(api, 429, **RATE), failure(api, 429, **RATE), whole(api)])
    call(api, connect(api, server.url, retries=2))
    assert len(server.requests) == 3
    assert observed.outcomes() == {"ok": 1}
    assert observed.retries() == {"RATE_LIMITED": 2}
    assert observed.errors() == {}
    assert observed.span().attributes["llm.retry.count"] == 2


@pytest.mark.parametrize("api", APIS)
def test_three_failures_are_one_failed_call(api, provider, connect, observed):
    server = provider([failure(api, 500, **RATE)])
    with pytest.raises(Exception, match="no"):
        call(api, connect(api, server.url, retries=2))
    assert len(server.requests) == 3
    assert observed.outcomes() == {"error": 1}
    assert observed.errors() == {"SERVER": 1}
    assert observed.retries() == {"SERVER": 2}
    assert observed.span().attributes["llm.retry.count"] == 2


@pytest.mark.parametrize("api", APIS)
async def test_hidden_attempts_of_an_async_client(api, provider, aconnect, observed):
    server = provider([failure(api, 429, **RATE), failure(api, 500, **RATE), whole(api)])
    await call(api, half(api, aconnect(api, server.url, True, retries=2)))
    assert len(server.requests) == 3
    assert observed.retries() == {"RATE_LIMITED": 1, "SERVER": 1}
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("api", APIS)
def test_hidden_attempts_before_a_stream(api, provider, connect, observed):
    server = provider([failure(api, 429, **RATE), streamed(api)])
    list(stream(api, connect(api, server.url, retries=1)))
    assert len(server.requests) == 2
    assert observed.retries() == {"RATE_LIMITED": 1}
    assert observed.outcomes() == {"ok": 1}


GARBAGE = (
    "12", "0", "-1", "nan", "inf", "1e999", "", " 7 ", "3.5", "1770000000", "Thu, 01 Jan 2015 00:00:00 GMT",
    "Fri, 31 Dec 9999 23:59:59 GMT", "Fri, 31 Dec 10000 23:59:59 GMT", "Thu, 01 Jan 2015 00:00:00 -0000", "soon",
)  # fmt: skip


@pytest.mark.parametrize("api", [CHAT, MESSAGES])
@pytest.mark.parametrize("header", GARBAGE)
def test_a_wait_is_finite_and_bounded_or_absent(api, header, provider, connect, observed):
    with pytest.raises(Exception, match="no"):
        call(api, connect(api, provider([failure(api, 429, retry_after=header)]).url))
    wait = observed.span().attributes.get("llm.error.retry_after") if api == CHAT else None
    (log,) = observed.logs()
    assert log.attributes["llm.error.class"] == "RATE_LIMITED"
    wait = log.attributes.get("llm.error.retry_after")
    assert wait is None or 0 <= wait <= 3600


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
async def test_a_second_attempt_with_a_fresh_token_is_a_hidden_retry(
    asynchronous, provider, connect, aconnect, observed, monkeypatch
):
    auth = pytest.importorskip("openai.auth._workload", reason="only a newer major of the SDK")
    tokens = iter(("old", "new"))
    kind = auth.WorkloadIdentityAuth
    monkeypatch.setattr(
        kind, "_fetch_token_from_exchange", lambda self: {"access_token": next(tokens), "expires_in": 3600.0}
    )
    identity = {
        "identity_provider_id": "i",
        "service_account_id": "s",
        "provider": {"token_type": "jwt", "get_token": lambda: "subject"},
    }
    server = provider([failure(CHAT, 401), whole(CHAT)])
    make = aconnect if asynchronous else connect
    client = make(CHAT, server.url, asynchronous, api_key=None, workload_identity=identity)
    result = call(CHAT, client)
    if asynchronous:
        await result
    assert len(server.requests) == 2
    assert observed.retries() == {"AUTH": 1}
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("api", [CHAT, MESSAGES])
def test_a_model_in_extra_body_is_the_model_of_the_call(api, provider, connect, observed):
    client = connect(api, provider([whole(api)]).url)
    call(api, client, extra_body={"model": "real"})
    call(api, client, extra_body={"other": 1})
    assert observed.counts("llm_calls_total", "gen_ai.request.model") == {"real": 1, "m": 1}
