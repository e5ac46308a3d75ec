"""Reads a saved failure: a body, a printed Python value, the text of an exception, a log line, or a traceback.

The result contains the fields of an `llm_errors.extract.saved.Saved`, and says which parts of the text were ignored.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from itertools import islice
from typing import Any

from llm_errors.extract import saved
from llm_errors.tools.explain import python_text, tracebacks

_SEARCHED = 100_000
"""How many characters of a text are searched for a JSON or Python object."""
_OBJECTS = 8
"""How many opening brackets are tried as the beginning of an object. Each attempt may read to the end of the text."""
_PHRASES = "|".join(re.escape(s.phrase) for s in HTTPStatus if s.value >= 400)
_STATUSES = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        (r"""(?:error code|status(?:[ _-]?code)?|http[ _-]?(?:status|code))["']?\s*[:=]?\s*["']?(\d{3})\b""", re.I),
        (r"""\bHTTP/\d(?:\.\d)?"?\s+(\d{3})\b""", 0),
        (r"\bHTTP (\d{3})\b", 0),
        (r"^\s*(\d{3}) [A-Z][A-Z_]{3,}\b", 0),
        (r"\b(\d{3}) (?:Client|Server) Error\b", 0),
        (r"""\b(?:Client|Server) error '(\d{3})\b""", 0),
        (r"<Response \[(\d{3})\b", 0),
        (rf"\b(\d{{3}}) (?:{_PHRASES})\b", re.I),
    )
)
"""Patterns of how libraries, servers and logs write the HTTP status of a response."""
_CODES = tuple(
    map(
        re.compile,
        (
            r"An error occurred \((\w{1,64})\) when calling",  # botocore
            r"StatusCode\.([A-Z_]{2,32})\b",  # grpc
        ),
    )
)
_CUT_CODES = re.compile(r"""['"](?:code|reason|type|status)['"]\s*:\s*['"]([\w.-]{2,64})['"]""")
"""Finds error codes in an object that a log has truncated, so that it cannot be parsed."""
_MESSAGE = re.compile(r"\bError code: \d{3} - (?!\s*[{\[<])(.+)")
"""Finds the provider's message, which the OpenAI SDK prints instead of the body from version 3 on."""
_RETRY_AFTER = re.compile(r"""retry-after(-ms)?["']?\s*[:=]\s*["']?(\d+(?:\.\d+)?)\b""", re.I)
_EXCEPTION = re.compile(
    r"(?<![\w./])((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Timeout|Fault|Refused|Reset))(?=[:(]|\s*$)"
)
PLAIN = ("plain text, without a status, code, body or exception",)
"""`Found.read` of a text in which nothing was recognised. Such a text may be a whole answer."""
_UNQUALIFIED = re.compile(
    r"API(?:Status|Connection|Timeout|ResponseValidation)?Error|(?:RateLimit|Authentication|BadRequest|NotFound|Conflict"
    r"|PermissionDenied|UnprocessableEntity|InternalServer|LengthFinishReason|ContentFilterFinishReason)Error"
)
"""Exceptions of the OpenAI SDK and of other SDKs that Stainless generates. Their `repr` does not show the package."""
_TEXTS = ("exc_info", "exc_text", "exception.stacktrace", "traceback", "stack_trace", "stacktrace", "stack", "exception",
          "exception.message", "error", "message", "msg", "event", "body")  # fmt: skip
"""Fields of JSON log records that may contain the text of a failure. The most specific field comes first."""
_LOG_MARKS = frozenset(("level", "levelname", "severity", "severity_text", "logger", "timestamp", "@timestamp", "time",
                        "asctime", "ts", "exception.type", "exc_info"))  # fmt: skip
_DESCRIBED = frozenset(("exceptions", "exception", "status", "status_code", "headers", "body", "message"))


@dataclass(frozen=True)
class Found:
    """What was found in a text.

    `pieces` are the fields of a `Saved`, `read` describes what was read, and `ignored` describes what was not used.
    """

    pieces: dict[str, Any] = field(default_factory=dict)
    read: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def documents(text: str) -> list[str]:
    """The parts of a text that each describe one failure: its lines if every line is a JSON object, else the whole text."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and all(line.lstrip().startswith("{") and isinstance(_json(line), dict) for line in lines):
        return lines
    return [text]


def read(text: str) -> Found:
    """Read what a text says about a failure. Raises ValueError if the text is JSON that is nested too deeply."""
    value = _json(text)
    if value is not None and not isinstance(value, str):
        return _of_value(value, "JSON")
    if re.search(r"^data:", text, re.MULTILINE):
        return Found({"body": text}, ("a stream of server-sent events",))
    if tracebacks.HEAD in text:
        return _of_traceback(text)
    try:
        printed = python_text.read(text)
    except ValueError:
        return _of_text(value if isinstance(value, str) else text)
    if isinstance(printed, python_text.Raised):
        return _of_chain([tracebacks.Link(printed["name"], printed["text"])], "a printed exception")
    if isinstance(printed, dict | list):
        return _of_value(printed, "a printed Python value")
    return _of_text(text)


def _json(text: str) -> Any:
    """The JSON value of a text, or None if the text is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None
    except RecursionError as error:
        raise ValueError("is nested too deeply to be a provider's answer") from error


def _of_value(value: Any, kind: str) -> Found:
    if not isinstance(value, dict):
        return Found({"body": value}, (f"{kind}: a body",))
    response = value.get("response")
    if isinstance(response, dict) and "body" in response:  # one line of the results of a batch
        return _of_value(response, kind)
    told = value.get("exceptions", value.get("exception"))
    if told is not None and not _is_prose(told):
        return _described(value, f"{kind}: a description of an exception")
    if "body" in value and {"status", "status_code"} & value.keys():
        return _described(value, f"{kind}: a response")
    if _LOG_MARKS & value.keys():
        return _of_log_record(value)
    return Found({"body": value}, (f"{kind}: a body",))


def _is_prose(value: Any) -> bool:
    """Whether a field contains the text of an exception, and not the name of its class."""
    return isinstance(value, str) and not re.fullmatch(r"[\w.]+", value)


def _described(value: dict[str, Any], what: str) -> Found:
    unknown = sorted(value.keys() - _DESCRIBED)
    return Found(saved.described(value), (what,), (f"fields: {', '.join(unknown)}",) if unknown else ())


def _of_log_record(record: dict[str, Any]) -> Found:
    """Read a JSON log record. If it contains an error object, that object is the body. Otherwise its text fields are read."""
    for name in ("body", "error", "response"):
        if isinstance(record.get(name), dict):
            found = Found({"body": record if name == "error" else record[name]}, ("a log record with a body",))
            return _with_status(found, record)
    for name in _TEXTS:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            found = read(value)
            if found.read != PLAIN:
                unread = sorted(record.keys() - {name})
                return replace(
                    _with_status(found, record),
                    read=(f"a log record, its field {name}", *found.read),
                    ignored=(*found.ignored, f"fields: {', '.join(unread)}"),
                )
    return Found(ignored=(f"a log record without an error: {', '.join(sorted(record))}",))


def _with_status(found: Found, record: dict[str, Any]) -> Found:
    status = next((v for k in ("status", "status_code", "http.response.status_code") if (v := record.get(k))), None)
    if found.pieces.get("status") or not isinstance(status, int):
        return found
    return replace(found, pieces={**found.pieces, "status": status})


def _of_traceback(text: str) -> Found:
    links, others = tracebacks.read(text)
    if not links:
        return _of_text(text.replace(tracebacks.HEAD, ""))
    found = _of_chain(links, "a traceback")
    earlier = (f"{others} other traceback{'s' if others > 1 else ''}",) if others else ()
    return replace(found, ignored=(*found.ignored, *earlier))


def _of_chain(links: list[tracebacks.Link], kind: str) -> Found:
    """Read a chain of exceptions: all names and texts, and the facts of the outermost exception whose text shows any.

    Facts are the status, the codes and the body.
    """
    telling = next((found for link in links if (found := _facts(link.text)).pieces.keys() - {"headers"}), Found())
    pieces = {
        **telling.pieces,
        "exceptions": tuple((_qualified(link.name),) for link in links),
        "texts": tuple(link.text for link in links),
    }
    root = _errno(links[-1].text)
    if root and root not in links[-1].name:
        pieces["exceptions"] += ((root,),)
        pieces["texts"] += (links[-1].text,)
    names = " < ".join(link.name for link in links)
    return Found(pieces, (f"{kind}: {names}", *telling.read), telling.ignored)


def _errno(text: str) -> str:
    """The name of the operating system's or TLS exception, if an HTTP library shows only the text of that exception."""
    number = re.search(r"\[Errno (-?\d+)\]", text)
    if number:
        value = int(number[1])
        return "socket.gaierror" if value < 0 else type(OSError(value, "")).__name__
    return "ssl.SSLError" if "[SSL:" in text else ""


def _of_text(text: str) -> Found:
    """Read a log or the text of an exception. The last line with information decides.

    If no line has any, the whole text is taken as an answer.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        found = _of_line(line)
        if found.pieces.keys() - {"headers"}:
            more = len(lines) - 1
            left = (f"{more} other line{'s' if more > 1 else ''}",) if more and not _is_page(text) else ()
            return replace(found, ignored=(*found.ignored, *left))
    whole = _facts(text)  # an object may be printed on several lines
    if whole.pieces.keys() - {"headers"}:
        return whole
    if _is_page(text):
        return Found({"body": text}, ("a page",))
    succeeded = next((m[1] for p in _STATUSES if (m := p.search(text)) and m[1].startswith("2")), None)
    if succeeded:
        return Found(ignored=(f"HTTP {succeeded} without the body of the response",))
    return Found({"body": text.strip()}, PLAIN)


def _is_page(text: str) -> bool:
    return re.match(r"\s*<(?:!doctype|html|head|body|\?xml)", text, re.I) is not None


def _of_line(line: str) -> Found:
    found, names = _facts(line), _EXCEPTION.findall(line.partition("{")[0])
    if not names:
        return found
    behind = line.partition(names[-1])[2].lstrip(":( ")
    pieces = {**found.pieces, "exceptions": ((_qualified(names[-1]),),), "texts": (behind,)}
    return Found(pieces, (f"exception {names[-1]}", *found.read), found.ignored)


def _qualified(name: str) -> str:
    return f"openai.{name}" if _UNQUALIFIED.fullmatch(name) else name


def _facts(text: str) -> Found:
    """Find the status, the codes, the wait and the error object in a text."""
    pieces: dict[str, Any] = {}
    read: list[str] = []
    ignored: list[str] = []
    status = next((int(m[1]) for p in _STATUSES if (m := p.search(text)) and 300 <= int(m[1]) <= 599), None)
    if status is not None:
        pieces["status"] = status
        read.append(f"status {status}")
    codes = tuple(m[1] for p in _CODES if (m := p.search(text)))
    body = next(_objects(text), None)
    if body is not None:
        pieces["body"] = body
        read.append("an error body")
    elif "{" in text:
        codes += tuple(_CUT_CODES.findall(text))
        ignored.append("an object that is cut off or neither JSON nor Python")
    message = _MESSAGE.search(text) if body is None else None
    if message:
        pieces |= {"message": message[1].strip(), "dialect": "openai"}
        read.append("the provider's message, without its code")
    if codes:
        pieces["codes"] = codes
        read.append(f"code {', '.join(codes)}")
    wait = _RETRY_AFTER.search(text)
    if wait and (pieces or body):
        pieces["headers"] = {f"retry-after{wait[1] or ''}": wait[2]}
    return Found(pieces, tuple(read), tuple(ignored))


def _objects(text: str) -> Iterator[Any]:
    """Yields the JSON and Python objects in a text that are not empty."""
    decoder, searched = json.JSONDecoder(), text[:_SEARCHED]
    for start in (m.start() for m in islice(re.finditer(r"\[\{|\{", searched), _OBJECTS)):
        try:
            value = decoder.raw_decode(searched, start)[0]
        except (ValueError, RecursionError):
            value = _printed(searched, start)
        if isinstance(value, dict | list) and value:
            yield value


def _printed(text: str, start: int) -> Any:
    """The Python value from the bracket at `start` to the matching bracket, or None if that is no Python value."""
    depth = 0
    for part in re.finditer(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[{}\[\]]""", text[start:]):
        depth += (part[0] in "{[") - (part[0] in "}]")
        if depth == 0:
            try:
                return python_text.read(text[start : start + part.end()])
            except ValueError:
                return None
    return None
