"""Runs the application as a child process. It gets the terminal, streams and signals of this process.

The child leads its own process group. On a terminal, the group is put in the foreground, so that Ctrl-C and Ctrl-Z reach the
application and its children once, as without `llm-errors run`. Signals that are sent to this process are forwarded, and the
exit code of the child is returned.
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
    """A running command. As a context manager, it ends the command in any case.

    `streams` are those of `subprocess.Popen`; the default is to inherit them. With `aside` the command gets neither the
    terminal nor signals. Then Ctrl-C interrupts this process, which ends the command.
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
        """Its output, if it was requested."""
        return self._running.stdout

    @property
    def stdin(self) -> "IO[str] | None":
        """Its input, if it was requested."""
        return self._running.stdin

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. The result is the exit code, or the negative number of the signal that ended it."""
        if not POSIX or timeout is not None:
            return self._running.wait(timeout)
        while (news := os.waitid(os.P_PID, self.pid, os.WEXITED | os.WSTOPPED | os.WNOWAIT)) is not None:
            if news.si_code != os.CLD_STOPPED:
                break
            os.waitid(os.P_PID, self.pid, os.WSTOPPED)
            self._stopped()
        return self._running.wait()

    def kill(self) -> None:
        """Kill it."""
        self._running.kill()

    def _stopped(self) -> None:
        """Ctrl-Z: stop this process too, and continue both together."""
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
            # What this process ignores (because of `nohup`, or as a background job) the application ignores too.
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
    """The terminal, if this process is in its foreground. The application's process group gets it."""

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
        # A background process that sets the foreground group is stopped by SIGTTOU, unless it ignores that signal.
        before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        try:
            with contextlib.suppress(OSError):
                os.tcsetpgrp(self._descriptor, group)
        finally:
            signal.signal(signal.SIGTTOU, before)


def end_like(code: int) -> int:
    """Return the exit code of the application. If a signal ended the application, the same signal ends this process.

    Shells, supervisors and CI then see the same end as without `llm-errors run`.
    """
    if code >= 0 or not POSIX:
        return code
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # the application has written its core already
    number = signal.Signals(-code)
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    return 128 - code  # this signal does not end a process
