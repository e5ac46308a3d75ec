"""Rules of the bedrock dialect: the Converse and Invoke APIs of Amazon Bedrock through boto3.

They cover exceptions by their codes (`rules._aws`), the stop reasons of Converse, and errors that botocore raises
itself.
"""

from typing import Final

from llm_errors.rules import anthropic, openai
from llm_errors.rules._aws import aws
from llm_errors.rules._dialect import Dialect
from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E

_DIALECT = Dialect("bedrock")
_finish = _DIALECT.finish


def _raised(row_id: str, error_class: E, reason: str, names: str, weight: int) -> Rule:
    exceptions = words(" ".join(f"botocore.{name}" for name in names.split()))
    return Rule(f"bedrock.{row_id}", error_class, reason, exceptions=exceptions, weight=weight, wrapper=weight == 0)


FINISH: Final = (
    _finish("max_tokens", E.TRUNCATED, "max_tokens", "max_tokens length LENGTH MAX_TOKENS"),
    _finish("reasoning", E.TRUNCATED, "reasoning_tokens", "max_tokens", facts=words("only_reasoning")),
    _finish("window", E.TRUNCATED, "context_window", "model_context_window_exceeded"),
    _finish("window.cohere", E.TRUNCATED, "context_window", "ERROR_LIMIT"),
    # The trace shows whether the request or the answer was blocked. Without a trace, the answer is assumed to be blocked.
    _finish("guardrail", E.OUTPUT_BLOCKED, "guardrail", "guardrail_intervened"),
    _finish("guardrail.input", E.PROMPT_BLOCKED, "guardrail", "guardrail_intervened", facts=words("input_stage")),
    _finish("filter", E.OUTPUT_BLOCKED, "content_filter", "content_filtered CONTENT_FILTERED"),
    _finish("filter.input", E.PROMPT_BLOCKED, "content_filter", "content_filtered", facts=words("input_stage")),
    _finish("toxic", E.OUTPUT_BLOCKED, "safety", "ERROR_TOXIC"),
    _finish("error", E.SERVER, "other", "ERROR"),
    _finish("cancelled", E.SERVER, "other", "USER_CANCEL"),
    _finish("retrieval", E.BAD_REQUEST, "unsupported", "RAG_QUERY_WHEN_RAG_DISABLED"),
    _finish("malformed_call", E.TOOL_PROTOCOL, "malformed_call", "malformed_tool_use"),
    _finish("malformed_output", E.SERVER, "model_error", "malformed_model_output"),
)

EXCEPTIONS: Final = (
    _raised("refused", E.TRANSPORT, "other", "EndpointConnectionError ConnectionError HTTPClientError", 0),
    _raised("disconnected", E.TRANSPORT, "disconnected",
            "ConnectionClosedError ResponseStreamingError ChecksumMismatch InvalidHeadersLength InvalidPayloadLength"
            " DuplicateHeader IncompleteReadError ChecksumError FlexibleChecksumError", 2),
    _raised("tls", E.TRANSPORT, "tls", "SSLError", 2),
    _raised("proxy", E.TRANSPORT, "proxy", "ProxyConnectionError", 4),
    _raised("timeout.connect", E.TIMEOUT, "connect", "ConnectTimeoutError", 2),
    _raised("timeout.read", E.TIMEOUT, "read", "ReadTimeoutError", 2),
    _raised("credentials", E.AUTH, "missing_key", "NoCredentialsError PartialCredentialsError", 4),
    _raised("credentials.expired", E.AUTH, "expired",
            "UnauthorizedSSOTokenError SSOTokenLoadError TokenRetrievalError LoginRefreshRequired RefreshWithMFAUnsupportedError",
            4),
    _raised("credentials.other", E.AUTH, "other",
            "CredentialRetrievalError MetadataRetrievalError NoAuthTokenError SSOError ProfileNotFound LoginError"
            " UnknownCredentialError UnknownTokenProviderError InvalidIMDSEndpointError InvalidIMDSEndpointModeError", 3),
    _raised("credentials.denied", E.AUTH, "permission_denied", "LoginInsufficientPermissions", 4),
    _raised("parameters", E.BAD_REQUEST, "invalid_parameter",
            "ParamValidationError ValidationError NoRegionError InvalidRegionError UnknownEndpointError", 3),
    # Errors in the client, its configuration or its installation, which botocore finds before it sends a request.
    _raised("configuration", E.BAD_REQUEST, "other",
            "ApiVersionNotFoundError AwsChunkedWrapperError BaseEndpointResolverError ConfigNotFound ConfigParseError"
            " DataNotFoundError EndpointProviderError EndpointVariantError InfiniteLoopConfigError InvalidChecksumConfigError"
            " InvalidConfigError InvalidDNSNameError InvalidDefaultsMode InvalidEndpointConfigurationError"
            " InvalidEndpointDiscoveryConfigurationError InvalidExpressionError InvalidHostLabelError"
            " InvalidMaxRetryAttemptsError InvalidProxiesConfigError InvalidRetryConfigurationError InvalidRetryModeError"
            " InvalidS3AddressingStyleError InvalidS3UsEast1RegionalEndpointConfigError"
            " InvalidSTSRegionalEndpointsConfigError MD5UnavailableError MissingDependencyException MissingParametersError"
            " MissingServiceIdError OperationNotPageableError PaginationError ServiceNotInRegionError StubAssertionError"
            " StubResponseError UnStubbedResponseError UndefinedModelAttributeError UnknownClientMethodError"
            " UnknownEndpointResolutionBuiltInName UnknownFIPSEndpointError UnknownRegionError UnknownServiceError"
            " UnknownServiceStyle UnknownSignatureVersionError UnseekableStreamError UnsupportedOutpostResourceError"
            " UnsupportedS3AccesspointConfigurationError UnsupportedS3ArnError UnsupportedS3ConfigurationError"
            " UnsupportedS3ControlArnError UnsupportedS3ControlConfigurationError UnsupportedServiceProtocolsError"
            " UnsupportedSignatureVersionError WaiterConfigError", 3),
)  # fmt: skip

_OWN: Final = (*aws(_DIALECT), *FINISH)
# Bedrock returns Claude's error texts unchanged. The texts of other models are those of the openai dialect.
_CLAUDES: Final = _DIALECT.adopt(anthropic.TEXTS, _OWN)
ROWS: Final = (*_OWN, *EXCEPTIONS, *_CLAUDES, *_DIALECT.adopt(openai.SHARED, (*_OWN, *_CLAUDES)))
