"""A child of the demo ends with its parent: the parent holds the other end of its standard input and never writes."""

import os
import stat
import sys
import threading


def end_with_parent() -> None:
    """End this process when its standard input ends, if that is a pipe; a terminal or a file says nothing of a parent."""
    try:
        descriptor = sys.stdin.fileno()
        held = stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    except (AttributeError, OSError, ValueError):  # no standard input, or none of the system's
        return
    if held:
        threading.Thread(target=_wait_and_end, args=(descriptor,), daemon=True, name="parent").start()


def _wait_and_end(descriptor: int) -> None:
    while os.read(descriptor, 1024):
        pass
    os._exit(1)
