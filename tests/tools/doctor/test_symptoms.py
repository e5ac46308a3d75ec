"""`doctor` names the causes that the page on troubleshooting gives for a symptom, also those that are no faults."""

import pytest

from llm_errors.tools import cli
from llm_errors.tools.doctor import sdks

pytest.importorskip("openai")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http")


@pytest.fixture(autouse=True)
def _one_sdk(monkeypatch):
    """One SDK is enough here, and importing all of them takes a while."""
    monkeypatch.setattr(sdks, "ALL", [a for a in sdks.ALL if a.row.distribution == "openai"])


@pytest.mark.parametrize(
    ("symptom", "changed", "cause"),
    [
        (2, {"OTEL_TRACES_EXPORTER": "none"}, "traces are not exported"),
        (2, {"OTEL_TRACES_SAMPLER": "always_off"}, "no span is recorded"),
        (4, {"LLM_ERRORS_DISABLED_SDKS": "openai"}, "switched off"),
        (9, {"OTEL_RESOURCE_ATTRIBUTES": "service.instance.id=a"}, "service.instance.id is fixed to a"),
        (10, {"OTEL_SERVICE_NAME": None}, "service.name is not set"),
        (11, {"OTEL_METRIC_EXPORT_INTERVAL": None}, "metrics are exported every 60 s"),
        (12, {"OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE": "delta"}, "counters would not add up"),
        (18, {"LLM_ERRORS_SPANS": "off"}, "no span carries the class"),
        (19, {"LLM_ERRORS_SPAN": "off"}, "unknown setting LLM_ERRORS_SPAN"),
    ],
)
def test_the_cause_of_a_symptom_is_named(symptom, changed, cause, sound, capsys):
    sound(**changed)
    cli.main(["doctor"])
    assert cause in capsys.readouterr().out
