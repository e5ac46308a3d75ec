"""A promtool scenario in a few words: which counters run how, and which alerts are raised.

Values are promtool's notation. Each scenario names exactly the alerts that fire at any time in it, so each is at once
a test that all others stay silent.
"""

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from llm_errors import semconv
from llm_errors.monitoring import promql, rules
from llm_errors.monitoring.options import Options

FIRING = 'ALERTS{alertstate="firing"}'
GROUPS = [f"llm-{group}" for group in promql.GROUPS]
BOARDS = "llm-boards"


def labels(model: str, job: str, instance: str, **more: str) -> str:
    provider, name = model.split("/")
    named = {
        "job": job,
        "instance": instance,
        "gen_ai_provider_name": provider,
        "gen_ai_request_model": name,
        "gen_ai_operation_name": "chat",
        **more,
    }
    return ",".join(f'{key}="{value}"' for key, value in named.items())


def calls(
    outcome: str, values: str, model: str = "openai/gpt", job: str = "desk", instance: str = "a", **places: str
) -> dict[str, str]:
    """A calls counter; `places` are further labels, such as cluster."""
    written = labels(model, job, instance, llm_call_outcome=outcome, **places)
    return {"series": f"{semconv.CALLS}{{{written}}}", "values": values}


def errors(
    what: str, values: str, model: str = "openai/gpt", job: str = "desk", instance: str = "a", **places: str
) -> dict[str, str]:
    """An errors counter; `what` is CLASS/reason."""
    error_class, reason = what.split("/")
    more = {"llm_error_class": error_class, "llm_error_reason": reason, "llm_error_channel": "thrown"}
    return {"series": f"{semconv.ERRORS}{{{labels(model, job, instance, **more, **places)}}}", "values": values}


def failed(
    what: str, values: str, model: str = "openai/gpt", job: str = "desk", instance: str = "a", **places: str
) -> list[dict[str, str]]:
    """Calls that all failed alike: both counters."""
    return [
        calls("error", values, model, job, instance, **places),
        errors(what, values, model, job, instance, **places),
    ]


@dataclass(frozen=True)
class Scenario:
    """Counters and what follows from them.

    `raises` are the alerts that fire at any time up to `until`. `values` maps (expression, time) to the one expected
    value, None for no result. `since` counts only what fires from then on, for series that must be born before the
    story starts.
    """

    says: str
    series: list[dict[str, str]]
    until: str
    raises: set[str] = field(default_factory=set)
    values: dict[tuple[str, str], float | None] = field(default_factory=dict)
    interval: str = "15s"
    since: str = "0m"
    options: Options = field(default_factory=Options)
    boards: bool = False
    """Whether the rules that only dashboards read run too: a third of the cost, and no alert depends on them."""

    def document(self) -> dict[str, object]:
        span = f"{seconds(self.until) - seconds(self.since)}s"
        ever = f"count by (alertname) (count_over_time({FIRING}[{span}]))"
        raised = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted(self.raises)]
        counted = f"clamp_max({ever}, 1)"
        checks: list[dict[str, object]] = [{"expr": counted, "eval_time": self.until, "exp_samples": raised}]
        for (expression, time), value in self.values.items():
            samples = [] if value is None else [{"labels": "{}", "value": value}]
            checks.append(
                {"expr": f"max(round(({expression}) * 1e5)) / 1e5", "eval_time": time, "exp_samples": samples}
            )
        test = {"name": self.says, "interval": self.interval, "input_series": self.series, "promql_expr_test": checks}
        return {
            "rule_files": ["rules.json"],
            "evaluation_interval": self.interval,
            "group_eval_order": [group for group in GROUPS if self.boards or group != BOARDS],
            "tests": [test],
        }

    def run(self, promtool: str, folder: Path) -> str:
        """What promtool found wrong; empty when the scenario holds."""
        return self._run([promtool, "test", "rules", "test.json"], json.dumps(self.document()), folder)

    def run_in_victoriametrics(self, vmalert_tool: str, folder: Path) -> str:
        """What vmalert-tool found wrong; empty when the scenario holds. It calls the expressions MetricsQL."""
        document = json.dumps(self.document()).replace("promql_expr_test", "metricsql_expr_test")
        command = [vmalert_tool, "unittest", "--files=test.json", "-loggerLevel=ERROR"]
        return self._run(command, document, folder)

    def _run(self, command: list[str], document: str, folder: Path) -> str:
        groups = [each for each in rules.groups(self.options) if self.boards or not each["name"].endswith(BOARDS)]
        (folder / "rules.json").write_text(json.dumps({"groups": groups}))
        (folder / "test.json").write_text(document)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stdout + done.stderr


def seconds(duration: str) -> int:
    return sum(
        int(n) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit] for n, unit in re.findall(r"(\d+)([smhd])", duration)
    )


def begins(alert: str, span: str, **more: str) -> str:
    """How often alerts of this name began to fire within the span, by the times at which they became active."""
    matchers = ",".join(f'{key}="{value}"' for key, value in {"alertname": alert, **more}.items())
    return f"sum(changes(ALERTS_FOR_STATE{{{matchers}}}[{span}]) + 1)"


def firing(alert: str, **more: str) -> str:
    """How many alerts of this name fire."""
    matchers = ",".join(
        f'{key}="{value}"' for key, value in {"alertname": alert, "alertstate": "firing", **more}.items()
    )
    return f"count(ALERTS{{{matchers}}})"
