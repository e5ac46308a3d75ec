"""Attribute sets of metrics, made once per combination and bounded in number.

The OpenTelemetry SDK folds everything past 2,000 attribute sets of an instrument into one; long before that the model,
then the reason and the address, becomes `other` here. The class never does.
"""

from collections.abc import Mapping

from llm_errors import semconv

LIMIT = 1500
HARD_LIMIT = 1900
OTHER = "other"
_LENGTH = 256

Values = tuple[str | None, ...]


class Labels:
    """The attribute sets of one instrument, by the values of its attributes."""

    def __init__(self, *names: str) -> None:
        self._names = names
        self._known: dict[Values, Mapping[str, str]] = {}

    def of(self, *values: str | None) -> Mapping[str, str]:
        """The attribute set; values that are None are left out."""
        known = self._known.get(values)
        return known if known is not None else self._make(values)

    def _make(self, values: Values) -> Mapping[str, str]:
        if len(self._known) >= LIMIT:
            values = self._folded(values, semconv.REQUEST_MODEL)
            if values not in self._known and len(self._known) >= HARD_LIMIT:
                values = self._folded(self._folded(values, semconv.ERROR_REASON), semconv.SERVER_ADDRESS)
        known = self._known.get(values)
        if known is None:
            pairs = zip(self._names, values, strict=True)
            known = {name: value[:_LENGTH] for name, value in pairs if value is not None}
            self._known[values] = known
        return known

    def _folded(self, values: Values, name: str) -> Values:
        pairs = zip(self._names, values, strict=True)
        return tuple(OTHER if n == name and v is not None else v for n, v in pairs)
