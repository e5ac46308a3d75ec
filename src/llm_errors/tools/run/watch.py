"""Shows a live table while the application runs (`llm-errors run --watch`).

On a terminal, the table occupies the last lines of the screen, and the output of the application scrolls above it. If the
output is not a terminal, the table is printed again when its numbers have changed, at most every five seconds.
"""

import os
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TextIO

from llm_errors.tools.run.report import WIDTH

ON_A_TERMINAL, ELSEWHERE = 0.5, 5.0
"""The seconds between two updates of the table."""
ROWS = 16
"""The maximum height of the table in lines. On a small screen, the table takes at most half of the lines."""

Lines = Callable[[], Iterator[str]]


class Watch:
    """Shows the table again and again until the `with` block ends. `lines` returns the lines of the table."""

    def __init__(self, lines: Lines, stream: TextIO) -> None:
        self._lines, self._stream = lines, stream
        self._screen = Screen(stream) if stream.isatty() and os.environ.get("TERM") != "dumb" else None
        self._over = threading.Event()
        self._shown: list[str] = []
        self._thread = threading.Thread(target=self._run, daemon=True, name="watch")

    def __enter__(self) -> "Watch":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        if self._screen is not None:
            self._screen.close()

    def _run(self) -> None:
        while not self._over.wait(ELSEWHERE if self._screen is None else ON_A_TERMINAL):
            self.show()

    def show(self) -> None:
        """Show the present lines of the table if they have changed."""
        lines = list(self._lines())
        try:
            if self._screen is not None:
                self._screen.draw(lines)
            elif lines != self._shown:
                self._stream.write("\n".join(["", *lines, ""]))
                self._stream.flush()
        except OSError:
            self._over.set()  # the output was closed
        self._shown = lines


class Screen:
    """Draws into the last lines of a terminal, which do not scroll with the output of the application."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._size: tuple[int, int] | None = None
        self._drawn: list[str] = []

    def draw(self, lines: list[str]) -> None:
        """Draw the lines below a dashed line, if anything has changed. The cursor stays where the application put it."""
        size = os.get_terminal_size(self._stream.fileno())
        rows = min(ROWS, size.lines // 2)
        if (size.lines, rows) == self._size and lines == self._drawn:
            return
        text = reserve(size.lines, rows) if (size.lines, rows) != self._size else ""
        self._size, self._drawn = (size.lines, rows), lines
        shown = ["-" * min(WIDTH, size.columns - 1), *lines][:rows]
        self._stream.write(text + drawing(shown, size.lines, rows))
        self._stream.flush()

    def close(self) -> None:
        """Clear the last lines and let them scroll again."""
        if self._size is not None:
            self._stream.write(release(*self._size))
            self._stream.flush()


def reserve(height: int, rows: int) -> str:
    """The control codes that clear the last `rows` lines and exclude them from scrolling."""
    return "\n" * rows + f"\x1b7\x1b[1;{height - rows}r\x1b8\x1b[{rows}A"


def drawing(lines: list[str], height: int, rows: int) -> str:
    """The control codes that write lines into the last `rows` lines and then restore the cursor."""
    drawn = [f"\x1b[{height - rows + 1 + n};1H\x1b[2K{lines[n] if n < len(lines) else ''}" for n in range(rows)]
    return "\x1b7" + "".join(drawn) + "\x1b8"


def release(height: int, rows: int) -> str:
    """The control codes that clear the last `rows` lines and let the whole screen scroll again."""
    return "\x1b7" + f"\x1b[r\x1b[{height - rows + 1};1H\x1b[J" + "\x1b8"
