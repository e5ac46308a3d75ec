"""What an SDK refuses before it sends anything is the caller's request or credential, and is counted once."""

from importlib.metadata import version

import pytest

from llm_errors import classify, providers
from tests.promises.wire import ASK, CHAT, GEMINI, MESSAGES, asked, call, method, whole

BAD, AUTH = ("BAD_REQUEST", "invalid_parameter"), ("AUTH", "missing_key")


def verdict(exc: BaseException) -> tuple[str, str]:
    found = classify(exc)
    return found.error_class.value, found.reason


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
async def test_an_answer_that_anthropic_wants_streamed_is_a_bad_request(
    asynchronous, provider, connect, aconnect, observed
):
    server = provider([whole(MESSAGES)])
    client = (aconnect if asynchronous else connect)(MESSAGES, server.url, asynchronous)

    async def create():
        result = client.messages.create(model="m", max_tokens=999_999, messages=ASK)
        return await result

    with pytest.raises(ValueError, match="Streaming is required") as raised:
        await create()
    assert server.requests == []
    assert observed.reasons() == {BAD: 1}
    assert observed.outcomes() == {"error": 1}
    assert observed.counts("llm_calls_total", "gen_ai.provider.name") == {"anthropic": 1}
    assert verdict(raised.value) == BAD


def test_arguments_that_gemini_does_not_take_are_a_bad_request(provider, connect, observed):
    server = provider([whole(GEMINI)])
    client = connect(GEMINI, server.url)
    with pytest.raises(ValueError, match="supported") as raised:
        client.models.generate_content(model="m", contents="x", config={"audio_timestamp": True})
    with pytest.raises(ValueError, match="supported"):
        list(client.models.generate_content_stream(model="m", contents="x", config={"audio_timestamp": True}))
    assert server.requests == []
    assert observed.reasons() == {BAD: 2}
    assert observed.counts("llm_calls_total", "gen_ai.request.model") == {"m": 2}
    assert verdict(raised.value) == BAD


@pytest.mark.parametrize("api", [CHAT, MESSAGES])
def test_a_call_without_credentials_is_of_the_credential(api, provider, connect, observed, monkeypatch):
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    if api is CHAT and version("openai").startswith("1."):
        pytest.skip("only a newer major of the SDK looks for a credential before it sends")
    server = provider([whole(api)])
    client = connect(api, server.url)
    client.api_key = None
    with pytest.raises(TypeError, match="authentication method"):
        method(api, client)(**asked(api))
    assert server.requests == []
    assert observed.reasons() == {AUTH: 1}
    assert observed.outcomes() == {"error": 1}


def test_an_error_of_the_application_in_a_hook_of_the_client_is_foreign(provider, connect, observed):
    def broken(request):
        raise ValueError("the application's own, mutually exclusive or not")

    httpx = pytest.importorskip("openai").DefaultHttpxClient
    client = connect(CHAT, provider([whole(CHAT)]).url, http_client=httpx(event_hooks={"request": [broken]}))
    with pytest.raises(Exception, match=r"own|Connection"):
        call(CHAT, client)
    assert observed.reasons() == {("UNKNOWN", "foreign_exception"): 1}


def test_what_fails_over_an_answer_is_no_refusal(provider, connect, observed):
    from llm_errors.testing.provider import Reply

    with pytest.raises(ValueError, match="No embedding data"):
        connect(CHAT, provider([Reply(json={"object": "list", "data": []})]).url).embeddings.create(
            model="m", input="x"
        )
    assert observed.reasons() == {("UNKNOWN", "empty_response"): 1}


RELATIVES = [
    row
    for row in providers.SDKS
    if row.family == "stainless" and row.name not in ("openai", "anthropic", "google-genai")
]
CLIENTS = [
    ("openai", "OpenAI", {}, AUTH),
    ("openai", "OpenAI", {"api_key": "k", "workload_identity": {"identity_provider_id": "i"}}, BAD),
    ("openai", "AzureOpenAI", {"api_version": "v"}, AUTH),
    ("openai", "AzureOpenAI", {"api_version": "v", "api_key": "k"}, BAD),
    ("openai", "AzureOpenAI", {"api_version": "v", "api_key": "k", "base_url": "http://x", "azure_endpoint": "y"}, BAD),
    *((row.package, row.clients[0].name, {}, AUTH) for row in RELATIVES),
    ("google.genai", "Client", {}, AUTH),
]


@pytest.mark.parametrize(("package", "name", "options", "expected"), CLIENTS)
def test_a_client_that_cannot_be_made_is_told_by_classify(package, name, options, expected, monkeypatch):
    for variable in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "AZURE_OPENAI_API_KEY", "GOOGLE_API_KEY",
                     "GEMINI_API_KEY", "GOOGLE_CLOUD_PROJECT", "AZURE_OPENAI_ENDPOINT", "OPENAI_BASE_URL"):  # fmt: skip
        monkeypatch.delenv(variable, raising=False)
    sdk = pytest.importorskip(package)
    if "workload_identity" in options and version("openai").startswith("1."):
        pytest.skip("only a newer major of the SDK knows workload identities")
    with pytest.raises(Exception, match=r"\w") as raised:
        getattr(sdk, name)(**options)
    assert verdict(raised.value) == expected, raised.value
