"""Bodies of any shape: the application gets what the bare SDK gives, and the call ends as ok or as a class.

Handed case: ins-no-trace-on-odd-finish. Strict mode: what a reader cannot read would raise here.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from llm_errors import LLMErrorsInstrumentor
from llm_errors.testing.provider import Reply
from tests.promises.wire import APIS, CHAT, GEMINI, MESSAGES, RESPONSES, call, events, lines, stream, whole

MIDDLE = {CHAT: "choices", RESPONSES: "output", MESSAGES: "content", GEMINI: "candidates"}
ODD: tuple[Any, ...] = (
    None,
    7,
    0.5,
    True,
    "text",
    "",
    [],
    {},
    [None],
    [7],
    ["x"],
    [[]],
    [{}],
    {"a": None},
    [{"index": "0"}],
)
BODIES = {
    "page": Reply(text="<html><body>hello</body></html>", headers={"content-type": "text/html"}),
    "page called json": Reply(text="<html>", headers={"content-type": "application/json"}),
    "empty": Reply(text="", headers={"content-type": "application/json"}),
    "null": Reply(text="null", headers={"content-type": "application/json"}),
    "string": Reply(json="hello"),
    "number": Reply(json=7),
    "list": Reply(json=[1, 2]),
    "error string": Reply(json={"error": "boom"}),
    "error list": Reply(json={"error": ["boom"]}),
    "error of odd types": Reply(json={"error": {"code": [], "message": {}, "type": 7, "status": None}}),
    "deep": Reply(text="[" * 900 + "]" * 900, headers={"content-type": "application/json"}),
    "megabytes": Reply(json={"error": {"message": "x" * 3_000_000, "code": "y" * 100_000}}),
}


def seen(action: Any) -> Any:
    """What the application sees: the type and text of an answer, or the type of what is raised."""
    try:
        result = action()
    except Exception as exc:
        return type(exc)
    return type(result), repr(result)[:2000].split("date=")[0].split("headers=")[0]


class Pair:
    """The same call bare and observed, against a provider whose reply can be changed."""

    def __init__(self, connect: Any, provider: Any, telemetry: Any) -> None:
        self.reply = Reply()
        self.url = provider(lambda request: self.reply).url
        self.connect, self.telemetry = connect, telemetry
        self.clients: dict[str, Any] = {}
        self.calls = 0

    def compare(self, api: str, reply: Reply, streaming: bool = False) -> None:
        client = self.clients.setdefault(api, None) or self.connect(api, self.url)
        self.clients[api], self.reply = client, reply
        instrumentor = LLMErrorsInstrumentor()

        def run() -> Any:
            return [type(chunk) for chunk in stream(api, client)] if streaming else call(api, client)

        bare = seen(run)
        providers = {n: getattr(self.telemetry, n) for n in ("tracer_provider", "meter_provider", "logger_provider")}
        instrumentor.instrument(strict=True, **providers)
        try:
            assert seen(run) == bare
        finally:
            instrumentor.uninstrument()
        self.calls += 1
        counted = self.telemetry.outcomes()
        assert sum(counted.values()) == self.calls
        assert counted.get("error", 0) == sum(self.telemetry.errors().values())


@pytest.fixture
def pair(connect, provider, telemetry) -> Pair:
    return Pair(connect, provider, telemetry)


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", APIS)
def test_a_body_that_is_no_answer(api, streaming, pair):
    for body in BODIES.values():
        pair.compare(api, body, streaming)
    assert pair.telemetry.outcomes().get("ok", 0) == 0 or streaming or api == RESPONSES


@pytest.mark.parametrize("api", APIS)
def test_an_error_answer_of_any_shape(api, pair):
    for body in BODIES.values():
        pair.compare(api, Reply(**{**vars(body), "status": 400}))
    assert pair.telemetry.outcomes() == {"error": len(BODIES)}


@pytest.mark.parametrize("api", APIS)
def test_any_field_may_be_odd(api, pair):
    for odd in ODD:
        for name in whole(api).json:
            pair.compare(api, whole(api, **{name: odd}))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of everything inside a JSON value."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(value[key], (*path, key))


def changed(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    copy = json.loads(json.dumps(value))
    inside = copy
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = odd
    return copy


@pytest.mark.parametrize("api", APIS)
def test_anything_inside_an_answer_may_be_odd(api, pair):
    for path in list(places(whole(api).json[MIDDLE[api]], (MIDDLE[api],))):
        for odd in (None, 7, "x", [], {}, [None]):
            pair.compare(api, Reply(json=changed(whole(api).json, path, odd)))


@pytest.mark.parametrize("api", APIS)
def test_anything_inside_a_chunk_may_be_odd(api, pair):
    said = events(api)
    for number in (0, len(said) // 2, len(said) - 1):
        for path in list(places(said[number]))[:40]:
            for odd in (None, 7, "x", [None]):
                if path != ("type",):
                    reply = Reply(
                        sse=lines(api, [*said[:number], changed(said[number], path, odd), *said[number + 1 :]])
                    )
                    pair.compare(api, reply, streaming=True)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "error",
                    "message",
                    "code",
                    "type",
                    "choices",
                    "delta",
                    "content",
                    "candidates",
                    "parts",
                    "output",
                    "usage",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("api", APIS)
def test_generated_bodies(api, pair):
    @settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(HealthCheck), derandomize=True)
    @given(body=JSON, status=st.sampled_from([200, 200, 400, 429, 500]))
    def check(body: Any, status: int) -> None:
        pair.compare(api, Reply(status, text=json.dumps(body), headers={"content-type": "application/json"}))

    check()


def test_odd_finishes_of_gemini_have_span_class_and_usage(provider, connect, observed):
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 2}
    script = [
        Reply(
            json={"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}], "usageMetadata": usage}
        ),
        Reply(json={"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": usage}),
        Reply(json={"candidates": [{"finishReason": "SAFETY"}], "usageMetadata": usage}),
    ]
    client = connect(GEMINI, provider(script).url)
    for _ in script:
        call(GEMINI, client)
    spans = observed.spans()
    assert [s.attributes["llm.error.class"] for s in spans] == ["TOOL_PROTOCOL", "PROMPT_BLOCKED", "OUTPUT_BLOCKED"]
    assert [s.attributes["gen_ai.usage.input_tokens"] for s in spans] == [3, 3, 3]
