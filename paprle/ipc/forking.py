"""Forking of a role, to share its parent's imports.

The child closes foreign descriptors, which would hide a death.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import select
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, NoReturn

_SELF = Path("/proc/self")  # spec: proc(5)
_ARG_START, _ARG_END = 45, 46  # spec: proc_pid_stat(5), fields 48 and 49, from field 3
_N_STANDARD = 3  # descriptors of standard input, output and error


class ForkedProcess:
    """Child process with a subset of ``subprocess.Popen``."""

    def __init__(self, pid: int, stdin: IO[bytes] | None) -> None:
        self.pid = pid
        self.stdin = stdin
        self.returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code, -n: signal; ``timeout`` in [s].

        Raises:
            subprocess.TimeoutExpired: If it runs on.
        """
        if self.returncode is None:
            fd = os.pidfd_open(self.pid)
            try:
                if not select.select([fd], [], [], timeout)[0]:
                    raise subprocess.TimeoutExpired(str(self.pid), timeout or 0.0)
            finally:
                os.close(fd)
            _, status = os.waitpid(self.pid, 0)
            self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def kill(self) -> None:
        """Kill the process, unless it was waited for."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)


def can_fork() -> bool:
    """Return whether this process has one thread."""
    if not sys.platform.startswith("linux"):
        return False  # elsewhere, system libraries do not survive a fork
    return len(list((_SELF / "task").iterdir())) == 1


def fork(
    title: str, run: Callable[[], int], fds: Iterable[int], *, has_input: bool
) -> ForkedProcess:
    """Return a child process that runs a function; requires ``can_fork``.

    Its name in ``ps`` is ``title``; it keeps ``fds`` and the standard streams.
    """
    read_end, write_end = os.pipe() if has_input else (os.open(os.devnull, 0), -1)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()  # or both would write what waits
    # no handler of the parent's may run in the child
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        pid = os.fork()
        if pid == 0:
            _run_child(title, run, set(fds), read_end, before)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(read_end)
    return ForkedProcess(pid, os.fdopen(write_end, "wb") if has_input else None)


def _run_child(
    title: str,
    run: Callable[[], int],
    kept: set[int],
    stdin: int,
    mask: Iterable[int],
) -> NoReturn:
    code = 1
    try:
        gc.freeze()  # an object that closes a descriptor would close one of ours
        os.dup2(stdin, 0)
        _close_all_but(kept)
        _reset_signals()
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - for a life
        sys.argv = [title]
        _set_title(title)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        code = run()
    except BaseException:  # noqa: BLE001 - nothing of the parent's may go on here
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _close_all_but(kept: set[int]) -> None:
    for fd in [int(entry.name) for entry in (_SELF / "fd").iterdir()]:
        if fd >= _N_STANDARD and fd not in kept:
            with contextlib.suppress(OSError):  # the one that listed them
                os.close(fd)


def _reset_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)


def _set_title(title: str) -> None:
    (_SELF / "comm").write_text(title.rsplit(".", 1)[-1])
    stat = (_SELF / "stat").read_text().rsplit(")", 1)[1].split()
    start, end = int(stat[_ARG_START]), int(stat[_ARG_END])
    if end > start > 0:  # 0: hidden
        text = title.encode()[: end - start - 1]
        ctypes.memmove(start, text.ljust(end - start, b"\0"), end - start)
