"""When a stream ends: at its terminal event or at the time of its last chunk, however late that is noticed."""

import _thread
import gc
import pickle
import sys
import threading
import time
from typing import Any

import pytest

from llm_errors.instrument import drainer, invocation
from llm_errors.testing.provider import Reply
from tests.promises.apps_runner import said_by
from tests.promises.test_stream_exits import happens
from tests.promises.wire import (
    APIS,
    CHAT,
    CHUNKS,
    MESSAGES,
    STAINLESS,
    call,
    collected,
    events,
    lines,
    stream,
    streamed,
    until,
    whole,
)


@pytest.fixture
def no_collection():
    """As long as the collector has no reason to run."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(invocation, "perf_counter", clock)
    return clock


def duration(telemetry: Any) -> float:
    ((_, point),) = telemetry.points("gen_ai.client.operation.duration")
    return point.sum


def choice(index: int, content: str, finish: str | None = None) -> dict[str, Any]:
    delta = {"content": content} if content else {}
    return {**events(CHAT)[0], "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


USAGE = {**events(CHAT)[0], "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}


@pytest.mark.parametrize("api", STAINLESS)
def test_a_stream_that_is_left_at_its_terminal_event_is_counted_there(api, provider, connect, observed, no_collection):
    for _, _chunk in zip(range(CHUNKS[api]), stream(api, connect(api, provider([streamed(api)]).url)), strict=False):
        pass
    assert observed.outcomes() == {"ok": 1}
    assert len(observed.spans()) == 1


@pytest.mark.parametrize("api", STAINLESS)
async def test_so_is_an_async_one(api, provider, aconnect, observed, no_collection):
    seen = await stream(api, aconnect(api, provider([streamed(api)]).url, True))
    for _ in range(CHUNKS[api]):
        await seen.__anext__()
    assert observed.outcomes() == {"ok": 1}


def test_a_stream_whose_usage_was_asked_for_is_counted_when_it_is_told(provider, connect, observed):
    client = connect(CHAT, provider([streamed(CHAT, [*events(CHAT), USAGE])]).url)
    seen = stream(CHAT, client, stream_options={"include_usage": True})
    for _ in range(CHUNKS[CHAT]):
        next(seen)
    assert observed.outcomes() == {}
    next(seen)
    assert observed.outcomes() == {"ok": 1}
    assert observed.span().attributes["gen_ai.usage.output_tokens"] == 2


def test_usage_that_is_asked_for_in_the_extra_body_counts_alike(provider, connect, observed):
    client = connect(CHAT, provider([streamed(CHAT, [*events(CHAT), USAGE])]).url)
    seen = stream(CHAT, client, extra_body={"stream_options": {"include_usage": True}})
    for _ in range(CHUNKS[CHAT]):
        next(seen)
    assert observed.outcomes() == {}
    seen.close()
    assert observed.outcomes() == {"ok": 1}


def test_the_finish_of_the_last_of_several_choices_counts(provider, connect, observed):
    said = [choice(0, "a"), choice(0, "", "stop"), choice(1, "b"), choice(1, "", "content_filter")]
    seen = stream(CHAT, connect(CHAT, provider([streamed(CHAT, said)]).url), n=2)
    for _ in said[:-1]:
        next(seen)
    assert observed.outcomes() == {}
    next(seen)
    assert observed.errors() == {"OUTPUT_BLOCKED": 1}


def test_a_finish_before_anything_was_said_does_not_end_the_stream(provider, connect, observed):
    said = [choice(0, "", "stop"), choice(0, "late", "stop")]
    assert len(list(stream(CHAT, connect(CHAT, provider([streamed(CHAT, said)]).url)))) == 2
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("api", APIS)
def test_a_stream_that_is_closed_late_ended_with_its_last_chunk(api, provider, connect, observed, clock):
    seen = stream(api, connect(api, provider([streamed(api)]).url))
    next(seen)
    clock.now += 2
    next(seen)
    clock.now += 500
    seen.close()
    assert until(lambda: observed.outcomes()) == {"cancelled": 1}
    assert duration(observed) == 2
    assert observed.span().end_time < time.time_ns() - 400e9


@pytest.mark.parametrize("api", STAINLESS)
def test_a_stream_that_is_never_read_ended_when_it_was_returned(api, provider, connect, observed, clock):
    seen = stream(api, connect(api, provider([streamed(api)]).url))
    clock.now += 500
    del seen
    collected(lambda: observed.outcomes() == {"cancelled": 1})
    assert duration(observed) == 0


@pytest.mark.parametrize("api", APIS)
async def test_a_generator_whose_reader_left_ended_with_its_last_chunk(api, provider, aconnect, observed, clock):
    """As an application's response under uvicorn whose client has gone: nobody reads on, nobody closes."""
    client = aconnect(api, provider([streamed(api)]).url, True)
    seen = await stream(api, client.aio if api == "gemini" else client)

    async def application() -> Any:
        async for chunk in seen:
            yield chunk

    response = application()
    await response.__anext__()
    clock.now += 500
    await response.aclose()
    await (seen.aclose() if api == "gemini" else seen.close())
    await happens(lambda: observed.outcomes() == {"cancelled": 1})
    assert duration(observed) == 0


def read_all(lines: Any) -> None:
    for _ in lines:
        pass


def read_to_the_marker(lines: Any) -> None:
    for line in lines:
        if line == "data: [DONE]":
            return


def read_one(lines: Any) -> None:
    next(lines)
    lines.close()


@pytest.mark.parametrize("read", [read_all, read_to_the_marker])
def test_a_body_that_the_application_reads_to_its_end_is_ok(read, provider, connect, observed, no_collection):
    seen = stream(CHAT, connect(CHAT, provider([streamed(CHAT)]).url))
    read(seen.response.iter_lines())
    assert observed.outcomes() == {"ok": 1}
    seen.close()
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("api", STAINLESS)
def test_raw_bytes_alike(api, provider, connect, observed):
    seen = stream(api, connect(api, provider([streamed(api)]).url))
    assert b"".join(seen.response.iter_raw())
    assert observed.outcomes() == {"ok": 1}


async def test_an_async_body_alike(provider, aconnect, observed):
    seen = await stream(CHAT, aconnect(CHAT, provider([streamed(CHAT)]).url, True))
    assert [line async for line in seen.response.aiter_lines()][-2] == "data: [DONE]"
    assert observed.outcomes() == {"ok": 1}


def test_a_body_that_the_application_leaves_early_is_cancelled(provider, connect, observed):
    """The terminal marker has not passed."""
    reply = Reply(sse=lines(CHAT, events(CHAT) * 2000, False))
    seen = stream(CHAT, connect(CHAT, provider([reply]).url))
    read_one(seen.response.iter_lines())
    assert observed.outcomes() == {"cancelled": 1}


def test_a_response_whose_body_was_watched_can_be_pickled(provider, connect, observed):
    seen = stream(CHAT, connect(CHAT, provider([streamed(CHAT)]).url))
    body = seen.response.read()
    copy = pickle.loads(pickle.dumps(seen.response))
    assert b"".join(copy.iter_bytes()) == body


# --- the worker ---


def test_streams_that_one_collection_finds_need_one_thread(provider, connect, observed, monkeypatch, no_collection):
    client = connect(CHAT, provider([streamed(CHAT)] * 20).url)
    for _ in range(20):
        next(stream(CHAT, client))
    started: list[Any] = []
    start = _thread.start_new_thread

    def counting(*args: Any) -> Any:
        started.append(args[0])
        return start(*args)

    monkeypatch.setattr(_thread, "start_new_thread", counting)
    gc.collect()
    until(lambda: observed.outcomes() == {"cancelled": 20})
    assert 1 <= started.count(drainer._work) <= 3
    until(lambda: drainer._vacancy == [True])


def test_the_worker_goes_on_after_an_action_that_fails(monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda args: None)
    monkeypatch.setattr(drainer._State, "collecting", None)
    done = threading.Event()
    drainer.run(lambda: sys.exit())
    drainer.run(done.set)
    assert done.wait(10)
    until(lambda: drainer._vacancy == [True])


def test_what_no_thread_can_be_had_for_is_done_when_the_process_ends(monkeypatch):
    def refuse(*args: Any) -> Any:
        raise RuntimeError("can't start new thread")

    done: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(_thread, "start_new_thread", refuse)
        patch.setattr(drainer._State, "collecting", None)
        drainer.run(lambda: done.append(1))
        assert done == []
        drainer.finish()
    assert done == [1]


# --- the process ---


@pytest.mark.parametrize("api", [CHAT, "gemini"])
def test_a_stream_open_at_exit_is_counted_though_the_provider_was_made_later(api, provider):
    assert said_by("open_at_exit", provider([streamed(api)]).url, api) == [{"cancelled": 1}]


@pytest.mark.parametrize("api", [CHAT, "gemini"])
def test_a_stream_that_a_forked_child_drops_belongs_to_the_parent(api, provider):
    assert said_by("forked_stream", provider([streamed(api)]).url, api) == [[{}, 0], [{"cancelled": 1}, 1]]


# --- sampling ---


def test_a_span_of_ours_that_is_sampled_out_is_not_made_current(provider, connect, instrument, telemetry):
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    seen = []
    instrument(tracer_provider=TracerProvider(sampler=ALWAYS_OFF))
    client = connect(CHAT, provider([whole(CHAT)]).url)
    send = client._client.send

    def sending(*args: Any, **kwargs: Any) -> Any:
        seen.append(trace.get_current_span())
        return send(*args, **kwargs)

    client._client.send = sending
    with telemetry.tracer_provider.get_tracer("app").start_as_current_span("app") as span:
        call(CHAT, client)
    assert seen == [span]
    assert telemetry.outcomes() == {"ok": 1}


@pytest.mark.parametrize("streams", [False, True])
def test_no_span_of_ours_stands_in_for_one_of_the_sdks_that_is_sampled_out(
    streams, provider, connect, instrument, telemetry
):
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

    anthropic = pytest.importorskip("anthropic")
    if not hasattr(anthropic, "_tracing"):
        pytest.skip("a tracing anthropic is needed: this major of it is not one")
    instrument()
    server = provider([streamed(MESSAGES) if streams else whole(MESSAGES)])
    client = connect(MESSAGES, server.url, open_telemetry={"tracer_provider": TracerProvider(sampler=ALWAYS_OFF)})
    if streams:
        assert len(list(stream(MESSAGES, client))) == CHUNKS[MESSAGES]
    else:
        call(MESSAGES, client)
    assert telemetry.spans() == []
    assert telemetry.outcomes() == {"ok": 1}
