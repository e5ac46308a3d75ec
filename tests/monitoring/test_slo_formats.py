"""The objective for other SLO tools: the same calls, the same number, names that the tools take."""

import re
from typing import Any

import pytest

from llm_errors.monitoring import slo_formats
from llm_errors.monitoring.options import Options

OPTIONS = Options(objective=99.5, objectives={"shop/chat.api": 99.9}, window_days=28, selectors=('region="eu"',))
SLOTH, OPEN_SLO = slo_formats.sloth(OPTIONS), slo_formats.open_slo(OPTIONS)
DNS_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"


def queries(document: dict[str, Any]) -> tuple[str, str]:
    """Bad and valid calls of either format."""
    if "spec" in document:
        ratio = document["spec"]["indicator"]["spec"]["ratioMetric"]
        return tuple(ratio[part]["metricSource"]["spec"]["query"] for part in ("bad", "total"))  # type: ignore[return-value]
    events = document["slos"][0]["sli"]["events"]
    return events["error_query"], events["total_query"]


@pytest.mark.parametrize("documents", [SLOTH, OPEN_SLO], ids=["Sloth", "OpenSLO"])
class TestBothFormats:
    def test_the_objective_of_each_service_and_of_all_others(self, documents: list[dict[str, Any]]) -> None:
        bad = [queries(document)[0] for document in documents]
        assert 'job="shop/chat.api"' in bad[0]
        assert 'job!~"shop/chat[.]api"' in bad[1]

    def test_only_the_four_reliability_classes_are_bad(self, documents: list[dict[str, Any]]) -> None:
        assert all("TRANSPORT|TIMEOUT|RATE_LIMITED|SERVER" in queries(document)[0] for document in documents)

    def test_blocked_and_cancelled_calls_are_no_valid_events(self, documents: list[dict[str, Any]]) -> None:
        valid = [queries(document)[1] for document in documents]
        assert all("PROMPT_BLOCKED|OUTPUT_BLOCKED" in query and "cancelled" not in query for query in valid)

    def test_a_selector_is_on_every_series(self, documents: list[dict[str, Any]]) -> None:
        for query in (query for document in documents for query in queries(document)):
            assert query.count("_total{") == query.count('region="eu"')

    def test_services_are_named_as_the_tools_take_it(self, documents: list[dict[str, Any]]) -> None:
        names = [document["spec"]["service"] if "spec" in document else document["service"] for document in documents]
        assert names == ["shop-chat-api", "other-services"]


def test_sloth_has_percentages_and_windows_to_fill_in() -> None:
    assert [document["slos"][0]["objective"] for document in SLOTH] == [99.9, 99.5]
    assert all(query.count("[{{.window}}]") == query.count("_total{") for one in SLOTH for query in queries(one))


def test_open_slo_has_ratios_and_the_window() -> None:
    assert [document["spec"]["objectives"][0]["target"] for document in OPEN_SLO] == [0.999, 0.995]
    assert {document["spec"]["timeWindow"][0]["duration"] for document in OPEN_SLO} == {"28d"}
    assert all(re.fullmatch(DNS_LABEL, document["metadata"]["name"]) for document in OPEN_SLO)
