"""Exceptions of the SDKs of one vendor each, as far as their class alone tells what was wrong.

They yield to a status or a code. The names are those of the installed SDKs; rules of dialects read what the servers send.
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
    _raised("dashscope", "timeout", E.TIMEOUT, "other", "TimeoutException"),
)

ROWS: Final = (*VOYAGE, *AI21, *DASHSCOPE)
