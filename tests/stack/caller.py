"""The application under test: model calls through the real openai SDK, ordered by JSON lines on standard input.

`{"model": "gpt-5", "failure": CLASS or null, "count": n, "flush": true or false}`; one line answers when they are done.
It knows nothing of llm-errors: `opentelemetry-instrument` brings that in.
"""

import contextlib
import functools
import json
import os
import resource
import statistics
import sys
import time

import openai
from opentelemetry import _logs, metrics, trace


@functools.cache
def client(failure):
    url = f"{os.environ['PROVIDER_URL']}/{failure or 'OK'}/v1"
    return openai.OpenAI(base_url=url, api_key=os.environ["PROVIDER_KEY"], max_retries=0)


def call(model, failure):
    begun = time.perf_counter()
    with contextlib.suppress(openai.OpenAIError):
        client(failure).chat.completions.create(model=model, messages=[{"role": "user", "content": "hi"}])
    return time.perf_counter() - begun


def flush():
    """What a function does at the end of its handler, before it is frozen."""
    for provider in (metrics.get_meter_provider(), trace.get_tracer_provider(), _logs.get_logger_provider()):
        provider.force_flush()


def main():
    for line in sys.stdin:
        order = json.loads(line)
        took = [call(order["model"].format(number), order["failure"]) for number in range(order["count"])]
        if order.get("flush"):
            flush()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"median": statistics.median(took), "peak_megabytes": peak}), flush=True)


main()
