"""The names of all attributes, metrics and labels that the package writes. Standard library only.

`gen_ai.*`, `error.type`, `exception.type` and `server.*` are names of the OpenTelemetry semantic conventions at
`SCHEMA_URL`. `llm.*` are names of llm-errors.
"""

from typing import Final

SCOPE: Final = "llm_errors"
SCHEMA_URL: Final = "https://opentelemetry.io/schemas/1.41.0"
"""A release of the conventions that defines every OpenTelemetry name below, including the time to the first chunk."""

# --- names of OpenTelemetry ---
OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_STREAM: Final = "gen_ai.request.stream"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_ID: Final = "gen_ai.response.id"
RESPONSE_FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
TIME_TO_FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
SERVER_ADDRESS: Final = "server.address"
SERVER_PORT: Final = "server.port"
ERROR_TYPE: Final = "error.type"
EXCEPTION_TYPE: Final = "exception.type"
AGENT_NAME: Final = "gen_ai.agent.name"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
TOKEN_TYPE: Final = "gen_ai.token.type"
DURATION: Final = "gen_ai.client.operation.duration"
FIRST_CHUNK: Final = "gen_ai.client.operation.time_to_first_chunk"
TOKEN_USAGE: Final = "gen_ai.client.token.usage"

# --- spans and logs ---
ERROR_CLASS: Final = "llm.error.class"
ERROR_REASON: Final = "llm.error.reason"
ERROR_CHANNEL: Final = "llm.error.channel"
ERROR_EVIDENCE: Final = "llm.error.evidence"
ERROR_RULE: Final = "llm.error.rule"
ERROR_RETRYABLE: Final = "llm.error.retryable"
ERROR_RETRY_AFTER: Final = "llm.error.retry_after"
ERROR_PARTIAL_OUTPUT: Final = "llm.error.partial_output"
ERROR_RECOVERED: Final = "llm.error.recovered"
ERROR_CODE: Final = "llm.error.code"
ERROR_STATUS_CODE: Final = "llm.error.status_code"
ERROR_MESSAGE: Final = "llm.error.message"
ERROR_FINGERPRINT: Final = "llm.error.fingerprint"
RETRY_COUNT: Final = "llm.retry.count"
FAILURE_EVENT: Final = "llm.call.failure"
LOGS_LEFT_OUT: Final = "llm.log.left_out"
"""On a log record: how many records the rate limit dropped since the last one."""

# --- metrics ---
CALLS: Final = "llm_calls_total"
ERRORS: Final = "llm_errors_total"
RETRIES: Final = "llm_retries_total"
INSTRUMENTATION_ERRORS: Final = "llm_instrumentation_errors_total"
OUTCOME: Final = "llm.call.outcome"
PLACE: Final = "place"

OK: Final = "ok"
ERROR: Final = "error"
CANCELLED: Final = "cancelled"

INPUT: Final = "input"
OUTPUT: Final = "output"

THROWN: Final = "thrown"
IN_BAND: Final = "in_band"


def prometheus_label(name: str) -> str:
    """The label name of an attribute under the underscore strategies of the Prometheus exporters."""
    return name.replace(".", "_")
