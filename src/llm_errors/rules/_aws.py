"""Rules for the error codes of Amazon Bedrock, in the dialects of boto3 and of Anthropic's client for Bedrock.

The code decides, not the HTTP status: an exceeded quota of the account has status 400, and a model that is still loading has
status 429. The codes come from the service models of Bedrock's and SageMaker's runtimes in botocore 1.44, and from the common
errors of AWS. In event streams, a code begins with a lower-case letter.
"""

from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import Rule
from llm_errors.taxonomy import ErrorClass as E

_THROTTLED = "throttlingexception toomanyrequestsexception throttling requestthrottled throttledexception"


def aws(dialect: Dialect) -> tuple[Rule, ...]:
    """Return these rules for one dialect."""
    code, status, says = dialect.code, dialect.status, dialect.says
    return (
        status("aws.server", E.SERVER, "internal", 500, "internalserverexception internalfailure internalstreamfailure"),
        status("aws.unavailable", E.SERVER, "unavailable", 503, "serviceunavailableexception serviceunavailable"),
        status("aws.gateway", E.SERVER, "gateway", 502, "badgatewayexception"),
        code("aws.upstream", E.SERVER, "upstream", "dependencyfailedexception internaldependencyexception"),
        code("aws.model", E.SERVER, "model_error",
             "modelstreamerrorexception modelerrorexception modelstreamerror modelerror"),
        code("aws.not_ready", E.SERVER, "model_not_ready", "modelnotreadyexception"),
        code("aws.conflict", E.SERVER, "conflict", "conflictexception"),
        status("aws.rate", E.RATE_LIMITED, "requests", 429, _THROTTLED),
        says("aws.rate.tokens", E.RATE_LIMITED, "tokens", frozenset({429}), "too many tokens"),
        says("aws.rate.daily", E.RATE_LIMITED, "daily_quota", frozenset({429}),
             "tokens per day", "tokens for one day", "tokens today", "requests per day", weight=3),
        code("aws.quota", E.RATE_LIMITED, "service_quota", "servicequotaexceededexception limitexceededexception"),
        code("aws.timeout", E.TIMEOUT, "provider",
             "modeltimeoutexception requesttimeoutexception requesttimeout requesttimedout"),
        status("aws.request", E.BAD_REQUEST, "invalid_parameter", 400, "validationexception validationerror"),
        status("aws.denied", E.AUTH, "permission_denied", 403, "accessdeniedexception accessdenied notauthorized"),
        code("aws.key", E.AUTH, "invalid_key",
             "unrecognizedclientexception invalidsignatureexception incompletesignatureexception incompletesignature"
             " signaturedoesnotmatch invalidclienttokenid invalidaccesskeyid"),
        code("aws.key.missing", E.AUTH, "missing_key", "missingauthenticationtokenexception missingauthenticationtoken"),
        code("aws.expired", E.AUTH, "expired", "expiredtokenexception expiredtoken requestexpired"),
        code("aws.subscription", E.AUTH, "permission_denied", "optinrequired subscriptionrequiredexception"),
        status("aws.model_id", E.NOT_FOUND, "model", 404, "resourcenotfoundexception"),
        # If the header with the code is missing, only the text of the error shows what failed.
        says("aws.payment", E.CALL_BUDGET, "billing", frozenset({403}), "invalid_payment_instrument"),
        says("aws.model", E.NOT_FOUND, "model", frozenset({400, 404}),
             "model identifier is invalid", "reached the end of its life"),
        says("aws.unsupported", E.BAD_REQUEST, "unsupported", frozenset({400}),
             "with on-demand throughput isn", "doesn't support the", "does not support"),
        says("aws.context", E.BAD_REQUEST, "context_overflow", frozenset({400}),
             "input is too long", "too many input tokens"),
        says("aws.expired", E.AUTH, "expired", frozenset({403}), "security token included in the request is expired"),
        says("aws.key", E.AUTH, "invalid_key", frozenset({403}),
             "security token included in the request is invalid", "request signature we calculated does not match",
             "api key is valid"),
    )  # fmt: skip
