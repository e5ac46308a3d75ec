"""Runs the application as a child process, which gets the terminal, the streams and the signals of this process.

The child leads its own process group. This group is put in the foreground of the terminal, so that Ctrl-C and Ctrl-Z reach the
application and its children once, as without `llm-errors run`. Signals that are sent to this process are forwarded to the
child.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import IO, Any, Final

PASSED_ON: Final = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2")
POSIX: Final = os.name == "posix"
_OWN_GROUP: Final[dict[str, Any]] = (
    {} if not POSIX else {"process_group": 0} if sys.version_info >= (3, 11) else {"preexec_fn": os.setpgrp}
)


class Application:
    """A command that runs as a child process. When the `with` block ends, a child that still runs is killed.

    `streams` are passed to `subprocess.Popen`; by default the child inherits the standard streams. With `aside`, the child gets
    neither the terminal nor signals: Ctrl-C interrupts this process, which then kills the child.
    """

    def __init__(
        self, command: Sequence[str], variables: Mapping[str, str], *, aside: bool = False, **streams: Any
    ) -> None:
        self._restore: list[tuple[int, Any]] = []
        self._early: list[int] = []
        self._process: subprocess.Popen[str] | None = None
        self._terminal = _Terminal(wanted=not aside)
        if not aside:
            self._take_signals()
        try:
            self._process = subprocess.Popen(list(command), env=dict(variables), text=True, **_OWN_GROUP, **streams)
        except BaseException:
            self._give_back()
            raise
        self._terminal.lend(self._process.pid)
        for number in self._early:
            self._pass_on(number, None)

    def __enter__(self) -> "Application":
        return self

    def __exit__(self, *exc_info: object) -> None:
        process = self._running
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._give_back()

    @property
    def _running(self) -> "subprocess.Popen[str]":
        assert self._process is not None
        return self._process

    @property
    def pid(self) -> int:
        """The process id of the child."""
        return self._running.pid

    @property
    def stdout(self) -> "IO[str] | None":
        """The standard output of the child, if it is a pipe."""
        return self._running.stdout

    @property
    def stdin(self) -> "IO[str] | None":
        """The standard input of the child, if it is a pipe."""
        return self._running.stdin

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the child ends, and return its exit code, or the negative number of the signal that ended it."""
        if not POSIX or timeout is not None:
            return self._running.wait(timeout)
        while (news := os.waitid(os.P_PID, self.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)) is not None:
            if news.si_code != os.CLD_STOPPED:
                break
            os.waitid(os.P_PID, self.pid, os.WSTOPPED)
            self._stopped()
        return self._running.wait()

    def kill(self) -> None:
        """Kill the child."""
        self._running.kill()

    def _stopped(self) -> None:
        """Stop this process too after Ctrl-Z has stopped the child. When this process continues, it continues the child too."""
        self._terminal.take_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._terminal.lend(self.pid)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGCONT)

    def _take_signals(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # only the main thread can set handlers
        for name in PASSED_ON:
            number = getattr(signal, name, None)
            # A signal that this process ignores, for example because of `nohup`, is ignored by the application too.
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._restore.append((number, signal.signal(number, self._pass_on)))

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        if self._process is None:
            self._early.append(number)
        elif self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, number)

    def _give_back(self) -> None:
        self._terminal.take_back()
        while self._restore:
            signal.signal(*self._restore.pop())


class _Terminal:
    """Lends the terminal to the process group of the application. It does nothing if this process is not in the foreground."""

    def __init__(self, wanted: bool) -> None:
        self._descriptor: int | None = None
        if not wanted:
            return
        with contextlib.suppress(OSError, AttributeError):  # there is no terminal, or the system has no job control
            descriptor = os.open("/dev/tty", os.O_RDWR | os.O_CLOEXEC)
            if os.tcgetpgrp(descriptor) == os.getpgrp():
                self._descriptor = descriptor
            else:
                os.close(descriptor)

    def lend(self, group: int) -> None:
        """Put a process group in the foreground."""
        self._set(group)

    def take_back(self) -> None:
        """Put this process in the foreground again."""
        if POSIX:
            self._set(os.getpgrp())

    def _set(self, group: int) -> None:
        if self._descriptor is None:
            return
        # SIGTTOU stops a background process that sets the foreground group, unless the process ignores this signal.
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        try:
            with contextlib.suppress(OSError):
                os.tcsetpgrp(self._descriptor, group)
        finally:
            signal.signal(signal.SIGTTOU, before)


def end_like(code: int) -> int:
    """Return the exit code of the application. If a signal ended the application, end this process by the same signal.

    So shells, supervisors and CI see the same exit status as without `llm-errors run`.
    """
    if code >= 0 or not POSIX:
        return code
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the application has already written a core file
    number = signal.Signals(-code)
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    return 128 - code  # reached only if this signal does not end a process
