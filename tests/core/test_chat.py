"""Chat completions, whole and streamed: what is suspect about an answer, by its plain JSON."""

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from llm_errors import classify
from llm_errors.extract.results import CHAT
from tests.core.verdicts import streamed, verdict


def choice(finish="stop", index=0, **message):
    return {"index": index, "finish_reason": finish, "message": {"role": "assistant", "content": "Hello", **message}}


def call(arguments):
    return {
        "content": None,
        "tool_calls": [{"id": "t", "type": "function", "function": {"name": "f", "arguments": arguments}}],
    }


def answer(*choices, **more):
    return {"id": "c", "model": "m", "choices": list(choices), **more}


FILTERED = [{"prompt_index": 0, "content_filter_results": {"violence": {"filtered": True}}}]
CLEAN = [{"prompt_index": 0, "content_filter_results": {"violence": {"filtered": False}}}]

WHOLE = [
    ("natural stop", answer(choice()), None),
    ("no finish reason", answer(choice(finish=None)), None),
    ("empty finish reason", answer(choice(finish="")), None),
    ("tool call", answer(choice("tool_calls", **call('{"a": 1}'))), None),
    ("tool call without arguments", answer(choice("tool_calls", **call(""))), None),
    ("media only", answer(choice(content=None, audio={"id": "a"})), None),
    ("a text completion", answer({"index": 0, "finish_reason": "stop", "text": "Hi"}), None),
    ("cut off", answer(choice("length")), "TRUNCATED/max_tokens"),
    ("cut off inside a tool call", answer(choice("length", **call('{"a'))), "TRUNCATED/max_tokens"),
    ("broken tool call", answer(choice("tool_calls", **call('{"a'))), "TOOL_PROTOCOL/invalid_arguments"),
    ("broken legacy call", answer(choice("function_call", content=None, function_call={"arguments": "{"})), "TOOL_PROTOCOL/invalid_arguments"),
    ("filtered", answer(choice("content_filter", content="")), "OUTPUT_BLOCKED/content_filter"),
    ("filtered, prompt annotated clean", answer(choice("content_filter"), prompt_filter_results=CLEAN), "OUTPUT_BLOCKED/content_filter"),
    ("filtered for its prompt", answer(choice("content_filter"), prompt_filter_results=FILTERED), "PROMPT_BLOCKED/content_filter"),
    ("refused", answer(choice(content=None, refusal="I cannot")), "OUTPUT_BLOCKED/refusal"),
    ("nothing at all", answer(choice(content="")), "UNKNOWN/empty_response"),
    ("nothing, without an end", answer(choice(None, content=None)), "UNKNOWN/empty_response"),
    ("no choices", answer(), "UNKNOWN/empty_response"),
    ("the second of two", answer(choice(), choice("length", 1)), "TRUNCATED/max_tokens"),
    ("one of two is empty", answer(choice(), choice("stop", 1, content="")), None),
    ("stopped for going round in circles", answer(choice("repetition")), "TRUNCATED/other"),
    ("unknown finish reason", answer(choice("x1")), "UNKNOWN/unrecognised_finish_reason"),
    ("upstream error in a choice", answer({**choice("error"), "error": {"code": 502, "message": "gone"}}), "SERVER/upstream"),
    ("upstream rate limit in a choice", answer({**choice("error"), "error": {"code": 429, "message": "slow"}}), "RATE_LIMITED/upstream"),
    ("finish reason error alone", answer(choice("error")), "SERVER/other"),
    ("error beside no choices", answer(error={"code": "insufficient_quota"}), "CALL_BUDGET/insufficient_quota"),
    ("error in place of choices", {"error": {"code": 402, "message": "pay"}}, "CALL_BUDGET/billing"),
    ("error as a string", {"error": "no"}, "UNKNOWN/unexpected_body"),
    ("a number of MiniMax's in place of choices", {"choices": None, "base_resp": {"status_code": 1008, "status_msg": "x"}}, "CALL_BUDGET/billing"),
    ("MiniMax says that all went well", answer(choice(), base_resp={"status_code": 0, "status_msg": ""}), None),
    ("choices of a wrong type", {"choices": 7}, "UNKNOWN/unexpected_body"),
    ("a null choice", answer(None), "UNKNOWN/unexpected_body"),
    ("a string choice", answer("x"), "UNKNOWN/unexpected_body"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "wanted"), [w[1:] for w in WHOLE], ids=[w[0] for w in WHOLE])
def test_a_whole_answer(body, wanted):
    found = classify(body)
    assert (found and f"{found.error_class}/{found.reason}") == wanted


USED = {
    "object": "chat.completion",
    "created": 1,
    "usage": {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8},
}
ODD = [
    *(body for _, body, _ in WHOLE if isinstance(body.get("choices"), list)),
    answer(choice(content=["parts"])),
    answer(choice(reasoning="hm")),
    answer({**choice(), "error": {"code": 502}}),
    answer({**choice(), "native_finish_reason": "STOP"}),
    answer({**choice(), "message": None}),
    answer(choice(["stop"])),
    {**answer(choice()), "model": None},
    {**answer(choice()), "model": "m" * 300},
    {**answer(choice()), "id": 7},
    {**answer(choice()), "usage": None},
    {**answer(choice()), "usage": {"prompt_tokens": True, "completion_tokens": None}},
    {**answer(choice()), "error": {"code": 502}},
]


@pytest.mark.parametrize("body", ODD)
def test_the_short_way_through_an_sdks_object_finds_what_the_careful_one_finds_in_plain_json(body):
    assert CHAT.whole(ChatCompletion.construct(**{**USED, **body})) == CHAT.whole({**USED, **body})


def chunk(finish=None, index=0, **delta):
    return {"id": "c", "model": "m", "choices": [{"index": index, "finish_reason": finish, "delta": delta}]}


HELLO, STOP, USAGE = (
    chunk(content="Hel"),
    chunk("stop"),
    {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 5}},
)

STREAMS = [
    ("natural", [HELLO, STOP, USAGE], None),
    ("a longer text", [HELLO, HELLO, HELLO, STOP, USAGE], None),
    ("empty finish reasons while it runs", [chunk("", content="Hi"), chunk("stop")], None),
    ("tool call", [chunk(tool_calls=[{"index": 0}]), chunk("tool_calls")], None),
    ("annotations without choices", [{"choices": [], "prompt_filter_results": CLEAN}, HELLO, STOP], None),
    ("annotated twice", [{"choices": [], "prompt_filter_results": FILTERED}, {"choices": []}, chunk("content_filter")], "PROMPT_BLOCKED/content_filter"),
    ("an index of a wrong type", [chunk(index="0", content="Hi"), chunk("stop", index="0")], None),
    ("a choice without a delta", [HELLO, {"choices": [{"index": 0, "finish_reason": None, "delta": None}]}, STOP], None),
    ("a text completion", [{"choices": [{"index": 0, "finish_reason": "stop", "text": "Hi"}]}], None),
    ("two choices", [HELLO, chunk(index=1, content="x"), STOP, chunk("stop", 1)], None),
    ("the second choice never ends", [HELLO, chunk(index=1, content="x"), STOP], "TRANSPORT/stream_cut"),
    ("cut off", [HELLO, chunk("length")], "TRUNCATED/max_tokens"),
    ("filtered", [HELLO, chunk("content_filter")], "OUTPUT_BLOCKED/content_filter"),
    ("filtered for its prompt", [{"choices": [], "prompt_filter_results": FILTERED}, chunk("content_filter")], "PROMPT_BLOCKED/content_filter"),
    ("refused", [chunk(refusal="I can"), chunk("stop")], "OUTPUT_BLOCKED/refusal"),
    ("ends without an end", [HELLO], "TRANSPORT/stream_cut"),
    ("ends without anything", [], "UNKNOWN/empty_response"),
    ("only a role", [chunk(role="assistant"), STOP], "UNKNOWN/empty_response"),
    ("unknown finish reason", [HELLO, chunk("x1")], "UNKNOWN/unrecognised_finish_reason"),
    ("an error in a chunk", [HELLO, {**chunk("error"), "error": {"code": 502}}], "SERVER/upstream"),
    ("an error in place of a chunk", [HELLO, {"choices": None, "error": {"code": "server_error"}}], "SERVER/internal"),
    ("a flat error event", [{"choices": None, "type": "error", "code": "rate_limit_exceeded", "message": "x"}], "RATE_LIMITED/requests"),
    ("a number of MiniMax's in place of a chunk", [HELLO, {"choices": None, "base_resp": {"status_code": 1002, "status_msg": "x"}}], "RATE_LIMITED/requests"),
    ("groq's error string", [HELLO, {**STOP, "x_groq": {"error": "over capacity"}}], "UNKNOWN/unexpected_body"),
    ("the first error counts", [{"choices": None, "error": {"code": 401}}, {"choices": None, "error": {"code": 500}}], "AUTH/invalid_key"),
]  # fmt: skip


@pytest.mark.parametrize("chunks", [s[1] for s in STREAMS], ids=[s[0] for s in STREAMS])
def test_an_sdks_chunks_are_read_as_plain_json_is(chunks):
    objects = [ChatCompletionChunk.construct(**one) for one in chunks]
    assert streamed(CHAT, objects) == streamed(CHAT, chunks)


@pytest.mark.parametrize(("chunks", "wanted"), [s[1:] for s in STREAMS], ids=[s[0] for s in STREAMS])
def test_a_stream(chunks, wanted):
    assert verdict(streamed(CHAT, chunks)) == wanted


def test_the_content_free_facts_of_a_whole_answer():
    facts = CHAT.whole(answer(choice(), usage={"prompt_tokens": 3, "completion_tokens": True}))
    assert (facts.model, facts.id, facts.finish_reasons) == ("m", "c", ("stop",))
    assert (facts.input_tokens, facts.output_tokens) == (3, None)


def test_the_content_free_facts_of_a_stream():
    facts = streamed(CHAT, [HELLO, chunk(index=1, content="x"), STOP, USAGE])
    assert (facts.model, facts.id, facts.finish_reasons) == ("m", "c", ("stop", "error"))
    assert (facts.input_tokens, facts.output_tokens) == (3, 5)
