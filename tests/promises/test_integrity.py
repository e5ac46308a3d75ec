"""Copies, pickles, signatures, import order, double instrument and uninstrument.

Handed cases: ins-copy-and-pickle, ins-import-order.
"""

import asyncio
import copy
import functools
import inspect
import pickle
import sys
import typing
from typing import Any

import pytest
import wrapt

from llm_errors import LLMErrorsInstrumentor
from tests.promises.wire import APIS, ASK, CHAT, MESSAGES, STAINLESS, asked, call, failure, method, whole


def targets() -> list[tuple[type, str]]:
    """Every class and attribute that is patched in this environment."""
    import importlib

    from llm_errors.instrument.adapters import ALL

    found = []
    for adapter in ALL:
        if adapter.row.name not in ("openai", "anthropic", "google-genai"):
            continue
        for target in adapter.targets():
            try:
                owner = getattr(importlib.import_module(target.module), target.owner, None)
            except ImportError:
                continue
            if owner is not None and hasattr(owner, target.attribute):
                found.append((owner, target.attribute))
    return found


def looks(owner: type, attribute: str) -> dict[str, Any]:
    function = getattr(owner, attribute)

    def hints() -> Any:
        if sys.version_info < (3, 11):
            return None  # Python 3.10 adds Optional to what it finds in the function's own defaults
        try:
            return typing.get_type_hints(function)
        except Exception as exc:
            return type(exc)

    return {
        "name": function.__name__,
        "doc": function.__doc__,
        "signature": inspect.signature(function),
        "hints": hints(),
        "coroutine": inspect.iscoroutinefunction(function),
        "asyncio": asyncio.coroutines.iscoroutinefunction(function),
        "generator": inspect.isgeneratorfunction(function),
        "asyncgen": inspect.isasyncgenfunction(function),
        "function": inspect.isfunction(function),
        "defaults": function.__wrapped__.__defaults__ if hasattr(function, "__wrapped__") else function.__defaults__,
    }


def test_patched_functions_look_like_the_bare_ones(instrument):
    bare = {(o, a): looks(o, a) for o, a in targets()}
    own = {(o, a): a in vars(o) for o, a in targets()}
    instrument()
    changed = [(o, a) for o, a in targets() if getattr(vars(o).get(a), "__wrapped__", None) is not None]
    assert len(changed) > 10
    assert {key: looks(*key) for key in bare} == bare
    assert set(own) == set(bare)


def test_uninstrument_restores_the_very_same_functions(instrument):
    before = {(o, a): (vars(o).get(a), a in vars(o), getattr(o, a)) for o, a in targets()}
    instrument().uninstrument()
    after = {(o, a): (vars(o).get(a), a in vars(o), getattr(o, a)) for o, a in targets()}
    assert after == before
    assert all(after[k][0] is before[k][0] for k in before)


def test_a_patched_function_pickles_by_name(instrument):
    import openai

    instrument()
    assert pickle.loads(pickle.dumps(openai.OpenAI.request)) is openai.OpenAI.request
    assert copy.deepcopy(openai.OpenAI.request) is openai.OpenAI.request


def outcome(action: Any) -> Any:
    """A result's type, or the type of what is raised."""
    try:
        return type(action())
    except Exception as exc:
        return type(exc)


def round_trip(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


COPIES = (copy.copy, copy.deepcopy, round_trip)


@pytest.mark.parametrize("how", COPIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("api", APIS)
def test_copies_behave_as_bare(api, how, provider, connect, instrument, monkeypatch):
    url = provider([whole(api)]).url
    client = connect(api, url)
    if api in STAINLESS:  # a half-copied client of the SDK's own complains when it is dropped
        monkeypatch.delattr(type(client._client), "__del__")

    def run() -> list[Any]:
        client = connect(api, url)
        bound = method(api, client)
        holders: list[Any] = [call(api, client), bound, functools.partial(bound, model="m")]
        if api in STAINLESS:
            holders.append(method(api, client, "with_raw_response")(**asked(api)))
        return [outcome(functools.partial(how, holder)) for holder in holders]

    bare = run()
    instrument()
    assert run() == bare


@pytest.mark.parametrize("how", COPIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("api", APIS)
def test_exceptions_copy_as_bare(api, how, provider, connect, instrument):
    client = connect(api, provider([failure(api, 429)]).url)

    def run() -> Any:
        try:
            call(api, client)
        except Exception as exc:
            return outcome(functools.partial(how, exc))

    bare = run()
    instrument()
    assert run() == bare


def test_an_http_response_that_is_asked_for_still_pickles(provider, connect, instrument):
    client = connect(CHAT, provider([whole(CHAT)]).url)
    raw = type(method(CHAT, client, "with_raw_response")(**asked(CHAT)).http_response)

    def run() -> Any:
        response = client.post("/chat/completions", cast_to=raw, body={"model": "m", "messages": ASK})
        return type(response), outcome(lambda: round_trip(response)), outcome(lambda: copy.deepcopy(response))

    bare = run()
    instrument()
    assert run() == bare


@pytest.mark.parametrize("api", APIS)
def test_what_was_made_before_instrument_is_observed(api, provider, connect, instrument, telemetry):
    client = connect(api, provider([whole(api)]).url)
    bound = method(api, client)
    partial = functools.partial(bound, **asked(api))
    instrument()
    bound(**asked(api))
    partial()
    call(api, client)
    assert telemetry.outcomes() == {"ok": 3}


@pytest.mark.parametrize("api", APIS)
def test_what_was_made_while_instrumented_is_inert_afterwards(api, provider, connect, instrument, telemetry):
    instrumentor = instrument()
    client = connect(api, provider([whole(api)]).url)
    bound = method(api, client)
    held = type(client).request if api in STAINLESS else type(client._api_client).request
    instrumentor.uninstrument()
    bound(**asked(api))
    assert held is not None
    assert telemetry.outcomes() == {}


def test_the_module_level_client_is_observed(provider, observed, monkeypatch):
    import openai

    monkeypatch.setattr(openai, "base_url", provider([whole(CHAT)]).url + "/v1")
    monkeypatch.setattr(openai, "api_key", "k")
    monkeypatch.setattr(openai, "max_retries", 0)
    openai.chat.completions.create(**asked(CHAT))
    openai._client.close() if openai._client else None  # type: ignore[attr-defined]
    openai._reset_client()  # type: ignore[attr-defined]
    assert observed.outcomes() == {"ok": 1}


@pytest.mark.parametrize("api", STAINLESS)
def test_a_subclass_and_a_copied_client_count_once(api, provider, connect, observed):
    client = connect(api, provider([whole(api)]).url)
    inheriting = type("Mine", (type(client),), {})
    mine = inheriting(base_url=client.base_url, api_key="k", max_retries=0)
    call(api, mine)
    call(api, client.with_options(timeout=5))
    mine.close()
    assert observed.outcomes() == {"ok": 2}


def test_instrumenting_twice_changes_nothing(provider, connect, instrument, telemetry, caplog):
    instrument()
    instrument()
    LLMErrorsInstrumentor().instrument()
    call(MESSAGES, connect(MESSAGES, provider([whole(MESSAGES)]).url))
    assert telemetry.outcomes() == {"ok": 1}


def test_instrument_again_after_uninstrument(provider, connect, instrument, telemetry):
    client = connect(CHAT, provider([whole(CHAT)]).url)
    for _ in range(3):
        instrumentor = instrument()
        call(CHAT, client)
        instrumentor.uninstrument()
        call(CHAT, client)
    assert telemetry.outcomes() == {"ok": 3}


def test_a_call_of_the_application_inside_another_one_counts(provider, connect, observed):
    server = provider([whole(CHAT)])
    inner, outer = connect(CHAT, server.url), connect(CHAT, server.url)
    outer._client.event_hooks = {"request": [lambda request: call(CHAT, inner)]}
    call(CHAT, outer)
    assert observed.outcomes() == {"ok": 2}


def test_instrumenting_often_piles_up_no_import_hooks(instrument):
    def hooks() -> int:
        return sum(map(len, wrapt.importer._post_import_hooks.values()))

    instrument().uninstrument()
    before = hooks()
    for _ in range(3):
        instrument().uninstrument()
    assert hooks() == before


def test_a_moved_patch_point_is_reported_once_by_name(instrument, monkeypatch, caplog):
    import openai._base_client

    monkeypatch.delattr(openai._base_client.SyncAPIClient, "_sleep_for_retry")
    instrument()
    said = [r.getMessage() for r in caplog.records if "_sleep_for_retry" in r.getMessage()]
    assert len(said) == 1
    assert "openai._base_client:SyncAPIClient._sleep_for_retry" in said[0]
