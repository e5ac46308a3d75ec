"""What the rules record for dashboards only: since when a failure comes again and again, latency of both kinds of
histograms, deployments, and the ranks that decide colours."""

from functools import partial
from pathlib import Path

import pytest
import yaml
from artifact_tools import REPOSITORY, promtool
from promtool_scenario import Scenario, calls, errors

from llm_errors.monitoring import rules
from llm_errors.monitoring.options import Options
from llm_errors.monitoring.promql import DURATION_METRIC, Series

SERIES = Series(Options())
Minutely = partial(Scenario, interval="1m", boards=True)
HEALTHY = calls("ok", "0+10x400")
MODEL = 'job="desk",instance="a",gen_ai_provider_name="openai",gen_ai_request_model="gpt"'


def between(expression: str, low: int, high: int) -> str:
    """1 if the value lies between the two minutes."""
    return f"({expression} >= bool {low * 60}) * ({expression} <= bool {high * 60})"


def version(number: str, values: str) -> dict[str, str]:
    return {"series": f'target_info{{job="desk",instance="{number}",service_version="{number}"}}', "values": values}


SEEN = Minutely(
    "a failure is known by when it was first seen, however often it comes back",
    [HEALTHY, errors("TOOL_PROTOCOL/malformed_call", "_x10 1x190 2x60")],
    "240m",
    values={
        (SERIES.first_seen, "5m"): None,
        (between(SERIES.first_seen, 9, 13), "20m"): 1,
        (between(SERIES.last_seen, 9, 17), "100m"): 1,
        (between(SERIES.first_seen, 9, 13), "240m"): 1,
        (between(SERIES.last_seen, 199, 208), "240m"): 1,
    },
)
DEPLOYED = Minutely(
    "a version is new for five minutes, and those that run when the rules are loaded are not",
    [HEALTHY, version("1.0", "1x300"), version("1.1", "_x60 1x200")],
    "120m",
    values={
        (SERIES.deployed, "3m"): None,
        (SERIES.deployed, "59m"): None,
        (f'{SERIES.deployed}{{service_version="1.1"}}', "63m"): 1,
        (f'{SERIES.deployed}{{service_version="1.0"}}', "63m"): None,
        (SERIES.deployed, "70m"): None,
        (f"sum({SERIES.processes})", "70m"): 2,
    },
)
RANKED = Minutely(
    "the model with more calls is the first",
    [calls("ok", "0+10x100", model="openai/often"), calls("ok", "0+2x100", model="openai/seldom")],
    "40m",
    values={
        (f'{SERIES.slot("model")}{{slot="①",gen_ai_request_model="often"}}', "40m"): 1,
        (f'{SERIES.slot("model")}{{slot="②",gen_ai_request_model="seldom"}}', "40m"): 1,
        (f"count({SERIES.slot('model')})", "40m"): 2,
        (f'{SERIES.slot("provider")}{{slot="①",gen_ai_provider_name="openai"}}', "40m"): 1,
        (f'{SERIES.slot("service")}{{slot="①",job="desk"}}', "40m"): 1,
    },
)
CLASSIC = Minutely(
    "classic histograms keep their buckets per model",
    [
        HEALTHY,
        {"series": f'{DURATION_METRIC}_bucket{{{MODEL},le="1"}}', "values": "0+30x30"},
        {"series": f'{DURATION_METRIC}_bucket{{{MODEL},le="2"}}', "values": "0+60x30"},
        {"series": f'{DURATION_METRIC}_bucket{{{MODEL},le="+Inf"}}', "values": "0+60x30"},
    ],
    "20m",
    values={
        (f"histogram_quantile(0.5, {SERIES.buckets(DURATION_METRIC)})", "20m"): 1,
        (SERIES.native(DURATION_METRIC), "20m"): None,
    },
)
NATIVE = Minutely(
    "native histograms are recorded as such",
    [
        HEALTHY,
        {
            "series": f"{DURATION_METRIC}{{{MODEL}}}",
            "values": "{{schema:0 sum:0 count:0 buckets:[0]}}+{{schema:0 sum:60 count:60 buckets:[60]}}x30",
        },
    ],
    "20m",
    values={
        (between(f"60 * histogram_quantile(0.95, {SERIES.native(DURATION_METRIC)})", 0, 1), "20m"): 1,
        (f"60 * histogram_count({SERIES.native(DURATION_METRIC)})", "20m"): 60,
        (SERIES.buckets(DURATION_METRIC), "20m"): None,
    },
)


@pytest.mark.parametrize("version", ["current", "debian"])
@pytest.mark.parametrize("scenario", [SEEN, DEPLOYED, RANKED, CLASSIC], ids=lambda s: s.says.replace(" ", "_"))
def test_scenario(scenario: Scenario, version: str, tmp_path: Path) -> None:
    assert scenario.run(promtool(version), tmp_path) == ""


def test_prometheus_scrapes_every_collector_of_the_compose_file_and_itself() -> None:
    configuration = REPOSITORY / "collector-config"
    services = yaml.safe_load((configuration / "compose.yaml").read_text())["services"]
    collectors = {f"{name}:8888" for name, one in services.items() if "collector" in one["image"]}
    jobs = yaml.safe_load((configuration / "prometheus.yml").read_text())["scrape_configs"]
    scraped = {target for job in jobs for one in job["static_configs"] for target in one["targets"]}
    assert len(collectors) == 4
    assert collectors | {"localhost:9090"} <= scraped


def test_no_other_rule_reads_what_only_dashboards_read() -> None:
    groups = {group.name: group for group in rules.plan(Options())}
    boards = {rule["record"] for rule in groups.pop("llm-boards").records}
    others = [rule["expr"] for group in groups.values() for rule in group.records]
    others += [alert.expression for group in groups.values() for alert in group.alerts]
    assert boards
    assert not [expression for expression in others if any(name in expression for name in boards)]


def test_a_native_histogram(tmp_path: Path) -> None:
    """Prometheus 2.42 has none."""
    assert NATIVE.run(promtool("current"), tmp_path) == ""
