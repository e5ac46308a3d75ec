"""What is told of a call: spans of our own and of others, log records, bounded labels, and what never leaves.

Handed cases: ins-sentinel-values, ins-metric-cardinality.
"""

import itertools
import json
import logging
import subprocess
import sys
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from llm_errors import semconv
from llm_errors.telemetry import labels, logs
from llm_errors.testing.provider import Reply
from tests.promises.wire import (
    APIS,
    CHAT,
    GEMINI,
    MESSAGES,
    RESPONSES,
    asked,
    call,
    events,
    failure,
    method,
    stream,
    streamed,
    whole,
)

OPERATION = {CHAT: "chat", RESPONSES: "chat", MESSAGES: "chat", GEMINI: "generate_content"}
PROVIDER = {CHAT: "openai", RESPONSES: "openai", MESSAGES: "anthropic", GEMINI: "gcp.gemini"}
OURS = (CHAT, RESPONSES, GEMINI)
"""APIs whose SDK makes no span of its own in any supported release."""


def attempt(api: str, client: Any, **more: Any) -> None:
    try:
        call(api, client, **more)
    except Exception:
        return


def with_end(api: str, reason: str) -> Reply:
    """An answer that ended for this reason."""
    if api == CHAT:
        message = {"role": "assistant", "content": "one"}
        return whole(CHAT, choices=[{"index": 0, "finish_reason": reason, "message": message}])
    return whole(GEMINI, candidates=[{"content": {"parts": [{"text": "one"}]}, "finishReason": reason}])


@pytest.mark.parametrize("api", OURS)
def test_our_own_span_of_a_good_call(api, provider, connect, observed):
    server = provider([whole(api)])
    call(api, connect(api, server.url))
    span = observed.span()
    assert span.name == f"{OPERATION[api]} m"
    assert span.kind is SpanKind.CLIENT
    assert span.status.status_code is StatusCode.UNSET
    assert span.instrumentation_scope.name == "llm_errors"
    told = dict(span.attributes)
    port = told.pop("server.port")
    assert server.url.endswith(str(port))
    reason = {CHAT: ("stop",), GEMINI: ("STOP",)}.get(api)
    assert told.pop("gen_ai.response.finish_reasons", None) in (reason, ("completed",), ("stop",), None)
    assert told == {
        "gen_ai.operation.name": OPERATION[api],
        "gen_ai.provider.name": PROVIDER[api],
        "gen_ai.request.model": "m",
        "gen_ai.response.model": "m-1",
        "gen_ai.response.id": {CHAT: "c1", RESPONSES: "r1", GEMINI: "g1"}[api],
        "gen_ai.usage.input_tokens": 3,
        "gen_ai.usage.output_tokens": 2,
        "server.address": "127.0.0.1",
    }


@pytest.mark.parametrize("api", OURS)
def test_our_own_span_of_a_stream_tells_of_its_first_chunk(api, provider, connect, observed):
    list(stream(api, connect(api, provider([streamed(api)]).url)))
    told = observed.span().attributes
    assert told["gen_ai.request.stream"] is True
    assert told["gen_ai.response.time_to_first_chunk"] >= 0


@pytest.mark.parametrize("api", OURS)
def test_a_thrown_failure_has_status_error_and_its_class(api, provider, connect, observed):
    attempt(api, connect(api, provider([failure(api, 429, retry_after="7")]).url))
    span = observed.span()
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description.startswith("RATE_LIMITED/")
    told = span.attributes
    assert told["llm.error.class"] == "RATE_LIMITED"
    assert told["llm.error.channel"] == "thrown"
    assert told["llm.error.status_code"] == 429
    assert told["llm.error.retryable"] is True
    assert told["llm.error.partial_output"] is False
    assert told["llm.error.rule"]
    assert told["error.type"].endswith(("RateLimitError", "ClientError"))


@pytest.mark.parametrize(
    ("api", "reason", "error_class", "status"),
    [
        (CHAT, "length", "TRUNCATED", StatusCode.UNSET),
        (CHAT, "content_filter", "OUTPUT_BLOCKED", StatusCode.UNSET),
        (CHAT, "error", "SERVER", StatusCode.ERROR),
        (CHAT, "brand_new", "UNKNOWN", StatusCode.ERROR),
        (GEMINI, "MAX_TOKENS", "TRUNCATED", StatusCode.UNSET),
        (GEMINI, "SAFETY", "OUTPUT_BLOCKED", StatusCode.UNSET),
        (GEMINI, "MALFORMED_FUNCTION_CALL", "TOOL_PROTOCOL", StatusCode.ERROR),
    ],
)
def test_an_in_band_policy_failure_leaves_the_status_unset(
    api, reason, error_class, status, provider, connect, observed
):
    call(api, connect(api, provider([with_end(api, reason)]).url))
    span = observed.span()
    assert span.attributes["llm.error.class"] == error_class
    assert span.attributes["llm.error.channel"] == "in_band"
    assert span.status.status_code is status
    assert ("error.type" in span.attributes) is (status is StatusCode.ERROR)
    assert ("llm.error.fingerprint" in span.attributes) is (error_class == "UNKNOWN")


def test_a_finish_reason_that_was_due_and_never_came_is_error(provider, connect, observed):
    list(stream(CHAT, connect(CHAT, provider([streamed(CHAT, events(CHAT)[:2])]).url)))
    assert observed.span().attributes["gen_ai.response.finish_reasons"] == ("error",)
    assert observed.reasons() == {("TRANSPORT", "stream_cut"): 1}


# --- spans of others ---


@pytest.fixture
def theirs(telemetry) -> Any:
    """A model span of someone else's, current."""
    tracer = telemetry.tracer_provider.get_tracer("someone.else")
    with tracer.start_as_current_span("theirs", attributes={"gen_ai.operation.name": "chat"}) as span:
        yield span


def test_a_model_span_that_is_current_is_adopted(provider, connect, observed, theirs):
    attempt(CHAT, connect(CHAT, provider([failure(CHAT, 500)]).url))
    assert observed.spans() == []
    assert theirs.attributes["llm.error.class"] == "SERVER"
    assert theirs.status.status_code is StatusCode.UNSET
    assert theirs.is_recording()
    (log,) = observed.logs()
    assert log.event_name == "llm.call.failure"
    assert log.span_id == theirs.get_span_context().span_id


def test_the_last_failure_stands_and_a_later_success_says_recovered(provider, connect, observed, theirs):
    client = connect(CHAT, provider([failure(CHAT, 500), failure(CHAT, 429), whole(CHAT)]).url)
    attempt(CHAT, client)
    attempt(CHAT, client)
    assert theirs.attributes["llm.error.class"] == "RATE_LIMITED"
    assert "llm.error.recovered" not in theirs.attributes
    call(CHAT, client)
    assert theirs.attributes["llm.error.recovered"] is True
    assert theirs.attributes["llm.error.class"] == "RATE_LIMITED"


def test_a_good_call_writes_nothing_of_an_error_on_an_adopted_span(provider, connect, observed, theirs):
    call(CHAT, connect(CHAT, provider([whole(CHAT)]).url))
    assert [name for name in theirs.attributes if name.startswith("llm.")] == []


def test_an_adopted_span_that_has_ended_is_left_alone(provider, connect, observed, theirs, caplog):
    chunks = stream(CHAT, connect(CHAT, provider([streamed(CHAT, events(CHAT)[:2])]).url))
    next(chunks)
    theirs.end()
    list(chunks)
    assert observed.errors() == {"TRANSPORT": 1}
    assert dict(theirs.attributes) == {"gen_ai.operation.name": "chat"}
    assert [r for r in caplog.records if "ended span" in r.getMessage()] == []


def test_a_current_span_that_is_no_model_span_is_the_parent(provider, connect, observed, telemetry):
    with telemetry.tracer_provider.get_tracer("app").start_as_current_span("request") as request:
        call(CHAT, connect(CHAT, provider([whole(CHAT)]).url))
    (ours,) = [s for s in observed.spans() if s.name != "request"]
    assert ours.parent.span_id == request.get_span_context().span_id


@pytest.mark.parametrize("how", ["keyword", "environment"])
@pytest.mark.parametrize("mode", ["adopt", "off"])
def test_no_span_is_made_when_the_setting_says_so(mode, how, provider, connect, instrument, telemetry, monkeypatch):
    if how == "environment":
        monkeypatch.setenv("LLM_ERRORS_SPANS", mode)
        instrument()
    else:
        instrument(spans=mode)
    attempt(CHAT, connect(CHAT, provider([failure(CHAT, 500)]).url))
    assert telemetry.spans() == []
    assert telemetry.errors() == {"SERVER": 1}
    assert len(telemetry.logs()) == 1


def test_off_leaves_others_spans_alone(provider, connect, instrument, theirs):
    instrument(spans="off")
    attempt(CHAT, connect(CHAT, provider([failure(CHAT, 500)]).url))
    assert dict(theirs.attributes) == {"gen_ai.operation.name": "chat"}


@pytest.mark.parametrize(
    ("reply", "raw", "wanted"),
    [
        (failure(MESSAGES, 529, "overloaded_error"), False, "SERVER"),
        (whole(MESSAGES, stop_reason="refusal"), False, "OUTPUT_BLOCKED"),
        (whole(MESSAGES, stop_reason="refusal"), True, "OUTPUT_BLOCKED"),
    ],
    ids=["thrown", "in-band", "raw"],
)
def test_anthropics_native_span_is_adopted_and_never_doubled(
    reply, raw, wanted, provider, connect, observed, telemetry
):
    client = connect(MESSAGES, provider([reply]).url)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("opentelemetry.trace.get_tracer_provider", lambda: telemetry.tracer_provider)
        if raw:
            method(MESSAGES, client, "with_raw_response")(**asked(MESSAGES)).parse()
        else:
            attempt(MESSAGES, client)
    (span,) = [s for s in observed.spans() if s.kind is SpanKind.CLIENT]
    assert span.attributes["llm.error.class"] == wanted
    assert observed.errors() == {wanted: 1}


# --- logs ---


def test_a_thrown_failure_under_our_span_is_the_conventions_event(provider, connect, observed):
    attempt(CHAT, connect(CHAT, provider([failure(CHAT, 404)]).url))
    (log,) = observed.logs()
    assert log.event_name == "gen_ai.client.operation.exception"
    assert log.severity_text == "WARN"
    assert log.span_id == observed.span().context.span_id
    assert log.attributes["exception.type"] == "openai.NotFoundError"
    ours = {n: v for n, v in observed.span().attributes.items() if n.startswith("llm.error.")}
    assert {n: v for n, v in log.attributes.items() if n.startswith("llm.error.")} == ours


def test_an_in_band_failure_is_our_own_event(provider, connect, observed):
    call(CHAT, connect(CHAT, provider([with_end(CHAT, "length")]).url))
    (log,) = observed.logs()
    assert log.event_name == "llm.call.failure"
    assert "exception.type" not in log.attributes


def test_at_most_ten_records_a_second_and_the_rest_is_counted(provider, connect, observed, monkeypatch):
    now = itertools.count(0)
    clock = {"second": 1}
    monkeypatch.setattr(logs.time, "monotonic_ns", lambda: clock["second"] * 1_000_000_000 + next(now))
    client = connect(CHAT, provider([failure(CHAT, 500)]).url)
    for _ in range(14):
        attempt(CHAT, client)
    assert len(observed.logs()) == logs.PER_SECOND
    clock["second"] = 2
    attempt(CHAT, client)
    attempt(CHAT, client)
    first, second = observed.logs()[-2:]
    assert first.attributes[semconv.LOGS_LEFT_OUT] == 4
    assert semconv.LOGS_LEFT_OUT not in second.attributes
    assert observed.errors() == {"SERVER": 16}


def test_no_log_when_the_setting_says_so(provider, connect, instrument, telemetry):
    instrument(logs=False)
    attempt(CHAT, connect(CHAT, provider([failure(CHAT, 500)]).url))
    assert telemetry.logs() == []


# --- labels ---


def test_five_thousand_models_stay_bounded():
    known = labels.Labels(dict, semconv.PROVIDER, semconv.REQUEST_MODEL, semconv.ERROR_CLASS, semconv.ERROR_REASON)
    made = {
        tuple(known["openai", f"m{n}", error_class, reason].items())
        for n in range(5000)
        for error_class, reason in (("SERVER", "internal"), ("TIMEOUT", "read"))
    }
    assert len(made) < 1950
    assert {dict(m)[semconv.ERROR_CLASS] for m in made} == {"SERVER", "TIMEOUT"}


def test_many_models_fold_to_other_in_every_metric(provider, connect, observed, monkeypatch):
    monkeypatch.setattr(labels, "LIMIT", 5)
    client = connect(CHAT, provider([failure(CHAT, 500)]).url)
    for n in range(12):
        attempt(CHAT, client, model=f"m{n}")
    for name in ("llm_calls_total", "llm_errors_total", "gen_ai.client.operation.duration"):
        models = [attributes["gen_ai.request.model"] for attributes, _ in observed.points(name)]
        assert len(models) == 6
        assert "other" in models
    assert observed.errors() == {"SERVER": 12}


def test_strings_that_a_server_chooses_never_become_labels(provider, connect, observed):
    numbers = itertools.count()

    def reply(request: Any) -> Reply:
        n = next(numbers)
        if n % 2:
            return with_end(CHAT, f"x{n}")
        error = {"message": f"message {n}", "type": f"type{n}", "code": f"code{n}"}
        return Reply(418, json={"error": error}, headers={"x-request-id": f"r{n}"})

    client = connect(CHAT, provider(reply).url)
    for _ in range(100):
        attempt(CHAT, client)
    assert sum(observed.errors().values()) == 100
    for name in ("llm_calls_total", "llm_errors_total", "gen_ai.client.operation.duration"):
        assert len(observed.points(name)) <= 4


def test_what_a_server_calls_itself_is_clipped(provider, connect, observed):
    long = Reply(json={**whole(CHAT).json, "id": "x" * 9999, "model": "y" * 9999})
    call(CHAT, connect(CHAT, provider([long]).url))
    told = observed.span().attributes
    assert (len(told["gen_ai.response.id"]), len(told["gen_ai.response.model"])) == (256, 256)


def test_half_a_surrogate_pair_can_be_exported(provider, connect, observed):
    odd = "\ud83d"
    choice = {"index": 0, "finish_reason": f"we{odd}ird", "message": {"role": "assistant", "content": "hi"}}
    body = json.dumps({**whole(CHAT).json, "id": odd, "model": odd, "choices": [choice]})
    call(CHAT, connect(CHAT, provider([Reply(text=body, headers={"content-type": "application/json"})]).url))
    span = observed.span()
    assert span.attributes["llm.error.reason"] == "unrecognised_finish_reason"
    assert span.to_json().encode("utf-8")
    assert all(str(value).encode("utf-8") for value in span.attributes.values())


@pytest.mark.parametrize("api", APIS)
def test_absent_and_sentinel_values_are_left_out(api, provider, connect, observed, caplog):
    client = connect(api, provider([whole(api)]).url)
    if api == GEMINI:
        call(api, client, config={"temperature": None})
    else:
        sdk = pytest.importorskip("anthropic" if api == MESSAGES else "openai")
        call(api, client, metadata=sdk.NOT_GIVEN, tools=getattr(sdk, "omit", sdk.NOT_GIVEN), extra_query=None)
    assert all(value is not None for value in observed.span().attributes.values())
    assert [r for r in caplog.records if r.name.startswith("opentelemetry")] == []


@pytest.mark.parametrize("model", [None, 7, ["m"], {"a": 1}], ids=repr)
def test_a_model_that_is_no_string_is_dropped(model, provider, connect, observed):
    connect(CHAT, provider([whole(CHAT)]).url).chat.completions.create(model=model, messages=[])
    assert "gen_ai.request.model" not in observed.span().attributes
    assert observed.span().name == "chat"
    ((attributes, _),) = observed.points("llm_calls_total")
    assert "gen_ai.request.model" not in attributes


# --- what never leaves ---

SECRETS = (
    "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv",
)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("secret", SECRETS)
def test_a_planted_key_is_removed(api, secret, provider, connect, observed):
    message = f"Incorrect API key provided: {secret}. Bearer {secret}"
    attempt(api, connect(api, provider([failure(api, 401, message=message)]).url))
    (log,) = observed.logs()
    told = repr(log.attributes) + repr(log.body) + repr([s.attributes for s in observed.spans()])
    assert log.attributes["llm.error.class"] == "AUTH"
    assert secret not in told


def test_no_message_when_the_setting_says_so(provider, connect, instrument, telemetry):
    instrument(capture_message=False)
    attempt(CHAT, connect(CHAT, provider([failure(CHAT, 400, message="words")]).url))
    assert "words" not in repr([s.attributes for s in telemetry.spans()]) + repr(
        [r.attributes for r in telemetry.logs()]
    )


@pytest.mark.parametrize("api", APIS)
def test_no_prompt_and_no_answer_is_recorded(api, provider, connect, observed):
    client = connect(api, provider([whole(api), streamed(api)]).url)
    call(api, client)
    list(stream(api, client))
    told = repr([s.attributes for s in observed.spans()]) + repr([s.events for s in observed.spans()])
    assert "hello" not in told
    assert "one two" not in told


# --- switches of OpenTelemetry ---


@pytest.mark.parametrize("api", APIS)
def test_suppressed_instrumentation_is_silent(api, provider, connect, observed):
    from opentelemetry.instrumentation.utils import suppress_instrumentation

    client = connect(api, provider([whole(api), streamed(api)]).url)
    with suppress_instrumentation():
        call(api, client)
        list(stream(api, client))
    assert observed.outcomes() == {}
    assert [s for s in observed.spans() if s.instrumentation_scope.name == "llm_errors"] == []


def test_a_disabled_otel_sdk_changes_nothing_for_the_application(provider):
    script = """
import sys, openai
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.metrics import MeterProvider
from llm_errors import LLMErrorsInstrumentor
LLMErrorsInstrumentor().instrument(strict=True, tracer_provider=TracerProvider(), meter_provider=MeterProvider())
with openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="k", max_retries=0) as client:
    print(client.chat.completions.create(model="m", messages=[]).id)
    print(len(list(client.chat.completions.create(model="m", messages=[], stream=True))))
"""
    url = provider([whole(CHAT), streamed(CHAT)]).url
    command = [sys.executable, "-W", "ignore", "-c", script, url]
    from tests.promises.test_processes import environment

    done = subprocess.run(
        command, env=environment(OTEL_SDK_DISABLED="true"), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["c1", "3"], done.stderr


def test_a_hook_marks_a_streamed_message_as_withdrawn(provider, connect, instrument, telemetry):
    shown: list[str] = []

    def withdraw(span: Any, classification: Any, info: Any) -> None:
        if classification.partial_output and classification.error_class == "OUTPUT_BLOCKED":
            shown.append("withdrawn")
            span.set_attribute("app.message.withdrawn", True)

    instrument(failure_hook=withdraw)
    said = events(CHAT)
    said[2] = {**said[2], "choices": [{**said[2]["choices"][0], "finish_reason": "content_filter"}]}
    for chunk in stream(CHAT, connect(CHAT, provider([streamed(CHAT, said)]).url)):
        shown.append(chunk.choices[0].delta.content or "")
    assert shown == ["one ", "two", "", "withdrawn"]
    assert telemetry.span().attributes["app.message.withdrawn"] is True


def test_our_logger_says_nothing_on_a_good_day(provider, connect, observed, caplog):
    with caplog.at_level(logging.DEBUG, "llm_errors"):
        call(CHAT, connect(CHAT, provider([whole(CHAT)]).url))
    assert [r for r in caplog.records if r.name.startswith("llm_errors")] == []
