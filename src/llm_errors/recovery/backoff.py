"""How long to wait before the next attempt when the provider did not say: exponential, jittered, never above the
cap."""

import random as _random
from collections.abc import Callable
from typing import Final

from llm_errors import providers

CAP: Final = 300.0
UNAVAILABLE: Final = 15.0
_DOUBLINGS = 64
"""More than these change nothing below any cap, and would overflow a float in the end."""


def base_delay(category: str, provider: str = "") -> float:
    """Seconds before the second attempt; 0 for a category that is not cured by waiting."""
    if category == "rate_limit":
        known = providers.provider(provider)
        return providers.DEFAULT_BACKOFF if known is None else known.backoff
    return UNAVAILABLE if category == "overloaded" else 0.0


def delay(attempt: int, base: float, *, cap: float = CAP, random: Callable[[], float] = _random.random) -> float:
    """Seconds: `base` x 2^(attempt - 1), plus or minus up to half of it, and never above `cap`.

    At the cap the wait is uniform between half of it and all of it: clients that failed together do not come back
    together. Attempts count from 1.
    """
    doublings = min(max(attempt, 1) - 1, _DOUBLINGS)
    full = base * 2**doublings
    shortest, longest = min(full, cap) * 0.5, min(full * 1.5, cap)
    return float(shortest + (longest - shortest) * random())
