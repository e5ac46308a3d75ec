"""The way users run it: `opentelemetry-instrument`, console exporters, an application per SDK that knows nothing of us."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from llm_errors import providers
from tests.sdks.scripts.table import SCRIPTS

ROOT = Path(__file__).parents[2]


def objects(text):
    """The JSON objects in what exporters print one after another."""
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        found, end = decoder.raw_decode(text, at)
        yield found
        at = text.find("{", end)


def points(printed, name):
    """The attributes of every data point of a counter, as often as it counts."""
    for one in printed:
        for resource in one.get("resource_metrics", ()):
            for scope in resource["scope_metrics"]:
                for metric in scope["metrics"]:
                    for point in metric["data"]["data_points"] if metric["name"] == name else ():
                        yield from [point["attributes"]] * point["value"]


@pytest.mark.parametrize("sdk", SCRIPTS)
def test_a_script_counts_every_call_once_and_has_one_span_of_it(sdk, provider):
    script = SCRIPTS[sdk]
    pytest.importorskip(script.package, reason=f"{providers.sdk(sdk).distribution} is not installed")
    env = {
        **os.environ,
        **{f"OTEL_{signal}_EXPORTER": "console" for signal in ("TRACES", "METRICS")},
        "OTEL_LOGS_EXPORTER": "none",
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
    }
    url = provider([step.reply for step in script.steps]).url
    done = subprocess.run(
        [Path(sys.executable).with_name("opentelemetry-instrument"), sys.executable, "-m", "tests.sdks.scripts", sdk, url],
        env=env, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    printed = list(objects(done.stdout))
    # mistralai 1 makes an internal span of its own as soon as there is a global provider.
    clients = [one["attributes"] for one in printed if one.get("kind") == "SpanKind.CLIENT"]
    spans = [one for one in clients if "gen_ai.provider.name" in one]
    expected = [step.outcome for step in script.steps]
    assert list(map(outcome, spans)) == expected, done.stderr[-2000:]
    assert [one.get("gen_ai.request.model") for one in spans] == script.models
    calls = list(points(printed, "llm_calls_total"))
    assert Counter(one.get("gen_ai.request.model") for one in calls) == Counter(script.models)
    assert Counter(map(outcome, points(printed, "llm_errors_total"))) == Counter(o for o in expected if o != "ok")


def outcome(attributes):
    """The outcome of a step, as a span or an error tells it."""
    found = attributes.get("llm.error.class")
    return "ok" if found is None else f"{found}/{attributes['llm.error.reason']}"
