"""A fault of ours is never the application's, wherever it happens: counted, logged once per place, raised in strict mode.

Handed case: ins-error-in-plugin-never-reaches-app.
"""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from llm_errors import classify
from llm_errors.extract import exceptions
from llm_errors.extract.anthropic import MessagesChunks, MessagesReader
from llm_errors.extract.google import GenerateContentChunks, GenerateContentReader
from llm_errors.extract.openai_chat import ChatChunks, ChatReader
from llm_errors.extract.openai_responses import ResponsesChunks, ResponsesReader
from llm_errors.instrument import drainer
from llm_errors.instrument.adapters import google_genai, stainless, stainless_tap
from llm_errors.instrument.invocation import Invocation, StreamFinalizer
from llm_errors.telemetry import logs, metrics, peers, spans
from llm_errors.telemetry.recorder import Recorder
from tests.promises.wire import (
    APIS,
    CHAT,
    CHUNKS,
    GEMINI,
    MESSAGES,
    STAINLESS,
    asked,
    call,
    collected,
    failure,
    half,
    method,
    stream,
    streamed,
    text,
    whole,
)


class Fault(Exception):
    """Ours, planted."""


def fault(*args: Any, **kwargs: Any) -> Any:
    raise Fault("planted")


ADAPTERS = (stainless.Stainless, google_genai.GoogleGenai)
READERS = (MessagesReader, GenerateContentReader, ChatReader, ResponsesReader)
CHUNKS_OF = (MessagesChunks, GenerateContentChunks, ChatChunks, ResponsesChunks)

PLACES: dict[str, tuple[tuple[Any, ...], tuple[str, ...]]] = {
    "describe": (ADAPTERS, ("describe",)),
    "adapter begin": (ADAPTERS, ("begin",)),
    "adapter returned": (ADAPTERS, ("returned",)),
    "adapter attempt": (ADAPTERS, ("attempt_failed",)),
    "every member of the adapter": (ADAPTERS, ("describe", "begin", "returned", "attempt_failed")),
    "whole": (READERS, ("whole",)),
    "chunks": (READERS, ("chunks",)),
    "chunk": (CHUNKS_OF, ("chunk",)),
    "end of chunks": (CHUNKS_OF, ("end",)),
    "every member of the reader": ((*READERS, *CHUNKS_OF), ("whole", "chunks", "chunk", "end")),
    "exceptions": ((exceptions,), ("read",)),
    "listener": ((stainless_tap,), ("follow", "is_stream")),
    "call settled": ((Invocation,), ("settle", "failed", "exhausted")),
    "finalizer": ((Invocation, StreamFinalizer), ("attach_finalizer", "end")),
    "sink open": ((Recorder,), ("open",)),
    "sink leave": ((Recorder,), ("leave",)),
    "every member of the sink": ((Recorder,), ("open", "leave", "retried", "close")),
    "decision": ((Recorder,), ("_decide",)),
    "attributes": ((Recorder,), ("_attributes",)),
    "metrics": ((metrics.Metrics,), ("ended", "retried")),
    "counting our own": ((metrics.Metrics,), ("ended", "failed_ourselves")),
    "log": ((logs.FailureLog,), ("emit",)),
    "span": ((spans,), ("write",)),
    "span found": ((spans.Spans,), ("open",)),
    "peers": ((peers,), ("active", "is_inference")),
}
UNCOUNTED = ("counting our own",)


def plant(patch: pytest.MonkeyPatch, place: str) -> None:
    owners, names = PLACES[place]
    for owner in owners:
        for name in names:
            if hasattr(owner, name):
                patch.setattr(owner, name, fault)


def run(api: str, client: Any) -> list[Any]:
    """What an application sees of a good call, a stream, a stream that it leaves, and a failure."""
    seen = [text(api, call(api, client)), len(list(stream(api, client)))]
    left = stream(api, client)
    next(left)
    left.close()
    if api in STAINLESS:
        raw = method(api, client, "with_raw_response")(**asked(api))
        seen.append(text(api, raw.parse()))
    with pytest.raises(Exception, match="no") as caught:
        call(api, client)
    return [*seen, type(caught.value), caught.value.__cause__, type(caught.value.__context__)]


def script(api: str) -> list[Any]:
    raw = [whole(api)] if api in STAINLESS else []
    return [whole(api), streamed(api), streamed(api), *raw, failure(api, 400)]


def settled() -> None:
    """Collect the garbage, and wait for what the worker does about it."""
    collected(lambda: True)
    drainer.finish()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("api", [CHAT, MESSAGES, GEMINI])
def test_the_application_notices_nothing(api, place, provider, connect, instrument, telemetry, monkeypatch, caplog):
    bare = run(api, connect(api, provider(script(api)).url))
    with monkeypatch.context() as patch:
        plant(patch, place)
        settled()  # what an earlier test dropped complains now, not below
        caplog.clear()
        instrument(strict=False)
        client = connect(api, provider(script(api)).url)
        assert run(api, client) == bare
        del client
        settled()
    said = [r for r in caplog.records if r.name == "llm_errors" and "failed at" in r.message]
    places = [r.args[0] for r in said]  # type: ignore[index]
    assert len(places) == len(set(places))
    assert all(r.exc_info and isinstance(r.exc_info[1], Fault) for r in said)
    if said and place not in UNCOUNTED:
        assert set(telemetry.counts("llm_instrumentation_errors_total", "place")) == set(places)


@pytest.fixture
def unlogged(caplog) -> None:
    """No log record that keeps a traceback, and with it the application's frames, alive."""
    caplog.set_level(logging.CRITICAL, "llm_errors")


OUR_SPAN_ENDS = [
    p for p in PLACES if not p.startswith(("span", "every member of the sink", "call settled", "finalizer"))
]


@pytest.mark.parametrize("place", OUR_SPAN_ENDS)
@pytest.mark.parametrize("api", [CHAT, GEMINI])
def test_every_span_that_we_began_ends(api, place, provider, connect, instrument, telemetry, monkeypatch, unlogged):
    started: list[Any] = []
    tracer = telemetry.tracer_provider.get_tracer("llm_errors")
    real = type(tracer).start_span

    def start_span(self: Any, *args: Any, **kwargs: Any) -> Any:
        started.append(real(self, *args, **kwargs))
        return started[-1]

    with monkeypatch.context() as patch:
        patch.setattr(type(tracer), "start_span", start_span)
        plant(patch, place)
        instrument(strict=False)
        run(api, connect(api, provider(script(api)).url))
        assert collected(lambda: all(span.end_time for span in started))


@pytest.mark.parametrize("api", APIS)
def test_a_call_that_we_could_not_read_is_still_counted(
    api, provider, connect, instrument, telemetry, monkeypatch, unlogged
):
    plant(monkeypatch, "every member of the reader")
    monkeypatch.setattr(exceptions, "read", fault)
    instrument(strict=False)
    run(api, connect(api, provider(script(api)).url))
    assert collected(lambda: sum(telemetry.outcomes().values()) == len(script(api)))
    assert telemetry.outcomes()["error"] == 1
    assert telemetry.errors() == {"UNKNOWN": 1}


@pytest.mark.parametrize("api", APIS)
def test_a_failure_that_we_could_not_decide_is_still_one(
    api, provider, connect, instrument, telemetry, monkeypatch, unlogged
):
    plant(monkeypatch, "decision")
    instrument(strict=False)
    run(api, connect(api, provider(script(api)).url))
    assert telemetry.errors() == {"UNKNOWN": 1}
    assert telemetry.outcomes()["error"] == 1


@pytest.mark.parametrize("place", ["chunk", "whole", "describe"])
def test_strict_mode_raises(place, provider, connect, instrument, monkeypatch):
    plant(monkeypatch, place)
    instrument(strict=True)
    client = connect(CHAT, provider(script(CHAT)).url)
    with pytest.raises(Fault):
        run(CHAT, client)


async def test_the_async_application_notices_nothing(provider, aconnect, instrument, monkeypatch):
    for owners, names in PLACES.values():
        for owner in owners:
            for name in (n for n in names if hasattr(owner, n) and n != "describe" and owner is not Recorder):
                monkeypatch.setattr(owner, name, fault)
    instrument(strict=False)
    for api in APIS:
        client = half(api, aconnect(api, provider([whole(api), streamed(api), failure(api, 400)]).url, True))
        assert text(api, await call(api, client)) == "one two"
        assert len([chunk async for chunk in await stream(api, client)]) == CHUNKS[api]
        with pytest.raises(Exception, match="no"):
            await call(api, client)


def raises(error: BaseException) -> Callable[..., Any]:
    def raising(*args: Any) -> Any:
        raise error

    return raising


def test_a_hook_that_raises_is_ours(provider, connect, instrument, telemetry, caplog):
    instrument(strict=False, failure_hook=raises(ValueError("hook")))
    client = connect(CHAT, provider([failure(CHAT, 400)]).url)
    for _ in range(2):
        with pytest.raises(Exception, match="no"):
            call(CHAT, client)
    assert telemetry.counts("llm_instrumentation_errors_total", "place") == {"failure_hook": 2}
    assert len([r for r in caplog.records if "failure_hook" in r.getMessage()]) == 1
    assert [s.end_time is not None for s in telemetry.spans()] == [True, True]


@pytest.mark.parametrize("api", APIS)
def test_a_hook_that_exits_does_exit_and_the_span_ends(api, provider, connect, instrument, telemetry):
    leaving = SystemExit(3)
    instrument(strict=False, failure_hook=raises(leaving))
    with pytest.raises(SystemExit) as caught:
        call(api, connect(api, provider([failure(api, 400)]).url))
    assert caught.value is leaving
    assert [s for s in telemetry.spans() if s.end_time is None] == []
    assert telemetry.errors() == {"BAD_REQUEST": 1}


@pytest.mark.parametrize("when", ["on_start", "on_end"])
@pytest.mark.parametrize("api", [CHAT, GEMINI])
def test_a_span_processor_that_raises_is_harmless(api, when, provider, connect, instrument, telemetry):
    from opentelemetry.sdk.trace import SpanProcessor

    processor = type("Broken", (SpanProcessor,), {when: fault})()
    telemetry.tracer_provider.add_span_processor(processor)
    instrument(strict=False)
    assert run(api, connect(api, provider(script(api)).url))[0] == "one two"
    assert sum(telemetry.outcomes().values()) == len(script(api))


def test_an_exporter_that_raises_is_harmless(provider, connect, instrument, telemetry, caplog):
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter

    exporter = type("Broken", (SpanExporter,), {"export": fault, "shutdown": lambda self: None})()
    telemetry.tracer_provider.add_span_processor(SimpleSpanProcessor(exporter))
    instrument(strict=False)
    with caplog.at_level(logging.CRITICAL):
        assert run(CHAT, connect(CHAT, provider(script(CHAT)).url))[0] == "one two"
    assert len(telemetry.spans()) == len(script(CHAT))


def test_instrument_itself_does_not_raise(telemetry, monkeypatch, caplog):
    from llm_errors import LLMErrorsInstrumentor

    monkeypatch.setattr("llm_errors.instrumentor.metrics_of", fault)
    instrumentor = LLMErrorsInstrumentor()
    instrumentor.instrument()
    instrumentor.uninstrument()
    assert any("failed at instrument" in r.getMessage() for r in caplog.records)


def test_an_import_hook_that_raises_does_not_break_the_import(instrument, monkeypatch, caplog):
    from llm_errors.instrument.patcher import Patcher

    monkeypatch.setattr(Patcher, "_put", fault)
    instrument(strict=False)
    assert any("failed at patch" in r.getMessage() for r in caplog.records)


class Hostile:
    """Every look at it raises."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"do not touch {name}")


def test_classify_survives_hostile_objects():
    for thing in (Hostile(), {"choices": [Hostile()]}, {"choices": Hostile(), "usage": Hostile()}, Hostile):
        classify(thing)


@pytest.mark.parametrize("name", ["choices", "usage", "model", "id", "error"])
def test_an_answer_whose_property_raises_reaches_the_application(name, provider, connect, observed):
    from openai.types.chat import ChatCompletion

    hostile = type("Answer", (ChatCompletion,), {name: property(fault)})
    client = connect(CHAT, provider([whole(CHAT)]).url)
    answer = client.post("/chat/completions", cast_to=hostile, body={"model": "m", "messages": []})
    assert type(answer) is hostile
    assert sum(observed.outcomes().values()) == 1
    assert observed.span().end_time
