"""Whether every exception and every finish reason that the installed litellm knows is decided by a rule."""

import inspect
from typing import Any

import httpx
import pytest

from llm_errors import classify
from llm_errors.extract.native_finish import NATURAL
from llm_errors.testing.provider import Reply

from .litellm_provider import ANTHROPIC, error, given, litellm

NO_FAILURES = {
    "SensitiveDataRouteException": "litellm routes the request to another model",
    "ModelNotMappedError": "litellm knows no price for the model",
    "OpenAIError": "the root class, which is never raised",
    "MockException": "an application's own mock",
}
"""Exceptions that tell nothing about a model call."""
RIGHT = {
    "BudgetExceededError": "CALL_BUDGET/spend_limit",
    "ContextWindowExceededError": "BAD_REQUEST/context_overflow",
    "ContentPolicyViolationError": "PROMPT_BLOCKED/content_filter",
    "GuardrailRaisedException": "PROMPT_BLOCKED/guardrail",
    "BlockedPiiEntityError": "PROMPT_BLOCKED/guardrail",
    "RejectedRequestError": "PROMPT_BLOCKED/guardrail",
    "JSONSchemaValidationError": "TOOL_PROTOCOL/schema_mismatch",
    "UnsupportedParamsError": "BAD_REQUEST/unsupported",
    "APIResponseValidationError": "UNKNOWN/unexpected_body",
    "RateLimitError": "RATE_LIMITED/requests",
    "AuthenticationError": "AUTH/invalid_key",
    "PermissionDeniedError": "AUTH/permission_denied",
    "NotFoundError": "NOT_FOUND/other",
    "Timeout": "TIMEOUT/provider",
    "ServiceUnavailableError": "SERVER/unavailable",
    "BadGatewayError": "SERVER/gateway",
    "InternalServerError": "SERVER/internal",
    "UnprocessableEntityError": "BAD_REQUEST/invalid_parameter",
    "MidStreamFallbackError": "SERVER/unavailable",
}
_REQUEST = httpx.Request("POST", "https://provider.example")
GIVEN: dict[str, Any] = {
    "message": "m", "model": "m", "llm_provider": "groq", "request_data": {}, "raw_response": "r", "schema": "s",
    "current_cost": 2.0, "max_budget": 1.0, "guardrail_name": "g", "entity_type": "e", "route_to_model": "m", "session_id": "s",
    "failures": (), "custom_llm_provider": "x", "status_code": 503,
}  # fmt: skip
_STATUS = {"PermissionDeniedError": 403, "UnprocessableEntityError": 422}


def exceptions() -> list[type]:
    found = vars(litellm.exceptions).values()
    return [
        c for c in found if inspect.isclass(c) and issubclass(c, Exception) and c.__module__ == "litellm.exceptions"
    ]


def made(cls: type) -> Exception:
    """An instance, with what its constructor asks for."""
    wanted = inspect.signature(cls.__init__).parameters
    known = {name: GIVEN[name] for name in wanted if name in GIVEN and name != "self"}
    if "response" in wanted and cls.__name__ in _STATUS:
        known["response"] = httpx.Response(_STATUS[cls.__name__], request=_REQUEST)
    return cls(**known)


@pytest.mark.parametrize("cls", exceptions(), ids=lambda cls: cls.__name__)
def test_every_exception_has_a_class(cls):
    if cls.__name__ in NO_FAILURES:
        return
    found = classify(made(cls))
    verdict = f"{found.error_class.value}/{found.reason}"
    assert verdict == RIGHT.get(cls.__name__, verdict)
    assert found.error_class.value != "UNKNOWN" or cls.__name__ in RIGHT


def finish_reasons() -> list[str]:
    core = litellm.litellm_core_utils.core_helpers
    table = getattr(core, "_FINISH_REASON_MAP", None)
    if table is None:
        pytest.skip("only newer releases of litellm have a table of finish reasons", allow_module_level=False)
    return sorted(table)


def test_every_finish_reason_that_litellm_rewrites_is_read_in_the_provider_s_words():
    unknown = []
    for reason in finish_reasons():
        choice = litellm.Choices(finish_reason=reason, message=litellm.Message(content="hi", role="assistant"))
        found = classify(litellm.ModelResponse(choices=[choice], model="m"))
        healthy = reason in NATURAL | {"FINISH_REASON_UNSPECIFIED", "eos", "eos_token"}
        if (found is None) != healthy or (found is not None and found.reason.startswith("unrecognised")):
            unknown.append(f"{reason}: {found}")
    assert not unknown


# --- litellm's mapping of errors, over many providers ---

STATUSES = {
    400: {"BAD_REQUEST"}, 401: {"AUTH"}, 402: {"CALL_BUDGET"}, 403: {"AUTH"}, 404: {"NOT_FOUND"}, 408: {"TIMEOUT"},
    409: {"SERVER"}, 413: {"BAD_REQUEST"}, 422: {"BAD_REQUEST"}, 429: {"RATE_LIMITED"}, 500: {"SERVER"}, 502: {"SERVER"},
    503: {"SERVER"}, 504: {"SERVER"}, 529: {"SERVER"},
}  # fmt: skip
PROVIDERS = ("openai", "anthropic", "gemini", "mistral", "groq", "deepseek", "cohere_chat", "together_ai", "openrouter", "xai",
             "fireworks_ai", "hosted_vllm", "perplexity", "ollama_chat", "databricks", "huggingface", "novita")  # fmt: skip


@pytest.mark.parametrize("vendor", PROVIDERS)
def test_the_status_of_the_provider_decides_whatever_class_litellm_makes_of_it(provider, vendor):
    wrong = []
    for status, classes in STATUSES.items():
        body = {"error": {"message": "m", "type": "t"}}
        arguments = given(f"{vendor}/m", provider([Reply(status=status, json=body)]).url)
        with pytest.raises(Exception) as caught:
            litellm.completion(**arguments)
        found = classify(caught.value)
        if found.error_class.value not in classes or found.status_code != status:
            wrong.append(f"{status}: {type(caught.value).__name__} is {found.error_class.value}, {found.status_code}")
    assert not wrong


def test_an_exception_says_nothing_of_what_was_asked(provider):
    arguments = given(ANTHROPIC, provider([error(ANTHROPIC, 400, "invalid_request_error", "messages: bad")]).url)
    with pytest.raises(litellm.BadRequestError) as caught:
        litellm.completion(**arguments)
    assert classify(caught.value).message == "messages: bad"
