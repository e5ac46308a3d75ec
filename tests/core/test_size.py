"""Size is no failure: a healthy answer of any API stays healthy however long it is, at a bounded cost of memory."""

import json
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm_errors.classify import decide
from llm_errors.extract import glimpse, results, saved
from llm_errors.extract.fields import JSON_LIMIT

LONGEST = 50_000_000
FILLERS = {"media": "QUJD", "prose": 'He said: "{\\"finish_reason\\": \\"length\\"}"\n', "unicode": "\u00e9\U0001f600"}

HEALTHY = {
    "chat": (results.CHAT, "openai", '{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant",'
             '"content":%s},"finish_reason":"stop"}]}'),
    "responses": (results.RESPONSES, "openai", '{"id":"r","status":"completed","error":null,"incomplete_details":null,'
                  '"output":[{"type":"message","content":[{"type":"output_text","text":%s}]}]}'),
    "images": (results.DATA, "openai", '{"created":1,"data":[{"b64_json":%s}]}'),
    "moderations": (results.MODERATIONS, "openai", '{"model":%s,"results":[{"flagged":true}]}'),
    "transcription": (results.MEDIA, "openai", '{"text":%s}'),
    "messages": (results.MESSAGES, "anthropic", '{"type":"message","content":[{"type":"text","text":%s}],'
                 '"stop_reason":"end_turn","usage":{"output_tokens":1}}'),
    "gemini": (results.GENERATE_CONTENT, "google", '{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":'
               '"image/png","data":%s}}]},"finishReason":"STOP","index":0}],"modelVersion":"m"}'),
    "imagen": (results.RESULTS, "google", '{"predictions":[{"mimeType":"image/png","bytesBase64Encoded":%s}]}'),
    "interactions": (results.INTERACTIONS, "google", '{"id":"i","status":"completed","outputs":[{"type":"text",'
                     '"text":%s}]}'),
}  # fmt: skip
NUMBERS = {
    "tools": (results.CHAT, "openai", '{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"f",'
              '"arguments":"[%s]"}}]},"finish_reason":"tool_calls"}]}'),
    "embeddings": (results.DATA, "openai", '{"data":[{"embedding":[%s]}]}'),
    "embedContent": (results.RESULTS, "google", '{"embeddings":[{"values":[%s]}]}'),
}  # fmt: skip


def content_of(api: str, filler: str, length: int) -> tuple[object, str, str]:
    """A healthy answer of about so many characters."""
    if api in NUMBERS:
        reader, dialect, shape = NUMBERS[api]
        return reader, dialect, shape % ("0.0123456789," * (length // 13) + "1")
    reader, dialect, shape = HEALTHY[api]
    unit = json.dumps(filler)[1:-1]
    return reader, dialect, shape % f'"{unit * max(1, length // len(unit))}"'


@given(
    api=st.sampled_from([*HEALTHY, *NUMBERS]),
    filler=st.sampled_from([*FILLERS.values()]),
    length=st.one_of(
        st.integers(1, 2000),
        st.integers(JSON_LIMIT - 400, JSON_LIMIT + 400),
        st.sampled_from([5_000_000, LONGEST]),
    ),
    raw=st.booleans(),
)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_a_healthy_answer_stays_healthy_however_long_it_is(api, filler, length, raw):
    reader, dialect, content = content_of(api, filler, length)
    assert glimpse.read(reader, dialect, content.encode() if raw else content).suspicion is None


@pytest.mark.parametrize("raw", [False, True], ids=["text", "bytes"])
@pytest.mark.parametrize("api", [*HEALTHY, *NUMBERS])
def test_of_the_longest_answer_nothing_is_copied(api, raw):
    reader, dialect, content = content_of(api, FILLERS["prose"], LONGEST)
    content = content.encode() if raw else content
    tracemalloc.start()
    try:
        assert glimpse.read(reader, dialect, content).suspicion is None
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


LONG = "x" * JSON_LIMIT
FAILED = [
    ("chat", "openai", '{"choices":[{"message":{"content":"%s"},"finish_reason":"length"}]}', "TRUNCATED", "max_tokens"),
    ("chat", "openai", '{"choices":[{"message":{"content":"%s"},"finish_reason":"content_filter: RECITATION"}]}',
     "OUTPUT_BLOCKED", "recitation"),
    ("responses", "openai", '{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":["%s"]}',
     "TRUNCATED", "max_tokens"),
    ("messages", "anthropic", '{"type":"message","content":["%s"],"stop_reason":"refusal"}', "OUTPUT_BLOCKED", "refusal"),
    ("gemini", "google", '{"candidates":[{"finishReason":"STOP"},{"content":["%s"],"finishReason":"IMAGE_SAFETY"}]}',
     "OUTPUT_BLOCKED", "image_safety"),
    ("imagen", "google", '{"predictions":[{"bytesBase64Encoded":"%s"},{"raiFilteredReason":"no"}]}',
     "OUTPUT_BLOCKED", "image_safety"),
    ("chat", "openai", ' {"error":{"message":"%s"}}', "UNKNOWN", "unexpected_body"),
    ("chat", "openai", "<html>%s</html>", "UNKNOWN", "unexpected_body"),
    ("chat", "openai", "%s", "UNKNOWN", "unexpected_body"),
]  # fmt: skip


@pytest.mark.parametrize("raw", [False, True], ids=["text", "bytes"])
@pytest.mark.parametrize(("api", "dialect", "shape", "error_class", "reason"), FAILED)
def test_what_speaks_against_a_long_answer_is_found(api, dialect, shape, error_class, reason, raw):
    content = shape % LONG
    found = glimpse.read(HEALTHY[api][0], dialect, content.encode() if raw else content)
    verdict = decide(found.suspicion)
    assert (verdict.error_class, verdict.reason) == (error_class, reason)


def test_a_name_without_a_text_behind_it_says_nothing():
    content = json.dumps({"choices": [{"finish_reason": None, "message": LONG}, {"finish_reason": "stop"}]})
    assert glimpse.read(results.CHAT, "openai", content).finish_reasons == ("stop",)


def test_candidates_without_end_are_not_all_looked_at():
    content = '{"choices":[%s{}]}' % ('{"finish_reason":"stop"},' * 50_000)
    assert len(glimpse.read(results.CHAT, "openai", content).finish_reasons) == glimpse.MOST


DELTA = 'data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}\n\n'


@pytest.mark.parametrize(
    ("body", "fact"),
    [
        (DELTA, "no_end"),
        (DELTA + "data: [DONE]\n\n", None),
        (DELTA.replace("hi", "data: [DONE]"), "no_end"),
        ('data: {"choices":[]}\n\ndata: [DONE]\n\n', "empty"),
    ],
)
def test_a_saved_stream_with_the_mark_at_its_end_was_not_cut(body, fact):
    found = saved.evidence(saved.Saved(body=body, dialect="openai"))
    assert (set() if found is None else set(found.facts)) == ({fact} if fact else set())
