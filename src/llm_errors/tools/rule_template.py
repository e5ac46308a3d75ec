"""Writes a template of a rule for a failure that no rule recognises.

The template is TOML for the user's rules file, or Python for `llm_errors.rules`. Its class is UNKNOWN until a person chooses
a class. In TOML, a comment lists the classes.
"""

import json
from dataclasses import dataclass

from llm_errors.taxonomy import ErrorClass

_CHOICE = ", ".join(c.value for c in ErrorClass if c is not ErrorClass.UNKNOWN)


@dataclass(frozen=True)
class Pattern:
    """The values that all occurrences of a recurring failure share."""

    name: str
    dialect: str = ""
    provider: str = ""
    status: int | None = None
    codes: tuple[str, ...] = ()
    exception: str = ""
    finish: str = ""
    facts: tuple[str, ...] = ()

    def conditions(self) -> dict[str, object]:
        """The conditions of the rule.

        Besides provider (or dialect) and status, only the most specific evidence is used: the code, else the finish reason,
        else the exception if there is no status, else a fact about the content.
        """
        found: dict[str, object] = {}
        if self.provider or self.dialect:
            found["providers" if self.provider else "dialects"] = [self.provider or self.dialect]
        if self.status is not None:
            found["status"] = [self.status]
        if self.codes:
            found["codes"] = [self.codes[0]]
        elif self.finish:
            found["finish"] = [self.finish]
        elif self.exception and self.status is None:
            found["exceptions"] = [self.exception]
        elif self.facts:
            found["facts"] = [self.facts[0]]
        return found


def toml(pattern: Pattern) -> str:
    """The template in TOML, for the file that `LLM_ERRORS_RULES_FILE` names."""
    lines = ["[[rule]]", f"id = {json.dumps(pattern.name)}"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in pattern.conditions().items()]
    return "\n".join([*lines, f'class = "UNKNOWN"  # choose one: {_CHOICE}', 'reason = "other"'])


def python(pattern: Pattern) -> str:
    """The template in Python, for a module in `llm_errors/rules/`."""
    sets = {key: f"frozenset({{{', '.join(map(_literal, _values(v)))}}})" for key, v in pattern.conditions().items()}
    given = "".join(f", {key}={value}" for key, value in sets.items())
    return f'Rule({_literal(pattern.name)}, E.UNKNOWN, "other"{given}),'


def _values(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _literal(value: object) -> str:
    return json.dumps(value.lower() if isinstance(value, str) and value.isupper() else value)
