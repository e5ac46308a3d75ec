"""No credential leaves: what is removed from messages, and what is kept."""

import pytest

from llm_errors.extract.redact import redact

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
