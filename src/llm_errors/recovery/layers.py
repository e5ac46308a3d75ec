"""Warns about a second retry layer: SDKs retry by themselves, and a retry around them multiplies the attempts.

Three retries around an SDK that makes three attempts send up to twelve requests. One layer is enough: if the application
retries by the advice of llm-errors, the retries of the SDK should be off (`max_retries=0`). This module needs the standard
library only and imports no SDK.
"""

import logging
import warnings
from typing import Any, Final

from llm_errors.extract import causes
from llm_errors.extract.fields import field, number

_LOG = logging.getLogger("llm_errors")
_BOTOCORE_DEFAULT: Final = 4
_COUNT_HEADER: Final = "x-stainless-retry-count"


class SecondRetryLayerWarning(UserWarning):
    """Warns that the SDK retries too."""


def sdk_retries(client: Any) -> int:
    """How many retries a client makes by itself.

    This is known for clients of OpenAI and similar SDKs, of google-genai and of botocore. For other clients it is 0.
    """
    own = number(field(client, "max_retries"))
    if own is not None:
        return max(own, 0)
    attempts = number(field(field(field(field(client, "_api_client"), "_http_options"), "retry_options"), "attempts"))
    if attempts is not None:
        return max(attempts - 1, 0)
    config = field(field(client, "meta"), "config")
    return 0 if config is None else _botocore_retries(field(config, "retries"))


def _botocore_retries(retries: Any) -> int:
    total = number(field(retries, "total_max_attempts"))
    if total is not None:
        return max(total - 1, 0)
    configured = number(field(retries, "max_attempts"))
    return _BOTOCORE_DEFAULT if configured is None else max(configured, 0)


def warn_of_second_layer(*clients: Any, stacklevel: int = 2) -> None:
    """Warn about every client that retries by itself. The warning names the line that calls this function."""
    for client in clients:
        retries = sdk_retries(client)
        if retries:
            warnings.warn(
                f"{type(client).__name__} makes {retries} retries of its own below this retry layer; "
                "one layer is enough: switch the SDK's off, for instance with max_retries=0",
                SecondRetryLayerWarning,
                stacklevel=stacklevel + 1,
            )


def retried_below(failure: Any) -> int:
    """How many retries the SDK had made before it raised this failure. It is 0 if the request does not show it."""
    links = causes.chain(failure) if isinstance(failure, BaseException) else []
    for link in links:
        request = field(link, "request") or field(field(link, "response"), "request")
        count = field(field(request, "headers"), _COUNT_HEADER)
        if isinstance(count, str) and count.isdecimal() and len(count) < 4:
            return int(count)
    return 0


def log_second_layer(failure: Any) -> bool:
    """Log a warning if the failure shows a second retry layer, and return whether it does."""
    count = retried_below(failure)
    if count:
        _LOG.warning(
            "the SDK had retried %d times by itself below the retry layer of llm_errors; one layer is enough", count
        )
    return bool(count)
