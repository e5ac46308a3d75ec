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

from llm_errors import semconv, settings
from llm_errors.taxonomy import ErrorClass
from llm_errors.telemetry import labels, logs, peers
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
    list(stream(CHAT, connect(CHAT, provider([streamed(CHAT, events(CHAT)[:2], chunked=True)]).url)))
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
    chunks = stream(CHAT, connect(CHAT, provider([streamed(CHAT, events(CHAT)[:2], chunked=True)]).url))
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


@pytest.mark.parametrize("spans", ["auto", "off"])
def test_a_thrown_failure_is_logged_with_the_attributes_of_the_span(spans, provider, connect, instrument, telemetry):
    instrument(spans=spans)
    attempt(CHAT, connect(CHAT, provider([failure(CHAT, 404)]).url))
    (log,) = telemetry.logs()
    assert log.event_name == "llm.call.failure"
    assert (log.severity_text, log.severity_number.name) == ("WARN", "WARN")
    assert log.attributes["exception.type"] == "openai.NotFoundError"
    for span in telemetry.spans():
        assert log.span_id == span.context.span_id
        ours = {n: v for n, v in span.attributes.items() if n.startswith("llm.error.")}
        assert {n: v for n, v in log.attributes.items() if n.startswith("llm.error.")} == ours


def test_an_in_band_failure_is_the_same_event_without_an_exception(provider, connect, observed):
    call(CHAT, connect(CHAT, provider([with_end(CHAT, "length")]).url))
    (log,) = observed.logs()
    assert log.event_name == "llm.call.failure"
    assert "exception.type" not in log.attributes
    assert log.body == "TRUNCATED/max_tokens from openai m"


def test_the_body_of_a_log_record_is_a_sentence(provider, connect, observed):
    client = connect(CHAT, provider([failure(CHAT, 429, message="Too many requests")]).url)
    attempt(CHAT, client, model="gpt-5-mini")
    (log,) = observed.logs()
    assert log.body == f"RATE_LIMITED/{log.attributes['llm.error.reason']} from openai gpt-5-mini: Too many requests"


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, "RATE_LIMITED/other from an unknown provider"),
        ({"gen_ai.request.model": "m"}, "RATE_LIMITED/other from m"),
        ({"gen_ai.provider.name": "x_ai", "llm.error.message": "Slow down"}, "RATE_LIMITED/other from x_ai: Slow down"),
    ],
)
def test_the_sentence_leaves_out_what_is_not_known(given, wanted):
    known = {"llm.error.class": "RATE_LIMITED", "llm.error.reason": "other", **given}
    assert logs.sentence(known) == wanted


def test_there_is_a_sentence_even_where_nothing_is_known():
    assert logs.sentence({}) == "A failure from an unknown provider"


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


@pytest.mark.parametrize("varied", [0, 1, 2, 3, 4], ids=["provider", "model", "operation", "class", "reason"])
def test_whatever_varies_the_class_stays_and_the_sets_stay_below_two_thousand(varied):
    names = (semconv.PROVIDER, semconv.REQUEST_MODEL, semconv.OPERATION, semconv.ERROR_CLASS, semconv.ERROR_REASON)
    known = labels.Labels(dict, *names)
    classes = [c.value for c in ErrorClass]
    made = set()
    for n in range(5000):
        values = ["openai", "m", "chat", classes[n % 13], "other"]
        if varied != 3:
            values[varied] = f"v{n}"
        attributes = known[tuple(values)]
        assert attributes[semconv.ERROR_CLASS] == classes[n % 13]
        made.add(tuple(attributes.items()))
    assert len(made) < 1900


@pytest.mark.parametrize("odd", [None, 7, object(), ("a",)], ids=["none", "number", "sentinel", "tuple"])
def test_a_value_that_is_no_string_is_no_label(odd):
    known = labels.Labels(dict, semconv.PROVIDER, semconv.REQUEST_MODEL)
    assert known["openai", odd] == {semconv.PROVIDER: "openai"}


def test_error_types_without_number_do_not_overflow_the_durations():
    known = labels.Labels(dict, semconv.REQUEST_MODEL, semconv.ERROR_TYPE)
    assert len({tuple(known["m", f"app.E{n}"].items()) for n in range(5000)}) < 1900


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


QUOTING = "Invalid value: 'My SSN is 078-05-1120'. Incorrect key sk-abcdefghijklmnop."


@pytest.mark.parametrize(
    ("setting", "wanted"),
    [
        ("redacted", "Invalid value: …. Incorrect key [REDACTED]"),
        ("full", "Invalid value: 'My SSN is 078-05-1120'. Incorrect key [REDACTED]"),
        (True, "Invalid value: 'My SSN is 078-05-1120'. Incorrect key [REDACTED]"),
        ("true", "Invalid value: 'My SSN is 078-05-1120'. Incorrect key [REDACTED]"),
        ("false", None),
        (False, None),
    ],
)
def test_the_setting_says_what_of_a_message_is_exported(setting, wanted, provider, connect, instrument, telemetry):
    instrument(capture_message=setting)
    attempt(CHAT, connect(CHAT, provider([failure(CHAT, 400, message=QUOTING)]).url))
    (log,) = telemetry.logs()
    for attributes in (log.attributes, telemetry.span().attributes):
        assert attributes.get("llm.error.message") == wanted
    assert log.body.partition(": ")[2] == (wanted or "")


def test_the_rules_read_the_message_before_it_is_redacted(provider, connect, observed):
    said = "Requested value 'x' failed: 'prompt is too long: 9000 tokens > 8000 maximum'"
    attempt(MESSAGES, connect(MESSAGES, provider([failure(MESSAGES, 400, message=said[29:-1])]).url))
    assert observed.reasons() == {("BAD_REQUEST", "context_overflow"): 1}


@pytest.mark.parametrize("api", OURS)
def test_agent_and_conversation_of_the_enclosing_span_are_on_span_and_log(api, provider, connect, observed):
    tracer = observed.tracer_provider.get_tracer("app")
    around = {"gen_ai.agent.name": "planner", "gen_ai.conversation.id": "c-7", "app.secret": "s"}
    with tracer.start_as_current_span("invoke_agent planner", attributes=around):
        attempt(api, connect(api, provider([failure(api, 500)]).url))
    (ours,) = [s for s in observed.spans() if "llm.error.class" in s.attributes]
    (log,) = observed.logs()
    for told in (ours.attributes, log.attributes):
        assert (told["gen_ai.agent.name"], told["gen_ai.conversation.id"]) == ("planner", "c-7")
        assert "app.secret" not in told
    for name in ("llm_calls_total", "llm_errors_total"):
        assert all("gen_ai.agent.name" not in attributes for attributes, _ in observed.points(name))


@pytest.mark.parametrize("value", [7, "", ("a", "b")], ids=repr)
def test_an_agents_name_that_is_no_text_is_left_out(value, provider, connect, observed):
    tracer = observed.tracer_provider.get_tracer("app")
    with tracer.start_as_current_span("run", attributes={"gen_ai.agent.name": value}):
        attempt(CHAT, connect(CHAT, provider([failure(CHAT, 500)]).url))
    (log,) = observed.logs()
    assert "gen_ai.agent.name" not in log.attributes


# --- histograms of the conventions ---


@pytest.mark.parametrize("api", APIS)
def test_the_time_to_the_first_chunk_of_a_stream_is_a_histogram(api, provider, connect, observed):
    client = connect(api, provider([streamed(api), whole(api)]).url)
    list(stream(api, client))
    call(api, client)
    ((attributes, point),) = observed.points("gen_ai.client.operation.time_to_first_chunk")
    assert set(attributes) == {
        *("gen_ai.provider.name", "gen_ai.request.model", "gen_ai.operation.name", "server.address"),
    }
    assert (point.count, point.explicit_bounds[0], point.explicit_bounds[-1]) == (1, 0.01, 81.92)
    times = [s.attributes.get("gen_ai.response.time_to_first_chunk") for s in observed.spans()]
    assert point.sum in times


@pytest.mark.parametrize("api", APIS)
def test_tokens_are_recorded_where_the_setting_says_so(api, provider, connect, instrument, telemetry):
    instrument(token_usage=True)
    call(api, connect(api, provider([whole(api)]).url))
    points = telemetry.points("gen_ai.client.token.usage")
    assert {a["gen_ai.token.type"]: (p.count, p.sum) for a, p in points} == {"input": (1, 3), "output": (1, 2)}
    attributes, point = points[0]
    assert set(attributes) == {
        *("gen_ai.provider.name", "gen_ai.request.model", "gen_ai.operation.name", "server.address"),
        "gen_ai.token.type",
    }
    assert tuple(point.explicit_bounds) == (
        *(1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864),
    )


def test_tokens_are_not_recorded_otherwise(provider, connect, observed):
    call(CHAT, connect(CHAT, provider([whole(CHAT)]).url))
    assert observed.points("gen_ai.client.token.usage") == []


@pytest.mark.parametrize("name", ["time_to_first_chunk", "token.usage"])
def test_beside_a_peer_with_metrics_of_its_own_no_histogram_is_recorded_twice(
    name, provider, connect, instrument, telemetry, monkeypatch
):
    monkeypatch.setattr(peers, "active", lambda distribution: (True, True))
    instrument(token_usage=True)
    list(stream(CHAT, connect(CHAT, provider([streamed(CHAT)]).url)))
    assert telemetry.points(f"gen_ai.client.{name}") + telemetry.points(f"gen_ai.client.operation.{name}") == []


# --- names that are no settings ---


def test_an_unknown_setting_is_warned_about_once(instrument, caplog, monkeypatch):
    monkeypatch.setattr(settings, "_warned", set())
    monkeypatch.setenv("LLM_ERRORS_CAPTURE_MESAGE", "false")
    monkeypatch.setenv("LLM_ERRORS_LOGS", "true")
    instrumentor = instrument(capture_mesage=False, skip_dep_check=True)
    instrumentor.uninstrument()
    instrument(capture_mesage=False)
    told = [r.getMessage() for r in caplog.records if "unknown setting" in r.getMessage()]
    assert [t.partition(",")[0] for t in told] == [
        "unknown setting LLM_ERRORS_CAPTURE_MESAGE",
        "unknown setting capture_mesage",
    ]
    assert "LLM_ERRORS_CAPTURE_MESSAGE" in told[0]


@pytest.mark.parametrize("name", ["capture_message", "LLM_ERRORS_CAPTURE_MESSAGE"])
def test_an_unknown_way_to_capture_messages_is_warned_about_and_redacts(name, caplog):
    given, environ = ({name: "some"}, {}) if name.islower() else ({}, {name: "some"})
    assert settings.read(given, environ).capture_message == "redacted"
    assert "allowed: redacted, full, false" in caplog.text


def test_the_scope_names_the_release_of_the_conventions(provider, connect, observed):
    call(CHAT, connect(CHAT, provider([whole(CHAT)]).url))
    assert observed.span().instrumentation_scope.schema_url == semconv.SCHEMA_URL
    assert observed.span().instrumentation_scope.schema_url.rpartition("/")[2] >= "1.41.0"


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "message",
    [
        "Invalid value: 'Zebrafink lives at 7 Elm St.'. Supported values are: 'a'.",
        'Failed to parse tool arguments: {"name": "Zebrafink"}',
        "messages.0: Input should be a valid string [type=string_type, input_value=Zebrafink lives, input_type=str]",
        'The prompt "Zebrafink" was flagged.',
    ],
)
def test_what_a_message_repeats_of_the_request_reaches_no_exporter(api, message, provider, connect, observed):
    attempt(api, connect(api, provider([failure(api, 400, message=message)]).url))
    (log,) = observed.logs()
    ours = [s for s in observed.spans() if s.instrumentation_scope.name == "llm_errors"]
    told = repr([(s.name, dict(s.attributes), s.events, s.status.description) for s in ours])
    assert "Zebrafink" not in told + repr(dict(log.attributes)) + repr(log.body)
    assert "…" in log.attributes["llm.error.message"]


@pytest.mark.parametrize("key", ["3f2a9c1e-77b0-4d1c-9a50-aa11bb22cc33", "team-rocket-42", "pwd4llm!gateway"])
@pytest.mark.parametrize("setting", ["redacted", "full"])
def test_a_key_with_a_line_break_that_the_http_library_refuses_is_removed(key, setting, instrument, telemetry):
    openai = pytest.importorskip("openai")
    instrument(capture_message=setting)
    clients = (
        openai.AzureOpenAI(
            azure_endpoint="http://127.0.0.1:1", api_version="2024-10-21", api_key=f"{key}\n", max_retries=0
        ),
        openai.OpenAI(
            base_url="http://127.0.0.1:1", api_key="sk-x", max_retries=0, default_headers={"X-Gateway-Key": f"{key}\n"}
        ),
    )
    for client in clients:
        with client, pytest.raises(openai.APIConnectionError):
            client.chat.completions.create(model="m", messages=[])
    told = [record.attributes.get("llm.error.message", "") for record in telemetry.logs()]
    assert len(told) == 2
    assert key not in repr([s.attributes for s in telemetry.spans()]) + repr(told)


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


def test_a_hook_marks_a_streamed_message_as_withdrawn_before_the_finish_reaches_the_application(
    provider, connect, instrument, telemetry
):
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
    assert shown == ["one ", "two", "withdrawn", ""]
    assert telemetry.span().attributes["app.message.withdrawn"] is True


def test_our_logger_says_nothing_on_a_good_day(provider, connect, observed, caplog):
    with caplog.at_level(logging.DEBUG, "llm_errors"):
        call(CHAT, connect(CHAT, provider([whole(CHAT)]).url))
    assert [r for r in caplog.records if r.name.startswith("llm_errors")] == []
