"""Attribute sets of metrics: created once per combination of values, and limited in number.

The OpenTelemetry SDK merges all attribute sets after the first 2,000 of an instrument into one, which loses the class and the
outcome. Before that, this module replaces less important values with `other`: first the model, then the reason and the
address, then the provider, the operation and the error type.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from llm_errors import semconv

LIMIT = 1500
"""From this number of attribute sets on, the model of a new set is `other`."""
SECOND_LIMIT = 1700
"""From this number on, the reason and the address are `other` too."""
LAST_LIMIT = 1800
"""From this number on, only class, channel and outcome keep their values."""
OTHER = "other"
_SECOND = frozenset((semconv.ERROR_REASON, semconv.SERVER_ADDRESS))
_LAST = frozenset((semconv.PROVIDER, semconv.OPERATION, semconv.ERROR_TYPE))
_LENGTH = 256

Values = tuple[str | None, ...]
Made = TypeVar("Made")


class Labels(dict[Values, Made], Generic[Made]):
    """Maps the attribute values of one instrument to an object that `make` creates once from the attribute set.

    A value that is not a string is left out of the attribute set.
    """

    def __init__(self, make: Callable[[dict[str, str]], Made], *names: str) -> None:
        super().__init__()
        self._make, self._names = make, names

    def __missing__(self, values: Values) -> Made:
        if len(self) >= LIMIT:
            values = self._folded(values, frozenset((semconv.REQUEST_MODEL,)))
            for limit, names in ((SECOND_LIMIT, _SECOND), (LAST_LIMIT, _LAST)):
                if len(self) >= limit and values not in self:
                    values = self._folded(values, names)
        known = self.get(values)
        if known is None:
            pairs = zip(self._names, values, strict=True)
            attributes = {name: value[:_LENGTH] for name, value in pairs if isinstance(value, str)}
            known = self.setdefault(values, self._make(attributes))  # another thread may have been faster
        return known

    def _folded(self, values: Values, names: frozenset[str]) -> Values:
        pairs = zip(self._names, values, strict=True)
        return tuple(OTHER if name in names and value is not None else value for name, value in pairs)
