"""What the process tests run in subprocesses: `python -m promises.apps NAME URL`. Each prints one JSON line."""

import json
import os
import sys
import threading
from typing import Any

from llm_errors.testing.provider import Provider

HEALTHY = {
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "m-1",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}],
}


def instrumented() -> Any:
    """In-memory metrics of an instrumented process."""
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider

    from llm_errors import LLMErrorsInstrumentor

    reader = InMemoryMetricReader()
    LLMErrorsInstrumentor().instrument(
        strict=True, tracer_provider=TracerProvider(), meter_provider=MeterProvider(metric_readers=[reader])
    )
    return reader


def outcomes(reader: Any) -> dict[str, int]:
    data = reader.get_metrics_data()
    return {
        point.attributes["llm.call.outcome"]: point.value
        for resource in (data.resource_metrics if data else [])
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == "llm_calls_total"
        for point in metric.data.data_points
    }


def ask(url: str) -> None:
    import openai

    with openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        client.chat.completions.create(model="m", messages=[])


def fork(url: str) -> None:
    """A fork while another thread is inside a call; the child makes one of its own."""
    from llm_errors.testing.provider import Reply

    reader = instrumented()
    with Provider([Reply(json=HEALTHY, action="hang")]) as hanging:
        threading.Thread(target=lambda: _quiet(ask, hanging.url), daemon=True).start()
        hanging.hanging.wait()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            ask(url)
            os.write(write, json.dumps(outcomes(reader)).encode())
            os._exit(0)
        os.waitpid(child, 0)
        print(os.read(read, 1000).decode())


def _quiet(function: Any, *args: Any) -> None:
    try:
        function(*args)
    except Exception:
        return


def green(url: str) -> None:
    """Sixteen calls in green threads.

    The first call is made before: openai then asks the system for its name in a subprocess, and after that fork the
    OpenTelemetry SDK waits for its resource detectors, which under gevent lets the other green threads run in the child.
    """
    import gevent

    ask(url)
    reader = instrumented()
    gevent.joinall([gevent.spawn(ask, url) for _ in range(16)], raise_error=True)
    print(json.dumps(outcomes(reader)))


def spawned(url: str) -> None:
    """A child of `multiprocessing` with the spawn method, given a bound method by name."""
    import multiprocessing

    instrumented()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(json.dumps(pool.apply(_in_child, (url,))))


def _in_child(url: str) -> dict[str, int]:
    reader = instrumented()
    ask(url)
    return outcomes(reader)


def left_open(url: str) -> None:
    """A raw response that nobody parses is held to the end. An exporter's flush is registered before we instrument."""
    import atexit

    import openai

    atexit.register(lambda: print(json.dumps(outcomes(_kept[0]))))
    _kept.append(instrumented())
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
    _kept.append(client.chat.completions.with_raw_response.create(model="m", messages=[]))


def set_later(url: str) -> None:
    """Instrumented before there is a global provider, and once more when it has been set."""
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    from llm_errors import LLMErrorsInstrumentor

    LLMErrorsInstrumentor().instrument(strict=True)
    ask(url)
    reader = InMemoryMetricReader()
    metrics.set_meter_provider(MeterProvider([reader]))
    ask(url)
    LLMErrorsInstrumentor().uninstrument()
    LLMErrorsInstrumentor().instrument(strict=True)
    ask(url)
    print(json.dumps([outcomes(reader), measured(reader)]))


def measured(reader: Any) -> int:
    """Durations."""
    return sum(
        point.count
        for resource in reader.get_metrics_data().resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == "gen_ai.client.operation.duration"
        for point in metric.data.data_points
    )


_kept: list[Any] = []


def opened(url: str, api: str) -> Any:
    """A stream of which one chunk has been read."""
    if api == "gemini":
        from google import genai

        client = genai.Client(api_key="k", http_options={"base_url": url})
        seen = client.models.generate_content_stream(model="m", contents="hi")
    elif api == "messages":
        import anthropic

        asked = {"model": "m", "max_tokens": 9, "messages": []}
        seen = anthropic.Anthropic(base_url=url, api_key="k").messages.create(**asked, stream=True)
    else:
        import openai

        client = openai.OpenAI(base_url=f"{url}/v1", api_key="k")
        create, what = {
            "chat": (client.chat.completions.create, "messages"),
            "responses": (client.responses.create, "input"),
        }[api]
        seen = create(model="m", stream=True, **{what: []})
    next(seen)
    return seen


def open_at_exit(url: str, api: str) -> None:
    """A stream that is open when the process ends, with a provider that was made after we instrumented."""
    from opentelemetry import metrics
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    from llm_errors import LLMErrorsInstrumentor

    LLMErrorsInstrumentor().instrument(strict=True)
    _kept.append(opened(url, api))

    class Reader(InMemoryMetricReader):
        def shutdown(self, *args: Any, **kwargs: Any) -> None:
            print(json.dumps(outcomes(self)), flush=True)

    metrics.set_meter_provider(MeterProvider([Reader()]))


def forked_stream(url: str, api: str) -> None:
    """A stream that is open during a fork, dropped in the child and then in the parent: counts and ended spans of each."""
    import gc

    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from llm_errors import LLMErrorsInstrumentor

    reader, ended, tracing = InMemoryMetricReader(), InMemorySpanExporter(), TracerProvider()
    tracing.add_span_processor(SimpleSpanProcessor(ended))
    LLMErrorsInstrumentor().instrument(strict=True, tracer_provider=tracing, meter_provider=MeterProvider([reader]))
    _kept.append(opened(url, api))
    child = os.fork()
    if child:
        os.waitpid(child, 0)
    _kept.pop().close()
    gc.collect()
    print(json.dumps([outcomes(reader), len(ended.get_finished_spans())]), flush=True)
    if not child:
        os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "green":
        from gevent import monkey

        monkey.patch_all()
    apps = {"fork": fork, "green": green, "spawned": spawned, "left_open": left_open, "set_later": set_later}
    apps.update(open_at_exit=open_at_exit, forked_stream=forked_stream)
    apps[sys.argv[1]](*sys.argv[2:])
