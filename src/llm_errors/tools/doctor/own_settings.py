"""Checks that every `LLM_ERRORS_*` variable is a setting of llm-errors and has a valid value."""

import os
from collections.abc import Iterator

from llm_errors import providers, settings
from llm_errors.rules import user
from llm_errors.tools.doctor import log_capture
from llm_errors.tools.doctor.finding import Finding, fault, good, note

_SHOWN = 5


def examine() -> Iterator[Finding]:
    """Report the warnings that the instrumentation would log when it starts, and check the user's rules file."""
    with log_capture.warnings_of("llm_errors") as logged:
        chosen = settings.read({}, os.environ, sdks=providers.names(), sdk_of=providers.sdk_of_provider)
    bad = log_capture.mine(logged)
    unknown = settings.unknown_names({}, os.environ)
    yield from (fault(what, "Correct or unset it.") for what in bad)
    for name in unknown:
        yield fault(
            f"unknown setting {name}, ignored",
            "Correct or unset it; for the list: llm-errors docs reference",
        )
    if not bad and not unknown:
        yield good("every LLM_ERRORS_* setting is valid")
    if chosen.rules_file:
        yield from _rules(chosen.rules_file)
    if chosen.spans == "off":
        yield note("LLM_ERRORS_SPANS=off: no span carries the class; metrics and logs do")
    if not chosen.logs:
        yield note("LLM_ERRORS_LOGS=false: no log record is emitted for a failure")


def _rules(path: str) -> Iterator[Finding]:
    rules, problems = user.read(path)
    if not problems:
        yield good(f"LLM_ERRORS_RULES_FILE: {len(rules)} rules in {path}")
        return
    for problem in problems[:_SHOWN]:
        yield fault(f"LLM_ERRORS_RULES_FILE is not used: {problem}", f"llm-errors rules check {path}")
