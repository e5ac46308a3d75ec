"""The host and port that an SDK calls, from its URL."""

from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"https": 443, "http": 80, "wss": 443, "ws": 80}


def address_of(url: Any) -> tuple[str | None, int | None]:
    """Host and port of an httpx-like URL object, or of a string."""
    if isinstance(url, str):
        return split_address(url)
    host, port, scheme = getattr(url, "host", None), getattr(url, "port", None), getattr(url, "scheme", None)
    host = host if isinstance(host, str) and host else None
    return host, port if isinstance(port, int) else _DEFAULT_PORTS.get(str(scheme))


@lru_cache(maxsize=64)
def split_address(url: str) -> tuple[str | None, int | None]:
    """Host and port of a URL. None for a part that is missing or malformed."""
    try:
        split = urlsplit(url)
        return split.hostname, split.port or _DEFAULT_PORTS.get(split.scheme)
    except ValueError:  # an invalid port or host, which the SDK will refuse itself
        return None, None
