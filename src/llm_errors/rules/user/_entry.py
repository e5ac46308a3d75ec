"""Validates one rule of the user's file. A problem is reported with what to write instead. Standard library only."""

import difflib
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from llm_errors import providers
from llm_errors.extract.causes import SAME_AS
from llm_errors.rules._rule import Rule
from llm_errors.taxonomy import REASONS, ErrorClass

HEALTHY: Final = "healthy"
DIALECTS: Final = providers.dialects()
FACTS: Final = {
    "no_end": "a stream that ended without a finish reason or terminal event",
    "empty": "nothing in the whole answer",
    "refusal": "a refusal field",
    "unnatural_finish": "a finish reason that is no natural end",
    "invalid_arguments": "tool arguments that are no JSON",
    "unexpected_body": "an answer that is a page, a bare string or of another shape",
    "blocked": "a block reason without a candidate",
}
"""Fact -> what it means. A rule may require these facts about an answer."""

_SHORTEST_TEXT: Final = 6
_MISSPELT: Final = 0.85
"""How similar an unknown provider must be to a known one to count as misspelt. A less similar name is accepted, because a
gateway may have any name.
"""

_TEXT_CONDITIONS: Final = ("dialects", "providers", "codes", "types", "finish", "block", "exceptions", "facts", "says")
CONDITIONS: Final = (*_TEXT_CONDITIONS, "status")
_KEYS: Final = ("id", *CONDITIONS, "class", "reason")
_ALIASES: Final = {
    "dialect": "dialects",
    "provider": "providers",
    "code": "codes",
    "type": "types",
    "exception": "exceptions",
    "fact": "facts",
    "finish_reason": "finish",
    "finish_reasons": "finish",
    "block_reason": "block",
    "message": "says",
    "text": "says",
    "statuses": "status",
    "error_class": "class",
}
_FINDS: Final = ("status", "codes", "types", "finish", "block", "exceptions", "facts")
_ANSWER: Final = ("finish", "block", "facts")


class Entry:
    """Validates one rule."""

    def __init__(self, number: int, entry: dict[str, Any], complain: Callable[[str, str], None]) -> None:
        self.number, self.entry, self._complain = number, entry, complain
        self.right = True

    def say(self, key: str, message: str) -> None:
        """Report a problem with one key. The rule is then invalid."""
        self.right = False
        self._complain(key, message)

    def rule(self) -> Rule | None:
        """The rule, if it is valid."""
        self._unknown_keys()
        error_class, reason = self._verdict()
        given = {name: frozenset(self._texts(name)) for name in _TEXT_CONDITIONS}
        status = self._status()
        self._enough()
        if not self.right:
            return None
        return Rule(
            id=str(self.entry.get("id", f"user.{self.number + 1}")),
            error_class=error_class,
            reason=reason,
            dialects=given["dialects"],
            providers=frozenset(map(_known_as, given["providers"])),
            status=status,
            codes=frozenset(map(str.lower, given["codes"])),
            types=frozenset(map(str.lower, given["types"])),
            finish=given["finish"],
            block=given["block"],
            exceptions=frozenset(map(_canonical, given["exceptions"])),
            facts=given["facts"],
            says=tuple(sorted(map(str.lower, given["says"]))),
        )

    def _unknown_keys(self) -> None:
        for key in self.entry:
            if key not in _KEYS:
                meant = _ALIASES.get(key) or _nearest(key, _KEYS)
                self.say(
                    key, f"unknown condition {key!r}; " + (f"write {meant!r}" if meant else f"known: {_list(_KEYS)}")
                )
        given = self.entry.get("id", "x")
        if not (isinstance(given, str) and re.fullmatch(r"[A-Za-z0-9._-]{1,64}", given)):
            self.say("id", "id must be a short name of letters, digits, dots, dashes and underscores")

    def _verdict(self) -> tuple[ErrorClass | None, str]:
        named = self.entry.get("class")
        classes = (*(c.value for c in ErrorClass if c is not ErrorClass.UNKNOWN), HEALTHY)
        if named is None:
            self.say("class", f"class is missing; write one of {_list(classes)}")
            return None, ""
        if named == ErrorClass.UNKNOWN:
            self.say("class", f"class 'UNKNOWN' leaves the failure unclassified; write one of {_list(classes)}")
            return None, ""
        if named not in classes:
            meant = _nearest(str(named), classes)
            instead = repr(meant) if meant else f"one of {_list(classes)}"
            self.say("class", f"unknown class {named!r}; write {instead}")
            return None, ""
        if named == HEALTHY:
            if "reason" in self.entry:
                self.say("reason", "a healthy answer has no reason; remove this line")
            return None, ""
        error_class = ErrorClass(named)
        reason = self.entry.get("reason", "other")
        if reason not in REASONS[error_class]:
            meant = _nearest(str(reason), REASONS[error_class])
            allowed = repr(meant) if meant else f"one of {_list(REASONS[error_class])}"
            self.say("reason", f"{named} has no reason {reason!r}; write {allowed}")
        return error_class, str(reason)

    def _texts(self, name: str) -> Iterator[str]:
        value = self.entry.get(name, [])
        for text in value if isinstance(value, list) else [value]:
            if not isinstance(text, str) or not text.strip():
                self.say(name, f"{name} must be a string or a list of strings, such as {name} = {_EXAMPLES[name]}")
            elif name == "dialects" and text not in DIALECTS:
                self.say(name, f"unknown dialect {text!r}; write one of {_list(DIALECTS)}")
            elif name == "providers" and (meant := _misspelt_provider(text)):
                self.say(name, f"unknown provider {text!r}; did you mean {meant!r}?")
            elif name == "facts" and text not in FACTS:
                self.say(name, f"unknown fact {text!r}; write one of {_list(FACTS)}")
            elif name == "exceptions" and "." not in text:
                self.say(name, f"write 'package.{text}', or '.{text}' for that name in any package")
            elif name == "says" and len(text.strip()) < _SHORTEST_TEXT:
                self.say(name, f"{text!r} is too short to be specific; use at least {_SHORTEST_TEXT} characters")
            else:
                yield text.strip()

    def _status(self) -> frozenset[int]:
        value = self.entry.get("status", [])
        found = value if isinstance(value, list) else [value]
        if all(isinstance(s, int) and not isinstance(s, bool) and 100 <= s <= 599 for s in found):
            return frozenset(found)
        self.say("status", "status must be an HTTP status or a list of them, such as status = [429, 503]")
        return frozenset()

    def _enough(self) -> None:
        given = {k for k in _KEYS if self.entry.get(k) not in (None, [], "")}
        if "says" in given and not (given & {"dialects", "providers"} and given & {"status", "codes", "types"}):
            self.say("says", "`says` cannot stand alone: add dialects or providers, and status or codes")
        elif not given & set(_FINDS):
            self.say("class", f"a rule needs at least one of {_list(_FINDS)}; otherwise it would match everything")
        elif self.entry.get("class") == HEALTHY and not given & set(_ANSWER):
            self.say(
                "class", f"only answers can be healthy: give one of {_list(_ANSWER)}; exceptions are always counted"
            )


_EXAMPLES: Final = {
    "dialects": '"openai"',
    "providers": '"deepseek"',
    "codes": '["quota_gone", "no_credit"]',
    "types": '"billing_error"',
    "finish": '"length"',
    "block": '"SAFETY"',
    "exceptions": '".RateLimitError"',
    "facts": '"no_end"',
    "says": '"no credit is left"',
}


def _canonical(name: str) -> str:
    """`package.Class` as in Evidence: the top-level package (two levels of `google`), httpx2 as httpx, asyncio as builtins."""
    module, _, cls = name.rpartition(".")
    parts = module.split(".")
    package = ".".join(parts[:2]) if parts[0] == "google" else SAME_AS.get(parts[0], parts[0])
    return f"{package}.{cls}"


def _known_as(provider: str) -> str:
    """The value of `gen_ai.provider.name` for a known name or alias of a provider. Any other name is unchanged."""
    row = providers.provider(provider)
    return row.name if row is not None else provider.strip()


def _misspelt_provider(text: str) -> str:
    """The known provider that was probably meant. A name that contains a known one, such as `openai-eu`, is a new name."""
    meant = "" if providers.provider(text) else _nearest(text, providers.provider_names(), _MISSPELT)
    return "" if meant in text.lower() else meant


def _nearest(word: str, known: tuple[str, ...], similarity: float = 0.7) -> str:
    lowered = {k.lower(): k for k in known}
    found = difflib.get_close_matches(word.lower(), list(lowered), n=1, cutoff=similarity)
    return lowered[found[0]] if found else ""


def _list(words: Any) -> str:
    return ", ".join(words)
