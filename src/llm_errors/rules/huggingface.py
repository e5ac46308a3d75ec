"""Rules for exceptions that huggingface_hub raises itself. The errors of Hugging Face's servers are of the openai dialect."""

from typing import Final

from llm_errors.rules._rule import Rule, words
from llm_errors.taxonomy import ErrorClass as E


def _raised(row_id: str, error_class: E, reason: str, names: str) -> Rule:
    exceptions = words(" ".join(f"huggingface_hub.{name}" for name in names.split()))
    return Rule(f"huggingface.{row_id}", error_class, reason, exceptions=exceptions, weight=4)


ROWS: Final = (
    # Exceptions for errors of servers for text generation.
    _raised("parameter", E.BAD_REQUEST, "invalid_parameter",
            "ValidationError HFValidationError HfUriError StrictDataclassError StrictDataclassDefinitionError"
            " StrictDataclassFieldValidationError StrictDataclassClassValidationError"),
    _raised("overloaded", E.SERVER, "overloaded", "OverloadedError"),
    _raised("generation", E.SERVER, "model_error", "GenerationError IncompleteGenerationError"),
    _raised("server", E.SERVER, "other", "TextGenerationError UnknownError"),
    _raised("endpoint", E.SERVER, "unavailable", "InferenceEndpointError"),
    _raised("timeout", E.TIMEOUT, "provider", "InferenceEndpointTimeoutError"),
    _raised("key.missing", E.AUTH, "missing_key", "LocalTokenNotFoundError"),
    _raised("key.login", E.AUTH, "other", "OIDCError DeviceCodeError"),
    _raised("resource", E.NOT_FOUND, "resource",
            "EntryNotFoundError LocalEntryNotFoundError RevisionResolutionError CacheNotFound"
            " CachedRepoTreeNotFoundError"),
    # The machine is configured to work offline. Without this rule, the base class would count as a network error.
    _raised("offline", E.BAD_REQUEST, "failed_precondition", "OfflineModeIsEnabled"),
    # Errors that the library finds in files and in its local cache.
    _raised("files", E.BAD_REQUEST, "other",
            "CorruptedCacheException SafetensorsParsingError NotASafetensorsRepoError DryRunError FileMetadataError"
            " IncompleteSnapshotError DDUFError DDUFCorruptedFileError DDUFExportError DDUFInvalidEntryNameError"
            " XetDownloadError FileDuplicationError"),
)  # fmt: skip
