"""Rules for exceptions that litellm raises itself, by class name: guardrails, refused requests, unusable answers.

litellm gives these exceptions the status 400 or 500, or no status. The class name is more specific.
"""

from typing import Final

from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E


def _named(row_id: str, error_class: E, reason: str, names: str, weight: int = 4) -> Rule:
    exceptions = words(" ".join(f"litellm.{name}" for name in names.split()))
    return Rule(f"litellm.{row_id}", error_class, reason, exceptions=exceptions, weight=weight)


ROWS: Final = (
    # Most guardrails run before the model is called. The class does not show which guardrail raised.
    _named("guardrail", E.PROMPT_BLOCKED, "guardrail",
           "GuardrailRaisedException BlockedPiiEntityError ModifyResponseException RejectedRequestError"),
    _named("payment", E.CALL_BUDGET, "billing", "PaymentRequiredError"),
    _named("schema", E.TOOL_PROTOCOL, "schema_mismatch", "JSONSchemaValidationError"),
    _named("media", E.BAD_REQUEST, "invalid_media", "ImageFetchError"),
    _named("unsupported", E.BAD_REQUEST, "unsupported",
           "UnsupportedParamsError UnsupportedEndpointError EndpointNotSupportedByModelError"),
    _named("parameter", E.BAD_REQUEST, "invalid_parameter", "LiteLLMUnknownProvider MalformedRequestFieldError"),
    # A router has no available deployment: all of them have failed or reached their limit, and are paused for some time.
    _named("no_deployment", E.RATE_LIMITED, "other", "RouterRateLimitError RouterRateLimitErrorBasic"),
)  # fmt: skip
