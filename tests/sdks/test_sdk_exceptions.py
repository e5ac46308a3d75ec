"""Completeness: every exception and every outcome literal that an installed SDK knows is named by us.

A new release with a new one breaks this test, not the user.
"""

import importlib
import inspect
import pkgutil
import typing

import pytest

from llm_errors import classify, providers
from llm_errors.classify import decide
from llm_errors.evidence import Evidence
from llm_errors.extract import anthropic as anthropic_reader
from llm_errors.extract import google, google_interactions, openai_chat
from llm_errors.extract.answer import suspect

SDKS = {
    row.name: (row.package, row.clients[0].name)
    for row in providers.SDKS
    if row.family == "stainless" and row.dialect != "google"
}
STATUSES = (400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 501, 502, 503, 504, 520, 529)
NAMELESS = {
    "APIError": "a base class: what was wrong is in its body",
    "APIStatusError": "a base class: what was wrong is in its status",
    "APIResponseValidationError": "the answer's shape is unexpected, which is UNKNOWN by definition",
    "APIWebhookValidationError": "raised by the application's own webhook check, outside any model call",
    "DownloadError": "of files, which are no model calls",
    "FileTypeError": "of files, which are no model calls",
    "RetryableError": "an application's middleware asks for a retry with it",
    "InvalidWebhookSignatureError": "raised by the application's own webhook check, outside any model call",
    "WebSocketConnectionClosedError": "realtime only, which is not observed",
    "WebSocketQueueFullError": "realtime only, which is not observed",
    "SubjectTokenProviderError": "raised before any model call",
}
NO_ANSWERS = {"SampledSequence.stop_reason"}
"""Of together's training sampler: no model call."""
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def _client(sdk):
    module, name = SDKS[sdk]
    more = {"warm_tcp_connection": False} if sdk == "cerebras" else {}
    return getattr(pytest.importorskip(module), name)(api_key="k", base_url="http://127.0.0.1:9", **more)


def _response(client, status):
    library = importlib.import_module(type(client._client).__mro__[-2].__module__.split(".")[0])
    request = library.Request("POST", "http://127.0.0.1:9/v1/chat")
    return library.Response(status, request=request, json={"error": {"message": "m"}})


@pytest.mark.parametrize("sdk", SDKS)
def test_every_status_that_the_client_turns_into_an_exception(sdk):
    with _client(sdk) as client:
        for status in STATUSES:
            raised = client._make_status_error("m", body={"message": "m"}, response=_response(client, status))
            assert classify(raised).error_class != "UNKNOWN", (status, type(raised))


@pytest.mark.parametrize("sdk", SDKS)
def test_every_exported_exception_that_no_status_makes(sdk):
    package = pytest.importorskip(SDKS[sdk][0])
    for name in package.__all__:
        cls = vars(package).get(name)
        if not (inspect.isclass(cls) and issubclass(cls, Exception)) or issubclass(cls, Warning):
            continue
        by_status = any(b.__name__ == "APIStatusError" for b in cls.__mro__)
        if by_status or name in NAMELESS or name == package.__name__ or cls.__mro__[1] is Exception:
            continue
        raised = cls.__new__(cls)
        verdict = classify(raised)
        assert verdict is not None, name
        assert verdict.error_class != "UNKNOWN", name


def test_every_error_code_that_anthropic_has_a_class_for():
    classes = pytest.importorskip("anthropic._error_classes", reason="this major of anthropic has no such table")
    unknown = []
    for status, code in classes.ERROR_CLASSES:
        codes, facts = (code,) if code else (), frozenset(("error_object",))
        if decide(Evidence(dialect="anthropic", status=status, codes=codes, facts=facts)).error_class == "UNKNOWN":
            unknown.append((status, code))
    # the caller itself went away; and statuses that the taxonomy leaves to the weekly review
    assert {status for status, _ in unknown} <= {412, 431, 499}
    assert all(code is None for _, code in unknown)


def _literals(annotation):
    if typing.get_origin(annotation) is typing.Literal:
        yield from (v for v in typing.get_args(annotation) if isinstance(v, str))
    for part in typing.get_args(annotation):
        if not isinstance(part, str):
            yield from _literals(part)


def _fields(package, *wanted):
    """The literals of every field of these names in the models below `<package>.types`."""
    types = importlib.import_module(f"{package}.types")
    for found in pkgutil.walk_packages(types.__path__, types.__name__ + "."):
        if found.name.endswith(("_param", "_params")):
            continue
        module = importlib.import_module(found.name)
        for cls in vars(module).values():
            for name, field in getattr(cls, "model_fields", {}).items() if inspect.isclass(cls) else ():
                if name in wanted:
                    yield from ((f"{cls.__name__}.{name}", value) for value in _literals(field.annotation))


@pytest.mark.parametrize("sdk", SDKS)
def test_every_finish_reason_of_the_family(sdk):
    package = SDKS[sdk][0]
    pytest.importorskip(package)
    for where, value in _fields(package, "finish_reason", "stop_reason"):
        if where in NO_ANSWERS:
            continue
        messages = sdk == "anthropic" or where.startswith("Message")
        dialect, natural = ("anthropic", anthropic_reader.NATURAL) if messages else ("openai", openai_chat.NATURAL)
        known = decide(suspect(dialect, "unnatural_finish", finish_reason=value))
        assert value in natural or known.reason != "unrecognised_finish_reason", (where, value)


def test_every_error_code_of_openai_responses():
    openai = pytest.importorskip("openai.types.responses.response_error")
    details = importlib.import_module("openai.types.responses.response").IncompleteDetails
    for code in _literals(openai.ResponseError.model_fields["code"].annotation):
        assert decide(Evidence(dialect="openai", codes=(code,), embedded=True)).error_class != "UNKNOWN", code
    for reason in _literals(details.model_fields["reason"].annotation):
        if reason == "steered":  # by the caller
            continue
        verdict = decide(suspect("openai", "unnatural_finish", finish_reason=reason))
        assert verdict.error_class in ("TRUNCATED", "OUTPUT_BLOCKED"), reason


def test_every_error_type_of_anthropic():
    shared = pytest.importorskip("anthropic.types")
    types = [value for name in vars(shared) if name == "ErrorType" for value in _literals(getattr(shared, name))]
    for found in pkgutil.iter_modules(importlib.import_module("anthropic.types.shared").__path__):
        if found.name.endswith("error"):
            module = importlib.import_module(f"anthropic.types.shared.{found.name}")
            models = [c for c in vars(module).values() if inspect.isclass(c) and c.__module__ == module.__name__]
            types += [v for c in models for v in _literals(c.model_fields["type"].annotation)]
    assert types
    for kind in types:
        assert decide(Evidence(dialect="anthropic", codes=(kind,), embedded=True)).error_class != "UNKNOWN", kind


def test_every_finish_and_block_reason_of_gemini():
    types = pytest.importorskip("google.genai.types")
    for reason in types.FinishReason:
        if reason.value in {*google.NATURAL, "FINISH_REASON_UNSPECIFIED"}:
            continue
        verdict = decide(suspect("google", "unnatural_finish", finish_reason=reason.value))
        assert verdict.reason != "unrecognised_finish_reason", reason
    for reason in types.BlockedReason:
        verdict = decide(suspect("google", "blocked", block_reason=reason.value))
        assert verdict.rule != "google.block.unrecognised", reason


def test_every_status_of_an_interaction():
    pytest.importorskip("google.genai")
    try:
        module = importlib.import_module("google.genai._gaos.types.interactions.interaction")
    except ImportError:
        module = importlib.import_module("google.genai._interactions.types.interaction")
    statuses = list(_literals(module.Interaction.model_fields["status"].annotation))
    assert "completed" in statuses
    for status in statuses:
        known = decide(suspect("google", "unnatural_finish", finish_reason=status))
        natural = {*google_interactions.NATURAL, google_interactions.CANCELLED}
        assert status in natural or known.reason != "unrecognised_finish_reason", status
