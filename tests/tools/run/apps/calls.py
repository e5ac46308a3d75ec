"""An application that calls a model and ends in one of many ways: `python calls.py URL HOW`. It knows nothing of telemetry."""

import os
import signal
import sys
import time

import openai

url, how = sys.argv[1:3]
client = openai.OpenAI(base_url=f"{url}/v1", api_key="test", max_retries=0)


def ask(question):
    try:
        answer = client.chat.completions.create(model="gpt-5-mini", messages=[{"role": "user", "content": question}])
        return answer.choices[0].finish_reason
    except openai.OpenAIError as error:
        return type(error).__name__


def exported():
    """What a second of patience would do: everything so far is on its way."""
    from opentelemetry import metrics, trace

    for provider in (metrics.get_meter_provider(), trace.get_tracer_provider()):
        if hasattr(provider, "force_flush"):  # else nothing is observed
            provider.force_flush()


def wait():
    """For a signal. Short naps, because one that arrives right before a long sleep does not end it."""
    print("ready", flush=True)
    while True:
        time.sleep(0.05)


print("asked:", sys.stdin.readline().strip())
for _ in range(5):
    print(ask("hello"))
print("to standard error", file=sys.stderr)
sys.stdout.flush()
if how == "exit":
    sys.exit(7)
if how == "crash":
    raise RuntimeError("the application's own bug")
if how == "kill":
    exported()
    os.kill(os.getpid(), signal.SIGKILL)
if how == "raise":  # as uvicorn ends
    signal.raise_signal(signal.SIGTERM)
if how == "wait":
    wait()
if how == "tidy":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("tidied up"))
    wait()
print("done")
