"""`explain` gives the right class and reason for every reported failure of the SDKs covered."""

from typing import Any

import pytest

from llm_errors.tools.explain.command import explain
from tests.cases import cases, pieces

COVERED = [c for c in cases("openai", "anthropic", "google_genai", "groq")]


@pytest.mark.parametrize("case", COVERED, ids=lambda c: c["id"])
def test_a_reported_failure(case: dict[str, Any]) -> None:
    expect, report = case["expect"], explain(pieces(case))
    also = expect.get("also_ok", {})
    assert report["class"] in {expect["class"], *also.get("class", [])}
    assert report["class"] not in expect.get("never", ())
    if report["class"] != expect["class"] or expect["class"] == "healthy":
        return
    assert report["reason"] == expect["reason"]
    assert report["retryable"] in {expect["retryable"], *also.get("retryable", [])}
    assert report["retry_after"] == expect["retry_after"]
