"""What may not leave does not: planted credentials. And blocked calls go to a stream of their own."""

import secrets
from pathlib import Path

import otlp
import pytest
from application import Application
from processes import Start, eventually
from replies import PLANTED_KEY
from services import Collector, Prometheus
from sink import CallRecorder

from llm_errors import semconv as names

PLANTED = {
    "openai": "sk-proj-abcDEF0123456789abcDEF0123456789",
    "anthropic": "sk-ant-api03-abcDEF0123456789abcDEF0123",
    "google": "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "bearer": "Bearer 0123456789abcdef0123456789abcdef",
    "named": "api_key=0123456789abcdef",
}


def test_a_planted_credential_is_in_no_output(agent: Collector, sink: CallRecorder, prometheus: Prometheus):
    text = "; ".join(f"refused: {secret}" for secret in PLANTED.values())
    labels, resource = {"note": text, "x-api-key": "unlikely-4711"}, {"service.name": "shop", "argv": text}
    event = {"name": text, "timeUnixNano": "1", "attributes": otlp.attributes({"exception.message": text})}
    span = otlp.span(
        secrets.token_hex(16), secrets.token_hex(8), labels, name=text, status={"code": 2, "message": text}
    )
    otlp.post(agent.otlp, "traces", otlp.spans([{**span, "events": [event]}], resource))
    otlp.post(agent.otlp, "logs", otlp.logs([otlp.record(text, labels)], resource))
    points = [otlp.point(1, labels, start=1, end=span_end(span))]
    otlp.post(agent.otlp, "metrics", otlp.counter("orders", points, resource))

    eventually(lambda: sink.spans and sink.records and prometheus.query("orders_total"), "all three signals")
    seen = sink.raw.decode(errors="replace") + repr(prometheus.query('{__name__=~".+"}')) + agent.printed()
    leaked = [kind for kind, secret in {**PLANTED, "header": "unlikely-4711"}.items() if secret.split()[-1] in seen]
    assert not leaked
    assert sink.spans[0].name.startswith("refused:")
    assert sink.spans[0].status.startswith("refused:")
    assert "lifted.name" not in sink.spans[0].attributes


def test_a_key_repeated_by_the_provider_is_in_no_output(
    start: Start, tmp_path: Path, agent: Collector, sink: CallRecorder, prometheus: Prometheus
):
    application = start(Application(agent.otlp, tmp_path))
    application.call(failure="AUTH", flush=True)
    eventually(lambda: sink.spans and sink.records and prometheus.query("llm_errors_total"), "all three signals")
    series = repr(prometheus.query('{__name__=~".+"}'))
    seen = sink.raw.decode(errors="replace") + series + agent.printed() + application.printed()
    assert "Incorrect API key provided" in seen
    assert PLANTED_KEY not in seen


def span_end(span: dict[str, str]) -> int:
    return int(span["endTimeUnixNano"])


def test_token_counts_are_no_credentials(agent: Collector, sink: CallRecorder):
    labels = {names.INPUT_TOKENS: "12", names.OUTPUT_TOKENS: "34"}
    span = otlp.span(secrets.token_hex(16), secrets.token_hex(8), labels)
    otlp.post(agent.otlp, "traces", otlp.spans([span], {"service.name": "shop"}))
    assert labels.items() <= eventually(lambda: sink.spans, "the span")[0].attributes.items()


@pytest.mark.parametrize("blocked", ["PROMPT_BLOCKED", "OUTPUT_BLOCKED"])
def test_blocked_calls_go_to_a_stream_of_their_own(
    start: Start, tmp_path: Path, agent: Collector, sink: CallRecorder, blocked: str
):
    application = start(Application(agent.otlp, tmp_path))
    application.call(failure=blocked)
    application.call(failure="TRUNCATED")
    eventually(lambda: len(sink.records) == 2, "both records")
    streams = {record.attributes[names.ERROR_CLASS]: record.tenant for record in sink.records}
    assert streams == {blocked: "trust-and-safety", "TRUNCATED": "application"}
