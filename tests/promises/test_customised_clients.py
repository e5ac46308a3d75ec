"""What applications build around an SDK's client: options that serve twice, hedges, middlewares, own classes and types."""

import asyncio
import contextvars
import importlib
import sys
import threading
import weakref
from typing import Any

import pytest

from llm_errors.testing.provider import Reply
from tests.promises.wire import (
    CHAT,
    CHUNKS,
    MESSAGES,
    asked,
    call,
    collected,
    failure,
    method,
    stream,
    streamed,
    text,
    whole,
)

openai = pytest.importorskip("openai")
anthropic = pytest.importorskip("anthropic")

from openai._models import FinalRequestOptions  # noqa: E402
from openai.types.chat import ChatCompletion, ChatCompletionChunk  # noqa: E402

PATH = "/chat/completions"
HTTP = importlib.import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])
"""httpx, or in later majors httpx2."""


def options() -> Any:
    return FinalRequestOptions.construct(method="post", url=PATH, json_data=asked(CHAT))


def test_options_that_serve_many_calls_stay_as_they_are(provider, connect, observed):
    client, ours = connect(CHAT, provider([whole(CHAT)]).url), options()
    before = dict(vars(ours))
    for _ in range(3):
        client.request(ChatCompletion, ours)
    assert vars(ours) == before
    assert observed.outcomes() == {"ok": 3}


def test_two_streams_with_the_same_options_are_two_calls(provider, connect, observed):
    client, ours = connect(CHAT, provider([streamed(CHAT)]).url), options()
    ours.json_data["stream"] = True
    both = [
        client.request(ChatCompletion, ours, stream=True, stream_cls=openai.Stream[ChatCompletionChunk])
        for _ in range(2)
    ]
    assert [len(list(one)) for one in both] == [CHUNKS[CHAT]] * 2
    assert observed.outcomes() == {"ok": 2}


class Hedged(openai.AsyncOpenAI):  # type: ignore[misc,name-defined]
    """Asks twice with one options object, and takes what comes first."""

    async def request(self, cast_to: Any, options: Any, **more: Any) -> Any:
        both = [asyncio.ensure_future(super(Hedged, self).request(cast_to, options, **more)) for _ in range(2)]
        done, slow = await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in slow:
            task.cancel()
        await asyncio.gather(*slow, return_exceptions=True)
        return done.pop().result()


async def test_a_hedged_call_is_one_answer_and_one_cancelled(provider, observed):
    client = Hedged(
        base_url=f"{provider([whole(CHAT), Reply(action='hang')]).url}/v1", api_key="k", max_retries=0, timeout=30
    )
    answer = await call(CHAT, client)
    await client.close()
    assert text(CHAT, answer) == "one two"
    assert observed.outcomes() == {"ok": 1, "cancelled": 1}


# --- clients ---------------------------------------------------------------------------------------------------------------


class Unhashable(openai.OpenAI):  # type: ignore[misc,name-defined]
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")

    __hash__ = None  # type: ignore[assignment]


def test_a_client_is_never_hashed_or_compared(provider, observed):
    with Unhashable(base_url=f"{provider([whole(CHAT)]).url}/v1", api_key="k") as client:
        for _ in range(2):
            call(CHAT, client)
    assert observed.outcomes() == {"ok": 2}


class Terse(openai.OpenAI):  # type: ignore[misc,name-defined]
    """Returns the words alone, and raises over an answer that is none to it."""

    def _process_response(self, **what: Any) -> Any:
        (choice,) = super()._process_response(**what).choices
        if choice.finish_reason != "stop":
            raise ValueError(choice.finish_reason)
        return choice.message.content


def test_a_client_that_returns_another_thing_than_the_answer(provider, observed):
    with Terse(base_url=f"{provider([whole(CHAT)]).url}/v1", api_key="k") as client:
        assert call(CHAT, client) == "one two"
    assert observed.outcomes() == {"ok": 1}


def test_a_client_that_raises_over_an_answer_is_thrown_with_its_class(provider, observed):
    cut = {"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": "one"}}
    client = Terse(base_url=f"{provider([whole(CHAT, choices=[cut])]).url}/v1", api_key="k")
    with client, pytest.raises(ValueError, match="length"):
        call(CHAT, client)
    assert observed.errors() == {"TRUNCATED": 1}


def test_the_provider_follows_a_base_url_that_a_class_computes(provider, observed):
    answer = provider([failure(CHAT, 401)])

    class Roaming(openai.OpenAI):  # type: ignore[misc,name-defined]
        at = "https://api.deepseek.com/"

        @property
        def base_url(self) -> Any:
            return HTTP.URL(self.at)

        def _prepare_options(self, options: Any) -> Any:
            options.url = f"{answer.url}/v1{PATH}"
            return options

    with Roaming(api_key="k", max_retries=0) as client:
        for Roaming.at in ("https://api.deepseek.com/", "https://api.x.ai/v1/"):
            with pytest.raises(openai.AuthenticationError):
                call(CHAT, client)
    assert observed.counts("llm_calls_total", "gen_ai.provider.name") == {"deepseek": 1, "x_ai": 1}


def test_an_absolute_url_has_its_schemes_port(provider, connect, observed):
    client = connect(CHAT, provider([whole(CHAT)]).url)
    with pytest.raises(openai.APIConnectionError):
        client.post("http://plain.invalid/v1/chat/completions", cast_to=ChatCompletion, body=asked(CHAT))
    assert observed.span().attributes["server.port"] == 80


# --- types that are asked for -----------------------------------------------------------------------------------------------


A_DICT = pytest.param(
    dict[str, Any],
    marks=pytest.mark.skipif(
        sys.version_info < (3, 11), reason="openai takes a generic alias on Python 3.11 and newer"
    ),
)


@pytest.mark.parametrize("kind", [str, bytes, object, A_DICT, type(None)])
def test_an_answer_in_another_type_is_none_the_worse(kind, provider, connect, observed):
    connect(CHAT, provider([whole(CHAT)]).url).post(PATH, cast_to=kind, body=asked(CHAT))
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("kind", [str, bytes])
def test_an_error_in_a_text_that_was_asked_for_has_its_class(kind, provider, connect, observed):
    embedded = Reply(json={"error": {"message": "upstream", "code": 502}})
    connect(CHAT, provider([embedded]).url).post(PATH, cast_to=kind, body=asked(CHAT))
    assert observed.errors() == {"SERVER": 1}


def test_a_page_in_place_of_a_model_is_a_failure(provider, connect, observed):
    page = Reply(text="<html>", headers={"content-type": "text/html"})
    connect(CHAT, provider([page]).url).post(PATH, cast_to=ChatCompletion, body=asked(CHAT))
    assert observed.reasons() == {("UNKNOWN", "unexpected_body"): 1}


class Events(openai.Stream[ChatCompletionChunk]):  # type: ignore[misc,name-defined]
    """An application's own kind of stream."""


def test_a_stream_of_the_applications_own_class_is_followed(provider, connect, observed):
    client = connect(CHAT, provider([streamed(CHAT)]).url)
    events = client.post(
        PATH, cast_to=ChatCompletionChunk, body=asked(CHAT, stream=True), stream=True, stream_cls=Events
    )
    assert len(list(events)) == CHUNKS[CHAT]
    assert observed.outcomes() == {"ok": 1}


def test_a_response_of_the_http_library_counts_at_once_and_holds_nothing_of_ours(provider, connect, observed):
    client = connect(CHAT, provider([whole(CHAT)]).url)
    bare = set(vars(HTTP.Response(200, request=HTTP.Request("POST", "http://x"))))
    answer = client.post(PATH, cast_to=HTTP.Response, body=asked(CHAT))
    assert observed.outcomes() == {"ok": 1}
    assert not {name for name in set(vars(answer)) - bare if "llm_errors" in name}


# --- middlewares ------------------------------------------------------------------------------------------------------------

REFUSED = Reply(json={**whole(MESSAGES).json, "content": [], "stop_reason": "refusal"})


def ask_again(request: Any, call_next: Any) -> Any:
    answer = call_next(request)
    return call_next(request) if answer.parse().stop_reason == "refusal" else answer


def reject(request: Any, call_next: Any) -> Any:
    call_next(request).parse()
    raise ValueError("not good enough")


def peek(request: Any, call_next: Any) -> Any:
    with call_next(request).parse() as first:
        next(iter(first))
    return call_next(request)


def with_middleware(url: str, middleware: Any) -> Any:
    try:
        return anthropic.Anthropic(base_url=url, api_key="k", max_retries=0, middleware=[middleware])
    except TypeError:
        pytest.skip("this major of anthropic has no middleware")


@pytest.mark.parametrize(
    ("middleware", "replies", "raised", "wanted"),
    [
        (ask_again, [REFUSED, whole(MESSAGES)], None, {}),
        (ask_again, [REFUSED, failure(MESSAGES, 401)], anthropic.AuthenticationError, {"AUTH": 1}),
        (reject, [whole(MESSAGES)], ValueError, {"UNKNOWN": 1}),
        (reject, [REFUSED], ValueError, {"OUTPUT_BLOCKED": 1}),
    ],
    ids=["answered in the end", "failed in the end", "rejected", "rejected for a reason"],
)
def test_what_a_middleware_returns_is_the_call(middleware, replies, raised, wanted, provider, observed):
    with with_middleware(provider(replies).url, middleware) as client:
        if raised is None:
            assert text(MESSAGES, call(MESSAGES, client)) == "one two"
        else:
            with pytest.raises(raised):
                call(MESSAGES, client)
    assert observed.errors() == wanted
    assert sum(observed.outcomes().values()) == 1


def test_a_stream_that_a_middleware_peeked_into_and_replaced_is_one_call(provider, observed):
    with with_middleware(provider([streamed(MESSAGES)]).url, peek) as client:
        assert len(list(stream(MESSAGES, client))) == CHUNKS[MESSAGES]
    assert observed.outcomes() == {"ok": 1}


# --- calls inside calls -----------------------------------------------------------------------------------------------------


def with_hook(url: str, hook: Any) -> Any:
    http = openai.DefaultHttpxClient(event_hooks={"request": [hook]})
    return openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0, http_client=http)


def test_a_failing_call_inside_another_one_has_a_span_of_its_own(provider, connect, observed):
    guard = connect(CHAT, provider([failure(CHAT, 401)]).url)

    def check(request: Any) -> None:
        with pytest.raises(openai.AuthenticationError):
            call(CHAT, guard, model="guard")

    with with_hook(provider([whole(CHAT)]).url, check) as client:
        call(CHAT, client)
    inner, outer = sorted(observed.spans(), key=lambda span: span.name)
    assert (inner.attributes["llm.error.class"], inner.parent.span_id) == ("AUTH", outer.context.span_id)
    assert "llm.error.class" not in outer.attributes


def test_retries_of_another_clients_request_are_not_the_calls_own(provider, connect, observed):
    listing = connect(
        CHAT, provider([Reply(500, headers={"retry-after-ms": "1"}), Reply(json={"data": []})]).url, retries=1
    )
    with with_hook(provider([whole(CHAT)]).url, lambda request: listing.models.list()) as client:
        call(CHAT, client)
    assert observed.retries() == {}


# --- what lives how long ----------------------------------------------------------------------------------------------------


class Big:
    """Something an application holds in its context."""


@pytest.mark.parametrize("raw", [False, True], ids=["stream", "raw"])
def test_a_finished_call_keeps_no_context_alive(raw, provider, connect, observed):
    client = connect(CHAT, provider([whole(CHAT) if raw else streamed(CHAT)]).url)
    held: contextvars.ContextVar[Any] = contextvars.ContextVar("held")

    def work() -> tuple[Any, Any]:
        big = Big()
        held.set(big)
        kept = method(CHAT, client, "with_raw_response")(**asked(CHAT)) if raw else stream(CHAT, client)
        if not raw:
            list(kept)
        return kept, weakref.ref(big)

    kept, gone = contextvars.Context().run(work)
    assert collected(lambda: gone() is None)
    del kept


class _Never:
    def __await__(self) -> Any:
        yield


def test_a_pending_call_that_is_collected_is_counted_elsewhere(observed, provider, monkeypatch):
    """The collecting thread may hold the lock of the metrics SDK."""
    counted_in: list[int] = []
    histogram = type(observed.meter_provider.get_meter("x").create_histogram("x"))
    real = histogram.record

    def record(self: Any, *args: Any, **kwargs: Any) -> None:
        counted_in.append(threading.get_ident())
        real(self, *args, **kwargs)

    monkeypatch.setattr(histogram, "record", record)

    async def never(request: Any) -> None:
        await _Never()

    http = openai.DefaultAsyncHttpxClient(event_hooks={"request": [never]})
    client = openai.AsyncOpenAI(base_url="http://127.0.0.1:9/v1", api_key="k", max_retries=0, http_client=http)
    client._platform = "x"  # asked in a thread otherwise
    pending = call(CHAT, client)
    contextvars.copy_context().run(pending.send, None)
    cycle: list[Any] = [pending]
    cycle.append(cycle)
    del cycle, pending
    assert collected(lambda: observed.outcomes()) == {"cancelled": 1}
    assert counted_in
    assert threading.get_ident() not in counted_in
