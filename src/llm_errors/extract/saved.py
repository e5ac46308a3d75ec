"""Converts a saved failure (status, headers, body, exceptions) to Evidence. Standard library only.

The parts are combined into an exception or an answer, so that the usual readers can read them.
"""

import builtins
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise, zip_longest
from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract import exceptions, results
from llm_errors.extract.answer import Reader, embedded_error, suspect, unexpected
from llm_errors.extract.fields import field as read_field
from llm_errors.extract.fields import items, parsed, text

Chain = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Saved:
    """The parts of a saved failure.

    `exceptions` lists the class names in the MRO of each exception, from the outermost exception to the root cause. `texts`
    lists the messages of these exceptions.
    """

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    exceptions: Chain = ()
    texts: tuple[str, ...] = ()
    message: str = ""
    codes: tuple[str, ...] = ()
    finish_reason: str = ""
    dialect: str = ""
    provider: str = ""
    partial_output: bool = False


def evidence(saved: Saved) -> Evidence | None:
    """Evidence from the parts; None if they are a healthy answer."""
    if saved.exceptions or saved.codes or (saved.status is not None and saved.status >= 300) or _is_error_alone(saved):
        found: Evidence | None = _thrown(saved)
    elif saved.body is None:
        found = suspect(saved.dialect, "unnatural_finish", finish_reason=saved.finish_reason)
    else:
        found = _answer(saved.body)
    if found is None:
        return None
    return replace(
        found,
        provider=saved.provider,
        dialect=found.dialect or saved.dialect,
        partial_output=found.partial_output or saved.partial_output,
    )


def described(document: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a `Saved`, from a JSON document that describes an exception."""
    given = document.get("exceptions", document.get("exception", ()))
    links = [given] if isinstance(given, str) else given
    chain = tuple((link,) if isinstance(link, str) else tuple(map(str, link)) for link in links)
    status = document.get("status", document.get("status_code"))
    return {
        "exceptions": chain,
        "status": status if isinstance(status, int) else None,
        "headers": document.get("headers") or {},
        "body": document.get("body"),
        "message": str(document.get("message") or ""),
    }


def _is_error_alone(saved: Saved) -> bool:
    return bool(saved.message) and saved.body is None


def _thrown(saved: Saved) -> Evidence:
    error = _raised(saved)
    found = exceptions.read(error, saved.dialect, saved.provider)
    codes = saved.codes or found.codes
    if not saved.exceptions:
        found = replace(found, exceptions=())
    return replace(found, codes=codes, message=found.message or saved.message, finish_reason=saved.finish_reason)


class _Response:
    def __init__(self, status: int | None, headers: Mapping[str, str]) -> None:
        self.status_code, self.headers = status, headers


def _raised(saved: Saved) -> BaseException:
    """Build the chain from classes with these names. The outermost exception gets the attributes of an SDK exception."""
    chain = zip_longest(saved.exceptions or (("saved.SavedError",),), saved.texts, fillvalue="")
    links = [_class(names)(said) for names, said in chain if names]
    for outer, inner in pairwise(links):
        outer.__cause__ = inner
    bearer = links[0]
    if saved.status is not None or saved.headers:
        bearer.response = _Response(saved.status, saved.headers)  # type: ignore[attr-defined]
        bearer.status_code = saved.status  # type: ignore[attr-defined]
    if saved.body is not None:
        bearer.body = saved.body  # type: ignore[attr-defined]
    return bearer


_PARTICULAR = (UnicodeError, *(c for n in ("BaseExceptionGroup",) if (c := getattr(builtins, n, None))))
"""Exception classes that cannot be created from a text alone, so that only their names are used."""


def _class(names: Iterable[str]) -> type[BaseException]:
    base: type[BaseException] = Exception
    for name in reversed(tuple(names)):
        module, _, short = name.rpartition(".")
        known = getattr(builtins, short, None) if module in ("", "builtins") else None
        if isinstance(known, type) and issubclass(known, BaseException) and not issubclass(known, _PARTICULAR):
            base = known
        else:
            base = type(short, (base,), {"__module__": module})
    return base


def _answer(body: Any) -> Evidence | None:
    if isinstance(body, str):
        events = list(_events(body))
        if events:
            return _stream(events, marked=_MARK.search(body) is not None)
    return results.read(parsed(body))


def _events(body: str) -> Iterable[Any]:
    """The JSON objects of a server-sent event stream."""
    for line in body.splitlines():
        if line.startswith("data:") and line[5:].strip() not in ("", "[DONE]"):
            yield parsed(line[5:].strip())


_MARK = re.compile(r"^data: ?\[DONE\]", re.MULTILINE)
"""Matches the last event of a stream in the openai dialect. Some servers send it without a finish reason before it."""


def _stream(events: list[Any], marked: bool) -> Evidence | None:
    reader = _reader(events)
    if reader is None:
        return unexpected("openai", events).suspicion
    chunks = reader.chunks()
    for count, event in enumerate(events):
        if read_field(event, "type") == "error" and not items(read_field(event, "choices")):
            return replace(embedded_error("anthropic", event), channel="thrown", partial_output=count > 0)
        chunks.chunk(event)
    found = chunks.end().suspicion
    if found is not None and marked and "no_end" in found.facts:
        return None
    return replace(found, partial_output=len(events) > 1 or not found.embedded) if found is not None else None


def _reader(events: list[Any]) -> Reader | None:
    for event in events:
        kind = text(read_field(event, "type"))
        if kind.startswith("response."):
            return results.RESPONSES
        if kind.startswith(("message_", "content_block")):
            return results.MESSAGES
        if read_field(event, "choices") is not None:
            return results.CHAT
        if read_field(event, "candidates", "promptFeedback", "usageMetadata") is not None:
            return results.GENERATE_CONTENT
    return None
