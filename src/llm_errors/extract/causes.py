"""Follows a raised exception to its root cause, and tells whether a class belongs to a network library or to an SDK."""

from collections.abc import Iterator
from traceback import walk_tb
from typing import Any

from llm_errors.evidence import Evidence
from llm_errors.extract.fields import field
from llm_errors.providers import dialect_of_package

DEPTH = 12
"""How many exceptions of a chain, and how many members of a group, are read at most."""

SAME_AS = {"httpx2": "httpx", "httpcore2": "httpcore", "asyncio": "builtins", "concurrent": "builtins"}
"""Package -> the package under which its classes are matched. Since Python 3.11, asyncio's TimeoutError is the builtin one."""

TRANSPORT_PACKAGES = frozenset(
    (
        *("httpx", "httpcore", "httpx_aiohttp", "aiohttp", "requests", "urllib3"),
        *("http", "socket", "ssl", "select", "anyio", "h11", "h2", "grpc", "websockets"),
    )
)
_CANCELLED = "builtins.CancelledError"
"""The name that `names` gives asyncio's CancelledError. Its name is compared, because importing asyncio takes longer than
importing llm-errors.
"""
_TRANSPORT_BUILTINS = frozenset(("ConnectionError", "TimeoutError"))


def is_of_a_request(evidence: Evidence) -> bool:
    """Whether the evidence is about a failed request, and not about the handling of an answer."""
    names = [name for link in evidence.exceptions for name in link]
    return evidence.status is not None or any(name.endswith(".APIConnectionError") for name in names)


def chain(exc: BaseException, ambient: int = 0) -> list[BaseException]:
    """The exception and its causes, outermost first.

    The cause is `__cause__`, else `original_exception` (litellm) or `inner_exception` (Azure), else `__context__`.
    Of an exception group, only the first member is followed. `ambient` is the `id` of an exception that the application was
    handling when the call began; the chain stops before it. A CancelledError at the end, which asyncio uses for timeouts, is
    left out.
    """
    links: list[BaseException] = []
    current: Any = exc
    while isinstance(current, BaseException) and current not in links and len(links) < DEPTH:
        if id(current) == ambient or (links and _CANCELLED in names(current)):
            break
        links.append(current)
        members = group(current)
        current = members[0] if members else _next(current)
    return links


def _next(exc: BaseException) -> Any:
    return exc.__cause__ or field(exc, "original_exception", "inner_exception") or exc.__context__


def group(exc: BaseException) -> tuple[BaseException, ...]:
    """The members of an exception group (on Python 3.10, of the backport); empty for any other exception."""
    if "ExceptionGroup" not in {c.__name__.removeprefix("Base") for c in type(exc).__mro__}:
        return ()
    members = field(exc, "exceptions")
    return tuple(m for m in members[:DEPTH] if isinstance(m, BaseException)) if isinstance(members, tuple) else ()


def names(exc: BaseException) -> tuple[str, ...]:
    """The classes of the MRO as `package.Class`, without `Exception`, `BaseException` and `object`."""
    return tuple(_names(type(exc)))


def _names(cls: type) -> Iterator[str]:
    for base in cls.__mro__:
        if base in (object, BaseException, Exception):
            continue
        yield f"{package(base)}.{base.__name__}"


def package(cls: type) -> str:
    """The top-level package of a class; in the `google` namespace, the two topmost levels."""
    return _package(str(getattr(cls, "__module__", "")))


def _package(module: str) -> str:
    parts = module.split(".")
    if parts[0] == "google":
        return ".".join(parts[:2])
    return SAME_AS.get(parts[0], parts[0])


def is_raised_by_sdk(exc: BaseException) -> bool:
    """Whether the code that raised the exception belongs to an SDK."""
    traceback = exc.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    module = traceback.tb_frame.f_globals.get("__name__", "") if traceback is not None else ""
    return bool(dialect_of_package(_package(str(module))))


def passed(exc: BaseException) -> tuple[str, ...]:
    """The names of the functions through which the exception was raised, outermost first."""
    return tuple(frame.f_code.co_name for frame, _ in walk_tb(exc.__traceback__))


def is_transport(qualified: tuple[str, ...]) -> bool:
    """Whether these class names are those of an exception of a network library, or of a network error of Python."""
    return any(
        name.rpartition(".")[0] in TRANSPORT_PACKAGES
        or (name.rpartition(".")[2] in _TRANSPORT_BUILTINS and name.startswith("builtins."))
        for name in qualified
    )


def dialect_of(qualified: tuple[str, ...]) -> str:
    """The wire dialect of the SDK that defines the exception; empty if no SDK does."""
    return next((d for n in qualified if (d := dialect_of_package(n.rpartition(".")[0]))), "")
