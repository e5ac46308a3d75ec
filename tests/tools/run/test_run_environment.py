"""What is configured stays: exporters, endpoint and headers of the user's work on beside those of `llm-errors run`."""

import os

import pytest

from llm_errors.testing import Reply
from llm_errors.tools.run.command import instrumented
from llm_errors.tools.run.environment import ADDRESS, BOOTSTRAP, environment, hints
from tests.tools.run.conftest import EXPORTER, PATIENCE, calls


def test_a_collector_that_is_configured_gets_every_signal_with_its_headers(start, model, provider):
    collector = provider(lambda request: Reply())
    variables = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20mine",
        "OTEL_SERVICE_NAME": "shop",
    }
    process = start(*calls(model, "end"), options=[], variables=variables)
    _, err = process.communicate("x\n", timeout=PATIENCE)
    assert "5 calls, 4 failed" in err
    assert {request.path for request in collector.requests} == {"/v1/traces", "/v1/metrics", "/v1/logs"}
    assert {request.headers["authorization"] for request in collector.requests} == {"Bearer mine"}
    sent = {
        path: b"".join(r.body for r in collector.requests if r.path == path) for path in ("/v1/metrics", "/v1/traces")
    }
    assert b"llm_calls_total" in sent["/v1/metrics"]
    assert b"OUTPUT_BLOCKED" in sent["/v1/traces"]
    assert b"shop" in sent["/v1/traces"]


@pytest.mark.parametrize(
    ("given", "chosen"),
    [
        ({}, EXPORTER),
        ({"OTEL_TRACES_EXPORTER": "none"}, EXPORTER),
        ({"OTEL_TRACES_EXPORTER": ""}, EXPORTER),
        ({"OTEL_TRACES_EXPORTER": "console, otlp"}, f"console,otlp,{EXPORTER}"),
        ({"OTEL_TRACES_EXPORTER": f"otlp,{EXPORTER}"}, f"otlp,{EXPORTER}"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4317"}, f"otlp,{EXPORTER}"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://localhost:4317"}, f"otlp,{EXPORTER}"),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://localhost:4317"}, EXPORTER),
    ],
)
def test_our_exporter_stands_beside_what_is_configured(given, chosen):
    assert environment(given, "127.0.0.1:1")["OTEL_TRACES_EXPORTER"] == chosen


def test_every_other_setting_is_left_as_it_is():
    given = {
        "PATH": "/bin",
        "PYTHONPATH": "/mine",
        "OTEL_EXPORTER_OTLP_HEADERS": "a=b",
        "OTEL_BSP_SCHEDULE_DELAY": "9000",
        "OTEL_METRIC_EXPORT_INTERVAL": "60000",
    }
    made = environment(given, "127.0.0.1:1")
    assert made.pop("PYTHONPATH") == os.pathsep.join(["/mine", BOOTSTRAP])
    assert made.pop(ADDRESS) == "127.0.0.1:1"
    assert {name: made[name] for name in given if name in made} == {k: v for k, v in given.items() if k != "PYTHONPATH"}
    assert set(made) - set(given) == {
        "OTEL_TRACES_EXPORTER",
        "OTEL_METRICS_EXPORTER",
        "OTEL_LOGS_EXPORTER",
        "OTEL_BLRP_SCHEDULE_DELAY",
    }


def test_a_command_that_is_instrumented_already_is_not_instrumented_twice():
    command = ["/venv/bin/opentelemetry-instrument", "python", "app.py"]
    assert instrumented(command) == command
    assert instrumented(["python", "app.py"])[1:] == ["python", "app.py"]


def test_settings_that_hide_every_call_are_named():
    assert hints({}) == []
    found = hints(
        {"OTEL_SDK_DISABLED": "TRUE", "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "x, llm_errors", "OTEL_CONFIG_FILE": "f"}
    )
    assert [hint.partition(" ")[0].partition("=")[0] for hint in found] == [
        "OTEL_SDK_DISABLED",
        "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS",
        "OTEL_CONFIG_FILE",
    ]
