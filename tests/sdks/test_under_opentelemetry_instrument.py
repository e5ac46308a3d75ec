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
    outcomes = {
        **{a["gen_ai.request.model"]: "ok" for a in points(printed, "llm_calls_total")},
        **{
            a["gen_ai.request.model"]: f"{a['llm.error.class']}/{a['llm.error.reason']}"
            for a in points(printed, "llm_errors_total")
        },
    }
    # mistralai 1 makes an internal span of its own as soon as there is a global provider.
    clients = [one for one in printed if one.get("kind") == "SpanKind.CLIENT"]
    spans = [one for one in clients if "gen_ai.request.model" in one["attributes"]]
    assert outcomes == {step.name: step.outcome for step in script.steps}, done.stderr[-2000:]
    assert Counter(a["gen_ai.request.model"] for a in points(printed, "llm_calls_total")) == {
        step.name: 1 for step in script.steps
    }
    assert Counter(span["attributes"]["gen_ai.request.model"] for span in spans) == {
        step.name: 1 for step in script.steps
    }
    for span in spans:
        written = span["attributes"]
        reached = outcomes[written["gen_ai.request.model"]]
        assert written.get("llm.error.class", "ok") == reached.partition("/")[0]
