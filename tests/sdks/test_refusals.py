"""What an SDK refuses before it sends anything: wrong arguments are BAD_REQUEST, missing credentials AUTH, each counted once."""

import asyncio
import importlib
import importlib.util
from importlib.metadata import version

import pytest

from llm_errors import classify

HELLO = [{"role": "user", "content": "hi"}]
NOWHERE = "http://127.0.0.1:1"
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


def sdk(name):
    return pytest.importorskip(name, reason=f"{name} is not installed")


def cohere_v1(asynchronous):
    sdk("cohere")
    return getattr(sdk("cohere"), "AsyncClient" if asynchronous else "Client")(api_key="k", base_url=NOWHERE)


def cohere_v2(asynchronous):
    return getattr(sdk("cohere"), "AsyncClientV2" if asynchronous else "ClientV2")(api_key="k", base_url=NOWHERE)


def hub(asynchronous, **given):
    return getattr(sdk("huggingface_hub"), "AsyncInferenceClient" if asynchronous else "InferenceClient")(**given)


def endpoint(asynchronous):
    return hub(asynchronous, model=NOWHERE, token="k")


def ollama(asynchronous):
    return getattr(sdk("ollama"), "AsyncClient" if asynchronous else "Client")(host=NOWHERE)


def mistral(asynchronous):
    sdk("mistralai")
    module = importlib.import_module("mistralai" if version("mistralai").startswith("1.") else "mistralai.client")
    client = module.Mistral(api_key="k", server_url=NOWHERE)
    return client.chat.complete_async if asynchronous else client.chat.complete


def mistral_stream(asynchronous):
    given = mistral(asynchronous).__self__
    return given.stream_async if asynchronous else given.stream


def openrouter(asynchronous):
    client = sdk("openrouter").OpenRouter(api_key="k", server_url=NOWHERE)
    return client.chat.send_async if asynchronous else client.chat.send


BAD, KEY = "BAD_REQUEST/invalid_parameter", "AUTH/missing_key"
REFUSED = {
    "cohere: a message that is none": (lambda way: cohere_v2(way).chat(model="m", messages=[{"role": object()}]), BAD),
    "cohere: a stream of the method for whole answers": (
        lambda way: cohere_v1(way).chat(model="m", message="hi", stream=True), BAD),
    "huggingface_hub: no key": (lambda way: hub(way, provider="together").chat_completion(HELLO, model="m"), KEY),
    "huggingface_hub: no model": (lambda way: hub(way, provider="together", token="k").chat_completion(HELLO), BAD),
    "ollama: no messages": (lambda way: ollama(way).chat(model="m", messages=7), BAD),
    "ollama: a message without a role": (lambda way: ollama(way).chat(model="m", messages=[{"content": "hi"}]), BAD),
    "ollama: a tool that is none": (lambda way: ollama(way).chat(model="m", messages=HELLO, tools=[{"function": 7}]), BAD),
    "huggingface_hub: a provider that there is not": (
        lambda way: hub(way, provider="nobody", token="k").chat_completion(HELLO, model="m"), BAD),
    "huggingface_hub: a task that the provider does not have": (
        lambda way: hub(way, provider="groq", token="k").text_to_image("x", model="m"), BAD),
    "huggingface_hub: no key for an image": (lambda way: hub(way, provider="together").text_to_image("x", model="m"), KEY),
    "huggingface_hub: one language of two": (lambda way: endpoint(way).translation("x", src_lang="en"), BAD),
    "huggingface_hub: nothing to choose from": (
        lambda way: endpoint(way).zero_shot_image_classification(b"x", candidate_labels=["a"]), BAD),
    "huggingface_hub: an image that is none": (
        lambda way: endpoint(way).visual_question_answering(7, question="what?"), BAD),
    "huggingface_hub: a recording that is not there": (
        lambda way: endpoint(way).automatic_speech_recognition("/nowhere/a.flac"), BAD),
    "huggingface_hub: a recording that is none": (lambda way: endpoint(way).automatic_speech_recognition(7), BAD),
    "huggingface_hub: what JSON does not know": (lambda way: endpoint(way).text_to_image(object()), BAD),
    "ollama: no model": (lambda way: ollama(way).chat(messages=HELLO), BAD),
    "ollama: options that are none": (lambda way: ollama(way).chat(model="m", messages=HELLO, options=7), BAD),
    "ollama: what JSON does not know": (lambda way: ollama(way).chat(model="m", messages=HELLO, options={"a": {1}}), BAD),
    "ollama: an image of a message that is not there": (
        lambda way: ollama(way).chat(model="m", messages=[{**HELLO[0], "images": ["/nowhere/a.png"]}]), BAD),
    "ollama: an image of a message that is none": (
        lambda way: ollama(way).chat(model="m", messages=[{**HELLO[0], "images": [7]}]), BAD),
    "ollama: an image that is not there": (
        lambda way: ollama(way).generate(model="m", prompt="x", images=["/nowhere/a.png"]), BAD),
    "ollama: an image that is none": (lambda way: ollama(way).generate(model="m", prompt="x", images=[7]), BAD),
    "ollama: a prompt that is none": (lambda way: ollama(way).generate(model="m", prompt=7), BAD),
    "ollama: nothing to embed": (lambda way: ollama(way).embed(model="m", input=7), BAD),
    "ollama: nothing to embed in the old way": (lambda way: ollama(way).embeddings(model="m", prompt=7), BAD),
    "mistralai: no messages": (lambda way: mistral(way)(model="m", messages=7), BAD),
    "mistralai: a role that it does not know": (lambda way: mistral(way)(model="m", messages=[{"role": "x"}]), BAD),
    "mistralai: no model": (lambda way: mistral(way)(model=7, messages=HELLO), BAD),
    "mistralai: a stream without messages": (lambda way: mistral_stream(way)(model="m", messages=7), BAD),
    "openrouter: no messages": (lambda way: openrouter(way)(model="m", messages=7), BAD),
    "openrouter: a stream without messages": (lambda way: openrouter(way)(model="m", messages=7, stream=True), BAD),
}  # fmt: skip


@each_way
@pytest.mark.parametrize("name", REFUSED)
def test_a_call_that_is_refused_counts_once(observed, monkeypatch, name, asynchronous):
    for variable in ("HF_TOKEN", "HF_TOKEN_PATH", "CO_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    call, verdict = REFUSED[name]

    async def go():
        return await call(True)

    with pytest.raises(Exception):
        asyncio.run(go()) if asynchronous else call(False)
    assert observed.outcomes() == {"error": 1}
    ((error, point),) = observed.points("llm_errors_total")
    assert (f"{error['llm.error.class']}/{error['llm.error.reason']}", point.value) == (verdict, 1)


NAMED = {
    "huggingface_hub": (lambda: hub(False, provider="groq", token="k").text_to_image("x", model="m"), "text_to_image", "m"),
    "huggingface_hub, at an address": (lambda: endpoint(False).translation("x", src_lang="en"), "translation", None),
    "ollama, an argument": (lambda: ollama(False).embed(model="m", input=7), "embeddings", "m"),
    "ollama, an image": (
        lambda: ollama(False).generate(model="m", prompt="x", images=["a.png"]), "text_completion", "m"),
    "ollama, a thing for an image": (lambda: ollama(False).generate(model="m", images=[7]), "text_completion", None),
    "ollama, a thing in a message": (
        lambda: ollama(False).chat(model="m", messages=[{**HELLO[0], "images": [7]}]), "chat", None),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_a_call_that_is_refused_has_its_operation_and_its_model_if_one_is_known(observed, name):
    call, *wanted = NAMED[name]
    with pytest.raises(Exception):
        call()
    ((labels, _),) = observed.points("llm_calls_total")
    assert [labels["gen_ai.operation.name"], labels.get("gen_ai.request.model")] == wanted


def test_what_is_no_model_call_is_none_if_it_is_refused_either(observed):
    with pytest.raises(Exception, match="CreateRequest"):
        ollama(False).create(model=7)
    assert observed.outcomes() == {}


MADE = {
    "cohere: no key": (lambda: sdk("cohere").ClientV2(base_url=NOWHERE), KEY),
    "huggingface_hub: two addresses": (lambda: hub(False, model="m", base_url=NOWHERE), BAD),
    "huggingface_hub: two keys": (lambda: hub(False, token="a", api_key="b"), BAD),
    "botocore: no region": (lambda: sdk("boto3").Session().client("bedrock-runtime"), BAD),
    "botocore: no profile of this name": (lambda: sdk("boto3").Session(profile_name="nobody"), "AUTH/other"),
}


@pytest.mark.parametrize("name", MADE)
def test_a_client_that_cannot_be_made_is_no_call_but_has_a_class(observed, monkeypatch, tmp_path, name):
    for variable in ("CO_API_KEY", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(variable, str(tmp_path / "none"))
    make, verdict = MADE[name]
    with pytest.raises(Exception) as raised:
        make()
    found = classify(raised.value)
    assert f"{found.error_class}/{found.reason}" == verdict
    assert observed.outcomes() == {}


def test_a_call_without_credentials_of_aws_is_refused_and_counts_once(observed, monkeypatch, tmp_path):
    boto3 = sdk("boto3")
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for variable in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(variable, str(tmp_path / "none"))
    client = boto3.Session().client("bedrock-runtime", region_name="us-east-1", endpoint_url=NOWHERE)
    with pytest.raises(Exception, match="credentials"):
        client.converse(modelId="m", messages=[{"role": "user", "content": [{"text": "hi"}]}])
    assert observed.outcomes() == {"error": 1}
    assert observed.span().attributes["llm.error.class"] == "AUTH"
    assert observed.span().attributes["llm.error.reason"] == "missing_key"
    client.close()
