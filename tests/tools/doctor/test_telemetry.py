"""What the doctor says of exporter settings."""

import socket

import pytest

from llm_errors.tools.doctor.finding import Grade
from llm_errors.tools.doctor.telemetry import examine

QUIET = {
    "OTEL_SERVICE_NAME": "desk",
    "OTEL_METRICS_EXPORTER": "console",
    "OTEL_TRACES_EXPORTER": "console",
    "OTEL_LOGS_EXPORTER": "console",
    "OTEL_METRIC_EXPORT_INTERVAL": "15000",
}
TEMPORALITY = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"


def faults(**changed):
    return [f.what for f in examine({**QUIET, **changed}) if f.grade is Grade.FAULT]


def test_a_sound_setup_has_no_fault_and_no_note():
    assert {f.grade for f in examine(QUIET)} == {Grade.GOOD}


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"OTEL_SERVICE_NAME": ""}, "service.name"),
        ({"OTEL_SDK_DISABLED": "true"}, "OTEL_SDK_DISABLED"),
        ({"OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "requests, llm_errors"}, "switches llm_errors off"),
        ({"OTEL_METRICS_EXPORTER": "none"}, "metrics are not exported"),
        ({TEMPORALITY: "delta"}, "would not add up"),
        ({"OTEL_METRIC_EXPORT_INTERVAL": "15s"}, "no number of milliseconds"),
        ({"OTEL_METRICS_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, "cannot be reached"),
        ({"OTEL_METRICS_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:x"}, "cannot be reached"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_fault_is_named(changed, word):
    (what,) = faults(**changed)
    assert word in what


def test_every_fault_comes_with_a_remedy():
    everything = {"OTEL_SDK_DISABLED": "true", "OTEL_METRICS_EXPORTER": "none", TEMPORALITY: "delta"}
    assert all(f.remedy for f in examine(everything) if f.grade is Grade.FAULT)


def test_the_service_name_may_stand_in_the_resource_attributes():
    assert faults(OTEL_SERVICE_NAME="", OTEL_RESOURCE_ATTRIBUTES="service.name=desk,team=support") == []


def test_a_fixed_instance_id_is_noted():
    notes = [
        f.what for f in examine({**QUIET, "OTEL_RESOURCE_ATTRIBUTES": "service.instance.id=1"}) if f.grade is Grade.NOTE
    ]
    assert "overwrite each other" in notes[0]


def test_an_endpoint_that_answers_is_good():
    with socket.create_server(("127.0.0.1", 0)) as server:
        endpoint = f"http://127.0.0.1:{server.getsockname()[1]}"
        assert faults(OTEL_METRICS_EXPORTER="otlp", OTEL_EXPORTER_OTLP_ENDPOINT=endpoint) == []


def test_short_lived_processes_want_delta():
    grades = {f.grade for f in examine({**QUIET, TEMPORALITY: "delta"}, short_lived=True)}
    assert grades == {Grade.GOOD}
    assert Grade.FAULT in {f.grade for f in examine(QUIET, short_lived=True)}


def test_a_slow_export_is_noted():
    env = {k: v for k, v in QUIET.items() if k != "OTEL_METRIC_EXPORT_INTERVAL"}
    assert any("every 60 s" in f.what and f.grade is Grade.NOTE for f in examine(env))
