"""Ends a child process of the demo when its parent ends.

The parent holds the pipe to the standard input of the child and never writes to it. The pipe closes when the parent ends.
"""

import os
import stat
import sys
import threading


def end_with_parent() -> None:
    """End this process when its standard input closes.

    Only a pipe is watched: a terminal or a file does not show whether the parent is running.
    """
    try:
        descriptor = sys.stdin.fileno()
        held = stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    except (AttributeError, OSError, ValueError):  # there is no standard input, or a test has replaced it
        return
    if held:
        threading.Thread(target=_wait_and_end, args=(descriptor,), daemon=True, name="parent").start()


def _wait_and_end(descriptor: int) -> None:
    while os.read(descriptor, 1024):
        pass
    os._exit(1)
