"""Parses the arguments of `llm-errors generate` into `Options`.

It refuses values that Prometheus, Alertmanager or Grafana would not load, and values that would load but never work. A refusal
is an `OptionError`, whose text says in one line what is wrong and what is allowed.
"""

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from llm_errors.monitoring.options import SEVERITIES, Options, Share, Team
from llm_errors.monitoring.promql import CHANNEL, CLASS, MODEL, OPERATION, OUTCOME, PROVIDER, REASON

T = TypeVar("T")

ALERT_LABELS: Final = ("alertname", "alertstate", "severity", "view", "window", "problem", "rule_set", "grafana_folder")
"""Labels that the rules, Prometheus, Alertmanager or Grafana set themselves."""
SOME_SERIES_ONLY: Final = (OUTCOME, CLASS, REASON, CHANNEL, "le", "quantile", "place")
"""Labels that only some of the raw series have."""
RESERVED: Final = (*ALERT_LABELS, *SOME_SERIES_ONLY, PROVIDER, MODEL, OPERATION)
_LABEL: Final = r"[a-zA-Z_][a-zA-Z0-9_]*"
_MATCHER: Final = re.compile(rf'({_LABEL})(=~|!~|!=|=)"([^"\\\n{{}}]*)"')


class OptionError(ValueError):
    """Means that an argument cannot be used. The text is one line for the user."""


def percent(text: str, what: str) -> float:
    """Parse the percentage of an objective. Raises `OptionError` if it is below 95, or 100 or above."""
    allowed = "a percentage from 95 to below 100, such as 99.5"  # below 95 % the burn rate cannot stay above 14.4
    value = _number(text, what, allowed)
    if not 95 <= value < 100:
        raise OptionError(f"{what} {text!r} is not allowed: give {allowed}")
    return value


def window_days(text: str) -> int:
    """Parse the period of the error budget, such as `30d` or `30`. Raises `OptionError` if it is not 7 to 90 days."""
    match = re.fullmatch(r"(\d{1,3})d?", text, re.ASCII)
    if not match or not 7 <= int(match[1]) <= 90:
        raise OptionError(f"window {text!r} is not allowed: give whole days from 7d to 90d, such as 30d")
    return int(match[1])


def service_name(text: str) -> str:
    """Parse the name of a service. Raises `OptionError` if it would need escaping in a PromQL matcher."""
    if not re.fullmatch(r"[A-Za-z0-9_./:-]{1,200}", text):
        raise OptionError(f"service {text!r} is not allowed: give letters, digits and _ . / : -")
    return text


def service_objectives(texts: Iterable[str]) -> dict[str, float]:
    """Parse `SERVICE=PERCENT` arguments. Raises `OptionError`, also if a service is given twice with different values."""
    return _each_once(texts, "service objective", service_objective)


def service_objective(text: str) -> tuple[str, float]:
    """Parse `SERVICE=PERCENT`. Raises `OptionError`."""
    service, value = _pair(text, "service objective", "SERVICE=PERCENT, such as chat=99.9")
    return service_name(service), percent(value, f"objective of {service}")


def label_name(text: str, what: str) -> str:
    """Parse the name of a label that all rules keep. Raises `OptionError` if the rules use the label for something else."""
    if not re.fullmatch(_LABEL, text) or text.startswith("__"):
        raise OptionError(f"{what} {text!r} is not allowed: give a Prometheus label name, such as job")
    if text in RESERVED:
        raise OptionError(f"{what} {text!r} is not allowed: the rules use this label themselves; give another one")
    return text


def set_name(text: str) -> str:
    """Parse the name of a rule set, with which the names of its groups and series begin. Raises `OptionError`."""
    # Grafana accepts dashboard uids of up to 40 characters; the longest suffix of llm-errors has 16.
    if text and not re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]{0,23}", text):
        raise OptionError(f"name {text!r} is not allowed: give up to 24 letters, digits and _, starting with a letter")
    return text


def selector(text: str) -> str:
    """Parse one PromQL matcher. Raises `OptionError`."""
    match = _MATCHER.fullmatch(text)
    if not match:
        raise OptionError(f'selector {text!r} is not allowed: give one PromQL matcher, such as cluster="prod"')
    label, operator, value = match.groups()
    if label in (*ALERT_LABELS, *SOME_SERIES_ONLY, "__name__"):
        raise OptionError(f"selector {text!r} is not allowed: not all series have {label}; give a label of all of them")
    fault = _regex_fault(value) if "~" in operator else ""
    if fault:
        raise OptionError(f"selector {text!r} is not allowed: {fault}; give a regular expression of Prometheus (RE2)")
    return text


def severity(text: str) -> tuple[str, str]:
    """Parse a renamed severity, such as `page=critical`. Raises `OptionError`."""
    allowed = "NAME=VALUE with NAME one of " + ", ".join(SEVERITIES)
    name, value = _pair(text, "severity", allowed)
    if name not in SEVERITIES or not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", value):
        raise OptionError(f"severity {text!r} is not allowed: give {allowed}, such as page=critical")
    return name, value


def severities(texts: Iterable[str]) -> dict[str, str]:
    """Parse the user's names for page, ticket and info. Raises `OptionError` if two of them are the same."""
    named = {name: name for name in SEVERITIES} | _each_once(texts, "severity", severity)
    if len(set(named.values())) < len(named):
        given = ", ".join(f"{name}={value}" for name, value in named.items())
        raise OptionError(
            f"severity: {given} is not allowed: give three different names, or nobody can tell them apart"
        )
    return named


def team(text: str) -> Team:
    """Parse `LABEL=VALUE=RECEIVER`. Raises `OptionError`."""
    allowed = "LABEL=VALUE=RECEIVER, such as job=checkout=checkout-on-call"
    label, rest = _pair(text, "team", allowed)
    value, separator, receiver = rest.rpartition("=")
    if not (separator and re.fullmatch(r"[A-Za-z0-9_./:-]{1,200}", value)):
        raise OptionError(f"team {text!r} is not allowed: give {allowed}")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}", receiver):
        raise OptionError(f"receiver {receiver!r} is not allowed: give up to 63 letters, digits and _ . -")
    return Team(label, value, receiver)


def runbooks(text: str) -> str:
    """Parse the address with which runbook links begin. Raises `OptionError`."""
    if not re.fullmatch(r"https?://[^\s\"'<>{}?#]+", text):
        raise OptionError(f"runbook base {text!r} is not allowed: give an http(s) address that a file name can follow")
    return text.rstrip("/")


def thresholds(texts: Iterable[str], shares: Mapping[str, Share]) -> dict[str, Share]:
    """Replace thresholds in `shares` by the given ones. Raises `OptionError`, also for two different values for a class."""
    return {**shares, **_each_once(texts, "threshold", lambda text: threshold(text, shares))}


def threshold(text: str, shares: Mapping[str, Share]) -> tuple[str, Share]:
    """Parse `CLASS=PERCENT` or `CLASS=PERCENT:MINIMUM`. What is not given is taken from `shares`. Raises `OptionError`."""
    allowed = "CLASS=PERCENT or CLASS=PERCENT:MINIMUM with CLASS one of " + ", ".join(sorted(shares))
    name, value = _pair(text, "threshold", allowed)
    if name not in shares:
        raise OptionError(f"threshold {text!r}: no share is watched for {name!r}; give {allowed}")
    ratio, _, minimum = value.partition(":")
    number = _number(ratio, f"threshold of {name}", "a percentage between 0 and 100")
    if not 0 < number < 100:
        raise OptionError(f"threshold of {name} {ratio!r} is not allowed: give a percentage between 0 and 100")
    if minimum and not re.fullmatch(r"[1-9]\d{0,6}", minimum, re.ASCII):
        raise OptionError(f"minimum of {name} {minimum!r} is not allowed: give a whole number of events from 1 on")
    return name, Share(number, shares[name].window, int(minimum or shares[name].minimum))


def consistent(options: Options) -> Options:
    """Return the options if they fit together. Raises `OptionError` otherwise."""
    _selectable(options)
    _routable(options)
    return options


def notes(options: Options) -> list[str]:
    """Notes about arguments that are allowed but may not do what the user wants, one line for each."""
    kept = "--extra-label k8s_namespace_name --team k8s_namespace_name"
    return [
        f"note: --team namespace={team.value} matches no service whose metrics are pushed by OTLP, as in the Kubernetes "
        f"set-up: they have no label namespace. There give {kept}={team.value}={team.receiver}"
        for team in options.teams
        if team.label == "namespace"
    ]


def _selectable(options: Options) -> None:
    """Refuse two equality matchers for one label with different values: no series would match."""
    fixed: dict[str, str] = {}
    for label, operator, value in _MATCHER.findall(" ".join(options.selectors)):
        if operator == "=" and fixed.setdefault(label, value) != value:
            raise OptionError(f'selectors: no series has both {label}="{fixed[label]}" and {label}="{value}"; give one')


def _routable(options: Options) -> None:
    known = (*options.scope, PROVIDER, MODEL)
    owners: dict[tuple[str, str], str] = {}
    for owner in options.teams:
        if owner.label not in known:
            allowed = ", ".join(known)
            raise OptionError(f"team: no alert carries the label {owner.label!r}; give one of {allowed}")
        if owners.setdefault((owner.label, owner.value), owner.receiver) != owner.receiver:
            raise OptionError(f"team: {owner.label}={owner.value} has two receivers; the second would hear nothing")


def _regex_fault(pattern: str) -> str:
    """What RE2 would refuse in a regular expression, or an empty text. The expression has no backslashes and no braces."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(re.sub(r"\(\?[imsU-]+\)", "", pattern))
    except re.error as error:
        return str(error)
    outside = re.sub(r"\[\^?\]?[^\]]*\]", "x", pattern)
    foreign = re.search(r"\(\?(?!P<|[imsU-]*[:)]).?.?|[*+?]\+", outside)
    return f"{foreign[0]} is no part of it" if foreign else ""


def _each_once(texts: Iterable[str], what: str, read: Callable[[str], tuple[str, T]]) -> dict[str, T]:
    found: dict[str, T] = {}
    for text in texts:
        name, value = read(text)
        if found.setdefault(name, value) != value:
            raise OptionError(f"{what}: {name} is given twice with different values; give it once")
    return found


def _pair(text: str, what: str, allowed: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not (key and separator and value):
        raise OptionError(f"{what} {text!r} is not allowed: give {allowed}")
    return key, value


def _number(text: str, what: str, allowed: str) -> float:
    if not re.fullmatch(r"\d{1,3}(\.\d{1,6})?", text, re.ASCII):
        raise OptionError(f"{what} {text!r} is not a number: give {allowed}")
    return float(text)
