"""Rules for exceptions of SDKs that serve one vendor, if the exception class alone shows what was wrong.

A status or a code takes precedence. The class names come from the SDKs. The rules of the dialects match what servers send.
"""

from typing import Final

from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E


def _raised(sdk: str, row_id: str, error_class: E, reason: str, names: str) -> Rule:
    exceptions = frozenset(f"{sdk}.{name}" for name in words(names))
    return Rule(f"{sdk}.{row_id}", error_class, reason, exceptions=exceptions, generic=True, kind="exception")


VOYAGE: Final = (
    _raised("voyageai", "key", E.AUTH, "missing_key", "AuthenticationError"),
    _raised("voyageai", "request", E.BAD_REQUEST, "invalid_parameter", "InvalidRequestError MalformedRequestError"),
    _raised("voyageai", "media", E.BAD_REQUEST, "invalid_media", "VideoProcessingError"),
    _raised("voyageai", "rate", E.RATE_LIMITED, "requests", "RateLimitError"),
    _raised("voyageai", "server", E.SERVER, "internal", "ServerError"),
    _raised("voyageai", "unavailable", E.SERVER, "unavailable", "ServiceUnavailableError TryAgain"),
    _raised("voyageai", "timeout", E.TIMEOUT, "other", "Timeout"),
)
AI21: Final = (
    _raised("ai21", "key", E.AUTH, "missing_key", "MissingApiKeyError CredentialsError"),
    _raised("ai21", "model", E.NOT_FOUND, "model", "ModelPackageDoesntExistError"),
    _raised("ai21", "request", E.BAD_REQUEST, "invalid_parameter", "EmptyMandatoryListError"),
    _raised("ai21", "refused", E.BAD_REQUEST, "other", "AI21Error"),
    _raised("ai21", "stream", E.UNKNOWN, "unexpected_body", "StreamingDecodeError"),
)
DASHSCOPE: Final = (
    _raised("dashscope", "key", E.AUTH, "missing_key", "AuthenticationError"),
    _raised(
        "dashscope",
        "parameter",
        E.BAD_REQUEST,
        "invalid_parameter",
        "InvalidParameter InvalidTask ModelRequired InvalidInput InputDataRequired InputRequired"
        " MultiInputsWithBinaryNotSupported",
    ),
    _raised(
        "dashscope",
        "unsupported",
        E.BAD_REQUEST,
        "unsupported",
        "UnsupportedModel UnsupportedTask UnsupportedApiProtocol UnsupportedData UnsupportedDataType"
        " UnsupportedHTTPMethod NotImplemented",
    ),
    _raised("dashscope", "media", E.BAD_REQUEST, "invalid_media", "InvalidFileFormat UploadFileException"),
    _raised("dashscope", "model", E.NOT_FOUND, "model", "InvalidModel"),
    _raised("dashscope", "protocol", E.TRANSPORT, "other", "UnexpectedMessageReceived UnknownMessageReceived"),
    _raised("dashscope", "server", E.SERVER, "other", "RequestFailure AssistantError AsyncTaskCreateFailed"),
    _raised("dashscope", "unavailable", E.SERVER, "unavailable", "ServiceUnavailableError"),
    Rule("dashscope.socket", E.TRANSPORT, "other", dialects=words("openai"), codes=words("clientconnectorerror")),
    _raised("dashscope", "timeout", E.TIMEOUT, "other", "TimeoutException"),
)
WATSONX: Final = (
    _raised("ibm_watsonx_ai", "key", E.AUTH, "missing_key", "NoWMLCredentialsProvided"),
    _raised("ibm_watsonx_ai", "key.invalid", E.AUTH, "invalid_key", "InvalidCredentialsError AuthenticationError"),
    _raised(
        "ibm_watsonx_ai",
        "denied",
        E.AUTH,
        "permission_denied",
        "ForbiddenActionForPlan ForbiddenActionForGitBasedProject GovCloudEnvironmentConsentError",
    ),
    _raised(
        "ibm_watsonx_ai",
        "resource",
        E.NOT_FOUND,
        "resource",
        "ResourceIdByNameNotFound ResourceByNameNotFound MissingWMLComponent",
    ),
    _raised("ibm_watsonx_ai", "model", E.NOT_FOUND, "model", "MissingFoundationModel"),
    _raised("ibm_watsonx_ai", "rate", E.RATE_LIMITED, "requests", "ExceededLimitOfAPICalls"),
    _raised("ibm_watsonx_ai", "timeout", E.TIMEOUT, "read", "ReadingDataTimeoutError"),
    _raised("ibm_watsonx_ai", "data", E.TRANSPORT, "stream_cut", "DataStreamError"),
    _raised("ibm_watsonx_ai", "tool", E.TOOL_PROTOCOL, "schema_mismatch", "MissingToolRequiredProperties"),
    _raised(
        "ibm_watsonx_ai",
        "unsupported",
        E.BAD_REQUEST,
        "unsupported",
        "UnsupportedOperation NoVirtualDeploymentSupportedForICP WrongEnvironmentVersion CannotInstallLibrary",
    ),
    # The SDK raises all other exceptions for arguments that it refuses.
    _raised(
        "ibm_watsonx_ai",
        "parameter",
        E.BAD_REQUEST,
        "invalid_parameter",
        "MissingValue MissingMetaProp NotUrlNorID UnexpectedType MissingArgument CannotAutogenerateBedrockUrl"
        " WrongMetaProps CannotSetProjectOrSpace WrongLocationProperty WrongFileLocation EmptyDataSource"
        " SpaceIDandProjectIDCannotBeNone ParamOutOfRange InvalidMultipleArguments ValidationError InvalidValue"
        " PromptVariablesError MissingExtension LoadingDocumentError MultipleResourceIdByNameFound"
        " VectorStoreSerializationError",
    ),
)
_QIANFAN_CODES: Final = (
    ("server", E.SERVER, "internal", "1 336000 500000"),
    ("unavailable", E.SERVER, "unavailable", "2"),
    ("overloaded", E.SERVER, "overloaded", "336100"),
    ("unsupported", E.BAD_REQUEST, "unsupported", "3 336101"),
    ("rate", E.RATE_LIMITED, "requests", "4 18 336501"),
    ("rate.tokens", E.RATE_LIMITED, "tokens", "336502"),
    ("rate.daily", E.RATE_LIMITED, "daily_quota", "17"),
    ("quota", E.CALL_BUDGET, "insufficient_quota", "19"),
    ("denied", E.AUTH, "permission_denied", "6 336004"),
    ("key", E.AUTH, "invalid_key", "13 14 110"),
    ("key.expired", E.AUTH, "expired", "111"),
    ("app", E.NOT_FOUND, "resource", "15"),
    ("model", E.NOT_FOUND, "model", "336005"),
    ("parameter", E.BAD_REQUEST, "invalid_parameter", "100 336001 336002 336003 336104 336105"),
    # Two numbers from the API's table of errors, for a text that is too long.
    ("context", E.BAD_REQUEST, "context_overflow", "336007 336103"),
)
"""Id, class, reason and numeric codes of the rules for qianfan, from its `consts.APIErrorCode`."""
QIANFAN: Final = (
    *(
        Rule(f"qianfan.code.{row_id}", error_class, reason, codes=words(codes), exceptions=words("qianfan.APIError"))
        for row_id, error_class, reason, codes in _QIANFAN_CODES
    ),
    _raised("qianfan", "key", E.AUTH, "invalid_key", "AuthError"),
    _raised("qianfan", "key.expired", E.AUTH, "expired", "AccessTokenExpiredError BearerTokenExpiredError"),
    _raised(
        "qianfan",
        "parameter",
        E.BAD_REQUEST,
        "invalid_parameter",
        "InvalidArgumentError ArgumentNotFoundError ValidationError QianfanRequestError FileSizeOverflow",
    ),
    _raised("qianfan", "unsupported", E.BAD_REQUEST, "unsupported", "NotImplmentError"),
    _raised("qianfan", "timeout", E.TIMEOUT, "other", "RequestTimeoutError"),
    _raised("qianfan", "server", E.SERVER, "other", "RequestError InternalError APIError"),
)
ALEPH_ALPHA: Final = (
    _raised("aleph_alpha_client", "quota", E.CALL_BUDGET, "insufficient_quota", "QuotaError"),
    _raised("aleph_alpha_client", "busy", E.SERVER, "overloaded", "BusyError"),
)
REPLICATE: Final = (
    _raised("replicate", "model", E.SERVER, "model_error", "ModelError"),
    _raised("replicate", "error", E.SERVER, "other", "ReplicateError ReplicateException"),
    Rule("replicate.failed", E.SERVER, "model_error", dialects=words("openai"), codes=words("prediction_failed")),
    Rule(
        "replicate.unsafe",
        E.OUTPUT_BLOCKED,
        "safety",
        dialects=words("openai"),
        codes=words("prediction_failed"),
        says=("nsfw", "flagged as sensitive"),
        weight=1,
    ),
)
ZHIPU: Final = tuple(
    row
    for sdk in ("zai", "zhipuai")
    for row in (
        _raised(sdk, "key", E.AUTH, "invalid_key", "APIAuthenticationError"),
        _raised(sdk, "rate", E.RATE_LIMITED, "requests", "APIReachLimitError"),
        _raised(sdk, "server", E.SERVER, "internal", "APIInternalError APIResponseError"),
        _raised(sdk, "overloaded", E.SERVER, "overloaded", "APIServerFlowExceedError"),
        _raised(sdk, "request", E.BAD_REQUEST, "invalid_parameter", "APIRequestFailedError"),
    )
)
GOOGLE: Final = (
    _raised("google.generativeai", "blocked", E.PROMPT_BLOCKED, "safety", "BlockedPromptException"),
    _raised("google.generativeai", "stopped", E.OUTPUT_BLOCKED, "other", "StopCandidateException"),
    _raised("google.generativeai", "broken", E.TRANSPORT, "stream_cut", "BrokenResponseError IncompleteIterationError"),
)
VERTEXAI: Final = (
    _raised("vertexai", "blocked", E.OUTPUT_BLOCKED, "other", "ResponseBlockedError"),
    _raised("vertexai", "invalid", E.UNKNOWN, "unexpected_body", "ResponseValidationError"),
)
AZURE: Final = (
    _raised("azure", "body", E.UNKNOWN, "unexpected_body", "DecodeError"),
    # The application read a stream twice, or too late.
    _raised("azure", "stream", E.BAD_REQUEST, "protocol", "StreamConsumedError StreamClosedError ResponseNotReadError"),
)
CARTESIA: Final = (
    _raised(
        "cartesia", "socket", E.TRANSPORT, "disconnected", "WebSocketConnectionClosedError WebSocketQueueFullError"
    ),
)
RUNWAY: Final = (
    _raised("runwayml", "failed", E.SERVER, "model_error", "TaskFailedError WorkflowInvocationFailedError"),
    _raised("runwayml", "timeout", E.TIMEOUT, "other", "TaskTimeoutError WorkflowInvocationTimeoutError"),
)
GIGACHAT: Final = (_raised("gigachat", "model", E.BAD_REQUEST, "invalid_parameter", "ModelNotSpecifiedError"),)
FISH_AUDIO: Final = (
    _raised("fishaudio", "socket", E.TRANSPORT, "disconnected", "WebSocketError"),
    _raised("fishaudio", "package", E.BAD_REQUEST, "failed_precondition", "DependencyError"),
    _raised("fishaudio", "parameter", E.BAD_REQUEST, "invalid_parameter", "ValidationError"),
)

ROWS: Final = (
    *VOYAGE,
    *AI21,
    *DASHSCOPE,
    *WATSONX,
    *QIANFAN,
    *ALEPH_ALPHA,
    *REPLICATE,
    *ZHIPU,
    *GOOGLE,
    *VERTEXAI,
    *AZURE,
    *CARTESIA,
    *RUNWAY,
    *GIGACHAT,
    *FISH_AUDIO,
)
