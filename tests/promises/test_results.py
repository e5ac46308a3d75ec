"""What comes back and what is raised is what the bare SDK gives: same types, same chains, same objects."""

import sys
import traceback
from typing import Any

import pytest

from llm_errors.testing.provider import Reply
from tests.promises.wire import APIS, CHAT, GEMINI, MESSAGES, STAINLESS, call, cut, failure, half, stream, text, whole

FAILURES = {
    "status": lambda api: failure(api, 500),
    "quota": lambda api: failure(api, 429, "insufficient_quota", retry_after="7"),
    "page": lambda api: Reply(502, text="<html>bad gateway</html>"),
    "refused": lambda api: Reply(action="close_at_once"),
    "not json": lambda api: Reply(text="{", headers={"content-type": "application/json"}),
}


def chain(exc: BaseException | None) -> list[Any]:
    """Types along cause and context, and whether the context is suppressed."""
    links: list[Any] = []
    while exc is not None and len(links) < 20:
        links.append((type(exc), str(exc.args)[:80].split("0x")[0], exc.__suppress_context__, type(exc.__context__)))
        exc = exc.__cause__ or exc.__context__
    return links


def frames(exc: BaseException) -> list[str]:
    """The functions of the traceback without llm-errors' own."""
    found = traceback.extract_tb(exc.__traceback__)
    return [f.name for f in found if "/llm_errors/instrument/" not in f.filename]


def caught(action: Any) -> BaseException:
    try:
        action()
    except BaseException as exc:
        return exc
    raise AssertionError("nothing was raised")


async def caught_in(awaitable: Any) -> BaseException:
    try:
        await awaitable
    except BaseException as exc:
        return exc
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("api", APIS)
def test_an_answer_equals_the_bare_one(api, provider, connect, instrument, telemetry):
    client = connect(api, provider([whole(api)]).url)
    bare = call(api, client)
    instrument()
    seen = call(api, client)
    assert type(seen) is type(bare)
    assert seen.model_dump(exclude={"sdk_http_response"}) == bare.model_dump(exclude={"sdk_http_response"})
    assert text(api, seen) == "one two"
    assert telemetry.outcomes() == {"ok": 1}


@pytest.mark.parametrize("api", APIS)
async def test_an_async_answer_equals_the_bare_one(api, provider, aconnect, instrument, telemetry):
    client = half(api, aconnect(api, provider([whole(api)]).url, True))
    bare = await call(api, client)
    instrument()
    seen = await call(api, client)
    assert type(seen) is type(bare)
    assert seen.model_dump(exclude={"sdk_http_response"}) == bare.model_dump(exclude={"sdk_http_response"})
    assert telemetry.outcomes() == {"ok": 1}


@pytest.mark.parametrize("what", FAILURES)
@pytest.mark.parametrize("api", APIS)
def test_an_exception_equals_the_bare_one(api, what, provider, connect, instrument, telemetry):
    client = connect(api, provider([FAILURES[what](api)]).url)
    bare = caught(lambda: call(api, client))
    instrument()
    seen = caught(lambda: call(api, client))
    assert chain(seen) == chain(bare)
    assert frames(seen) == frames(bare)
    assert {k: type(v) for k, v in vars(seen).items()} == {k: type(v) for k, v in vars(bare).items()}
    assert telemetry.outcomes() == {"error": 1}


@pytest.mark.parametrize("what", FAILURES)
@pytest.mark.parametrize("api", APIS)
async def test_an_async_exception_equals_the_bare_one(api, what, provider, aconnect, instrument, telemetry):
    client = half(api, aconnect(api, provider([FAILURES[what](api)]).url, True))
    bare = await caught_in(call(api, client))
    instrument()
    seen = await caught_in(call(api, client))
    assert chain(seen) == chain(bare)
    assert frames(seen) == frames(bare)
    assert telemetry.outcomes() == {"error": 1}


@pytest.mark.parametrize("api", APIS)
def test_an_exception_of_a_stream_equals_the_bare_one(api, provider, connect, instrument, telemetry):
    client = connect(api, provider([cut(api)]).url)
    bare = caught(lambda: list(stream(api, client)))
    instrument()
    seen = caught(lambda: list(stream(api, client)))
    assert chain(seen) == chain(bare)
    assert frames(seen) == frames(bare)
    assert telemetry.reasons() == {("TRANSPORT", "disconnected"): 1}


@pytest.mark.parametrize("api", STAINLESS)
@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt("now"), GeneratorExit()], ids=repr)
def test_an_exit_keeps_its_identity(api, raised, provider, connect, observed):
    def interrupt(request: Any) -> None:
        raise raised

    client = connect(api, provider([whole(api)]).url)
    client._client.event_hooks = {"request": [interrupt]}
    assert caught(lambda: call(api, client)) is raised
    assert observed.outcomes() == {"cancelled": 1}


@pytest.mark.parametrize("api", STAINLESS)
def test_an_exception_that_the_sdk_wraps_keeps_its_identity_as_the_cause(api, provider, connect, observed):
    raised = RuntimeError("the application's own")

    def interrupt(request: Any) -> None:
        raise raised

    client = connect(api, provider([whole(api)]).url)
    client._client.event_hooks = {"request": [interrupt]}
    seen = caught(lambda: call(api, client))
    assert raised in (seen.__cause__, seen.__context__, seen)
    assert observed.reasons() == {("UNKNOWN", "foreign_exception"): 1}


@pytest.mark.parametrize("api", APIS)
def test_nothing_of_ours_is_being_handled_after_a_failure(api, provider, connect, observed):
    client = connect(api, provider([failure(api, 400)]).url)
    caught(lambda: call(api, client))
    assert sys.exc_info() == (None, None, None)


@pytest.mark.parametrize("api", APIS)
def test_no_reference_is_kept_to_an_exception(api, provider, connect, observed):
    client = connect(api, provider([failure(api, 500)]).url)
    counts = []
    for _ in range(3):
        exc = caught(lambda: call(api, client))
        counts.append(sys.getrefcount(exc))
        del exc
    assert counts[0] == counts[1] == counts[2]
    from llm_errors.instrument.invocation import ACTIVE

    assert ACTIVE.get() is None


NO_MODEL_CALLS = {
    CHAT: (
        ("files", lambda c: c.files.create(file=("a.jsonl", b"{}"), purpose="batch")),
        (
            "batch",
            lambda c: c.batches.create(completion_window="24h", endpoint="/v1/chat/completions", input_file_id="f"),
        ),
        ("batches", lambda c: c.batches.list()),
        ("models", lambda c: c.models.list()),
        ("cancel", lambda c: c.responses.cancel("r1")),
        ("stored", lambda c: c.chat.completions.list()),
        ("store", lambda c: c.chat.completions.update("c1", metadata={})),
        ("tuning", lambda c: c.fine_tuning.jobs.create(model="m", training_file="f")),
    ),
    MESSAGES: (
        ("count", lambda c: c.messages.count_tokens(model="m", messages=[])),
        ("batch", lambda c: c.messages.batches.create(requests=[])),
        ("batches", lambda c: c.messages.batches.list()),
        ("models", lambda c: c.models.list()),
    ),
    GEMINI: (
        ("count", lambda c: c.models.count_tokens(model="m", contents="hi")),
        ("batch", lambda c: c.batches.create(model="m", src=[{"contents": [{"parts": [{"text": "x"}]}]}])),
        ("models", lambda c: c.models.list()),
        ("files", lambda c: c.files.list()),
    ),
}


@pytest.mark.parametrize(("api", "name"), [(api, name) for api, rows in NO_MODEL_CALLS.items() for name, _ in rows])
@pytest.mark.parametrize("status", [200, 429])
def test_what_is_no_model_call_is_left_alone(api, name, status, provider, connect, observed):
    client = connect(api, provider([Reply(200, json={"data": []}) if status == 200 else failure(api, status)]).url)
    run = dict(NO_MODEL_CALLS[api])[name]
    if status == 200:
        run(client)
    else:
        assert type(caught(lambda: run(client))).__name__ in ("RateLimitError", "ClientError")
    assert observed.outcomes() == {}
    assert observed.errors() == {}
    assert [s for s in observed.spans() if s.instrumentation_scope.name == "llm_errors"] == []
