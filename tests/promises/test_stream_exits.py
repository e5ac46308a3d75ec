"""Every way out of a stream: the span ends once, with the right outcome, and nothing stays attached.

Handed cases: ins-detach-in-other-task, ins-cancel-ends-span, ins-status-ok-on-failed-stream.
"""

import asyncio
import contextvars
import gc
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry import trace

from llm_errors.testing.provider import Reply
from tests.promises.wire import (
    APIS,
    CHUNKS,
    FIRST_TEXT,
    GEMINI,
    MESSAGES,
    PATIENCE,
    SDK,
    STAINLESS,
    call,
    collected,
    cut,
    events,
    failure,
    half,
    stalled,
    stream,
    streamed,
    until,
)


@pytest.fixture(autouse=True)
def _no_detach_failure(caplog) -> Iterator[None]:
    yield
    said = [r for r in caplog.get_records("call") + caplog.get_records("teardown") if r.name == "opentelemetry.context"]
    assert said == []


@pytest.fixture
def ambient(telemetry) -> Iterator[Any]:
    """The application's own span, which must stay the current one."""
    with telemetry.tracer_provider.get_tracer("app").start_as_current_span("app") as span:
        yield span


def ended_once(telemetry: Any, outcome: str) -> bool:
    """One call with this outcome, one model span, ended."""
    spans = [s for s in telemetry.spans() if s.name != "app"]
    return telemetry.outcomes() == {outcome: 1} and len(spans) == 1 and spans[0].end_time is not None


def exhaust(seen: Any) -> None:
    for _ in seen:
        pass


def break_and_close(seen: Any) -> None:
    for _ in seen:
        break
    seen.close()


def close_at_once(seen: Any) -> None:
    seen.close()


def for_each(seen: Any, error: BaseException) -> None:
    for _ in seen:
        raise error


def raise_inside(seen: Any) -> None:
    mine = ValueError("mine")
    with pytest.raises(ValueError) as caught:
        for_each(seen, mine)
    assert caught.value is mine
    seen.close()


def interrupt_inside(seen: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        for_each(seen, KeyboardInterrupt())
    seen.close()


def close_from_a_thread(seen: Any) -> None:
    next(seen)
    thread = threading.Thread(target=seen.close)
    thread.start()
    thread.join()


def half_in_a_thread(seen: Any) -> None:
    next(seen)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(exhaust, seen).result()


def half_in_another_context(seen: Any) -> None:
    contextvars.copy_context().run(next, seen)
    contextvars.Context().run(exhaust, seen)


EXITS: dict[Callable[[Any], None], str] = {
    exhaust: "ok",
    break_and_close: "cancelled",
    close_at_once: "cancelled",
    raise_inside: "cancelled",
    interrupt_inside: "cancelled",
    close_from_a_thread: "cancelled",
    half_in_a_thread: "ok",
    half_in_another_context: "ok",
}


@pytest.mark.parametrize("leave", EXITS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("api", APIS)
def test_a_way_out_ends_the_call_once(api, leave, provider, connect, observed, ambient):
    seen = stream(api, connect(api, provider([streamed(api)]).url))
    assert trace.get_current_span() is ambient
    if leave is close_at_once and api == GEMINI:
        seen.close()
        assert observed.outcomes() == {}  # nothing was sent
        return
    leave(seen)
    assert trace.get_current_span() is ambient
    assert until(lambda: ended_once(observed, EXITS[leave]))
    del seen
    gc.collect(1)
    assert ended_once(observed, EXITS[leave])


@pytest.mark.parametrize("api", APIS)
def test_the_consumers_current_span_is_unchanged_between_chunks(api, provider, connect, observed, ambient):
    for _ in stream(api, connect(api, provider([streamed(api)]).url)):
        assert trace.get_current_span() is ambient
    assert ended_once(observed, "ok")


@pytest.mark.parametrize("api", APIS)
def test_a_stream_that_is_dropped_is_cancelled(api, provider, connect, observed):
    seen = stream(api, connect(api, provider([streamed(api)]).url))
    next(seen)
    del seen
    assert collected(lambda: ended_once(observed, "cancelled"))


@pytest.mark.parametrize("api", STAINLESS)
def test_a_stream_that_is_never_iterated_is_cancelled_when_it_is_dropped(api, provider, connect, observed):
    seen = stream(api, connect(api, provider([streamed(api)]).url))
    assert observed.outcomes() == {}
    del seen
    assert collected(lambda: ended_once(observed, "cancelled"))


@pytest.mark.parametrize("api", APIS)
def test_a_stream_that_is_dropped_inside_a_cycle_is_cancelled(api, provider, connect, observed):
    class Owner:
        pass

    owner = Owner()
    owner.me = owner  # type: ignore[attr-defined]
    owner.stream = stream(api, connect(api, provider([streamed(api)]).url))  # type: ignore[attr-defined]
    next(owner.stream)  # type: ignore[attr-defined]
    del owner
    assert collected(lambda: ended_once(observed, "cancelled"))


def test_counting_for_a_dropped_stream_waits_for_no_lock_of_the_metrics_sdk(provider, connect, instrument, telemetry):
    """A collection can run while its thread is inside the metrics SDK: the drop is then told of from another thread."""
    from llm_errors.telemetry.metrics import Metrics

    told: list[int] = []
    real = Metrics.ended

    def ended(self: Any, *args: Any) -> None:
        told.append(threading.get_ident())
        real(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Metrics, "ended", ended)
        instrument()
        holder = [stream(MESSAGES, connect(MESSAGES, provider([streamed(MESSAGES)]).url))]
        holder.append(holder)  # type: ignore[arg-type]
        del holder
        assert collected(lambda: ended_once(telemetry, "cancelled"))
    assert told != [threading.get_ident()]


@pytest.mark.parametrize("api", APIS)
def test_what_was_seen_settles_a_stream_that_is_left_after_its_terminal_event(api, provider, connect, observed):
    seen = stream(api, connect(api, provider([streamed(api)]).url))
    for _ in range(CHUNKS[api]):
        next(seen)
    seen.close()
    assert ended_once(observed, "ok")


def test_a_truncated_stream_that_is_left_after_its_end_has_its_class(provider, connect, observed):
    said = events(MESSAGES)
    said[5] = {**said[5], "delta": {"stop_reason": "max_tokens", "stop_sequence": None}}
    seen = stream(MESSAGES, connect(MESSAGES, provider([streamed(MESSAGES, said)]).url))
    for _ in range(CHUNKS[MESSAGES]):
        next(seen)
    seen.close()
    assert observed.reasons() == {("TRUNCATED", "max_tokens"): 1}


@pytest.mark.parametrize("api", STAINLESS)
def test_a_context_manager_that_is_left_early_is_cancelled(api, provider, connect, observed):
    with stream(api, connect(api, provider([streamed(api)]).url)) as seen:
        next(seen)
    assert ended_once(observed, "cancelled")
    assert observed.span().attributes["llm.call.outcome"] == "cancelled"
    assert observed.span().status.is_unset


@pytest.mark.parametrize("api", APIS)
def test_an_error_before_the_first_chunk_is_thrown(api, provider, connect, observed):
    with pytest.raises(Exception, match="no"):
        exhaust(stream(api, connect(api, provider([failure(api, 429)]).url)))
    assert observed.errors() == {"RATE_LIMITED": 1}
    assert not observed.span().status.is_ok
    labels = [attributes for attributes, _ in observed.points("gen_ai.client.operation.duration")]
    assert all(label["error.type"].endswith(("RateLimitError", "ClientError")) for label in labels)
    assert len(labels) == 1


@pytest.mark.parametrize("api", APIS)
def test_a_cut_after_the_first_text_is_partial_and_not_retryable(api, provider, connect, observed):
    with pytest.raises(Exception, match=r".*"):
        exhaust(stream(api, connect(api, provider([cut(api)]).url)))
    (log,) = observed.logs()
    assert log.attributes["llm.error.class"] == "TRANSPORT"
    assert log.attributes["llm.error.partial_output"] is True
    assert log.attributes["llm.error.retryable"] is False


ERROR_EVENTS = {
    "chat": {"error": {"message": "busy", "type": "server_error", "code": "server_error"}},
    MESSAGES: {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
    GEMINI: {"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}},
}


@pytest.mark.parametrize("api", ERROR_EVENTS)
def test_an_error_event_after_two_chunks_is_thrown(api, provider, connect, observed):
    got = []
    with pytest.raises(Exception, match="busy"):
        got.extend(stream(api, connect(api, provider([streamed(api, [*events(api)[:2], ERROR_EVENTS[api]])]).url)))
    assert observed.errors() == {"SERVER": 1}
    assert observed.outcomes() == {"error": 1}
    labels = [attributes for attributes, _ in observed.points("gen_ai.client.operation.duration")]
    assert all(label["error.type"] for label in labels)


# --- async ---


async def adrain(seen: Any) -> None:
    async for _ in seen:
        pass


async def happens(condition: Callable[[], bool]) -> None:
    """Let the loop run and collect garbage until the condition holds."""
    deadline = time.monotonic() + PATIENCE
    for looks in itertools.count():
        if condition():
            return
        assert time.monotonic() < deadline, "it did not happen"
        await asyncio.sleep(0.001)
        gc.collect(min(looks // 3, 2))


async def aclose(api: str, seen: Any) -> None:
    await (seen.aclose() if api == GEMINI else seen.close())


@pytest.mark.parametrize("api", APIS)
async def test_an_exhausted_async_stream_is_ok(api, provider, aconnect, observed, ambient):
    async for _ in await stream(api, half(api, aconnect(api, provider([streamed(api)]).url, True))):
        assert trace.get_current_span() is ambient
    assert ended_once(observed, "ok")


@pytest.mark.parametrize("api", APIS)
async def test_an_async_stream_that_is_closed_early_is_cancelled(api, provider, aconnect, observed, ambient):
    seen = await stream(api, half(api, aconnect(api, provider([streamed(api)]).url, True)))
    await seen.__anext__()
    await aclose(api, seen)
    assert trace.get_current_span() is ambient
    await happens(lambda: ended_once(observed, "cancelled"))


@pytest.mark.parametrize("api", STAINLESS)
async def test_an_async_context_manager_that_is_left_early_is_cancelled(api, provider, aconnect, observed):
    async with await stream(api, aconnect(api, provider([streamed(api)]).url, True)) as seen:
        async for _ in seen:
            break
    assert ended_once(observed, "cancelled")


@pytest.mark.parametrize("api", APIS)
async def test_an_async_stream_that_is_dropped_before_its_first_step_is_cancelled(api, provider, aconnect, observed):
    seen = await stream(api, half(api, aconnect(api, provider([streamed(api)]).url, True)))
    if api == GEMINI and observed.outcomes() == {} and not observed.spans():
        await seen.__anext__()  # this major sends nothing before the first step
    del seen
    await happens(lambda: ended_once(observed, "cancelled"))


@pytest.mark.parametrize("api", APIS)
async def test_an_async_generator_of_the_application_that_is_finalised_elsewhere(
    api, provider, aconnect, observed, ambient
):
    client = half(api, aconnect(api, provider([streamed(api)]).url, True))

    async def application() -> Any:
        async for chunk in await stream(api, client):
            yield chunk

    async def consume() -> None:
        async for _ in application():
            break  # no aclose: the loop finalises it in another task

    await asyncio.create_task(consume())
    await happens(lambda: ended_once(observed, "cancelled"))
    assert trace.get_current_span() is ambient


@pytest.mark.parametrize("api", APIS)
async def test_half_in_one_task_and_the_rest_in_another(api, provider, aconnect, observed, ambient):
    seen = await stream(api, half(api, aconnect(api, provider([streamed(api)]).url, True)))
    await asyncio.create_task(seen.__anext__())
    await asyncio.create_task(adrain(seen))
    assert trace.get_current_span() is ambient
    assert ended_once(observed, "ok")


@pytest.mark.parametrize("api", APIS)
async def test_a_stream_that_was_opened_in_a_task_is_read_outside(api, provider, aconnect, observed, ambient):
    async def open_it() -> Any:
        return await stream(api, half(api, aconnect(api, provider([streamed(api)]).url, True)))

    await adrain(await asyncio.create_task(open_it()))
    assert trace.get_current_span() is ambient
    assert ended_once(observed, "ok")


@pytest.mark.parametrize("api", APIS)
async def test_a_task_that_is_cancelled_during_the_call_is_cancelled(api, provider, aconnect, observed):
    server = provider([Reply(action="hang")])
    task = asyncio.create_task(call(api, half(api, aconnect(api, server.url, True))))
    await asyncio.to_thread(server.hanging.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended_once(observed, "cancelled")


@pytest.mark.parametrize("api", APIS)
async def test_a_task_that_is_cancelled_in_the_middle_of_a_stream_is_cancelled(api, provider, aconnect, observed):
    server = provider([stalled(api)])

    async def read() -> None:
        await adrain(await stream(api, half(api, aconnect(api, server.url, True))))

    task = asyncio.create_task(read())
    await asyncio.to_thread(server.hanging.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await happens(lambda: ended_once(observed, "cancelled"))


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("what", ["call", "stream"])
async def test_a_deadline_of_the_application_is_its_own(api, what, provider, aconnect, observed):
    server = provider([Reply(action="hang") if what == "call" else stalled(api)])
    client = half(api, aconnect(api, server.url, True))

    async def read() -> None:
        await adrain(await stream(api, client))

    begun = asyncio.ensure_future(call(api, client) if what == "call" else read())
    await asyncio.to_thread(server.hanging.wait)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(begun, 0.01)
    await happens(lambda: ended_once(observed, "cancelled"))


@pytest.mark.parametrize("api", APIS)
async def test_streams_read_in_threads(api, provider, connect, observed):
    client = connect(api, provider(lambda request: streamed(api)).url)

    def run() -> int:
        return sum(1 for _ in stream(api, client))

    assert await asyncio.gather(*(asyncio.to_thread(run) for _ in range(8))) == [CHUNKS[api]] * 8
    assert observed.outcomes() == {"ok": 8}
    assert len(observed.spans()) == 8


@pytest.mark.parametrize("api", APIS)
def test_no_task_and_no_chunk_is_kept_after_the_end(api, provider, connect, observed):
    import weakref

    pytest.importorskip(SDK[api])
    seen = stream(api, connect(api, provider([streamed(api)]).url))
    first = weakref.ref(next(seen))
    for _ in range(FIRST_TEXT[api]):
        next(seen)
    gc.collect(1)
    assert first() is None
    seen.close()
