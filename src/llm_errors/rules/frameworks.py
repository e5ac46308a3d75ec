"""Rules for exceptions that litellm and agent frameworks raise themselves, by class name.

The exceptions are about limits, guardrails, context overflow, and unusable answers. Their class name has a higher rank than the
status, because litellm gives them the status 400 or 422. The rules with a fact are for a limit that ends a run without an
exception, and for a detail in the text of an exception.
"""

from typing import Final

from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E


def _named(row_id: str, error_class: E, reason: str, names: str) -> Rule:
    return Rule(f"framework.{row_id}", error_class, reason, exceptions=words(names), weight=4)


def _fact(fact: str, error_class: E, reason: str) -> Rule:
    return Rule(f"framework.{fact}", error_class, reason, facts=words(fact), weight=4)


ROWS: Final = (
    _named("calls", E.CALL_BUDGET, "max_llm_calls", ".LlmCallsLimitExceededError .ModelCallLimitExceededError"),
    _named("turns", E.CALL_BUDGET, "max_turns",
           ".MaxTurnsExceeded .GraphRecursionError .AgentMaxStepsError .PipelineMaxComponentRuns"),
    _named("usage", E.CALL_BUDGET, "token_limit", ".UsageLimitExceeded"),
    _named("budget", E.CALL_BUDGET, "spend_limit", ".BudgetExceededError"),
    _named("policy", E.PROMPT_BLOCKED, "content_filter", ".ContentPolicyViolationError"),
    _named("context", E.BAD_REQUEST, "context_overflow", ".ContextWindowExceededError"),
    # A guardrail for the result of a tool checks a part of the next prompt. A guardrail for the arguments of a tool, below,
    # checks output of the model.
    _named("guardrail.prompt", E.PROMPT_BLOCKED, "guardrail",
           ".InputGuardrailTripwireTriggered .ToolOutputGuardrailTripwireTriggered"),
    # Exceptions of google-adk about sessions and tools.
    _named("adk.missing", E.NOT_FOUND, "resource",
           "google.adk.NotFoundError google.adk.SessionNotFoundError google.adk.InvocationNotFoundError"),
    _named("adk.state", E.BAD_REQUEST, "failed_precondition", "google.adk.AlreadyExistsError google.adk.StaleSessionError"),
    _named("adk.input", E.BAD_REQUEST, "invalid_parameter", "google.adk.InputValidationError"),
    _named("adk.tool", E.TOOL_PROTOCOL, "other", "google.adk.ToolExecutionError"),
    # Exceptions of dspy's own engine for requests that it refuses and models that it does not know. All others have a status.
    _named("dspy.key", E.AUTH, "missing_key", "dspy.NotConfiguredError dspy.LMNotConfiguredError"),
    _named("dspy.unsupported", E.BAD_REQUEST, "unsupported",
           "dspy.CapabilityError dspy.UnsupportedFeatureError dspy.LMUnsupportedFeatureError"),
    _named("dspy.model", E.NOT_FOUND, "model",
           "dspy.UnknownModelError dspy.AmbiguousModelError dspy.UnsupportedModelError dspy.LMUnsupportedModelError"),
    _named("dspy.context", E.BAD_REQUEST, "context_overflow", "dspy.ContextLengthError"),
    _named("dspy.garbage", E.UNKNOWN, "unexpected_body", "dspy.StreamAssemblyError dspy.LMStreamAssemblyError"),
    _named("guardrail.route", E.PROMPT_BLOCKED, "guardrail", ".SensitiveDataRouteException"),
    _named("guardrail.output", E.OUTPUT_BLOCKED, "guardrail",
           ".OutputGuardrailTripwireTriggered .ToolInputGuardrailTripwireTriggered"),
    _named("answer", E.TOOL_PROTOCOL, "schema_mismatch",
           ".ModelBehaviorError .UnexpectedModelBehavior .OutputParserException .StructuredOutputError"
           " .AdapterParseError .StructuredOutputException"),
    _named("answer.cut", E.TRUNCATED, "max_tokens", ".OutputTokenLimitExceeded"),
    _named("answer.filtered", E.OUTPUT_BLOCKED, "content_filter", ".ContentFilterError"),
    _named("tool_calls", E.CALL_BUDGET, "other", ".ToolCallLimitExceededError"),
    _named("process.missing", E.NOT_FOUND, "resource", ".CLINotFoundError"),
    _named("process.gone", E.TRANSPORT, "disconnected", ".CLIConnectionError .ProcessError"),
    _named("process.garbage", E.UNKNOWN, "unexpected_body", ".CLIJSONDecodeError .MessageParseError"),
    _fact("turn_limit", E.CALL_BUDGET, "max_turns"),
    _fact("token_limit", E.CALL_BUDGET, "token_limit"),
    _fact("spend_limit", E.CALL_BUDGET, "spend_limit"),
    _fact("off_the_schema", E.TOOL_PROTOCOL, "schema_mismatch"),
    _fact("call_limit", E.CALL_BUDGET, "max_llm_calls"),
    _fact("other_limit", E.CALL_BUDGET, "other"),
    _fact("unknown_tool", E.TOOL_PROTOCOL, "unexpected_call"),
)  # fmt: skip
