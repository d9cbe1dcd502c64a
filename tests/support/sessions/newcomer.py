"""A newcomer at a terminal: starts ``paprle so101``, reads, types, and moves an arm."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from terminal import TerminalSession

from paprle.ipc.process import WORKSPACE

_MAIN = "import sys; from paprle.cli import main; sys.exit(main())"
_OPENED = "import fcntl, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "


class Newcomer(TerminalSession):
    """One ``paprle so101`` in a terminal, in an empty folder."""

    def __init__(self, folder: Path, *words: str, **env: str) -> None:
        self.folder = folder
        command = [sys.executable, "-c", _OPENED + _MAIN, "so101", *words]
        self._open(command, env | {"PYTHONPATH": str(WORKSPACE)}, folder)

    def answer(self, question: str, text: str = "", timeout: float = 60.0) -> None:
        """Type an answer once something is asked."""
        self.wait_for(question, timeout)
        self.wait_for("(q leaves):", timeout)
        os.write(self._master, text.encode() + b"\n")

    def wait_until(self, is_done: Callable[[], bool], timeout: float) -> None:
        """Wait, while reading what is shown."""
        end = time.monotonic() + timeout
        while not is_done():
            assert self.process.poll() is None, self.text()
            assert time.monotonic() < end, self.text()[-3000:]
            time.sleep(0.1)

    def end(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if self._slave is not None:
            os.close(self._slave)
            os.close(self._master)
            self._slave = None
