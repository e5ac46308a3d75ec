"""botocore and aiobotocore over a real socket: Bedrock's runtime, its agents, SageMaker's endpoints."""

import asyncio
import io
import json
import weakref
from contextlib import AsyncExitStack

import pytest

pytest.importorskip("botocore", reason="botocore is not installed")

import botocore.session
from botocore.config import Config
from botocore.credentials import DeferredRefreshableCredentials
from botocore.exceptions import UnauthorizedSSOTokenError
from botocore.response import StreamingBody

from llm_errors.testing.provider import Reply

SESSION = botocore.session.Session()  # loads the model of a service once
ASKED = [{"role": "user", "content": [{"text": "hi"}]}]
WAYS = ["sync", "async"]
each_way = pytest.mark.parametrize("asynchronous", [False, True], ids=WAYS)


def client_of(service, attempts=1, **more):
    """A factory of clients of a service, for botocore and for aiobotocore."""
    config = Config(retries={"total_max_attempts": attempts, "mode": "standard"}, read_timeout=60, **more)
    given = {"region_name": "us-east-1", "config": config}

    def make(url, asynchronous):
        if not asynchronous:
            return SESSION.create_client(service, endpoint_url=url, **given)
        return AsyncClient(service, {**given, "endpoint_url": url})

    return make


class AsyncClient:
    """A client of aiobotocore's, which is entered before its first call."""

    def __init__(self, service, given):
        session = pytest.importorskip("aiobotocore.session", reason="aiobotocore is not installed")
        self._stack, self._service, self._given, self._session = AsyncExitStack(), service, given, session

    def __getattr__(self, name):
        if not hasattr(SESSION.create_client(self._service, region_name="us-east-1"), name):
            raise AttributeError(name)

        async def call(**params):
            entering = self._session.get_session().create_client(self._service, **self._given)
            client = await self._stack.enter_async_context(entering)
            return await getattr(client, name)(**params)

        return call

    async def aclose(self):
        await self._stack.aclose()


def asking(method, holds="", read=None, **params):
    """A call, and what an application does with the answer: read the stream or the body that it holds."""

    def call(client):
        if not hasattr(client, method):
            pytest.skip("only a newer major of the SDK has it")
        answer = getattr(client, method)(**params)
        return _consumed_async(answer, holds, read) if asyncio.iscoroutine(answer) else _consumed(answer, holds, read)

    return call


def _consumed(answer, holds, read):
    held = answer[holds] if holds else None
    if held is None:
        return answer
    return read(held) if read else held.read() if hasattr(held, "read") else list(held)


async def _consumed_async(answer, holds, read):
    held = (await answer).get(holds) if holds else await answer
    if not holds:
        return held
    if hasattr(held, "read"):
        return await held.read()
    return [event async for event in held]


RUNTIME, AGENTS, SAGEMAKER = (
    client_of("bedrock-runtime"),
    client_of("bedrock-agent-runtime"),
    client_of("sagemaker-runtime"),
)
converse = asking("converse", modelId="m", messages=ASKED)
converse_stream = asking("converse_stream", "stream", modelId="m", messages=ASKED)
invoke = asking("invoke_model", "body", modelId="m", body=b"{}")
invoke_stream = asking("invoke_model_with_response_stream", "body", modelId="m", body=b"{}")
RETRIEVAL = {"type": "KNOWLEDGE_BASE", "knowledgeBaseConfiguration": {"knowledgeBaseId": "K", "modelArn": "arn:aws:bedrock:us-east-1::foundation-model/m"}}  # fmt: skip
agent = asking("invoke_agent", "completion", agentId="A", agentAliasId="B", sessionId="s1", inputText="hi")
FLOW = [{"content": {"document": "x"}, "nodeName": "n", "nodeOutputName": "o"}]
flow = asking("invoke_flow", "responseStream", flowIdentifier="F", flowAliasIdentifier="B", inputs=FLOW)
retrieve = asking("retrieve_and_generate", input={"text": "x"}, retrieveAndGenerateConfiguration=RETRIEVAL)
retrieve_stream = asking("retrieve_and_generate_stream", "stream", input={"text": "x"}, retrieveAndGenerateConfiguration=RETRIEVAL)  # fmt: skip
endpoint = asking("invoke_endpoint", "Body", EndpointName="e", Body=b"{}")
endpoint_stream = asking("invoke_endpoint_with_response_stream", "Body", EndpointName="e", Body=b"{}")


def guard(source):
    said = [{"text": {"text": "x"}}]
    return asking("apply_guardrail", guardrailIdentifier="g", guardrailVersion="1", source=source, content=said)


def answer(stop="end_turn", text="hi", **more):
    content = [{"text": text}] if text else []
    usage = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}
    message = {"role": "assistant", "content": content}
    return Reply(
        json={"output": {"message": message}, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 1}, **more}
    )


def error(status, code, message="m"):
    return Reply(status, json={"message": message}, headers={"x-amzn-errortype": code})


def events(*named, **how):
    return Reply(eventstream=[(name, payload, kind) for name, payload, kind in named], **how)


def event(name, **payload):
    return name, payload, "event"


def exception(name, message="m", **more):
    return name, {"message": message, **more}, "exception"


def chunk(said):
    """An event of InvokeModelWithResponseStream."""
    import base64

    return "chunk", {"bytes": base64.b64encode(json.dumps(said).encode()).decode()}, "event"


START = event("messageStart", role="assistant")
DELTA = event("contentBlockDelta", contentBlockIndex=0, delta={"text": "hi"})
METADATA = event("metadata", usage={"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}, metrics={"latencyMs": 1})


def stop(reason="end_turn"):
    return event("messageStop", stopReason=reason)


BLOCKED_TOPIC = {"topicPolicy": {"topics": [{"name": "T", "type": "DENY", "action": "BLOCKED"}]}}
MASKED_NAME = {"sensitiveInformationPolicy": {"piiEntities": [{"type": "NAME", "match": "x", "action": "ANONYMIZED"}]}}
ON_INPUT = {"guardrail": {"inputAssessment": {"g": BLOCKED_TOPIC}}}
ON_OUTPUT = {"guardrail": {"outputAssessments": {"g": [BLOCKED_TOPIC]}}}


# --- whole answers ---

ANSWERS = [
    (answer(), "ok"),
    (answer("tool_use"), "ok"),
    (answer("stop_sequence"), "ok"),
    (answer("max_tokens"), "TRUNCATED/max_tokens"),
    (answer("model_context_window_exceeded"), "TRUNCATED/context_window"),
    (answer("content_filtered"), "OUTPUT_BLOCKED/content_filter"),
    (answer("guardrail_intervened"), "OUTPUT_BLOCKED/guardrail"),
    (answer("guardrail_intervened", trace=ON_INPUT), "PROMPT_BLOCKED/guardrail"),
    (answer("guardrail_intervened", trace=ON_OUTPUT), "OUTPUT_BLOCKED/guardrail"),
    (answer("malformed_tool_use", ""), "TOOL_PROTOCOL/malformed_call"),
    (answer("malformed_model_output", ""), "SERVER/model_error"),
    (answer("end_turn", ""), "UNKNOWN/empty_response"),
    (answer("brand_new"), "UNKNOWN/unrecognised_finish_reason"),
    (Reply(json={}), "UNKNOWN/unexpected_body"),
    (Reply(text="<html>", headers={"content-type": "text/html"}), "UNKNOWN/unexpected_body"),
]


@each_way
@pytest.mark.parametrize(("reply", "verdict"), ANSWERS, ids=range(len(ANSWERS)))
def test_an_answer_of_converse(play, reply, verdict, asynchronous):
    seen = play(RUNTIME, converse, reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)
    assert seen.labels["gen_ai.provider.name"] == "aws.bedrock"
    assert seen.labels["gen_ai.request.model"] == "m"


def test_the_tokens_and_the_stop_reason_are_on_the_span(play):
    seen = play(RUNTIME, converse, answer())
    assert seen.attributes["gen_ai.usage.input_tokens"] == 3
    assert seen.attributes["gen_ai.response.finish_reasons"] == ("end_turn",)


# --- thrown ---

THROWN = [
    (error(429, "ThrottlingException:http://internal.amazon.com/"), "RATE_LIMITED/requests"),
    (error(400, "ServiceQuotaExceededException"), "RATE_LIMITED/service_quota"),
    (error(400, "ValidationException"), "BAD_REQUEST/invalid_parameter"),
    (error(400, "ValidationException", "Input is too long for requested model."), "BAD_REQUEST/context_overflow"),
    (error(403, "AccessDeniedException"), "AUTH/permission_denied"),
    (error(403, "ExpiredTokenException"), "AUTH/expired"),
    (error(403, "UnrecognizedClientException"), "AUTH/invalid_key"),
    (error(404, "ResourceNotFoundException"), "NOT_FOUND/model"),
    (error(408, "ModelTimeoutException"), "TIMEOUT/provider"),
    (error(424, "ModelErrorException"), "SERVER/model_error"),
    (error(429, "ModelNotReadyException"), "SERVER/model_not_ready"),
    (error(503, "ServiceUnavailableException"), "SERVER/unavailable"),
    (Reply(502, text="<html>", headers={"content-type": "text/html"}), "SERVER/gateway"),
    (Reply(action="close_at_once"), "TRANSPORT/disconnected"),
    (Reply(action="reset"), "TRANSPORT/disconnected"),
]


@each_way
@pytest.mark.parametrize(("reply", "verdict"), THROWN, ids=range(len(THROWN)))
def test_a_failure_that_the_sdk_raises(play, reply, verdict, asynchronous):
    seen = play(RUNTIME, converse, reply, asynchronous)
    assert seen.raised is not None
    assert seen.verdict == verdict, (seen.attributes, seen.raised)


@each_way
def test_a_server_that_is_not_there(play, asynchronous):
    def nowhere(url, asynchronous):
        return RUNTIME("http://127.0.0.1:9", asynchronous)

    assert play(nowhere, converse, answer(), asynchronous).verdict in (
        "TRANSPORT/connection_refused",
        "TRANSPORT/other",
    )


@each_way
def test_a_server_that_hangs(play, asynchronous):
    def impatient(url, asynchronous):
        return client_of("bedrock-runtime")(url, asynchronous)

    config = Config(retries={"total_max_attempts": 1}, read_timeout=0.3)

    def make(url, asynchronous):
        client = impatient(url, asynchronous)
        if asynchronous:
            client._given["config"] = config
            return client
        return SESSION.create_client("bedrock-runtime", endpoint_url=url, region_name="us-east-1", config=config)

    assert play(make, converse, Reply(action="hang"), asynchronous).verdict == "TIMEOUT/read"


@each_way
def test_parameters_that_botocore_refuses(play, asynchronous):
    refused = asking("converse", modelId="m", messages="hi")
    assert play(RUNTIME, refused, answer(), asynchronous).verdict == "BAD_REQUEST/invalid_parameter"


def test_no_credentials(play, monkeypatch, tmp_path):
    monkeypatch.setitem(globals(), "SESSION", botocore.session.Session())
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    assert play(RUNTIME, converse, answer()).verdict == "AUTH/missing_key"


def refreshing(monkeypatch, refresh):
    """Sessions from here on fetch their credentials when a request is signed."""
    session = botocore.session.Session()
    session._credentials = DeferredRefreshableCredentials(refresh_using=refresh, method="test")
    monkeypatch.setitem(globals(), "SESSION", session)


def test_an_sso_session_that_has_expired(play, monkeypatch):
    def refresh():
        raise UnauthorizedSSOTokenError

    refreshing(monkeypatch, refresh)
    assert play(RUNTIME, converse, answer()).verdict == "AUTH/expired"


def test_a_call_that_renews_the_credentials_is_no_attempt_of_the_model_call(play, monkeypatch, provider):
    page = "<ErrorResponse><Error><Code>ServiceUnavailable</Code><Message>m</Message></Error></ErrorResponse>"
    sts = provider([Reply(503, text=page, headers={"content-type": "text/xml"})])
    renewing = client_of("sts")(sts.url, False)

    def refresh():
        with pytest.raises(botocore.exceptions.ClientError):
            renewing.get_caller_identity()
        return {"access_key": "a", "secret_key": "b", "token": "c", "expiry_time": "2099-01-01T00:00:00Z"}

    refreshing(monkeypatch, refresh)
    seen = play(RUNTIME, converse, answer())
    renewing.close()
    assert (len(sts.requests), seen.verdict, seen.retries) == (1, "ok", {})


# --- retries that the SDK hides ---


@each_way
def test_attempts_that_the_sdk_hides_are_counted_by_class(play, asynchronous):
    script = [error(429, "ThrottlingException"), Reply(action="close_at_once"), answer()]
    seen = play(client_of("bedrock-runtime", 3), converse, script, asynchronous)
    assert (seen.verdict, seen.retries) == ("ok", {"RATE_LIMITED": 1, "TRANSPORT": 1})
    assert seen.attributes["llm.retry.count"] == 2


@each_way
def test_the_last_attempt_is_the_call_s_and_no_retry(play, asynchronous):
    seen = play(client_of("bedrock-runtime", 2), converse, error(503, "ServiceUnavailableException"), asynchronous)
    assert (seen.verdict, seen.retries) == ("SERVER/unavailable", {"SERVER": 1})


# --- streams ---

STREAMS = [
    (events(START, DELTA, stop(), METADATA), "ok"),
    (events(START, DELTA, stop("max_tokens"), METADATA), "TRUNCATED/max_tokens"),
    (events(START, DELTA, stop("guardrail_intervened"), event("metadata", trace=ON_INPUT)), "PROMPT_BLOCKED/guardrail"),
    (
        events(START, DELTA, stop("guardrail_intervened"), event("metadata", trace=ON_OUTPUT)),
        "OUTPUT_BLOCKED/guardrail",
    ),
    (events(START, DELTA), "TRANSPORT/stream_cut"),
    (events(START, stop(), METADATA), "UNKNOWN/empty_response"),
    (events(exception("validationException", "Input is too long.")), "BAD_REQUEST/context_overflow"),
    (events(START, DELTA, exception("throttlingException")), "RATE_LIMITED/requests"),
    (events(START, exception("modelStreamErrorException", originalStatusCode=500)), "SERVER/model_error"),
    (events(START, exception("internalServerException")), "SERVER/internal"),
    (events(START, exception("serviceUnavailableException")), "SERVER/unavailable"),
    (events(START, DELTA, action="cut_mid_stream"), "TRANSPORT/disconnected"),
]


@each_way
@pytest.mark.parametrize(("reply", "verdict"), STREAMS, ids=range(len(STREAMS)))
def test_a_stream_of_converse(play, reply, verdict, asynchronous):
    seen = play(RUNTIME, converse_stream, reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)


@each_way
def test_an_error_in_place_of_the_first_event_may_be_tried_again(play, asynchronous):
    seen = play(RUNTIME, converse_stream, events(exception("throttlingException")), asynchronous)
    assert seen.retryable is True
    assert "llm.error.partial_output" not in seen.attributes or seen.attributes["llm.error.partial_output"] is False


@each_way
def test_an_error_after_output_may_not(play, asynchronous):
    seen = play(RUNTIME, converse_stream, events(START, DELTA, exception("throttlingException")), asynchronous)
    assert seen.retryable is False
    assert seen.attributes["llm.error.partial_output"] is True


def test_the_application_gets_every_event_and_the_stream_s_own_type(play):
    import botocore.eventstream

    kept = []
    ask = asking(
        "converse_stream", "stream", lambda stream: kept.append(stream) or list(stream), modelId="m", messages=ASKED
    )
    seen = play(RUNTIME, ask, events(START, DELTA, stop(), METADATA))
    assert [next(iter(e)) for e in seen.result] == ["messageStart", "contentBlockDelta", "messageStop", "metadata"]
    assert type(kept[0]) is botocore.eventstream.EventStream


def test_a_stream_that_the_application_closes_is_cancelled(play):
    def leave(stream):
        next(iter(stream))
        stream.close()

    ask = asking("converse_stream", "stream", leave, modelId="m", messages=ASKED)
    assert play(RUNTIME, ask, events(START, DELTA, stop(), METADATA)).verdict == "cancelled"


def test_a_stream_that_is_closed_at_its_stop_reason_is_settled_by_it(play):
    def leave(stream):
        for said in stream:
            if "messageStop" in said:
                break
        stream.close()

    ask = asking("converse_stream", "stream", leave, modelId="m", messages=ASKED)
    assert play(RUNTIME, ask, events(START, DELTA, stop("max_tokens"), METADATA)).verdict == "TRUNCATED/max_tokens"


def test_a_task_that_is_cancelled(telemetry, observed, provider):
    pytest.importorskip("aiobotocore", reason="aiobotocore is not installed")
    server = provider([Reply(action="hang")])

    async def go():
        client = RUNTIME(server.url, True)
        task = asyncio.ensure_future(client.converse(modelId="m", messages=ASKED))
        await asyncio.to_thread(server.hanging.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await client.aclose()

    asyncio.run(go())
    assert telemetry.outcomes() == {"cancelled": 1}


# --- InvokeModel: every family's own JSON ---

CLAUDE = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "hi"}],
    "stop_reason": "end_turn",
}
FAMILIES = [
    (CLAUDE, "ok"),
    ({**CLAUDE, "stop_reason": "refusal"}, "OUTPUT_BLOCKED/refusal"),
    ({**CLAUDE, "amazon-bedrock-guardrailAction": "INTERVENED"}, "OUTPUT_BLOCKED/guardrail"),
    ({"generation": "hi", "stop_reason": "length"}, "TRUNCATED/max_tokens"),
    ({"results": [{"outputText": "", "completionReason": "CONTENT_FILTERED"}]}, "OUTPUT_BLOCKED/content_filter"),
    ({"embedding": [0.1], "inputTextTokenCount": 3}, "ok"),
    ({}, "UNKNOWN/empty_response"),
]


@pytest.mark.parametrize(("body", "verdict"), FAMILIES, ids=range(len(FAMILIES)))
def test_an_answer_of_invoke_model(play, body, verdict):
    seen = play(RUNTIME, invoke, Reply(json=body))
    assert seen.verdict == verdict, seen.attributes
    assert json.loads(seen.result) == body


@each_way
def test_a_body_is_judged_when_the_application_has_read_it(play, asynchronous):
    seen = play(RUNTIME, invoke, Reply(json={**CLAUDE, "stop_reason": "max_tokens"}), asynchronous)
    assert seen.verdict == "TRUNCATED/max_tokens"


@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "without"])
@pytest.mark.parametrize(
    "read",
    [
        lambda b: b"".join(b.iter_chunks(7)),
        lambda b: b"".join(iter(b)),
        lambda b: list(b.iter_lines()),
        lambda b: b.read(),
    ],
    ids=["chunks", "iterated", "lines", "whole"],
)
def test_however_it_is_read(play, read, chunked):
    ask = asking("invoke_model", "body", read, modelId="m", body=b"{}")
    assert (
        play(RUNTIME, ask, Reply(json={**CLAUDE, "stop_reason": "max_tokens"}, chunked=chunked)).verdict
        == "TRUNCATED/max_tokens"
    )


def test_a_body_over_which_a_peer_puts_its_own(play):
    def ask(client):
        answer = client.invoke_model(modelId="m", body=b"{}")
        answer["body"] = StreamingBody(answer["body"]._raw_stream, answer["body"]._content_length)
        return answer["body"].read()

    assert play(RUNTIME, ask, Reply(json={**CLAUDE, "stop_reason": "max_tokens"})).verdict == "TRUNCATED/max_tokens"


def test_a_body_that_is_dropped_is_gone_at_once(observed, provider):
    client = RUNTIME(provider([Reply(json=CLAUDE)]).url, False)
    raw = weakref.ref(client.invoke_model(modelId="m", body=b"{}")["body"]._raw_stream)
    client.close()
    assert raw() is None


def test_a_body_that_is_not_read_is_a_good_call(play):
    ask = asking("invoke_model", "body", lambda body: body.close(), modelId="m", body=b"{}")
    assert play(RUNTIME, ask, Reply(json={**CLAUDE, "stop_reason": "max_tokens"})).verdict == "ok"


def test_a_body_that_is_cut(play):
    seen = play(
        RUNTIME,
        invoke,
        Reply(text=json.dumps(CLAUDE), headers={"content-type": "application/json"}, action="cut_mid_stream"),
    )
    assert seen.verdict == "TRANSPORT/disconnected", seen.raised


def test_tokens_of_invoke_model_come_in_headers(play):
    told = {"x-amzn-bedrock-input-token-count": "7", "x-amzn-bedrock-output-token-count": "9"}
    seen = play(RUNTIME, invoke, Reply(json={"generation": "hi", "stop_reason": "stop"}, headers=told))
    assert seen.attributes["gen_ai.usage.input_tokens"] == 7
    assert seen.attributes["gen_ai.usage.output_tokens"] == 9


MEASURED = {"amazon-bedrock-invocationMetrics": {"inputTokenCount": 1}}
BLOCK = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hi"}}
ENDS = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}
PIECES = [
    ([BLOCK, ENDS, {"type": "message_stop", **MEASURED}], "TRUNCATED/max_tokens"),
    ([BLOCK], "TRANSPORT/stream_cut"),
    ([{"generation": "hi", "stop_reason": None}, {"generation": "", "stop_reason": "stop", **MEASURED}], "ok"),
]


@each_way
@pytest.mark.parametrize(("pieces", "verdict"), PIECES, ids=range(len(PIECES)))
def test_a_stream_of_invoke_model(play, pieces, verdict, asynchronous):
    seen = play(RUNTIME, invoke_stream, events(*map(chunk, pieces)), asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)


def test_an_error_in_a_stream_of_invoke_model(play):
    seen = play(RUNTIME, invoke_stream, events(chunk(BLOCK), exception("modelTimeoutException")))
    assert seen.verdict == "TIMEOUT/provider"


# --- guardrails, jobs, agents, SageMaker ---


def assessed(action, *assessments):
    return Reply(json={"usage": {}, "action": action, "outputs": [], "assessments": list(assessments)})


@each_way
@pytest.mark.parametrize(
    ("source", "reply", "verdict"),
    [
        ("INPUT", assessed("NONE"), "ok"),
        ("INPUT", assessed("GUARDRAIL_INTERVENED", BLOCKED_TOPIC), "PROMPT_BLOCKED/guardrail"),
        ("OUTPUT", assessed("GUARDRAIL_INTERVENED", BLOCKED_TOPIC), "OUTPUT_BLOCKED/guardrail"),
        ("OUTPUT", assessed("GUARDRAIL_INTERVENED", MASKED_NAME), "ok"),
        ("OUTPUT", error(429, "ThrottlingException"), "RATE_LIMITED/requests"),
    ],
)
def test_a_guardrail_that_is_asked_by_itself(play, source, reply, verdict, asynchronous):
    seen = play(RUNTIME, guard(source), reply, asynchronous)
    assert seen.verdict == verdict
    assert seen.labels["gen_ai.operation.name"] == "moderation"


def test_a_job_that_is_taken_on_is_a_good_call(play):
    ask = asking(
        "start_async_invoke", modelId="m", modelInput={}, outputDataConfig={"s3OutputDataConfig": {"s3Uri": "s3://b/x"}}
    )
    assert (
        play(
            RUNTIME, ask, Reply(json={"invocationArn": "arn:aws:bedrock:us-east-1:123456789012:async-invoke/abc"})
        ).verdict
        == "ok"
    )


SAID = ("chunk", {"bytes": "aGk="}, "event")
TRACE = event("trace", trace={"guardrailTrace": {"action": "INTERVENED", "inputAssessments": [BLOCKED_TOPIC]}})
DONE = event("flowCompletionEvent", completionReason="SUCCESS")
FLOWN = event("flowOutputEvent", nodeName="n", nodeType="FlowOutputNode", content={"document": "x"})


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (agent, events(SAID), "ok"),
        (agent, events(event("returnControl", invocationId="i", invocationInputs=[])), "ok"),
        (agent, events(), "UNKNOWN/empty_response"),
        (agent, events(TRACE, SAID), "PROMPT_BLOCKED/guardrail"),
        (agent, events(exception("dependencyFailedException")), "SERVER/upstream"),
        (agent, events(exception("badGatewayException")), "SERVER/gateway"),
        (agent, events(SAID, exception("throttlingException")), "RATE_LIMITED/requests"),
        (agent, error(404, "ResourceNotFoundException"), "NOT_FOUND/model"),
        (flow, events(FLOWN, DONE), "ok"),
        (flow, events(FLOWN), "TRANSPORT/stream_cut"),
        (flow, events(FLOWN, exception("accessDeniedException")), "AUTH/permission_denied"),
        (retrieve, Reply(json={"output": {"text": "hi"}, "sessionId": "s"}), "ok"),
        (retrieve, Reply(json={"output": {"text": "no"}, "guardrailAction": "INTERVENED"}), "OUTPUT_BLOCKED/guardrail"),
        (retrieve, Reply(json={"output": {"text": ""}}), "UNKNOWN/empty_response"),
        (retrieve_stream, events(event("output", text="hi")), "ok"),
        (retrieve_stream, events(event("output", text="no"), event("guardrail", action="INTERVENED")), "OUTPUT_BLOCKED/guardrail"),
    ],
)  # fmt: skip
def test_agents_flows_and_knowledge_bases(play, call, reply, verdict, asynchronous):
    seen = play(AGENTS, call, reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)
    assert seen.labels["gen_ai.request.model"] in ("A", "F", "m")


PART = ("PayloadPart", {"Bytes": "aGk="}, "event")


@each_way
@pytest.mark.parametrize(
    ("call", "reply", "verdict"),
    [
        (endpoint, Reply(json=[{"generated_text": "hi"}]), "ok"),
        (endpoint, Reply(json={"choices": [{"message": {"content": "hi"}, "finish_reason": "length"}]}), "TRUNCATED/max_tokens"),
        (endpoint, Reply(text="1,2,3", headers={"content-type": "text/csv"}), "ok"),
        (endpoint, error(424, "ModelError"), "SERVER/model_error"),
        (endpoint, error(429, "ModelNotReadyException"), "SERVER/model_not_ready"),
        (endpoint, error(530, "InternalDependencyException"), "SERVER/upstream"),
        (endpoint, error(400, "ValidationError"), "BAD_REQUEST/invalid_parameter"),
        (endpoint_stream, events(PART), "ok"),
        (endpoint_stream, events(PART, exception("ModelStreamError")), "SERVER/model_error"),
        (endpoint_stream, events(PART, exception("InternalStreamFailure")), "SERVER/internal"),
    ],
)  # fmt: skip
def test_sagemaker(play, call, reply, verdict, asynchronous):
    seen = play(SAGEMAKER, call, reply, asynchronous)
    assert seen.verdict == verdict, (seen.attributes, seen.raised)
    assert seen.labels["gen_ai.provider.name"] == "aws.sagemaker"


# --- what is none of our business ---


def test_calls_of_other_services_are_left_alone(telemetry, observed, provider):
    server = provider([Reply(text="hello", headers={"content-type": "text/plain"})])
    client = client_of("s3", s3={"addressing_style": "path"})(server.url, False)
    assert client.get_object(Bucket="b", Key="k")["Body"].read() == b"hello"
    client.close()
    assert (telemetry.spans(), telemetry.outcomes()) == ([], {})


def test_a_stubbed_client_is_observed_alike(telemetry, observed):
    from botocore.stub import Stubber

    client = RUNTIME("http://127.0.0.1:9", False)
    said = json.dumps({**CLAUDE, "stop_reason": "max_tokens"}).encode()
    with Stubber(client) as stub:
        stub.add_response(
            "invoke_model", {"body": StreamingBody(io.BytesIO(said), len(said)), "contentType": "application/json"}
        )
        stub.add_response("invoke_model", {"body": io.BytesIO(said), "contentType": "application/json"})
        stub.add_client_error("converse", "ThrottlingException", "m", 429)
        client.invoke_model(modelId="m", body=b"{}")["body"].read()
        client.invoke_model(modelId="m", body=b"{}")["body"].read()
        with pytest.raises(client.exceptions.ThrottlingException):
            client.converse(modelId="m", messages=ASKED)
    client.close()
    assert telemetry.errors() == {"RATE_LIMITED": 1}
    assert telemetry.outcomes() == {"ok": 2, "error": 1}


def test_uninstrumenting_restores_the_classes(instrument):
    from botocore.client import BaseClient
    from botocore.endpoint import Endpoint

    before = BaseClient._make_api_call, Endpoint._get_response, StreamingBody.read
    driver = instrument()
    assert before[0] is not BaseClient._make_api_call
    driver.uninstrument()
    assert before == (BaseClient._make_api_call, Endpoint._get_response, StreamingBody.read)


RERANK = {
    "queries": [{"type": "TEXT", "textQuery": {"text": "q"}}],
    "sources": [{"type": "INLINE", "inlineDocumentSource": {"type": "TEXT", "textDocument": {"text": "d"}}}],
    "rerankingConfiguration": {
        "type": "BEDROCK_RERANKING_MODEL",
        "bedrockRerankingConfiguration": {
            "modelConfiguration": {"modelArn": "arn:aws:bedrock:us-east-1::foundation-model/m"}
        },
    },
}


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Reply(json={"results": [{"index": 0, "relevanceScore": 0.5}]}), "ok"),
        (error(429, "ThrottlingException"), "RATE_LIMITED/requests"),
    ],
    ids=["healthy", "throttled"],
)
def test_reranking_by_a_model_is_a_call(play, reply, verdict):
    seen = play(AGENTS, asking("rerank", **RERANK), reply)
    assert (seen.verdict, seen.labels["gen_ai.operation.name"]) == (verdict, "rerank")
