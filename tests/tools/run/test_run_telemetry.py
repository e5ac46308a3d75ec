"""What arrives becomes numbers, bounded in memory; charts over time; the live table."""

import io
import os
import socket
from collections import Counter

import pytest
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from llm_errors import semconv
from llm_errors.tools.run import charts, watch
from llm_errors.tools.run import telemetry as arrived
from llm_errors.tools.run.environment import ADDRESS
from llm_errors.tools.run.exporters import post
from llm_errors.tools.run.page import page
from llm_errors.tools.run.receiver import Receiver
from llm_errors.tools.run.summary import summarise

FAILED = {semconv.ERROR_CLASS: "TIMEOUT", semconv.ERROR_REASON: "read", semconv.REQUEST_MODEL: "m"}


def spans(telemetry, *attributes):
    tracer = telemetry.tracer_provider.get_tracer("test")
    for each in attributes:
        tracer.start_span("chat", attributes=each).end()
    return encode_spans(telemetry.spans()).SerializeToString()


def test_a_span_and_a_log_record_of_one_failure_are_one(telemetry):
    from opentelemetry import trace
    from opentelemetry._logs import LogRecord

    tracer = telemetry.tracer_provider.get_tracer("test")
    span = tracer.start_span("chat", attributes={**FAILED, "gen_ai.response.id": "r1"})
    context = trace.set_span_in_context(span)
    record = LogRecord(timestamp=5, context=context, attributes={**FAILED, semconv.EXCEPTION_TYPE: "ReadTimeout"})
    telemetry.logger_provider.get_logger("test").emit(record)
    span.end()
    known = arrived.Telemetry()
    known.add("/v1/logs", encode_logs(telemetry._logs.get_finished_logs()).SerializeToString())
    known.add("/v1/traces", encode_spans(telemetry.spans()).SerializeToString())
    (failure,) = known.failures("TIMEOUT")
    assert failure.attributes[semconv.EXCEPTION_TYPE] == "ReadTimeout"
    assert failure.attributes["gen_ai.response.id"] == "r1"


def test_of_each_class_the_newest_failures_are_kept(telemetry, monkeypatch):
    monkeypatch.setattr(arrived, "KEPT", 3)
    known = arrived.Telemetry()
    known.add("/v1/traces", spans(telemetry, *({**FAILED, "n": n} for n in range(5))))
    assert sorted(failure.attributes["n"] for failure in known.failures()) == [2, 3, 4]


def test_retries_tell_whether_they_helped(telemetry):
    known = arrived.Telemetry()
    retried = {semconv.RETRY_COUNT: 2}
    known.add("/v1/traces", spans(telemetry, retried, retried, {**FAILED, **retried}, FAILED))
    assert (known.rescued, known.failed_anyway) == (2, 1)


def test_counts_are_added_up_and_a_failed_call_is_one_event_in_time(telemetry):
    meter = telemetry.meter_provider.get_meter("test")
    meter.create_counter(semconv.CALLS).add(3, {semconv.OUTCOME: "ok", semconv.REQUEST_MODEL: "m"})
    meter.create_counter(semconv.CALLS).add(2, {semconv.OUTCOME: "error", semconv.REQUEST_MODEL: "m"})
    meter.create_counter(semconv.ERRORS).add(2, {**FAILED, semconv.ERROR_CHANNEL: "in_band"})
    body = encode_metrics(telemetry._reader.get_metrics_data()).SerializeToString()
    known = arrived.Telemetry()
    for _ in range(2):
        known.add("/v1/metrics", body)
    summary = summarise(known)
    assert (summary.calls, summary.failed, summary.in_band) == (10, 4, 4)
    assert sum(known.timeline.values(), Counter()) == {"ok": 6, "TIMEOUT": 4}


def test_a_rule_for_empty_answers_does_not_ask_for_the_finish_reason_of_good_ones(telemetry):
    empty = {
        semconv.ERROR_CLASS: "UNKNOWN",
        semconv.ERROR_REASON: "empty_response",
        semconv.ERROR_CODE: "STOP",
        semconv.ERROR_EVIDENCE: "finish_reason",
        semconv.ERROR_FINGERPRINT: "f1",
        semconv.RESPONSE_FINISH_REASONS: ["STOP"],
        semconv.PROVIDER: "gcp.gemini",
    }
    known = arrived.Telemetry()
    known.add("/v1/traces", spans(telemetry, empty))
    rule = summarise(known).unknown[0].report()["toml"]
    assert 'facts = ["empty"]' in rule
    assert "STOP" not in rule


def test_what_a_provider_says_is_text_on_the_page_and_no_markup(telemetry):
    known = arrived.Telemetry()
    known.add("/v1/traces", spans(telemetry, {**FAILED, semconv.ERROR_MESSAGE: "<script>alert(1)</script>"}))
    meter = telemetry.meter_provider.get_meter("test")
    meter.create_counter(semconv.ERRORS).add(1, {**FAILED, semconv.REQUEST_MODEL: "<b>"})
    known.add("/v1/metrics", encode_metrics(telemetry._reader.get_metrics_data()).SerializeToString())
    run = {"command": "python '<i>'", "exit_code": -9, "began": "now", "seconds": 1.0}
    shown = page(summarise(known), known, run)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "ended by signal 9" in shown
    for markup in ("<script>", "<b>m", "<b><", "<i>"):
        assert markup not in shown


def test_an_export_that_is_cut_off_or_foreign_is_left_out(monkeypatch):
    with Receiver() as receiver:
        receiver.listen()
        host, port = receiver.address.split(":")
        with socket.create_connection((host, int(port))) as killed:
            killed.sendall(b"POST /v1/metrics HTTP/1.1\r\nllm-errors-process: 1\r\ncontent-length: 99\r\n\r\nxx")
        monkeypatch.setenv(ADDRESS, receiver.address)
        assert post("/v1/metrics", b"")
        receiver.settle()
        assert receiver.telemetry.processes == {str(os.getpid())}
    assert not post("/v1/metrics", b"")  # nobody listens any more


@pytest.mark.parametrize("seconds", [0, 1, 59, 60, 3599, 86_400, 40 * 86_400])
def test_a_chart_has_at_most_60_columns_and_loses_nothing(seconds):
    timeline = {1_000_000: Counter(ok=1), 1_000_000 + seconds: Counter(ok=2, AUTH=3)}
    data = charts.buckets(timeline)
    assert len(data.counts) <= 61
    total = Counter(ok=1) + Counter(ok=2, AUTH=3) if seconds else Counter(ok=2, AUTH=3)
    assert sum(data.counts, Counter()) == total


@pytest.mark.parametrize(("most", "top"), [(0, 1), (1, 1), (7, 8), (10, 10), (301, 400), (999, 1000)])
def test_the_top_of_an_axis_is_round(most, top):
    assert charts.ceiling(most) == top


def test_elsewhere_than_on_a_terminal_the_live_table_is_printed_when_it_has_changed():
    stream, lines = io.StringIO(), ["1 call"]
    shown = watch.Watch(lambda: iter(lines), stream)
    shown.show()
    shown.show()
    lines[0] = "2 calls"
    shown.show()
    assert stream.getvalue() == "\n1 call\n\n2 calls\n"


def test_on_a_terminal_only_the_last_rows_are_drawn_and_the_cursor_stays():
    assert watch.drawing(["a", "b"], height=10, rows=3) == (
        "\x1b7\x1b[8;1H\x1b[2Ka\x1b[9;1H\x1b[2Kb\x1b[10;1H\x1b[2K\x1b8"
    )
    assert "\x1b[1;7r" in watch.reserve(height=10, rows=3)
    assert "\x1b[r" in watch.release(height=10, rows=3)
