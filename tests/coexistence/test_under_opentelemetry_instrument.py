"""The way users run it: `opentelemetry-instrument`, console exporters, an application that knows nothing of us."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .peers import ALL
from .scenarios import SCENARIOS

HTTP = ("GET", "POST", "chat_completion_v1_")
"""How the names of spans of HTTP requests begin; the last one is of those that mistralai 1 makes itself."""
APPLICATION = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from coexistence.peers import ALL
from coexistence.scenarios import Application
from opentelemetry import _logs, metrics, trace
name, url = sys.argv[2:]
peer = next(p for p in ALL if str(p) == name)
providers = {
    "tracer_provider": trace.get_tracer_provider(),
    "meter_provider": metrics.get_meter_provider(),
    "logger_provider": _logs.get_logger_provider(),
}
with peer.running(providers):
    Application(peer.api, url).call(streamed=False)
"""


@pytest.mark.parametrize("peer", [p for p in ALL if p.name != "logfire"], ids=str)
def test_console_exporters_show_one_span_and_the_class(peer, provider):
    peer.needed()
    scenario = next(s for s in SCENARIOS[peer.api] if s.name == "plain-thrown")
    others = (
        "openai,anthropic,google-genai,google_genai,google_generativeai,boto3,botocore,bedrock,cohere,mistralai,ollama"
    )
    env = {
        **os.environ,
        **{f"OTEL_{signal}_EXPORTER": "console" for signal in ("TRACES", "METRICS", "LOGS")},
        "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": others,  # their names clash; the application starts the one it wants
        "ANTHROPIC_OPEN_TELEMETRY": "false",
    }
    command = [str(Path(sys.executable).with_name("opentelemetry-instrument")), sys.executable, "-c", APPLICATION]
    url = provider([scenario.reply]).url
    done = subprocess.run(
        [*command, str(Path(__file__).parents[1]), str(peer), url],
        env=env, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    printed = list(objects(done.stdout))
    found = [o for o in printed if "context" in o and "kind" in o and not o["name"].startswith(HTTP)]
    written = [s["attributes"]["llm.error.class"] for s in found if "llm.error.class" in s["attributes"]]
    assert len(found) == 1, [s["name"] for s in found]
    assert written == ([scenario.error_class] if peer.plain else [])
    assert '"llm_errors_total"' in done.stdout
    assert f'"llm.error.class": "{scenario.error_class}"' in done.stdout


def objects(text):
    """The JSON objects in what exporters print one after another."""
    decoder, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        found, end = decoder.raw_decode(text, at)
        yield found
        at = text.find("{", end)
