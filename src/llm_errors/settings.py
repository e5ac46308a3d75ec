"""Reads the settings. A keyword argument takes precedence over the environment, and the environment over the default.

An invalid value is ignored with a warning.
"""

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

_log = logging.getLogger("llm_errors")

PREFIX = "LLM_ERRORS_"
SPANS = ("auto", "adopt", "off")
REDACTED, FULL, NO_MESSAGE = MESSAGES = ("redacted", "full", "false")
_BOOLEANS = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}
_MESSAGE_ALIASES = {word: FULL if yes else NO_MESSAGE for word, yes in _BOOLEANS.items()}


@dataclass(frozen=True)
class Settings:
    """All settings. Each is a keyword of `instrument` and the environment variable `LLM_ERRORS_<NAME>`.

    `spans`: `auto` creates a span for a call that has none, `adopt` annotates spans of other instrumentations only, `off`
    does neither. `capture_message`: how much of the provider's message is exported. `redacted` removes credentials and what
    the message repeats from the request, `full` removes credentials only, `false` exports no message. `message_rules`: allow
    rules that match the message. `rules_file`: the path of the user's rules. `disabled_sdks`: names of SDKs that are not
    observed. `logs`: emit a log record per failure. `token_usage`: record the token histogram of the GenAI conventions.
    """

    spans: str = "auto"
    capture_message: str = REDACTED
    message_rules: bool = True
    rules_file: str = ""
    disabled_sdks: frozenset[str] = frozenset()
    logs: bool = True
    token_usage: bool = False


OTHER_KEYWORDS = frozenset(
    ("tracer_provider", "meter_provider", "logger_provider", "failure_hook", "strict", "skip_dep_check",
     "raise_exception_on_conflict")
)  # fmt: skip
"""Keywords of `instrument` that are not settings, including those that OpenTelemetry gives every instrumentor."""

_NAMES = frozenset(field.name for field in fields(Settings))
_warned: set[str] = set()
"""Unknown names for which a warning was logged."""


def read(
    given: Mapping[str, Any],
    environ: Mapping[str, str] | None = None,
    sdks: tuple[str, ...] = (),
    sdk_of: Callable[[str], str] = lambda name: "",
) -> Settings:
    """Read the settings from keywords and the environment.

    `sdks` are the names that `disabled_sdks` may contain. If a user writes another name, a warning suggests the one that
    `sdk_of` returns for it; `sdk_of` returns an empty text for a name that it does not know.
    """
    source = _Source(given, os.environ if environ is None else environ)
    disabled = source.names("disabled_sdks", sdks, sdk_of)
    return Settings(
        spans=source.choice("spans", SPANS, "auto"),
        capture_message=source.choice("capture_message", MESSAGES, REDACTED, _MESSAGE_ALIASES),
        message_rules=source.boolean("message_rules", True),
        rules_file=str(source.value("rules_file") or ""),
        disabled_sdks=disabled,
        logs=source.boolean("logs", True),
        token_usage=source.boolean("token_usage", False),
    )


def unknown_names(given: Mapping[str, Any], environ: Mapping[str, str]) -> list[str]:
    """Keywords of `instrument` and `LLM_ERRORS_` variables that are not settings."""
    variables = (name for name in environ if name.startswith(PREFIX))
    return [
        *sorted(name for name in variables if name[len(PREFIX) :].lower() not in _NAMES),
        *sorted(name for name in given if name not in _NAMES and name not in OTHER_KEYWORDS),
    ]


def warn_of_unknown_names(given: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> None:
    """Warn once about each name that is not a setting: it may be misspelt."""
    for name in unknown_names(given, os.environ if environ is None else environ):
        if name not in _warned:
            _warned.add(name)
            known = ", ".join(sorted(f"{PREFIX}{n.upper()}" if name.startswith(PREFIX) else n for n in _NAMES))
            _log.warning("unknown setting %s, ignored; known: %s", name, known)


class _Source:
    """Looks up one setting, and warns about an invalid value with the name of the setting and the allowed values."""

    def __init__(self, given: Mapping[str, Any], environ: Mapping[str, str]) -> None:
        self._given, self._environ = given, environ

    def value(self, name: str) -> Any:
        given = self._given.get(name)
        return given if given is not None else self._environ.get(f"{PREFIX}{name.upper()}")

    def choice(
        self, name: str, allowed: tuple[str, ...], default: str, aliases: Mapping[str, str] = MappingProxyType({})
    ) -> str:
        value = self.value(name)
        if value in (None, ""):
            return default
        chosen = str(value).strip().lower()
        chosen = aliases.get(chosen, chosen)
        return chosen if chosen in allowed else self._warn(name, value, allowed, default)

    def boolean(self, name: str, default: bool) -> bool:
        value = self.value(name)
        if value in (None, ""):
            return default
        known = _BOOLEANS.get(str(value).strip().lower())
        return known if known is not None else self._warn(name, value, ("true", "false"), default)

    def names(self, name: str, allowed: tuple[str, ...], other_name: Callable[[str], str]) -> frozenset[str]:
        value = self.value(name) or ()
        found = value.split(",") if isinstance(value, str) else [str(v) for v in value]
        wanted = {n.strip().lower() for n in found if n.strip()}
        for unknown in sorted(wanted - set(allowed)):
            _log.warning(
                "unknown SDK %r in %s%s, ignored; %s",
                unknown,
                PREFIX,
                name.upper(),
                _instead(unknown, allowed, other_name),
            )
        return frozenset(wanted & set(allowed))

    def _warn(self, name: str, value: Any, allowed: tuple[str, ...], default: Any) -> Any:
        setting = f"{PREFIX}{name.upper()}"
        _log.warning(
            "invalid value %r for %s; allowed: %s. Using the default: %s",
            value,
            setting,
            ", ".join(allowed),
            str(default).lower(),
        )
        return default


def _instead(unknown: str, allowed: tuple[str, ...], other_name: Callable[[str], str]) -> str:
    """The allowed value that was probably meant, or all allowed values."""
    import difflib  # only needed after a mistake

    near = difflib.get_close_matches(unknown, allowed, n=1)
    meant = other_name(unknown) or (near[0] if near else "")
    return f"did you mean {meant}?" if meant else f"known: {', '.join(allowed)}"
