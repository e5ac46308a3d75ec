"""Listening to a body that came in place of an event stream: SDKs drop it silently, and it says what went wrong."""

from typing import Any

LIMIT = 16_384
"""Bytes of a body in place of a stream that are kept until its end: an error object is shorter."""


def tap_body(response: Any, kept: list[bytes]) -> None:
    """Keep the beginning of the response's body while the SDK reads it."""

    def keep(data: bytes) -> bytes:
        if sum(map(len, kept)) < LIMIT:
            kept.append(data[:LIMIT])
        return data

    async def listen_async(body: Any) -> Any:
        async for data in body:
            yield keep(data)

    if hasattr(response, "aiter_bytes") and hasattr(response.stream, "__aiter__"):
        original = response.aiter_bytes
        response.aiter_bytes = lambda *args, **kwargs: listen_async(original(*args, **kwargs))
    else:
        plain = response.iter_bytes
        response.iter_bytes = lambda *args, **kwargs: map(keep, plain(*args, **kwargs))
