"""Attribute sets of metrics, made once per combination and bounded in number.

The OpenTelemetry SDK folds everything past 2,000 attribute sets of an instrument into one; long before that the model,
then the reason and the address, becomes `other` here. The class never does.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from llm_errors import semconv

LIMIT = 1500
HARD_LIMIT = 1900
OTHER = "other"
_LENGTH = 256

Values = tuple[str | None, ...]
Made = TypeVar("Made")


class Labels(dict[Values, Made], Generic[Made]):
    """What belongs to each attribute set of one instrument, by the values of its attributes; None is left out of the set.

    `make` makes it of the attribute set.
    """

    def __init__(self, make: Callable[[dict[str, str]], Made], *names: str) -> None:
        super().__init__()
        self._make, self._names = make, names

    def __missing__(self, values: Values) -> Made:
        if len(self) >= LIMIT:
            values = self._folded(values, semconv.REQUEST_MODEL)
            if values not in self and len(self) >= HARD_LIMIT:
                values = self._folded(self._folded(values, semconv.ERROR_REASON), semconv.SERVER_ADDRESS)
        known = self.get(values)
        if known is None:
            pairs = zip(self._names, values, strict=True)
            attributes = {name: value[:_LENGTH] for name, value in pairs if value is not None}
            known = self.setdefault(values, self._make(attributes))  # another thread may have been faster
        return known

    def _folded(self, values: Values, name: str) -> Values:
        pairs = zip(self._names, values, strict=True)
        return tuple(OTHER if n == name and v is not None else v for n, v in pairs)
