"""One variant of the application in a process of its own: it does as it is told on stdin, and answers with CPU microseconds."""

import gc
import itertools
import json
import math
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
from opentelemetry import trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

try:
    import httpx2 as httpx
except ImportError:
    import httpx

BLOCK = 20
"""Chunks that are read from one stream before it is the other one's turn."""
SAID = [{"role": "user", "content": "hi"}]
COMPLETION = {
    "id": "c1", "object": "chat.completion", "created": 1, "model": "m-2026",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}  # fmt: skip


class Nowhere(SpanExporter):
    """Takes spans and forgets them."""

    def export(self, spans: Any) -> SpanExportResult:
        return SpanExportResult.SUCCESS


def _chunk(content: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m-2026", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


class Wire(httpx.SyncByteStream):
    """A stream of so many chunks."""

    def __init__(self, chunks: int) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        yield from itertools.repeat(_chunk("word "), self._chunks)
        yield _chunk("", "stop")
        yield b"data: [DONE]\n\n"


def _answer(request: Any) -> Any:
    asked = json.loads(request.content)
    if asked.get("stream"):
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Wire(asked["max_tokens"]))
    return httpx.Response(200, json=COMPLETION)


class Observed:
    """What all applications share: an instrumentation that is switched on and off, and a call that is timed."""

    def __init__(self, instrumentor: Any) -> None:
        tracers = TracerProvider(shutdown_on_exit=False)
        tracers.add_span_processor(SimpleSpanProcessor(Nowhere()))
        self.providers = {
            "tracer_provider": tracers,
            "meter_provider": MeterProvider([InMemoryMetricReader()], shutdown_on_exit=False),
            "logger_provider": LoggerProvider(shutdown_on_exit=False),
        }
        self._tracer = tracers.get_tracer("app")
        self._observed = self._bare
        self._instrumentor = instrumentor
        self._turn = 0

    def _bare(self) -> None:
        raise NotImplementedError

    @contextmanager
    def _observing(self, wanted: bool) -> Iterator[Callable[[], None]]:
        """The call to time, while observed or not."""
        if not wanted or self._instrumentor is None:
            yield self._observed if wanted else self._bare
            return
        self._instrumentor.instrument(**self.providers)
        yield self._observed
        self._instrumentor.uninstrument()

    def _both(self, measure: Callable[[Callable[[], None]], float]) -> tuple[float, float]:
        """The measure plain and observed, in turns that alternate: one process, so that nothing else differs."""
        self._turn += 1
        found = {}
        for wanted in (True, False) if self._turn % 2 else (False, True):
            with self._observing(wanted) as call:
                found[wanted] = measure(call)
        return found[False], found[True]

    def calls(self, times: int) -> tuple[float, float]:
        """CPU microseconds of a call, plain and observed: the fastest of so many."""

        def measure(call: Callable[[], None]) -> float:
            fastest = math.inf
            for _ in range(times):
                began = time.process_time()
                call()
                fastest = min(fastest, time.process_time() - began)
            return fastest * 1e6

        return self._both(measure)


class Storage(Observed):
    """An application that reads small objects from S3 with botocore, and calls no model."""

    def __init__(self, variant: str) -> None:
        super().__init__(VARIANTS[variant]())
        import botocore.session
        from botocore.config import Config

        command = [sys.executable, str(Path(__file__).with_name("bucket.py"))]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        port = self._server.stdout.readline().strip() if self._server.stdout else ""
        self._s3 = botocore.session.get_session().create_client(
            "s3",
            region_name="eu-central-1",
            endpoint_url=f"http://127.0.0.1:{port}",
            aws_access_key_id="a",
            aws_secret_access_key="s",
            config=Config(s3={"addressing_style": "path"}),
        )

    def _bare(self) -> None:
        self._s3.get_object(Bucket="b", Key="k")["Body"].read()


class Worker(Observed):
    """An application that calls models, observed in one of the ways of `VARIANTS`."""

    def __init__(self, variant: str) -> None:
        super().__init__(VARIANTS[variant]())
        transport = httpx.MockTransport(_answer)
        self._client = openai.OpenAI(api_key="k", http_client=openai.DefaultHttpxClient(transport=transport))
        if variant == "minimum":
            self._observed = self._minimum()
        if variant == "adopted":
            official().instrument(**self.providers)  # stays while ours comes and goes

    # --- the calls ----------------------------------------------------------------------------------------------------------

    def _create(self, **options: Any) -> Any:
        return self._client.chat.completions.create(model="m", messages=SAID, **options)

    def _bare(self) -> None:
        self._create()

    def _minimum(self) -> Callable[[], None]:
        """What anybody would write by hand: our span's attributes, our counter's and our histogram's additions."""
        meter = self.providers["meter_provider"].get_meter("app")
        calls, duration = meter.create_counter("calls"), meter.create_histogram("duration", "s")

        def call() -> None:
            what = {"gen_ai.provider.name": "openai", "gen_ai.request.model": "m", "gen_ai.operation.name": "chat"}
            where = {"server.address": "api.openai.com"}
            began = time.perf_counter()
            span_facts = {**what, **where, "server.port": 443}
            with self._tracer.start_as_current_span(
                "chat m", kind=trace.SpanKind.CLIENT, attributes=span_facts
            ) as span:
                answer = self._create()
                span.set_attributes(
                    {
                        "gen_ai.response.model": answer.model,
                        "gen_ai.response.id": answer.id,
                        "gen_ai.response.finish_reasons": [c.finish_reason for c in answer.choices],
                        "gen_ai.usage.input_tokens": answer.usage.prompt_tokens,
                        "gen_ai.usage.output_tokens": answer.usage.completion_tokens,
                    }
                )
                calls.add(1, {**what, "outcome": "ok"})
                duration.record(time.perf_counter() - began, {**what, **where})

        return call

    # --- what the parent may ask ----------------------------------------------------------------------------------------------

    def chunks(self, times: int) -> tuple[float, float]:
        """CPU microseconds of a chunk, plain and observed: the fastest block of two streams that are read in turns."""
        self._turn += 1
        streams: dict[int, Iterator[Any]] = {}
        for which in (0, 1) if self._turn & 2 else (1, 0):
            with self._observing(bool(which)):
                streams[which] = iter(self._create(stream=True, max_tokens=times + 3 * BLOCK))
        fastest = [math.inf, math.inf]
        for turn in range(-4, 2 * times // BLOCK):
            which = (turn + self._turn) % 2
            began = time.process_time()
            for _ in itertools.islice(streams[which], BLOCK):
                pass
            if turn >= 0:  # those before warm the interpreter up
                fastest[which] = min(fastest[which], time.process_time() - began)
        return fastest[0] / BLOCK * 1e6, fastest[1] / BLOCK * 1e6

    def memory(self, chunks: int) -> tuple[float, float]:
        """Bytes that our modules hold at the end of a stream of 100 and of so many chunks."""
        with self._observing(True):
            self._held(100)
            return self._held(100), self._held(chunks)

    def _held(self, chunks: int) -> float:
        tracemalloc.start()
        held = 0
        ours = tracemalloc.Filter(True, "*/llm_errors/*")
        for number, _ in enumerate(self._create(stream=True, max_tokens=chunks)):
            if number == chunks - 1:
                held = sum(s.size for s in tracemalloc.take_snapshot().filter_traces([ours]).statistics("filename"))
        tracemalloc.stop()
        return held


def nothing() -> None:
    """The application observes itself, or nobody does."""


def ours() -> Any:
    from llm_errors import LLMErrorsInstrumentor

    return LLMErrorsInstrumentor()


def official() -> Any:
    from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor

    return OpenAIInstrumentor()


def openinference() -> Any:
    from openinference.instrumentation.openai import OpenAIInstrumentor

    return OpenAIInstrumentor()


VARIANTS: dict[str, Callable[[], Any]] = {
    "minimum": nothing,
    "ours": ours,
    "adopted": ours,
    "aws": ours,
    "official": official,
    "openinference": openinference,
}


def main() -> None:
    variant = sys.argv[1]
    worker = Storage(variant) if variant == "aws" else Worker(variant)
    gc.freeze()
    for line in sys.stdin:
        what, number = line.split()
        gc.collect()
        gc.disable()
        plain, observed = getattr(worker, what)(int(number))
        gc.enable()
        print(plain, observed, flush=True)


if __name__ == "__main__":
    main()
