"""The settings: from keyword arguments, else from the environment, else the default.

A bad value is warned about, then ignored.
"""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_log = logging.getLogger("llm_errors")

SPANS = ("auto", "adopt", "off")
_BOOLEANS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


@dataclass(frozen=True)
class Settings:
    """Every setting; each is also `LLM_ERRORS_<NAME>` in the environment and a keyword of `instrument`.

    `spans`: `auto` makes a span where none is current, `adopt` writes onto others' only, `off` neither.
    `capture_message`: export the provider's message, redacted. `message_rules`: rows that match a provider's text may
    decide. `rules_file`: the user's own rows. `disabled_sdks`: names of SDKs to leave alone. `logs`: emit a log record
    per failure.
    """

    spans: str = "auto"
    capture_message: bool = True
    message_rules: bool = True
    rules_file: str = ""
    disabled_sdks: frozenset[str] = frozenset()
    logs: bool = True


def read(given: Mapping[str, Any], environ: Mapping[str, str] | None = None, sdks: tuple[str, ...] = ()) -> Settings:
    """Settings from keywords and environment. `sdks` are the names that `disabled_sdks` may hold."""
    source = _Source(given, os.environ if environ is None else environ)
    disabled = source.names("disabled_sdks", sdks)
    return Settings(
        spans=source.choice("spans", SPANS, "auto"),
        capture_message=source.boolean("capture_message", True),
        message_rules=source.boolean("message_rules", True),
        rules_file=str(source.value("rules_file") or ""),
        disabled_sdks=disabled,
        logs=source.boolean("logs", True),
    )


class _Source:
    """One value by its name, and the warning that names the setting and what is allowed."""

    def __init__(self, given: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        self._given, self._environ = given, environ

    def value(self, name: str) -> Any:
        given = self._given.get(name)
        return given if given is not None else self._environ.get(f"LLM_ERRORS_{name.upper()}")

    def choice(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        value = self.value(name)
        if value in (None, ""):
            return default
        chosen = str(value).strip().lower()
        return chosen if chosen in allowed else self._warn(name, value, allowed, default)

    def boolean(self, name: str, default: bool) -> bool:
        value = self.value(name)
        if value in (None, ""):
            return default
        known = _BOOLEANS.get(str(value).strip().lower())
        return known if known is not None else self._warn(name, value, ("true", "false"), default)

    def names(self, name: str, allowed: tuple[str, ...]) -> frozenset[str]:
        value = self.value(name) or ()
        found = value.split(",") if isinstance(value, str) else [str(v) for v in value]
        wanted = {n.strip().lower() for n in found if n.strip()}
        for unknown in sorted(wanted - set(allowed)):
            self._warn(name, unknown, allowed, "not to leave it out")
        return frozenset(wanted & set(allowed))

    def _warn(self, name: str, value: Any, allowed: tuple[str, ...], default: Any) -> Any:
        setting = f"LLM_ERRORS_{name.upper()}"
        _log.warning(
            "%s=%r is not known; allowed: %s. Using the default: %s", setting, value, ", ".join(allowed), default
        )
        return default
