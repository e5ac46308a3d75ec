"""Exceptions of no SDK at all, shaped as SDKs shape theirs."""

from typing import Any


class CallError(Exception):
    """An exception that holds whatever attributes a case wants."""

    def __init__(self, message: str = "", /, **attributes: Any) -> None:
        super().__init__(message)
        self.__dict__.update(attributes)


class Response:
    """What SDK exceptions keep as `response`."""

    def __init__(self, status_code: int | None = None, headers: Any = None) -> None:
        self.status_code = status_code
        self.headers = headers if headers is not None else {}


def named(name: str, message: str = "", base: type[Exception] = CallError, **attributes: Any) -> Exception:
    """An instance of a fresh class of that name."""
    return type(name, (base,), {})(message, **attributes)


def with_status(status: int, message: str = "", /, **attributes: Any) -> CallError:
    """A failure with a status and nothing else."""
    return CallError(message, status_code=status, **attributes)


def with_code(status: int, code: str, message: str = "") -> CallError:
    """A failure with a structured error body."""
    return CallError(message, status_code=status, body={"error": {"code": code, "message": message}})
