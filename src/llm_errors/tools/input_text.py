"""Reads the input of a command from files, and from standard input if there is some."""

import contextlib
import os
import select
import stat
import sys
from pathlib import Path

SIZE_LIMIT = 16 * 1024 * 1024
STDIN_WAIT = 0.5
"""How many seconds to wait for the first byte of a pipe if the command can run without its input."""
STDIN = "-"


class InputError(Exception):
    """Means that the input cannot be used. The message gives the reason."""


def read(path: str, optional: bool = False) -> str:
    """The text of a file, or of standard input if the path is `-`. Only with `optional` may the text be empty."""
    name = "standard input" if path == STDIN else path
    try:
        if path == STDIN:
            if sys.stdin is None:
                raise InputError("standard input is closed")
            source = getattr(sys.stdin, "buffer", None)
            raw = source.read(SIZE_LIMIT + 1) if source else sys.stdin.read().encode("utf-8", "replace")
        else:
            with Path(path).open("rb") as file:
                raw = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error
    if len(raw) > SIZE_LIMIT:
        raise InputError(f"{name} is larger than {SIZE_LIMIT // 1024 // 1024} MiB")
    text = _decoded(raw)
    if "\0" in text:
        raise InputError(f"{name} is binary, not text")
    if not text.strip() and not optional:
        raise InputError(f"{name} is empty")
    return text


def _decoded(raw: bytes) -> str:
    """Decodes UTF-8, and also UTF-16 with a byte order mark, which shells on Windows write."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    return raw.decode("utf-8-sig", "replace")


def stdin_has_input(enough_without: bool) -> bool:
    """Whether to read standard input, because it is a file or a pipe.

    If the command has enough input without it, a pipe counts only if it sends something within `STDIN_WAIT`.
    """
    mode = 0
    with contextlib.suppress(OSError, ValueError, AttributeError):
        mode = os.fstat(sys.stdin.fileno()).st_mode
    if stat.S_ISREG(mode):
        return True
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
        return False
    return not enough_without or bool(select.select([sys.stdin], [], [], STDIN_WAIT)[0])
