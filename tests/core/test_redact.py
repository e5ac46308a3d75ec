"""No credential leaves: what is removed from messages, and what is kept."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_errors.extract.redact import redact, redact_credentials
from tests.core.handed import handed_messages

SECRETS = [
    "sk-abcdefghijklmnop",
    "sk-proj-AbC_123-xyz789",
    "sk-ant-api03-AAAAbbbbCCCC",
    "sk-ab**********wxyz",
    "gsk_abcdefghij0123456789",
    "xai-abcdefghij0123456789",
    "hf_abcdefghijKLMNOP",
    "AIzaSyA1234567890abcdefghij",
    "ya29.a0AfH6SMBx-y_z",
    "AKIAIOSFODNN7EXAMPLE",
    "ASIAIOSFODNN7EXAMPLE",
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "0123456789abcdef0123456789abcdef",
    "ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2",
    "github_pat_11ABCDEFG0abcdefghij_KLMNOPQRSTUVWXYZ",
    "glpat-abcdefghij0123456789",
    "xoxb-123456789012-abcdefghij",
    "nvapi-abcdefghij0123456789-_x",
    "ABSKQmVkcm9ja0FQSUtleS1hYmNkZWZnaA==",
    "bedrock-api-key-YmVkcm9jay5hbWF6b25hd3M=",
    "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5zA7b",
]
CONTEXTS = [
    "{}",
    "Incorrect API key provided: {}. See the docs.",
    "header b'Bearer {}'",
    "url ?key={}&x=1",
    "api_key={}",
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("context", CONTEXTS)
def test_a_credential_is_removed_wherever_it_stands(secret, context):
    assert secret not in redact(context.format(secret))


AROUND = [
    " {} ",
    " '{}' ",
    ' "{}", ',
    " ({}) ",
    ": {}\n",
    "={}&",
    " b'{}\\n' ",
    "/{}/",
    " <{}>",
    " {{'key': '{}'}} ",
    "，{}。",
]


@given(st.sampled_from(SECRETS), st.sampled_from(AROUND), st.data())
@settings(max_examples=400)
def test_a_credential_in_any_place_of_the_messages_of_the_cases_is_removed(secret, around, data):
    message = data.draw(st.sampled_from(handed_messages()))
    at = data.draw(st.sampled_from([m.start() for m in re.finditer(r"(?<= )|\Z", message)]))
    said = message[:at] + around.format(secret) + message[at:]
    assert secret not in redact(said)
    assert secret not in redact_credentials(said)


@pytest.mark.parametrize("redaction", [redact, redact_credentials])
@pytest.mark.parametrize(
    "message",
    [
        "Illegal header value b'{}'",
        "Illegal header value b'{}\\n'",
        "Invalid leading whitespace, reserved character(s), or return character(s) in header value: '{}\\n'",
        "Invalid header value {}",
        "header part ('{}\\n') from ('X-Gateway-Key', '{}\\n') must be of type str",
        "X-Gateway-Key: {}",
        "refused: api-key={}",
        "Cookie: session={}; other=1",
        "Proxy-Authorization: {}",
        "illegal trailer field: {}",
    ],
)
@pytest.mark.parametrize(
    "value", ["team-rocket-42", "pwd4llm!gateway", "3f2a9c1e-77b0-4d1c-9a50-aa11bb22cc33", "it's mine"]
)
def test_the_value_of_a_header_is_removed_whatever_it_looks_like(value, message, redaction):
    assert value not in redaction(message.format(value, value))


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("connect to https://user:pa55@host/v1 failed", "pa55"),
        ("'password': 'hunter22'", "hunter22"),
        ("token=abcd-1234-efgh", "abcd-1234-efgh"),
    ],
)
def test_named_values_are_removed(message, kept):
    assert kept not in redact(message)


@pytest.mark.parametrize(
    "message",
    [
        "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.",
        "max_tokens: 100000 is too large",
        "The model `gpt-9` does not exist",
        "This model's maximum context length is 8192 tokens.",
        "Your API key is not allowed to use this model",
    ],
)
def test_plain_words_and_numbers_are_kept(message):
    assert redact(message) == message


def test_a_message_is_clipped():
    assert len(redact("word " * 10_000)) == 256


def test_a_credential_at_the_edge_of_the_clip_is_removed_before_clipping():
    assert "sk-" not in redact("x" * 250 + " sk-abcdefghijklmnop")
