"""Decides how long to wait before a retry if the provider did not say: exponential backoff with jitter, up to a cap."""

import random as _random
from collections.abc import Callable
from typing import Final

from llm_errors import providers

CAP: Final = 300.0
UNAVAILABLE: Final = 15.0
_DOUBLINGS = 64
"""The maximum number of doublings. More would exceed any cap, and eventually overflow a float."""


def base_delay(category: str, provider: str = "") -> float:
    """The wait in seconds before the second attempt, or 0 for a category in which waiting does not help."""
    if category == "rate_limit":
        known = providers.provider(provider)
        return providers.DEFAULT_BACKOFF if known is None else known.backoff
    return UNAVAILABLE if category == "overloaded" else 0.0


def delay(attempt: int, base: float, *, cap: float = CAP, random: Callable[[], float] = _random.random) -> float:
    """The wait in seconds after a failed attempt, of which the first has the number 1.

    It is `base` x 2^(attempt - 1), plus or minus up to half of that, and never above `cap`. At the cap, it is a random value
    between half of the cap and the cap, so that clients that failed at the same time do not retry at the same time.
    """
    doublings = min(max(attempt, 1) - 1, _DOUBLINGS)
    full = base * 2**doublings
    shortest, longest = min(full, cap) * 0.5, min(full * 1.5, cap)
    return float(shortest + (longest - shortest) * random())
