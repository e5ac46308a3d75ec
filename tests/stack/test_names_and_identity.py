"""What arrives in Prometheus: names, labels, identity and exemplars, through agent.yaml."""

from pathlib import Path

import pytest
from application import SERVICE, Application
from counting import Process, RuledPrometheus
from processes import Start, eventually
from services import Collector, Prometheus
from sink import CallRecorder

from llm_errors import semconv as names

CALL = {names.PROVIDER, names.REQUEST_MODEL, names.OPERATION}
LABELS = {
    names.CALLS: CALL | {names.OUTCOME},
    names.ERRORS: CALL | {names.ERROR_CLASS, names.ERROR_REASON, names.ERROR_CHANNEL},
}
COMMON = {"__name__", "job", "instance", "deployment_environment_name"}


def test_names_and_labels_are_those_of_the_contract(
    start: Start, tmp_path: Path, agent: Collector, prometheus: Prometheus
):
    start(Application(agent.otlp, tmp_path)).call(failure="AUTH")
    for metric, labels in LABELS.items():
        prometheus.reaches(f"sum({metric})", 1)
        (sample,) = prometheus.query(metric)
        assert set(sample.labels) == COMMON | {names.prometheus_label(label) for label in labels}
        assert sample.labels["job"] == SERVICE
    assert sample.labels["llm_error_class"] == "AUTH"
    assert prometheus.number("gen_ai_client_operation_duration_seconds_count") == 1


def test_two_replicas_do_not_overwrite_each_other(
    start: Start, tmp_path: Path, agent: Collector, prometheus: Prometheus
):
    for count in (3, 5):
        start(Application(agent.otlp, tmp_path)).call(failure="SERVER", count=count)
    prometheus.reaches("sum(llm_errors_total)", 8)
    assert sorted(sample.value for sample in prometheus.query("llm_errors_total")) == [3, 5]
    assert prometheus.number("count(count by (instance) (llm_errors_total))") == 2


def test_the_exemplar_of_an_error_leads_to_its_trace(
    start: Start, tmp_path: Path, agent: Collector, prometheus: Prometheus, sink: CallRecorder
):
    start(Application(agent.otlp, tmp_path)).call(failure="TIMEOUT")

    def exemplars():
        found = prometheus.ask("query_exemplars", query="llm_errors_total", start="0", end="4102444800")
        return [exemplar for series in found or [] for exemplar in series["exemplars"]]

    (exemplar,) = eventually(exemplars, "an exemplar in Prometheus")
    span = eventually(lambda: [span for span in sink.spans if names.ERROR_CLASS in span.attributes], "the span")[0]
    assert exemplar["labels"]["trace_id"] == span.trace_id


def pushed(start: Start, folder: Path, translation: str) -> RuledPrometheus:
    """A Prometheus with the shipped rules, to which a fresh process pushes that has failed for a wrong key."""
    prometheus = start(RuledPrometheus(folder, translation=translation))
    prometheus.evaluations(2)
    start(Process(failures=4, age=5)).push(f"{prometheus.url}/api/v1/otlp", "desk")
    return prometheus


@pytest.mark.parametrize("translation", ["NoTranslation", "NoUTF8EscapingWithSuffixes"])
def test_label_names_that_no_rule_reads_are_told(translation: str, start: Start, tmp_path: Path):
    prometheus = pushed(start, tmp_path, translation)
    eventually(lambda: prometheus.unreadable() == {("desk", "names")}, "LLMTelemetryUnreadable", seconds=60)


@pytest.mark.parametrize("translation", ["UnderscoreEscapingWithSuffixes", "UnderscoreEscapingWithoutSuffixes"])
def test_both_translations_with_underscores_are_read(translation: str, start: Start, tmp_path: Path):
    prometheus = pushed(start, tmp_path, translation)
    eventually(lambda: prometheus.pages() == {"desk"}, "the page of the process", seconds=60)
    assert prometheus.unreadable() == set()
