"""The label allow-list of agent.yaml: what it drops is added up, not overwritten, and no label text is unbounded."""

import time
from pathlib import Path
from typing import Any

import otlp
from application import Application
from processes import Start
from services import Collector, Prometheus

MODELS = 3000
SERIES_AT_MOST = 1501
"""Past 1,500 attribute sets the package calls every further model `other`."""

IDENTITY = {"service.name": "shop", "service.instance.id": "one"}


def points(*values: tuple[int, dict[str, str]]) -> list[dict[str, Any]]:
    """One collection of an SDK: all its points have the same times."""
    now = time.time_ns()
    return [otlp.point(value, labels, start=now - 10**9, end=now) for value, labels in values]


def labels(**more: str) -> dict[str, str]:
    facts = {"llm.error.class": "SERVER", "llm.error.reason": "internal", "llm.error.channel": "thrown"}
    common = {"gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5", "gen_ai.operation.name": "chat"}
    return {**common, **facts, **more}


def test_points_that_differ_in_a_dropped_label_only_are_added_up(agent: Collector, prometheus: Prometheus):
    found = points(*((number, labels(**{"user.id": str(number)})) for number in (1, 2, 4)))
    otlp.post(agent.otlp, "metrics", otlp.counter("llm_errors_total", found, IDENTITY))
    prometheus.reaches("sum(llm_errors_total)", 7)
    (sample,) = prometheus.query("llm_errors_total")
    assert "user_id" not in sample.labels


def test_a_text_in_the_place_of_a_model_name_becomes_other(agent: Collector, prometheus: Prometheus):
    names = ["Tell me a story about a fox", "x" * 200, "gpt-5"]
    found = points(*((1, labels(**{"gen_ai.request.model": name})) for name in names))
    otlp.post(agent.otlp, "metrics", otlp.counter("llm_errors_total", found, IDENTITY))
    prometheus.reaches("sum(llm_errors_total)", 3)
    counts = {sample.labels["gen_ai_request_model"]: sample.value for sample in prometheus.query("llm_errors_total")}
    assert counts == {"other": 2, "gpt-5": 1}


def test_metrics_of_others_pass_untouched(agent: Collector, prometheus: Prometheus):
    otlp.post(agent.otlp, "metrics", otlp.counter("orders", points((5, {"country": "nz"})), IDENTITY))
    prometheus.reaches('sum(orders_total{country="nz"})', 5)


def test_a_flood_of_model_names_stays_bounded_and_counted(
    start: Start, tmp_path: Path, agent: Collector, prometheus: Prometheus
):
    start(Application(agent.otlp, tmp_path)).call("model-{}", failure="NOT_FOUND", count=MODELS)
    prometheus.reaches("sum(llm_errors_total)", MODELS)
    assert prometheus.number("count(llm_errors_total)") <= SERIES_AT_MOST
