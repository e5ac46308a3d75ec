"""Nothing that a user wrote leaves in a message: whatever it is and wherever the message repeats it."""

import itertools
import re
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_errors import classify
from llm_errors.extract import echoes
from llm_errors.extract.echoes import without_echoes
from llm_errors.extract.redact import redact, redact_credentials
from tests.core.handed import handed_messages

MARK = "Zebrafink"
"""A word of a user's that no provider uses."""
QUOTED = (
    *("'{}'", '"{}"', "`{}`", "“{}”", "‘{}’", "«{}»", "„{}“", "「{}」", "『{}』", "[{}]", "{{{}}}", "<{}>", "b'{}'"),
    *("[{{'text': '{}'}}]", '{{"role": "user", "content": "{}"}}', "<|user|>{}</s>", "<message>{}</message>"),
)
"""How messages quote. A pair of signs may stand inside the text, too."""
SHAPES = (
    *("Invalid value: {}", "Invalid value {}. Supported values are: 'a' and 'b'.", "Value {} is not one of 'a', 'b'"),
    *("Failed to parse tool arguments: {}", "Could not parse {} as JSON", "Cannot decode response body: {}"),
    *("Expecting value: line 1 column 1 (char 0): {}", "JSON decode error near {}", "Unexpected token in input: {}"),
    *(
        "1 validation error for Answer\ncontent\n  Input should be a string [type=str, input_value={}, input_type=list]",
    ),
    *("messages.0.content: Input should be a valid list, got {}", "expected a string but got {}", "Unknown name {}"),
    *("Schema mismatch at 'properties': {} does not match", "Unsupported content {} at messages[0]", "You sent {}"),
    *("The prompt {} was flagged by moderation", "Your input: {}", "blocked: {}", "invalid literal for int(): {}"),
    *("Malformed request (body={})", "Illegal header value {}", "Validation failed - {}", "unmarshal error -> {}"),
    *("tool call validation failed: arguments {} of 'get_weather'", "AnthropicException - Invalid request: {}"),
    *("InternalError.Algo.InvalidParameter: {}", "The query={} could not be read", "参数错误：{}", "解析失败: {}"),
    *("Ungültige Eingabe: {}", "Entrada inválida: {}", "Entrée invalide : {}", "無効な値: {}", "유효하지 않은 값: {}"),
    *("{} is not valid JSON", "{}: invalid input", "could not deserialize {} into the target type"),
)
"""Sentences of parsing and validation, with the place where they repeat what was sent."""
INNOCENT = (
    *("Rate limit reached for {} in organization {}", "The model {} does not exist", "Too many requests for {}"),
    *("No such tool: {}", "Something went wrong at {}", "Input {} refused by {} today", "Gateway says {}"),
)
"""Sentences that say nothing of parsing: here a text must be quoted to be known as such."""

_signs = st.text(st.sampled_from("'\"`{}[]<>“”‘’«»()\\/:;=,.-_?!\n\t abIxé7" + "字"), max_size=24)
_planted = st.builds(lambda before, after: f"{before} {MARK} {after}", _signs, _signs)
_tame = st.sampled_from((MARK, f"My {MARK} is 7", f"I'm {MARK}'s 'friend' \"here\"", f"{MARK}.\nSecond line: yes"))


@given(_planted | _tame, st.sampled_from(SHAPES))
@settings(deadline=None, max_examples=150)
def test_what_follows_words_of_parsing_is_left_out_quoted_or_not(planted, shape):
    assert MARK not in redact(shape.format(planted))


@given(_planted | _tame, st.sampled_from((*SHAPES, *INNOCENT)), st.sampled_from(QUOTED))
@settings(deadline=None, max_examples=250)
def test_what_is_quoted_is_left_out_in_every_sentence(planted, shape, quoted):
    said = shape.replace("{}", "\0").replace("\0", quoted.format(planted))
    assert MARK not in redact(said)


@given(st.data(), _planted | _tame)
@settings(deadline=None, max_examples=150)
def test_planted_in_every_place_of_the_messages_of_the_cases_it_is_left_out(data, planted):
    message = data.draw(st.sampled_from(handed_messages()))
    places = [m.start() for m in re.finditer(r"(?<= )|\Z", message)]
    at = data.draw(st.sampled_from(places))
    quoted = data.draw(st.sampled_from(QUOTED)).format(planted)
    assert MARK not in redact(f"{message[:at]} {quoted} {message[at:]}")


@given(st.text(max_size=3000))
@settings(deadline=None)
def test_any_text_can_be_looked_at(text):
    assert len(redact(text)) <= 256
    assert len(redact_credentials(text)) <= 256


@pytest.mark.parametrize(
    "sign",
    ["'", '"', "`", "a' ", "'a", '"a" ', "{", "[1 ", "<a ", "a-", "x-", "1-", "a@", "header ", "invalid ", "key="],
)
def test_the_work_on_a_hostile_message_grows_with_its_length_alone(sign, monkeypatch):
    steps = itertools.count()
    look = echoes._known
    monkeypatch.setattr(echoes, "_known", lambda text, at: (next(steps), look(text, at))[1])
    without_echoes((sign * 2048)[:2048])
    assert next(steps) < 40 * 2048


@pytest.mark.parametrize(
    "message",
    [
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet-20241022",
        "messages: text content blocks must be non-empty",
        "messages.0.content.0.text: Input should be a valid string",
        "The model `gpt-9` does not exist or you do not have access to it.",
        "Expecting value: line 1 column 1 (char 0)",
        "API key not valid. Please pass a valid API key.",
        "[Errno -2] Name or service not known",
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate (_ssl.c:1000)",
        "<400> InternalError.Algo.DataInspectionFailed: Output data may contain inappropriate content.",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Your account isn't active, please check your provider's billing details.",
    ],
)
def test_words_of_the_api_stay(message):
    assert redact(message) == message


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("Write to bob@example.org", "Write to …"),
        ("Rate limit reached for <= Zebra >.", "Rate limit reached for …."),
        ("n must be <= 128 and >= 1", "n must be <= 128 and >= 1"),
        ("Write to support@example.org", "Write to support@example.org"),
        ("No image at https://host.example/my-file.png today", "No image at … today"),
        ("No image at data:image/png;base64,iVBORw0KGgo= today", "No image at … today"),
        ("See https://platform.openai.com/docs/errors?from=me", "See https://platform.openai.com/docs/errors…"),
        ("See https://platform.openai.com.evil.example/me", "See …"),
        ("Number 078-05-1120 is on file", "Number … is on file"),
        ("Call +49 170 1234567", "Call …"),
        ("'x' isn't here", "… isn't here"),
        ("You can't use 'secret plan' now", "You can't use … now"),
        ("Not closed: 'my text goes on", "Not closed: …"),
        ("İ is invalid: my text", "… is invalid: …"),
        ("Zebra said so; badInvalidThing now", "…; badInvalidThing …"),
        ("Zebra€ Invalid value: Zebra", "… Invalid value: …"),
        ("Project `p_x` does not have access to model `gpt-4o`", "Project … does not have access to model `gpt-4o`"),
    ],
)
def test_only_what_may_be_a_users_is_left_out(message, wanted):
    assert without_echoes(message) == wanted


def _refused(message: str, **error: Any) -> Exception:
    openai = pytest.importorskip("openai")
    body = {"error": {"message": message, "type": "invalid_request_error", **error}}
    response = httpx.Response(400, request=httpx.Request("POST", "http://x"), json=body)
    return openai.BadRequestError(message, response=response, body=body["error"])


def test_the_verdict_holds_the_message_without_what_it_repeats():
    verdict = classify(_refused(f"Invalid value: 'My {MARK} is 7'."))
    assert verdict is not None
    assert (verdict.error_class, verdict.message) == ("BAD_REQUEST", "Invalid value: ….")


@pytest.mark.parametrize("where", ["code", "type"])
def test_a_sentence_in_place_of_a_code_is_no_exception(where):
    verdict = classify(_refused("no", **{where: f"invalid value '{MARK}' sk-abcdefghijklmnop"}))
    assert verdict is not None
    assert MARK not in verdict.code
    assert "sk-" not in verdict.code


def test_a_secret_behind_the_bound_is_not_exported_by_half():
    assert "sk-" not in redact_credentials("x" * 250 + " sk-abcdefghijklmnop")
