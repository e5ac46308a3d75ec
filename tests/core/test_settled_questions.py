"""What the taxonomy has settled, sentence by sentence: statuses, waits, names of a status, guardrails, bare words."""

import pytest

from llm_errors import classify
from llm_errors.classify import decide
from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions
from llm_errors.extract.results import CHAT, COHERE, CONVERSE, GENERATE_CONTENT, MESSAGES, RESPONSES
from llm_errors.rules.shipped import DIALECTS
from tests.core.verdicts import streamed, verdict


class SDKError(Exception):
    """An exception with the attributes that the SDKs' have."""

    def __init__(self, **attributes):
        super().__init__("m")
        self.__dict__.update(attributes)


class Response:
    def __init__(self, status, headers):
        self.status_code, self.headers = status, headers


def raised(status, body=None, provider="openai", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return classify(SDKError(status_code=status, body=body, response=Response(status, named)), provider=provider)


def told(found):
    return f"{found.error_class}/{found.reason}"


STATUSES = {
    404: "NOT_FOUND/other", 407: "TRANSPORT/proxy", 408: "TIMEOUT/provider", 409: "SERVER/conflict",
    410: "NOT_FOUND/model", 413: "BAD_REQUEST/request_too_large", 422: "BAD_REQUEST/invalid_parameter",
    424: "SERVER/upstream", 500: "SERVER/internal", 504: "SERVER/deadline_exceeded", 529: "SERVER/overloaded",
}  # fmt: skip


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize(("status", "wanted"), STATUSES.items())
def test_a_status_means_the_same_in_every_dialect(dialect, status, wanted):
    assert told(decide(Evidence(dialect=dialect, status=status))) == wanted


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize("status", [405, 406, 411, 412, 414, 418, 421, 425, 428, 431, 451, 499])
def test_any_other_status_is_unknown(dialect, status):
    assert decide(Evidence(dialect=dialect, status=status)).error_class == "UNKNOWN"


COHERE_498 = [
    ({"message": "invalid api token"}, "AUTH/invalid_key"),
    ({"message": "blocked input: please change the prompt"}, "PROMPT_BLOCKED/content_filter"),
    ({"message": "blocked output: the response was blocked"}, "OUTPUT_BLOCKED/content_filter"),
    ({"message": "odd"}, "UNKNOWN/unrecognised_error"),
]


@pytest.mark.parametrize(("body", "wanted"), COHERE_498)
def test_coheres_498_is_what_its_body_says(body, wanted):
    assert told(raised(498, body, provider="cohere")) == wanted


# --- names of a status --------------------------------------------------------------------------------------------

NAMES = [
    (403, "forbidden"), (403, "permission_error"), (403, "access_denied"), (403, "Forbidden"),
    (403, "permission_denied_error"), (429, "rate_limit_error"), (429, "too_many_requests"), (401, "unauthorized"),
    (401, "authentication_error"), (429, "rate_limit_exceeded"),
]  # fmt: skip
SAID = [
    ("account balance is insufficient", "CALL_BUDGET/billing"),
    ("Your account is in arrears.", "CALL_BUDGET/billing"),
]


@pytest.mark.parametrize(
    "provider", ["openai", "anthropic", "gcp.gemini", "aws.bedrock", "mistral_ai", "cohere", "new"]
)
@pytest.mark.parametrize(("status", "name"), NAMES)
@pytest.mark.parametrize(("message", "wanted"), SAID)
def test_a_type_that_only_names_the_status_shields_no_message(provider, status, name, message, wanted):
    assert told(raised(status, {"error": {"type": name, "message": message}}, provider)) == wanted
    assert told(raised(status, {"error": {"message": message}}, provider)) == wanted, "and without the type"


@pytest.mark.parametrize("name", ["forbidden", "permission_error", "access_denied"])
def test_what_a_refusal_says_of_content_and_limits_is_not_shielded(name):
    assert told(raised(403, {"error": {"type": name, "message": "key limit exceeded"}})) == "CALL_BUDGET/spend_limit"
    said = "content violates usage guidelines"
    assert told(raised(403, {"error": {"type": name, "message": said}})) == "PROMPT_BLOCKED/moderation"


@pytest.mark.parametrize(("status", "name"), NAMES)
def test_without_a_telling_text_the_name_decides_as_the_status_does(status, name):
    found = raised(status, {"error": {"type": name, "message": "x"}})
    assert found.error_class == decide(Evidence(status=status)).error_class
    assert found.evidence == "code"


def test_in_mid_stream_a_name_shields_no_message_either():
    error = {"error": {"type": "permission_error", "message": "Your credit balance is too low"}}
    assert told(classify(error)) == "CALL_BUDGET/billing"


def test_advice_to_pay_more_in_a_rate_limit_is_no_empty_account():
    said = "Rate limit reached. Need more tokens? Upgrade at https://example.com/settings/billing"
    assert told(raised(429, {"error": {"type": "tokens", "message": said}})) == "RATE_LIMITED/tokens"


@pytest.mark.parametrize(
    "spelt", ["InsufficientQuota", "INSUFFICIENT_QUOTA", "insufficient-quota", "insufficient.quota"]
)
def test_a_code_is_known_in_any_spelling(spelt):
    found = raised(429, {"error": {"code": spelt, "message": "x"}})
    assert (told(found), found.code) == ("CALL_BUDGET/insufficient_quota", spelt)


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("OperationDenied.ServiceOverdue", "CALL_BUDGET/billing"),
        ("InternalError.Algo.DataInspectionFailed", "PROMPT_BLOCKED/content_filter"),
        ("RequestLimitExceeded.UinLimitExceeded", "RATE_LIMITED/requests"),
        ("ModelArts.81101", "RATE_LIMITED/requests"),
    ],
)
def test_of_a_dotted_code_the_last_part_counts_and_then_what_stands_before_it(code, wanted):
    assert told(raised(429 if "RATE" in wanted else 400, {"error": {"code": code, "message": "x"}})) == wanted


# --- codes and words in texts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "[data_inspection_failed] Input data may contain something.",
        "<400> InternalError.Algo.DataInspectionFailed: Input data may contain something.",
        "upstream answered status=400, code=data_inspection_failed",
    ],
)
@pytest.mark.parametrize("status", [400, 500])
def test_a_vendors_code_that_stands_only_in_a_gateways_text_counts(message, status):
    found = raised(status, {"error": {"message": message, "type": "upstream_failure"}})
    assert (told(found), found.evidence) == ("PROMPT_BLOCKED/content_filter", "code")


@pytest.mark.parametrize(
    "message",
    [
        "unknown parameter content_filter",
        "cannot parse 'code: insufficient_quota'",
        "[sorry] InternalError: the thinking budget must be positive",
    ],
)
def test_a_word_of_the_request_or_a_mere_status_in_a_text_is_no_code(message):
    assert raised(400, {"error": {"message": message, "type": "odd"}}).error_class == "BAD_REQUEST"


def test_with_message_rules_off_no_code_is_read_in_a_text():
    given = Evidence(dialect="openai", status=400, message="[insufficient_quota] x")
    assert decide(given).error_class == "CALL_BUDGET"
    assert decide(given, messages=False).error_class == "BAD_REQUEST"


WORDS = [
    ("Model is overloaded", "SERVER/overloaded"),
    ("Rate limit exceeded", "RATE_LIMITED/requests"),
    ("Rate limit of 9 requests per day exceeded", "RATE_LIMITED/daily_quota"),
    ("Unauthorized", "AUTH/invalid_key"),
    ("Insufficient balance", "CALL_BUDGET/billing"),
    ("Request failed during generation: CUDA out of memory", "SERVER/model_error"),
    ("This model's maximum context length is 8 tokens", "BAD_REQUEST/context_overflow"),
    ("The request timed out", "TIMEOUT/provider"),
    ("Service unavailable", "SERVER/unavailable"),
    ("quite another thing", "UNKNOWN/unexpected_body"),
]


@pytest.mark.parametrize(("words", "wanted"), WORDS)
def test_an_error_that_is_a_bare_string_is_read_by_its_words(words, wanted):
    assert told(classify({"error": words})) == wanted
    chunk = {"error": words}
    assert verdict(streamed(CHAT, [chunk])) == wanted


@pytest.mark.parametrize(("words", "wanted"), WORDS)
def test_so_is_a_bare_string_in_place_of_an_answer(words, wanted):
    found = classify(words)
    assert told(found) == wanted
    assert found.message == ("" if wanted == "UNKNOWN/unexpected_body" else words), (
        "what a model may have written stays here"
    )


@pytest.mark.parametrize(
    "body", ["<html>rate limit</html>", "rate limit\nsecond line", "rate limit " * 40, b"rate limit", ""]
)
def test_a_page_or_a_longer_text_is_read_by_no_words(body):
    found = classify(body)
    assert (told(found), found.message) == ("UNKNOWN/unexpected_body", "")


# --- waits --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wait", ["3601", "86400", "99999999"])
def test_a_wait_beyond_an_hour_is_none_and_never_clipped(wait):
    assert raised(429, retry_after=wait).retry_after is None
    assert raised(429, retry_after="3600").retry_after == 3600


DAY = {"error": {"type": "tokens", "code": "rate_limit_exceeded", "message": "tokens per day (TPD): limit 9"}}


@pytest.mark.parametrize(("wait", "retryable"), [("579", True), ("3600", True), ("3601", False), (None, False)])
def test_a_daily_quota_is_final_unless_retry_after_names_a_wait_of_an_hour_at_most(wait, retryable):
    found = raised(429, DAY, **({"retry_after": wait} if wait else {}))
    assert (found.reason, found.retryable) == ("daily_quota", retryable)


def test_geminis_retry_info_beside_a_daily_quota_is_no_such_wait():
    details = [{"violations": [{"quotaId": "RequestsPerDay-FreeTier"}]}, {"retryDelay": "17s"}]
    body = {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "m", "details": details}}
    found = raised(429, body, provider="gcp.gemini")
    assert (found.reason, found.retryable) == ("daily_quota", False)


# --- finish reasons -----------------------------------------------------------------------------------------------

ABSENT = ("FINISH_REASON_UNSPECIFIED", "finish_reason_unspecified")


@pytest.mark.parametrize("name", ABSENT)
def test_an_unspecified_finish_reason_counts_as_absent(name):
    chat = {"choices": [{"index": 0, "finish_reason": name, "message": {"content": "hi"}}]}
    claude = {"type": "message", "content": [{"type": "text", "text": "hi"}], "stop_reason": name}
    gemini = {"candidates": [{"finishReason": name, "content": {"parts": [{"text": "hi"}]}}]}
    adk = {"finish_reason": name, "turn_complete": True, "content": {"parts": [{"text": "hi"}]}}
    assert [classify(answer) for answer in (chat, claude, gemini, adk)] == [None, None, None, None]
    emptied = {"choices": [{"index": 0, "finish_reason": name, "message": {"content": ""}}]}
    assert told(classify(emptied)) == "UNKNOWN/empty_response"


@pytest.mark.parametrize("name", ABSENT)
def test_an_unspecified_finish_reason_ends_no_stream_and_overwrites_none(name):
    text = {"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": None}]}
    ended = {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    unspecified = {"choices": [{"index": 0, "delta": {}, "finish_reason": name}]}
    assert verdict(streamed(CHAT, [text, unspecified])) == "TRANSPORT/stream_cut"
    assert verdict(streamed(CHAT, [text, ended, unspecified])) is None


@pytest.mark.parametrize(
    ("name", "wanted"), [("MALFORMED_RESPONSE", "malformed_call"), ("TOO_MANY_TOOL_CALLS", "too_many_calls")]
)
def test_a_broken_or_endless_tool_protocol_of_geminis(name, wanted):
    gemini = {"candidates": [{"finishReason": name}]}
    compatible = {"choices": [{"index": 0, "finish_reason": f"error: {name}", "message": {"content": ""}}]}
    assert told(classify(gemini)) == f"TOOL_PROTOCOL/{wanted}"
    assert told(classify(compatible)) == f"TOOL_PROTOCOL/{wanted}"


def choice(index, finish, **message):
    return {"index": index, "finish_reason": finish, "message": {"content": "hi", **message}}


def piece(index, finish, **delta):
    return {"choices": [{"index": index, "finish_reason": finish, "delta": delta}]}


def test_of_several_candidates_the_first_that_is_not_healthy_decides():
    choices = [choice(0, "stop"), choice(1, "stop", refusal="no"), choice(2, "length")]
    assert verdict(CHAT.whole({"choices": choices})) == "OUTPUT_BLOCKED/refusal"
    late_first = [piece(2, None, content="c"), piece(1, None, refusal="no"), piece(0, None, content="a")]
    ends = [piece(2, "length"), piece(1, "stop"), piece(0, "stop")]
    assert verdict(streamed(CHAT, [*late_first, *ends])) == "OUTPUT_BLOCKED/refusal"
    text = {"parts": [{"text": "a"}]}
    chunks = [
        {"candidates": [{"index": 1, "content": text, "finishReason": "MAX_TOKENS"}]},
        {"candidates": [{"index": 0, "content": text, "finishReason": "SAFETY"}]},
    ]
    assert verdict(streamed(GENERATE_CONTENT, chunks)) == "OUTPUT_BLOCKED/safety"


# --- nothing but reasoning ----------------------------------------------------------------------------------------

SPENT = {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 9}}
ONLY_REASONING = {
    "chat, by usage": (CHAT, {"choices": [choice(0, "length", content="")], "usage": SPENT}),
    "chat, by the thought": (CHAT, {"choices": [choice(0, "length", content="", reasoning_content="hm")]}),
    "responses": (RESPONSES, {
        "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": [{"type": "reasoning"}]}),
    "messages": (MESSAGES, {"content": [{"type": "thinking", "thinking": "hm"}], "stop_reason": "max_tokens"}),
    "gemini": (GENERATE_CONTENT, {
        "candidates": [{"finishReason": "MAX_TOKENS"}], "usageMetadata": {"thoughtsTokenCount": 9}}),
    "gemini, by the thought": (GENERATE_CONTENT, {
        "candidates": [{"finishReason": "MAX_TOKENS", "content": {"parts": [{"thought": True, "text": "hm"}]}}]}),
    "converse": (CONVERSE, {
        "output": {"message": {"content": [{"reasoningContent": {}}]}}, "stopReason": "max_tokens"}),
}  # fmt: skip


@pytest.mark.parametrize(("reader", "answer"), ONLY_REASONING.values(), ids=ONLY_REASONING)
def test_an_answer_that_is_nothing_but_reasoning(reader, answer):
    assert verdict(reader.whole(answer)) == "TRUNCATED/reasoning_tokens"


def test_a_stream_that_is_nothing_but_reasoning():
    thought = [piece(0, None, reasoning_content="hm"), piece(0, "length")]
    billed = [piece(0, None, content=""), piece(0, "length"), {"choices": [], "usage": SPENT}]
    claude = [
        {"type": "content_block_start", "content_block": {"type": "thinking"}},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
        {"type": "message_stop"},
    ]
    found = [streamed(CHAT, thought), streamed(CHAT, billed), streamed(MESSAGES, claude)]
    assert {verdict(answer) for answer in found} == {"TRUNCATED/reasoning_tokens"}


def test_an_answer_that_began_is_cut_by_the_limit_of_tokens():
    assert verdict(CHAT.whole({"choices": [choice(0, "length")], "usage": SPENT})) == "TRUNCATED/max_tokens"
    adk = {"finish_reason": "MAX_TOKENS", "turn_complete": True, "usage_metadata": {"thoughts_token_count": 9}}
    assert told(classify(adk)) == "TRUNCATED/reasoning_tokens"
    assert told(classify({**adk, "content": {"parts": [{"text": "hi"}]}})) == "TRUNCATED/max_tokens"


# --- guardrails ---------------------------------------------------------------------------------------------------

BLOCKED = {"topicPolicy": {"topics": [{"name": "T", "action": "BLOCKED"}]}}
MASKED = {"sensitiveInformationPolicy": {"piiEntities": [{"type": "NAME", "action": "ANONYMIZED"}]}}
TRACES = [
    (None, "OUTPUT_BLOCKED/guardrail"),
    ({"inputAssessment": {"g": BLOCKED}}, "PROMPT_BLOCKED/guardrail"),
    ({"inputAssessment": {"g": MASKED}, "outputAssessments": {"g": [BLOCKED]}}, "OUTPUT_BLOCKED/guardrail"),
    ({"inputAssessment": {"g": BLOCKED}, "outputAssessments": {"g": [MASKED]}}, "PROMPT_BLOCKED/guardrail"),
]


@pytest.mark.parametrize(("trace", "wanted"), TRACES)
def test_a_guardrails_trace_tells_input_from_output_and_without_one_it_is_the_output(trace, wanted):
    around = {"trace": {"guardrail": trace}} if trace else {}
    stopped = "guardrail_intervened"
    converse = {"output": {"message": {"content": [{"text": "no"}]}}, "stopReason": stopped, **around}
    claude = {"type": "message", "content": [{"type": "text", "text": "no"}], "stop_reason": stopped, **around}
    chat = {"choices": [choice(0, stopped)], **around}
    assert [told(classify(answer)) for answer in (converse, claude, chat)] == [wanted] * 3


@pytest.mark.parametrize("code", ["guardrail_blocked", "guardrail_raised_exception", "hooks_failed"])
def test_an_error_of_a_guardrail_without_a_trace_is_about_the_output(code):
    assert told(decide(Evidence(dialect="openai", codes=(code,), status=400))) == "OUTPUT_BLOCKED/guardrail"
    at_input = Evidence(dialect="openai", codes=(code,), status=400, facts=frozenset({"input_stage"}))
    assert told(decide(at_input)) == "PROMPT_BLOCKED/guardrail"


# --- limits of length, refusals of an SDK -------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["string_above_max_length", "array_above_max_length"])
@pytest.mark.parametrize(
    ("parameter", "wanted"),
    [("input", "context_overflow"), ("messages[3].content", "context_overflow"), ("prompt", "context_overflow"),
     ("safety_identifier", "invalid_parameter"), ("metadata.input", "invalid_parameter"), (None, "invalid_parameter"),
     ("inputs_of_mine", "invalid_parameter")],
)  # fmt: skip
def test_a_limit_of_length_is_an_overflow_only_where_the_parameter_is_the_prompt(code, parameter, wanted):
    found = raised(400, {"error": {"code": code, "param": parameter, "message": "string too long"}})
    assert told(found) == f"BAD_REQUEST/{wanted}"


def by(module, error):
    """The error as code of that module raises it."""
    try:
        exec("raise error", {"__name__": module, "error": error})
    except Exception as caught:
        return caught


REFUSED = [
    ("anthropic._base_client", ValueError("Streaming is required for long requests"), "BAD_REQUEST/invalid_parameter"),
    ("google.genai.models", ValueError("this parameter is not for this API"), "BAD_REQUEST/invalid_parameter"),
    ("openai._utils", TypeError("Missing required arguments; Expected 'model'"), "BAD_REQUEST/invalid_parameter"),
    ("openai", NotImplementedError("no such thing"), "BAD_REQUEST/invalid_parameter"),
    ("openai._client", ValueError("The api_key option must be set"), "AUTH/missing_key"),
    ("anthropic._client", TypeError("Could not resolve authentication method"), "AUTH/missing_key"),
    ("openai.resources", ValueError("No embedding data received"), "UNKNOWN/empty_response"),
    ("openai._parser", TypeError("'<' not supported between instances"), "UNKNOWN/foreign_exception"),
    ("shop.prompts", ValueError("no such customer"), "UNKNOWN/foreign_exception"),
]


@pytest.mark.parametrize(("module", "error", "wanted"), REFUSED)
def test_an_sdk_that_refuses_before_it_sends(module, error, wanted):
    found = classify(by(module, error))
    assert (told(found), found.message) == (wanted, "")


def test_an_error_that_nobody_raised_is_no_refusal():
    assert told(classify(ValueError("x"))) == "UNKNOWN/foreign_exception"
    assert exceptions.read(ValueError("x")).facts == frozenset()


# --- Converse and Cohere ------------------------------------------------------------------------------------------

CONVERSED = [
    ([{"text": "hi"}], "end_turn", None),
    ([{"toolUse": {"name": "f"}}], "tool_use", None),
    ([], "end_turn", "UNKNOWN/empty_response"),
    ([{"text": "hi"}], "model_context_window_exceeded", "TRUNCATED/context_window"),
    ([], "malformed_tool_use", "TOOL_PROTOCOL/malformed_call"),
    ([], "malformed_model_output", "SERVER/model_error"),
    ([{"text": "hi"}], "content_filtered", "OUTPUT_BLOCKED/content_filter"),
    ([{"text": "hi"}], "", "TRANSPORT/stream_cut"),
]


@pytest.mark.parametrize(("content", "stop", "wanted"), CONVERSED)
def test_answers_of_converse(content, stop, wanted):
    assert verdict(CONVERSE.whole({"output": {"message": {"content": content}}, "stopReason": stop})) == wanted


STREAMED = [
    ([{"contentBlockDelta": {"delta": {"text": "hi"}}}, {"messageStop": {"stopReason": "end_turn"}}], None),
    ([{"contentBlockStart": {"start": {"toolUse": {}}}}, {"messageStop": {"stopReason": "tool_use"}}], None),
    ([{"contentBlockDelta": {"delta": {"text": "hi"}}}], "TRANSPORT/stream_cut"),
    ([{"throttlingException": {"message": "Too many tokens, please wait"}}], "RATE_LIMITED/tokens"),
    ([{"modelStreamErrorException": {}}, {"internalServerException": {}}], "SERVER/model_error"),
    ([7], "UNKNOWN/empty_response"),
]


@pytest.mark.parametrize(("events", "wanted"), STREAMED)
def test_events_of_converse(events, wanted):
    assert verdict(streamed(CONVERSE, events)) == wanted


@pytest.mark.parametrize("odd", ["page", {}, {"output": {}}, {"error": {"code": "ThrottlingException"}}])
def test_what_is_no_answer_of_converses(odd):
    assert CONVERSE.whole(odd).suspicion.facts <= {"unexpected_body", "error_object"}


COHERES = [
    ({"message": {"content": [{"type": "text", "text": "hi"}]}, "finish_reason": "COMPLETE"}, None),
    ({"message": {"tool_calls": [{}]}, "finish_reason": "TOOL_CALL"}, None),
    ({"message": {"content": []}, "finish_reason": "COMPLETE"}, "UNKNOWN/empty_response"),
    ({"message": {"content": []}, "finish_reason": "MAX_TOKENS"}, "TRUNCATED/max_tokens"),
    ({"message": {"content": []}, "finish_reason": "ERROR_TOXIC"}, "OUTPUT_BLOCKED/safety"),
    ({"message": {"content": []}, "finish_reason": "ERROR"}, "SERVER/other"),
    ({"message": {"content": []}, "finish_reason": "TIMEOUT"}, "TIMEOUT/provider"),
    ({"message": "gone", "finish_reason": "ERROR"}, "UNKNOWN/unexpected_body"),
    ({"message": {"content": []}, "finish_reason": "stop"}, "UNKNOWN/unexpected_body"),
]


@pytest.mark.parametrize(("answer", "wanted"), COHERES)
def test_answers_of_coheres(answer, wanted):
    assert verdict(COHERE.whole(answer)) == wanted


def test_events_of_coheres():
    begun = {"type": "content-delta", "delta": {"message": {"content": {"text": "hi"}}}}
    ended = {"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {"tokens": {"output_tokens": 1}}}}
    assert verdict(streamed(COHERE, [begun, ended])) is None
    assert streamed(COHERE, [begun, ended]).output_tokens == 1
    assert verdict(streamed(COHERE, [begun])) == "TRANSPORT/stream_cut"
