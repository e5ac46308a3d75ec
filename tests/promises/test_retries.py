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
