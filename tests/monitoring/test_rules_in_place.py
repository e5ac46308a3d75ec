"""Where a service runs: places have their own availability and alerts, and a label that is added starts nothing anew."""

import json
import re
import subprocess

import pytest
from artifact_tools import promtool
from promtool_scenario import Scenario, calls, failed, firing

from llm_errors.monitoring import rules
from llm_errors.monitoring.options import Options

CREDENTIAL, PAGE, TICKET, MODEL = (
    "LLMCredentialOrModelError",
    "LLMAvailabilityBurnPage",
    "LLMAvailabilityBurnTicket",
    "LLMModelBurnTicket",
)
NEW = "sum(job_attributes:llm_errors:count5m)"

SCENARIOS = [
    Scenario(
        "a namespace that is down beside a large healthy one pages, and only it",
        [
            calls("ok", "0+50x120", namespace="large"),
            *failed("SERVER/overloaded", "0+1x120", namespace="small", instance="b"),
        ],
        "30m",
        {PAGE, TICKET, MODEL},
        {
            (firing(PAGE, namespace="small", window="1h"), "30m"): 1,
            (firing(PAGE, namespace="large"), "30m"): None,
            ('job:llm_slo_bad:ratio1h{namespace="small"}', "30m"): 1,
        },
    ),
    Scenario(
        "an extra label keeps its places apart, too",
        [
            calls("ok", "0+50x120", region="eu"),
            *failed("SERVER/overloaded", "0+1x120", region="us", instance="b"),
        ],
        "30m",
        {PAGE, TICKET, MODEL},
        {(firing(PAGE, region="us", window="1h"), "30m"): 1, (firing(PAGE, region="eu"), "30m"): None},
        options=Options(extra_labels=("region",)),
    ),
    Scenario(
        "a label that is added to a scraped process makes nothing of its past new",
        [
            calls("ok", "0+5x80 stale"),
            calls("ok", "_x81 405+5x80", cluster="a"),
            *failed("AUTH/expired", "7x80 stale", instance="c"),
            *failed("AUTH/expired", "_x81 7x80", instance="c", cluster="a"),
        ],
        "40m",
        since="10m",
        values={(NEW, "21m"): 0, ("sum(job_attributes:llm_calls:count5m)", "24m"): 100},
    ),
    Scenario(
        "nor to a process that is pushed, whose old series get no end",
        [
            *failed("AUTH/expired", "7x80"),
            *failed("AUTH/expired", "_x81 7x80", deployment_environment_name="prod"),
        ],
        "40m",
        since="10m",
        values={(NEW, "21m"): 0},
    ),
    Scenario(
        "nor when the process tells its start by a zero at that time",
        [
            *failed("AUTH/expired", "7x80 stale"),
            *failed("AUTH/expired", "_x40 0 _x40 7x80", cluster="a"),
        ],
        "40m",
        since="11m",
        values={(NEW, "21m"): 0},
    ),
    Scenario(
        "what fails after the label was added is new",
        [
            *failed("AUTH/expired", "7x80 stale"),
            *failed("AUTH/expired", "_x81 7x8 8x60", cluster="a"),
        ],
        "35m",
        {CREDENTIAL},
        {(NEW, "23m"): 1, (firing(CREDENTIAL, cluster="a"), "35m"): 1},
        since="10m",
    ),
]


@pytest.mark.parametrize("version", ["current", "debian"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.says.replace(" ", "_"))
def test_scenario(scenario: Scenario, version: str, tmp_path) -> None:
    assert scenario.run(promtool(version), tmp_path) == ""


def test_every_sum_and_every_join_keeps_the_places() -> None:
    text = json.dumps(rules.groups(Options()))
    kept = re.findall(r"(?:by|on) \((job, [^)]*)\)", text)
    process = {"instance"}  # one process has one place
    assert all("cluster" in labels for labels in kept if not process & set(labels.split(", ")))


def test_two_sets_of_rules_live_in_one_prometheus(tmp_path) -> None:
    """Both see the same series, so every name that they shared would be a duplicate."""
    sets = [Options(name="eu", selectors=('region="eu"',)), Options(name="us", selectors=('region="us"',))]
    groups = [group for options in sets for group in rules.groups(options)]
    series = [s for region in ("eu", "us") for s in failed("AUTH/expired", "_x40 1x80", instance=region, region=region)]
    firing_sets = f'count by (rule_set) (ALERTS{{alertname="{CREDENTIAL}"}})'
    test = {
        "interval": "15s",
        "input_series": series,
        "promql_expr_test": [
            {
                "expr": firing_sets,
                "eval_time": "20m",
                "exp_samples": [{"labels": f'{{rule_set="{name}"}}', "value": 1} for name in ("eu", "us")],
            }
        ],
    }
    (tmp_path / "rules.json").write_text(json.dumps({"groups": groups}))
    document = {
        "rule_files": ["rules.json"],
        "evaluation_interval": "15s",
        "group_eval_order": [group["name"] for group in groups],
        "tests": [test],
    }
    (tmp_path / "test.json").write_text(json.dumps(document))
    for command in (("check", "rules", "rules.json"), ("test", "rules", "test.json")):
        done = subprocess.run([promtool("current"), *command], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "duplicate" not in done.stdout + done.stderr
