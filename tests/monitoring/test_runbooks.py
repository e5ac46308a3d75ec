"""Every alert has its runbook, all of one shape, and what a runbook tells to paste or to open exists."""

import json
import re
from pathlib import Path

import pytest
from artifact_tools import REPOSITORY
from seeded_prometheus import SeededPrometheus

DASHBOARDS = REPOSITORY / "dashboards"
RULES = (DASHBOARDS / "prometheus/llm-errors.rules.yml").read_text(encoding="utf-8")
ALERTS = set(re.findall(r"- alert: (\w+)", RULES))
INSTRUMENTS = {
    "llm_calls_total",
    "llm_errors_total",
    "llm_retries_total",
    "llm_instrumentation_errors_total",
    "gen_ai_client_operation_duration_seconds_bucket",
    # Prometheus' and the Collector's own
    "prometheus_rule_group_last_duration_seconds",
    "prometheus_rule_group_interval_seconds",
    "otelcol_exporter_queue_size",
    "otelcol_exporter_queue_capacity",
}
METRICS = INSTRUMENTS | set(re.findall(r"- record: (\S+)", RULES))
LABELS = {
    "gen_ai_provider_name",
    "gen_ai_request_model",
    "gen_ai_operation_name",
    "llm_call_outcome",
    "llm_error_class",
}
LABELS |= {
    "cluster",
    "namespace",
    "deployment_environment_name",
    "job",
    "instance",
    "llm_error_reason",
    "llm_error_channel",
    "le",
    "place",
    "rule_group",
    "component",
    "signal",
    "exporter",
    "__name__",
}
WORDS = {"and", "or", "unless", "offset", "bool", "group_left", "group_right", "inf", "nan"}
SECTIONS = [
    "What it means",
    "First look",
    "Likely causes",
    "What to do",
    "How to silence",
    "When it is wrong",
]
RUNBOOKS = sorted((DASHBOARDS / "runbooks").glob("*.md"))

NOT_IN_THE_SEED = {"LLMInstrumentationErrors", "LLMPipelineLosing", "LLMRulesBehind"}
NOT_IN_THE_SEED |= {"LLMTelemetryMissing", "LLMTelemetryUnreadable"}

every_runbook = pytest.mark.parametrize("runbook", RUNBOOKS, ids=lambda path: path.stem)


def titles() -> dict[str, set[str]]:
    """The panels' titles by the dashboard's."""
    boards = [json.loads(path.read_text(encoding="utf-8")) for path in (DASHBOARDS / "grafana").glob("*.json")]
    return {board["title"]: set(re.findall(r'"title": "([^"]+)"', json.dumps(board))) for board in boards}


def section(text: str, name: str) -> str:
    """What stands under a heading."""
    return re.split(r"^## ", text.split(f"## {name}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def names(query: str) -> tuple[set[str], set[str]]:
    """The metrics and the labels of a query."""
    bare = re.sub(r'"[^"]*"', '""', query)
    labels = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"\"", bare))
    grouping = r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)"
    for group in re.findall(grouping, bare):
        labels |= set(re.findall(r"\w+", group))
    bare = re.sub(grouping, " ", bare)
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]", " ", bare)
    metrics = set(re.findall(r"(?<![\w:.])[a-zA-Z_][\w:]*(?![\w:]|\s*\()", bare))
    return metrics - WORDS, labels


def test_every_alert_has_a_runbook_and_every_runbook_an_alert() -> None:
    assert {path.stem for path in RUNBOOKS} == ALERTS
    assert set(re.findall(r"runbook_url: \S+/(\w+)\.md", RULES)) == ALERTS


@every_runbook
def test_all_have_one_shape(runbook: Path) -> None:
    text = runbook.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert lines[0] == f"# {runbook.stem}"
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == SECTIONS
    first = section(text, "First look")
    assert "```promql" in first
    assert "- Traces: " in first
    assert "- Logs: " in first
    assert "|---|" in section(text, "Likely causes")
    assert section(text, "What to do").lstrip().startswith("1. ")
    assert 30 <= len(lines) <= 70


QUERIES = [
    pytest.param(query, path.stem not in NOT_IN_THE_SEED and "instrumentation" not in query, id=f"{path.stem}-{number}")
    for path in RUNBOOKS
    for number, query in enumerate(
        re.findall(r"^ *```promql\n(.*?)```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    )
]


@pytest.mark.parametrize(("query", "told"), QUERIES)
def test_every_query_runs_in_prometheus_and_answers_where_the_seed_has_its_story(
    query: str, told: bool, seeded: SeededPrometheus
) -> None:
    chosen = re.sub(r'="<[^"]+>"', '=~".*"', query)
    assert "<" not in re.sub(r"<=?\s*[\d.(]", "", chosen)
    found = seeded.query(chosen, instant=True, hours=1, step=60)
    assert found or not told or seeded.query(chosen, instant=False, hours=24, step=600)


@every_runbook
def test_every_metric_and_label_of_a_query_exists(runbook: Path) -> None:
    queries = re.findall(r"^ *```promql\n(.*?)```", runbook.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert queries
    for query in queries:
        metrics, labels = names(query)
        assert metrics or "__name__" in labels
        assert metrics <= METRICS
        assert labels <= LABELS


@every_runbook
def test_the_dashboard_and_its_panels_exist(runbook: Path) -> None:
    first = section(runbook.read_text(encoding="utf-8"), "First look")
    line = next(line for line in first.splitlines() if line.startswith("- Dashboard "))
    board, *panels = re.findall(r"`([^`]+)`", line)
    assert panels
    assert set(panels) <= titles()[board]


@every_runbook
def test_a_silence_names_the_alert_and_the_service(runbook: Path) -> None:
    silence = section(runbook.read_text(encoding="utf-8"), "How to silence")
    assert "amtool silence add --duration=" in silence
    assert f'alertname={runbook.stem} job="<job>"' in silence


def test_the_runbook_of_an_outage_says_what_time_outs_add_to_the_four_minutes() -> None:
    text = (DASHBOARDS / "runbooks/LLMAvailabilityBurnPage.md").read_text(encoding="utf-8")
    assert "4 minutes plus the time-out of one attempt, times the attempts" in section(text, "What to do")


def test_the_names_of_a_query_are_found() -> None:
    query = (
        'topk(3, sum by (job, le) (rate(no_such_metric{place="a"}[5m]))) / on (job) (1 - job:x:ratio5m offset 5m) > 0.5'
    )
    assert names(query)[0] == {"no_such_metric", "job:x:ratio5m"}
    assert names(query)[1] == {"job", "le", "place"}
