"""What cannot be seen is told: telemetry that nobody can read or that is lost, rules that are late, own failures."""

import json
import subprocess
from functools import partial
from pathlib import Path

import pytest
from artifact_tools import REPOSITORY, promtool
from promtool_scenario import Scenario, calls, firing

from llm_errors.monitoring.options import Options

UNREADABLE, OWN, LOSING = "LLMTelemetryUnreadable", "LLMInstrumentationErrors", "LLMPipelineLosing"
BEHIND, MISSING = "LLMRulesBehind", "LLMTelemetryMissing"
BEHIND_OF = 'prometheus_rule_group_iterations_missed_total{job="prometheus",instance="p:9090",rule_group="/r.yml;%s"}'


Minutely = partial(Scenario, interval="1m")


def counter(series: str, values: str) -> dict[str, str]:
    """Any counter."""
    return {"series": series, "values": values}


UNREAD = [
    Minutely(
        "label names that were not translated are told, not silence",
        [counter('llm_calls_total{job="desk",instance="a"}', "0+10x20")],
        "20m",
        {UNREADABLE},
        {(firing(UNREADABLE, job="desk", problem="names", severity="ticket"), "5m"): 1},
    ),
    Minutely(
        "counters with a prefix are told",
        [counter('shop_llm_errors_total{job="desk",instance="a",llm_error_class="AUTH"}', "0+10x20")],
        "20m",
        {UNREADABLE},
        {(firing(UNREADABLE, job="desk", problem="names"), "5m"): 1},
    ),
    Minutely(
        "counters without a service are told",
        [calls("ok", "0+10x20", job="unknown_service:python")],
        "20m",
        {UNREADABLE},
        {(firing(UNREADABLE, problem="service"), "5m"): 1},
    ),
    Minutely(
        "the overflow of the SDK's attribute sets is told",
        [
            calls("ok", "0+10x20"),
            counter('llm_calls_total{job="desk",instance="a",otel_metric_overflow="true"}', "0+9x20"),
        ],
        "20m",
        {UNREADABLE},
        {(firing(UNREADABLE, job="desk", problem="overflow"), "5m"): 1},
    ),
    Minutely("what is readable is silent, also the series that the rules record", [calls("ok", "0+10x20")], "20m"),
]

EVALUATED = [
    Minutely(
        "missed evaluations of these groups are told with Prometheus' own job",
        [counter(BEHIND_OF % "llm-slo", "0x10 0+1x10")],
        "20m",
        {BEHIND},
        {(firing(BEHIND, job="prometheus", instance="p:9090"), "15m"): 1},
    ),
    Minutely(
        "missed evaluations of other groups are silent", [counter(BEHIND_OF % "node-alerts", "0x10 0+1x10")], "20m"
    ),
    Minutely("a Prometheus that keeps up is silent", [counter(BEHIND_OF % "llm-slo", "7x20")], "20m"),
    Minutely(
        "a failure of the instrumentation itself is told with its place, and stays for the day",
        [counter('llm_instrumentation_errors_total{job="desk",instance="a",place="chunk"}', "_x10 1x20")],
        "30m",
        {OWN},
        {(firing(OWN, job="desk", place="chunk", severity="info", view="review"), "30m"): 1},
    ),
]


def of_collector(name: str, values: str, component: str = "exporter") -> dict[str, str]:
    """One of a Collector's own metrics."""
    return counter(f'otelcol_{name}{{job="collectors",instance="c:8888",{component}="otlp"}}', values)


CARRIED = [
    Minutely(
        "items that an exporter gave up are told with the Collector's job, whatever the release calls them",
        [
            of_collector("exporter_send_failed_metric_points", "0x10 0+5x10"),
            counter(
                'otelcol_exporter_send_failed_spans_total{job="other",instance="d",exporter="otlp"}', "0x10 0+5x10"
            ),
        ],
        "20m",
        {LOSING},
        {
            (firing(LOSING, job="collectors", problem="send_failed"), "12m"): 1,
            (firing(LOSING, job="other", problem="send_failed"), "12m"): 1,
        },
    ),
    Minutely(
        "a counter of losses that is born non-zero is told",
        [of_collector("receiver_refused_log_records", "_x10 3x10", "receiver")],
        "20m",
        {LOSING},
        {(firing(LOSING, problem="refused"), "11m"): 1},
    ),
    Minutely(
        "a queue that is nearly full is told",
        [of_collector("exporter_queue_size", "0x10 100+100x10"), of_collector("exporter_queue_capacity", "1000x20")],
        "20m",
        {LOSING},
        {(firing(LOSING, problem="queue"), "17m"): None, (firing(LOSING, problem="queue"), "19m30s"): 1},
    ),
    Minutely(
        "a Collector that loses nothing is silent",
        [
            of_collector("exporter_send_failed_spans", "4x40"),
            of_collector("receiver_refused_spans", "0x40", "receiver"),
            of_collector("exporter_queue_size", "100x40"),
            of_collector("exporter_queue_capacity", "1000x40"),
        ],
        "40m",
        since="25m",
    ),
]

SILENT = [
    Minutely(
        "a batch job is silent between its runs",
        [calls("ok", "0+60x60 stale", job="nightly")],
        "180m",
        options=Options(batch_jobs=("nightly",)),
    ),
    Minutely(
        "one cluster that goes silent is told while another reports",
        [calls("ok", "0+60x60 stale", cluster="a"), calls("ok", "0+60x180", cluster="b", instance="b")],
        "180m",
        {MISSING},
        {(firing(MISSING, cluster="a"), "100m"): 1, (firing(MISSING, cluster="b"), "180m"): None},
    ),
    Minutely(
        "a service that only got a label is not missing",
        [calls("ok", "0+60x60 stale"), calls("ok", "_x61 3660+60x120", cluster="a")],
        "180m",
    ),
]

SCENARIOS = [*UNREAD, *EVALUATED, *CARRIED, *SILENT]


@pytest.mark.parametrize("version", ["current", "debian"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.says.replace(" ", "_"))
def test_scenario(scenario: Scenario, version: str, tmp_path) -> None:
    assert scenario.run(promtool(version), tmp_path) == ""


ALONE = REPOSITORY / "collector-config/llm-pipeline.rules.yml"


@pytest.mark.parametrize("scenario", CARRIED, ids=lambda s: s.says.replace(" ", "_"))
def test_the_rules_beside_the_collectors_need_no_others(scenario: Scenario, tmp_path: Path) -> None:
    document = {**scenario.document(), "rule_files": [str(ALONE)], "group_eval_order": ["llm-pipeline"]}
    (tmp_path / "test.json").write_text(json.dumps(document))
    command = [promtool("current"), "test", "rules", "test.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
