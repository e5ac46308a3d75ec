"""Births and returns in a real Prometheus: a fresh process pages at its first failure, whatever the transport, and
neither an absence of Prometheus nor a label that is added makes anything of the past new."""

from pathlib import Path

import pytest
from counting import Process, RuledPrometheus
from processes import Start, eventually

ZEROS = "created-timestamp-zero-ingestion"
with_and_without_zeros = pytest.mark.parametrize("feature", [ZEROS, ""], ids=["zeros", "no-zeros"])


@with_and_without_zeros
@pytest.mark.parametrize("transport", ["scrape", "remote_write", "otlp"])
def test_the_first_failure_of_a_fresh_process_pages(transport: str, feature: str, start: Start, tmp_path: Path) -> None:
    prometheus = start(RuledPrometheus(tmp_path, feature))
    prometheus.evaluations(2)
    fresh = start(Process(failures=1, age=5))
    if transport == "otlp":
        fresh.push(f"{prometheus.url}/api/v1/otlp", "fresh")
    elif transport == "scrape":
        prometheus.scrape(fresh, job="fresh")
    else:
        sender = RuledPrometheus(tmp_path, feature, name="sender", sends_to=prometheus.url)
        sender.scrape(fresh, job="fresh")
        start(sender)
    eventually(lambda: prometheus.pages() == {"fresh"}, "the page of the fresh process", seconds=60)
    assert prometheus.new_failures("fresh") == 1


@with_and_without_zeros
def test_after_70_minutes_without_prometheus_only_new_failures_page(feature: str, start: Start, tmp_path: Path) -> None:
    old, broken = start(Process(failures=3, age=7200)), start(Process(failures=0, age=7200))
    prometheus = RuledPrometheus(tmp_path, feature, ruled=False)
    prometheus.scrape(old, job="old")
    prometheus.scrape(broken, job="broken")
    start(prometheus)
    prometheus.load_rules(old)
    prometheus.evaluations(3)
    broken.failures = 1
    eventually(lambda: prometheus.pages() == {"broken"}, "a page of the process that began to fail", seconds=60)

    prometheus.was_away(70)
    prometheus.evaluations(8)
    assert (prometheus.new_failures("old"), prometheus.new_failures("broken")) == (0, 0)
    assert prometheus.pages() == {"broken"}, "what was not repaired still pages, what is old does not begin"

    old.failures = 4
    eventually(lambda: prometheus.pages() == {"broken", "old"}, "a page of what fails again", seconds=60)
    assert prometheus.new_failures("old") == 1


@with_and_without_zeros
def test_a_label_that_is_added_to_a_scraped_process_starts_nothing_anew(
    feature: str, start: Start, tmp_path: Path
) -> None:
    process = start(Process(failures=3, age=900))
    prometheus = RuledPrometheus(tmp_path, feature, ruled=False)
    prometheus.scrape(process, job="desk")
    start(prometheus)
    prometheus.load_rules(process)
    prometheus.evaluations(4)
    # "before" is 5 minutes back, so the process must have been seen then
    prometheus.was_away(6)
    prometheus.evaluations(2)
    prometheus.scrape(process, job="desk", cluster="a")
    eventually(lambda: prometheus.query('llm_errors_total{cluster="a"}'), "the series with its new label")
    prometheus.evaluations(5)
    assert prometheus.pages() == set()

    process.failures = 4
    eventually(lambda: prometheus.pages(cluster="a") == {"desk"}, "a page of a new failure", seconds=60)
