"""Compilation during the dialogue."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

_NICE = 10  # chosen: the dialogue and its readings come first
_PATIENCE = 5.0  # [s] chosen: it ends between two kernels
_COMMAND = ("-m", "paprle.hosts.precompile")


@contextmanager
def compiling_beside(say: Callable[[str], None]) -> Iterator[Callable[[], None]]:
    """Compile in a process; yield a function that waits for its end."""
    process = subprocess.Popen(
        [sys.executable, *_COMMAND],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with suppress(OSError):  # a machine may forbid it, or it has ended
        os.setpriority(os.PRIO_PROCESS, process.pid, _NICE)

    def wait() -> None:
        if process.poll() is None:
            say("compiling, once after an install or update: a minute or more …")
            process.wait()

    try:
        yield wait
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:  # a background job's child ignores it
                process.kill()
                process.wait()
