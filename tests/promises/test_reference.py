"""The reference of `llm-errors docs reference` lists what is emitted, no less and no more."""

import contextlib
import re
from pathlib import Path
from typing import Any

import pytest

from llm_errors import safety, semconv
from llm_errors.monitoring import generate, readme
from llm_errors.tools import reference
from tests.promises.wire import CHAT, call, failure, stream, streamed, whole

ROOT = Path(__file__).parents[2]


@pytest.fixture
def emitted(provider, connect, instrument, telemetry) -> Any:
    """What a good call, a rescued one, a stream, a failure, an UNKNOWN and an internal error emit."""
    instrument(token_usage=True, strict=False)
    unknown = whole(
        CHAT, choices=[{"index": 0, "finish_reason": "odd", "message": {"role": "assistant", "content": "x"}}]
    )
    replies = [
        whole(CHAT),
        failure(CHAT, 429, retry_after="0"),
        whole(CHAT),
        streamed(CHAT),
        failure(CHAT, 401, "invalid_api_key"),
        unknown,
    ]
    client = connect(CHAT, provider(replies).url, retries=1)
    call(CHAT, client)
    call(CHAT, client)
    list(stream(CHAT, client))
    for _ in range(2):
        with contextlib.suppress(Exception):
            call(CHAT, client)
    safety.report_internal_error("test", ValueError())
    return telemetry


@pytest.mark.parametrize(("name", "attributes"), [(row[0], row[4]) for row in reference.METRICS])
def test_a_metric_has_the_attributes_that_the_reference_lists(name, attributes, emitted):
    assert {key for labels, _ in emitted.points(name) for key in labels} == set(attributes)


def test_every_metric_is_in_the_reference(emitted):
    data = emitted._reader.get_metrics_data()
    names = {
        m.name
        for r in data.resource_metrics
        for s in r.scope_metrics
        if s.scope.name == "llm_errors"
        for m in s.metrics
    }
    assert names == {row[0] for row in reference.METRICS}


def test_every_attribute_of_a_span_is_in_the_reference(emitted):
    written = {key for span in emitted.spans() for key in span.attributes}
    assert {"llm.error.fingerprint", "llm.retry.count", "error.type", "gen_ai.request.stream"} <= written
    assert written - set(reference.SPAN) == set()


def test_every_attribute_of_a_log_record_is_in_the_reference(emitted):
    written = {key for record in emitted.logs() for key in record.attributes}
    assert {"exception.type", "llm.error.class"} <= written
    assert written - set(reference.LOG) == set()


def test_every_attribute_name_of_the_package_is_described():
    names = {value for name, value in vars(semconv).items() if name.isupper() and isinstance(value, str)}
    attributes = {name for name in names if re.fullmatch(r"(gen_ai|llm|server|error|exception)\.[\w.]+|place", name)}
    others = {row[0] for row in reference.METRICS} | {semconv.FAILURE_EVENT}
    assert attributes - others == set(reference.ATTRIBUTES)


def test_every_block_is_on_exactly_one_page(monkeypatch):
    monkeypatch.chdir(ROOT)
    found = [name for page in generate.pages() for name in re.findall(r"<!-- generated:([\w-]+) -->", page.read_text())]
    assert sorted(found) == sorted({**readme.BLOCKS, **reference.BLOCKS})


def test_the_failure_in_the_readme_is_told_as_it_says(provider, connect, observed):
    shown = dict(re.findall(r"(llm\.[\w.]+) = (\S+)", (ROOT / "README.md").read_text()))
    series = dict(re.findall(r'(llm_error_\w+)="(\w+)"', (ROOT / "README.md").read_text()))
    client = connect(CHAT, provider([failure(CHAT, 429, "insufficient_quota", retry_after="0")] * 3).url, retries=2)
    with contextlib.suppress(Exception):
        call(CHAT, client)
    told = {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in observed.span().attributes.items()
    }
    assert {name: told.get(name) for name in shown} == shown
    ((labels, _),) = observed.points("llm_errors_total")
    assert {semconv.prometheus_label(k): v for k, v in labels.items() if k.startswith("llm.")} == series
