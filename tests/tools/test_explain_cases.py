"""`explain` gives the right class and reason for every reported failure of the case files; a miss names the rule."""

from typing import Any

import pytest

from llm_errors.tools.explain.command import explain
from tests.cases import HERE, cases, pieces

FILES = sorted(path.stem for path in HERE.glob("*.yaml") if path.stem != "instrumentation")


def test_every_file_has_cases() -> None:
    assert {"anthropic", "google_genai", "openai", "others"} <= set(FILES)
    assert all(cases(name) for name in FILES)


@pytest.mark.parametrize("case", cases(*FILES), ids=lambda c: c["id"])
def test_a_reported_failure(case: dict[str, Any]) -> None:
    expect, report = case["expect"], explain(pieces(case))
    also, decided = expect.get("also_ok", {}), f"decided by {report.get('rule')}"
    assert report["class"] in {expect["class"], *also.get("class", [])}, decided
    assert report["class"] not in expect.get("never", ()), decided
    if report["class"] != expect["class"] or expect["class"] == "healthy":
        return
    assert report["reason"] in {expect["reason"], *also.get("reason", [])}, decided
    assert report["retryable"] in {expect["retryable"], *also.get("retryable", [])}, decided
    assert report["retry_after"] in {expect["retry_after"], *also.get("retry_after", [])}, decided
