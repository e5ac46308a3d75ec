"""Writes the generated blocks of the reference page: metrics, attributes, settings, commands, functions, SDKs, providers.

The names come from the code. The meaning of each attribute and each setting is a row in this module.
"""

import argparse
import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, Final

from llm_errors import providers, semconv
from llm_errors.call import CallInfo
from llm_errors.classify import classify
from llm_errors.evidence import Classification
from llm_errors.monitoring.markdown import table
from llm_errors.monitoring.options import Options
from llm_errors.recovery import CATEGORIES, KINDS, RecoveryPlan, plan
from llm_errors.settings import PREFIX, Settings
from llm_errors.telemetry import metrics
from llm_errors.tools.cli import COMMANDS

_CALL: Final = (semconv.PROVIDER, semconv.REQUEST_MODEL, semconv.OPERATION)
METRICS: Final = (
    *((row.name, "counter", *row[1:]) for row in metrics.COUNTERS),
    (semconv.INSTRUMENTATION_ERRORS, "counter", "{error}", "Internal errors of llm-errors.", (semconv.PLACE,)),
    (semconv.DURATION, "histogram", "s", "Duration of a call.", (*_CALL, semconv.SERVER_ADDRESS, semconv.ERROR_TYPE)),
    (semconv.FIRST_CHUNK, "histogram", "s", "Time to the first chunk of a stream.", (*_CALL, semconv.SERVER_ADDRESS)),
    (semconv.TOKEN_USAGE, "histogram", "{token}", "Tokens of a call; only with `LLM_ERRORS_TOKEN_USAGE=true`.",
     (*_CALL, semconv.SERVER_ADDRESS, semconv.TOKEN_TYPE)),
)  # fmt: skip
"""A row for every metric: its name, kind, unit, meaning and attributes."""

ATTRIBUTES: Final[Mapping[str, tuple[str, str]]] = {
    semconv.PROVIDER: ("string", "`openai`, `anthropic`, `gcp.gemini`, ...; see [providers](compatibility.md#providers)"),
    semconv.OPERATION: ("string", "`chat`, `generate_content`, `embeddings`, ..."),
    semconv.REQUEST_MODEL: ("string", "the model that was requested; at most 256 characters"),
    semconv.REQUEST_STREAM: ("boolean", "true for a streamed call"),
    semconv.RESPONSE_MODEL: ("string", "the model that answered"),
    semconv.RESPONSE_ID: ("string", "the provider's id of the response"),
    semconv.RESPONSE_FINISH_REASONS: ("string[]", "the provider's finish reasons, unchanged"),
    semconv.TIME_TO_FIRST_CHUNK: ("double", "seconds from the request to the first chunk"),
    semconv.INPUT_TOKENS: ("int", "tokens of the prompt, as the provider counts them"),
    semconv.OUTPUT_TOKENS: ("int", "tokens of the answer, as the provider counts them"),
    semconv.TOKEN_TYPE: ("string", "`input` or `output`"),
    semconv.SERVER_ADDRESS: ("string", "the host name of the server"),
    semconv.SERVER_PORT: ("int", "the port of the server"),
    semconv.AGENT_NAME: ("string", "taken from the enclosing span, if it has one"),
    semconv.CONVERSATION_ID: ("string", "taken from the enclosing span, if it has one"),
    semconv.ERROR_TYPE: ("string", "the raised exception's class name; the failure's class if nothing was raised"),
    semconv.EXCEPTION_TYPE: ("string", "the raised exception's class name"),
    semconv.ERROR_CLASS: ("string", "one of the 13 classes"),
    semconv.ERROR_REASON: ("string", "one of the reasons of the class"),
    semconv.ERROR_CHANNEL: ("string", "`thrown`: raised as an exception; `in_band`: inside an HTTP 200 response"),
    semconv.ERROR_EVIDENCE: ("string", "what decided: `code`, `finish_reason`, `exception`, `status`, `content` or `message`"),
    semconv.ERROR_RULE: ("string", "the id of the matching rule"),
    semconv.ERROR_RETRYABLE: ("boolean", "whether the same call can succeed later"),
    semconv.ERROR_RETRY_AFTER: ("double", "seconds that the provider asks to wait; 0 to 3600"),
    semconv.ERROR_PARTIAL_OUTPUT: ("boolean", "whether a part of the answer had reached the caller"),
    semconv.ERROR_RECOVERED: ("boolean", "true on another instrumentation's span if a later call under it succeeded"),
    semconv.ERROR_CODE: ("string", "the provider's error code or finish reason; at most 64 characters"),
    semconv.ERROR_STATUS_CODE: ("int", "the HTTP status, if the failure has one"),
    semconv.ERROR_MESSAGE: ("string", "the provider's message, redacted; at most 256 characters"),
    semconv.ERROR_FINGERPRINT: ("string", "UNKNOWN only: 12 hex digits that identify the pattern, not the message"),
    semconv.RETRY_COUNT: ("int", "failed attempts that the SDK's own retry hid"),
    semconv.OUTCOME: ("string", "`ok`, `error` or `cancelled`"),
    semconv.LOGS_LEFT_OUT: ("int", "records that the limit of ten a second dropped since the last one"),
    semconv.PLACE: ("string", "the part of llm-errors that failed"),
}  # fmt: skip
"""Attribute -> its type and meaning."""

_IDENTITY: Final = (semconv.PROVIDER, semconv.OPERATION, semconv.REQUEST_MODEL)
_FAILURE: Final = (
    semconv.ERROR_CLASS, semconv.ERROR_REASON, semconv.ERROR_CHANNEL, semconv.ERROR_EVIDENCE, semconv.ERROR_RULE,
    semconv.ERROR_RETRYABLE, semconv.ERROR_RETRY_AFTER, semconv.ERROR_PARTIAL_OUTPUT, semconv.ERROR_CODE,
    semconv.ERROR_STATUS_CODE, semconv.ERROR_MESSAGE, semconv.ERROR_FINGERPRINT,
)  # fmt: skip
_AROUND: Final = (semconv.AGENT_NAME, semconv.CONVERSATION_ID)
SPAN: Final = (
    *_IDENTITY, semconv.REQUEST_STREAM, semconv.SERVER_ADDRESS, semconv.SERVER_PORT, *_AROUND,
    semconv.RESPONSE_MODEL, semconv.RESPONSE_ID, semconv.RESPONSE_FINISH_REASONS, semconv.INPUT_TOKENS,
    semconv.OUTPUT_TOKENS, semconv.TIME_TO_FIRST_CHUNK, semconv.RETRY_COUNT, semconv.OUTCOME, semconv.ERROR_TYPE, *_FAILURE,
    semconv.ERROR_RECOVERED,
)  # fmt: skip
"""The attributes that llm-errors writes on spans."""
ADOPTED: Final = frozenset((*_FAILURE, semconv.RETRY_COUNT, semconv.ERROR_RECOVERED))
"""The attributes that llm-errors writes also on a span of another instrumentation."""
LOG: Final = (*_IDENTITY, *_AROUND, semconv.EXCEPTION_TYPE, *_FAILURE, semconv.LOGS_LEFT_OUT)
"""The attributes that llm-errors writes on log records."""

SETTINGS: Final[Mapping[str, str]] = {
    "spans": "`auto`: write onto another instrumentation's span if it is current, else create one; `adopt`: annotate existing"
    " spans only; `off`: no spans",
    "capture_message": "the provider's error message, at most 256 characters. `redacted`: without credentials and without what"
    " it repeats of the request; `full` (or `true`): without credentials; `false`: no message",
    "message_rules": "allow rules that match on error-message text",
    "rules_file": "path of your own rules (TOML)",
    "disabled_sdks": "SDKs to leave alone, separated by commas: `openai,anthropic`",
    "logs": "emit one log record per failure, at most ten a second",
    "token_usage": "record the histogram `gen_ai.client.token.usage`",
}


def metric_table(_: Options) -> str:
    """Every metric with its attributes."""
    head = ("metric", "kind", "unit", "meaning", "attributes")
    return table(head, ((f"`{n}`", kind, f"`{unit}`", what, _names(names)) for n, kind, unit, what, names in METRICS))


def metric_attributes(_: Options) -> str:
    """The attributes of metrics, with their Prometheus labels."""
    used = dict.fromkeys(name for *_, names in METRICS for name in names)
    rows = ((f"`{name}`", f"`{semconv.prometheus_label(name)}`", ATTRIBUTES[name][1]) for name in used)
    return table(("attribute", "Prometheus label", "values"), rows)


def span_attributes(_: Options) -> str:
    """The attributes of spans, and which of them are also written on a span of another instrumentation."""
    rows = ((f"`{n}`", ATTRIBUTES[n][0], "yes" if n in ADOPTED else "", ATTRIBUTES[n][1]) for n in SPAN)
    return table(("attribute", "type", "also on another instrumentation's span", "meaning"), rows)


def log_attributes(_: Options) -> str:
    """The attributes of log records."""
    return table(("attribute", "type", "meaning"), ((f"`{n}`", *ATTRIBUTES[n]) for n in LOG))


def settings(_: Options) -> str:
    """Every setting with its default."""
    default = Settings()
    rows = (
        (f"`{PREFIX}{name.upper()}`", f"`{name}`", _default(getattr(default, name)), SETTINGS[name])
        for name in default.__dataclass_fields__
    )
    return table(("environment variable", "keyword of `instrument()`", "default", "meaning"), rows)


def commands(_: Options) -> str:
    """Every command with its arguments."""
    return "\n".join(_command(parser, summary) for parser, summary in _parsers())


def functions(_: Options) -> str:
    """The public functions and the types of what they return, with their descriptions."""
    parts = [_signature(classify), _fields(Classification), _signature(plan), _fields(RecoveryPlan), _fields(CallInfo)]
    words = "".join(
        f"`{name}`: {_names(tuple(known))}.\n\n" for name, known in (("CATEGORIES", CATEGORIES), ("KINDS", KINDS))
    )
    return "\n".join([*parts[:-1], words + parts[-1]])


def sdks(_: Options) -> str:
    """The observed SDKs. The version range of an SDK goes from the oldest to the newest version in all of its rows."""
    rows = []
    for name in providers.names():
        of_name = [row for row in providers.OBSERVED if row.name == name]
        bounds = [row.versions.split(",") for row in of_name]
        least, most = min((low for low, _ in bounds), key=_number), max((high for _, high in bounds), key=_number)
        rows.append((name, f"`{of_name[0].distribution}`", f"`{least},{most}`"))
    return table(("SDK", "package", "tested versions"), rows)


def _number(bound: str) -> tuple[int, ...]:
    return tuple(map(int, bound.lstrip("<>=").split(".")))


def provider_table(_: Options) -> str:
    """The providers that llm-errors knows."""
    rows = ((f"`{p.name}`", p.dialect, ", ".join(p.hosts), ", ".join(p.aliases)) for p in providers.PROVIDERS)
    return table(("`gen_ai.provider.name`", "dialect", "recognised by host", "aliases"), rows)


BLOCKS: Final[Mapping[str, Callable[[Options], str]]] = {
    "metrics": metric_table,
    "metric-attributes": metric_attributes,
    "span-attributes": span_attributes,
    "log-attributes": log_attributes,
    "settings": settings,
    "commands": commands,
    "functions": functions,
    "sdks": sdks,
    "providers": provider_table,
}


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _default(value: Any) -> str:
    return f"`{str(value).lower()}`" if value else "`false`" if value is False else ""


def _parsers() -> Iterator[tuple[argparse.ArgumentParser, str]]:
    for command in COMMANDS:
        subparsers = argparse.ArgumentParser(prog="llm-errors").add_subparsers()
        import_module(command.module).add_parser(subparsers)
        yield subparsers.choices[command.name], command.summary


def _command(parser: argparse.ArgumentParser, summary: str) -> str:
    rows = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            rows += [(f"`{choice.dest}`", choice.help or "") for choice in action._choices_actions]
        elif not isinstance(action, argparse._HelpAction):
            value = action.metavar or "" if action.nargs != 0 else ""
            words = action.option_strings or [str(value)]
            shown = f"{', '.join(words)} {value}" if action.option_strings and value else ", ".join(words)
            rows.append((f"`{shown}`", (action.help or "") % {**vars(action), "prog": parser.prog}))
    return f"### `{parser.prog}`\n\n{summary[0].upper()}{summary[1:]}.\n\n" + table(("argument", "meaning"), iter(rows))


def _source(thing: Any) -> Any:
    return ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]


def _signature(function: Any) -> str:
    node = _source(function)
    text = f"{node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns)}"
    return f"### `{node.name}`\n\n```text\n{text}\n```\n\n{inspect.getdoc(function)}\n"


def _fields(kind: Any) -> str:
    node = _source(kind)
    lines = [ast.unparse(part) for part in node.body if isinstance(part, ast.AnnAssign)]
    fields = "\n".join(lines)
    return f"### `{node.name}`\n\n```text\n{fields}\n```\n\n{inspect.getdoc(kind)}\n"
