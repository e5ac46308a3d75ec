"""Attribute sets of metrics, made once per combination and bounded in number.

The OpenTelemetry SDK folds everything past 2,000 attribute sets of an instrument into one; long before that the model,
then the reason and the address, at last all the rest becomes `other` here. The class and the outcome never do.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from llm_errors import semconv

LIMIT = 1500
"""Attribute sets from which on the model is `other`."""
SECOND_LIMIT = 1700
"""From which on the reason and the address are, too."""
LAST_LIMIT = 1800
"""From which on nothing tells sets apart but class, channel and outcome."""
OTHER = "other"
_SECOND = frozenset((semconv.ERROR_REASON, semconv.SERVER_ADDRESS))
_LAST = frozenset((semconv.PROVIDER, semconv.OPERATION, semconv.ERROR_TYPE))
_LENGTH = 256

Values = tuple[str | None, ...]
Made = TypeVar("Made")


class Labels(dict[Values, Made], Generic[Made]):
    """What belongs to each attribute set of one instrument, by the values of its attributes; what is no string is
    left out of the set.

    `make` makes it of the attribute set.
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
