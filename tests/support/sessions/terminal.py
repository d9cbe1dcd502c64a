"""Runs the product in a terminal of its own, types at it, reads it and hangs it up."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
import warnings
from pathlib import Path

from running import RunningSession

from paprle.ipc.process import WORKSPACE

CTRL_C = b"\x03"
PROGRAM = {"TERM": "dumb"}  # the line then begins with the name of the state
PERSON = {"TERM": "xterm"}  # it is in words
# makes the terminal the controlling one, so that Ctrl-C and hang-ups arrive as signals
_LAUNCHER = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)


class TerminalSession(RunningSession):
    """One ``run.py`` in a terminal; what it shows is consumed as it is waited for."""

    def __init__(self, args: list[str], out: Path, env: dict[str, str]) -> None:
        self.out = out
        words = ["session.view=false", *args, f"record.dir={out}"]
        script = str(WORKSPACE / "run.py")
        self._open([sys.executable, "-c", _LAUNCHER, script, *words], env)

    def _open(
        self, command: list[str], env: dict[str, str], cwd: Path | None = None
    ) -> None:
        self._shown = b""
        self._seen = 0
        self._master, slave = pty.openpty()
        self._settings = termios.tcgetattr(slave)
        self._slave: int | None = slave
        self.process = subprocess.Popen(
            command,
            stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            env=os.environ | PROGRAM | env, cwd=cwd,
        )  # fmt: skip
        self.pids = {"session": self.process.pid}

    def text(self) -> str:
        """Everything shown so far."""
        while self._slave is not None and select.select([self._master], [], [], 0)[0]:
            self._shown += os.read(self._master, 65536)
        return self._shown.decode(errors="replace")

    def wait_for(self, state: str, timeout: float = 20.0) -> None:
        """Wait until something is shown that was not shown when last waited for."""
        end = time.monotonic() + timeout
        while (at := self.text().find(state, self._seen)) < 0:
            assert self.process.poll() is None, self.text()
            assert time.monotonic() < end, f"never {state}:\n{self.text()}"
            select.select([self._master], [], [], 0.02)
        self._seen = at + len(state)

    def press(self, keys: bytes) -> int:
        """Type keys and return the monotonic time of it, [ns]."""
        self._seen = len(self.text())
        at_ns = time.monotonic_ns()
        os.write(self._master, keys)
        return at_ns

    def engage(self) -> None:
        """Press Enter until it is engaged; each time it was refused is warned of.

        A machine that stands still for long makes the leader's data old, and then a
        person has to press again.
        """
        self.press(b"\r")
        end = time.monotonic() + 20.0
        while time.monotonic() < end:
            shown = self.text()[self._seen :]
            if shown.rfind("ENGAGED ") > shown.rfind("CLUTCHED"):
                self._seen = len(self.text())
                return
            if "or press Enter" in shown:
                warnings.warn(f"disturbed: had to press again:\n{shown}", stacklevel=2)
                self.press(b"\r")
            select.select([self._master], [], [], 0.02)
        raise AssertionError(f"never ENGAGED:\n{self.text()}")

    def hang_up(self) -> int:
        """Close the window: the kernel sends SIGHUP and every write fails."""
        at_ns = time.monotonic_ns()
        self.text()
        os.close(self._slave)
        self._slave = None
        os.close(self._master)
        return at_ns

    def wait_gone(self, timeout: float = 25.0) -> int | None:
        end = time.monotonic() + timeout
        while self.process.poll() is None and time.monotonic() < end:
            self.text()
            time.sleep(0.01)
        return super().wait_gone(max(0.1, end - time.monotonic()))

    @property
    def is_restored(self) -> bool:
        """Whether the terminal is set up as it was before."""
        return termios.tcgetattr(self._slave) == self._settings

    def end(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        super().end()
        if self._slave is not None:
            os.close(self._slave)
            os.close(self._master)
            self._slave = None
