"""A session run as a process."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from paprle.cli.interactive import keys_at_once
from paprle.cli.verb import say
from paprle.contracts.errors import SessionError
from paprle.contracts.states import SessionState
from paprle.recording.reader import Episode

_LOOK = 0.05  # [s] chosen: how often the session's words are read
_START, _LEAD = 240.0, 60.0  # [s] chosen: a first start compiles; a person gets ready
_PRESS = 1.5  # [s] chosen: between two presses of Enter the line on screen is renewed
_END = 30.0  # [s] chosen: a park takes less
# a kit that is killed hangs up its terminal, so that the session brakes and ends
_LAUNCHER = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.executable, [sys.executable, '-m', 'paprle', *sys.argv[1:]])"
)
_LEADER = re.compile(rb"paprle\.hosts\.\w+\.leader\b.*")
_STATE = re.compile(rf"^({'|'.join(SessionState.__members__)})\b.*$", re.MULTILINE)


class LedSession:
    """A ``paprle run`` process with typed keys.

    The person's keys are passed on, so that Space stops the robot at any time.
    """

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        self._out, self._log = folder / "out", folder / "log.txt"
        self.code: int | None = None
        self._n_shown = 0
        self._master, slave = pty.openpty()
        own = ["session.view=false", f"record.dir={self._out}"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-c", _LAUNCHER, "run", *words, *own],
                stdin=slave,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        os.close(slave)

    def __enter__(self) -> LedSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.resume()
        self.end()
        os.close(self._master)

    @property
    def text(self) -> str:
        """All printed text."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def state(self) -> str:
        """Last state shown; may be empty."""
        found = _STATE.findall(self.text)
        return found[-1] if found else ""

    @property
    def is_running(self) -> bool:
        """Whether the process runs."""
        if self.code is None:
            self.code = self._process.poll()
        return self.code is None

    def list_shown(self, n_before: int = 0) -> list[str]:
        """Return the lines printed after ``n_before`` characters."""
        lines = self.text[n_before:].splitlines()
        return [line.strip() for line in lines if line.strip()]

    def wait(
        self, duration: float, is_enough: Callable[[], bool] | None = None
    ) -> bool:
        """Pass keys on for a time [s]; return whether ``is_enough`` was met."""
        end = time.monotonic() + duration
        with keys_at_once() as keys:
            while time.monotonic() < end and self.is_running:
                ready, _, _ = select.select(keys, [], [], _LOOK)
                if ready:
                    self.press(os.read(keys[0], 64))
                self._show()
                if is_enough is not None and is_enough():
                    return True
        return False

    def press(self, keys: bytes) -> None:
        """Type keys."""
        os.write(self._master, keys)

    def engage(self) -> None:
        """Press Enter until engaged.

        Raises:
            SessionError: If the session ends or does not engage.
        """
        self.wait(_START, lambda: self.state not in {"", "INIT", "HOMING"})
        end = time.monotonic() + _LEAD
        while self.is_running and time.monotonic() < end and self.state != "STOPPED":
            if self.wait(_PRESS, lambda: self.state == "ENGAGED"):
                return
            if self.state in {"WAITING", "CLUTCHED"}:
                self.press(b"\r")
        said = self.list_shown()[-3:]
        raise SessionError(
            f"accept: expected the session to engage, got {self.state or 'no start'}; "
            f"it printed: {' | '.join(said)}"
        )

    def pause_leaders(self) -> int:
        """Return the time of stopping the leaders' processes, [ns].

        Raises:
            SessionError: If there is none.
        """
        now_ns, leaders = time.monotonic_ns(), list(self._find_leaders())
        for pid in leaders:
            os.kill(pid, signal.SIGSTOP)
        if not leaders:
            raise SessionError("accept: expected a leader's process, got none")
        return now_ns

    def resume(self) -> None:
        """Continue the leaders' processes."""
        for pid in self._find_leaders():
            os.kill(pid, signal.SIGCONT)

    def end(self) -> None:
        """End the session as Ctrl-C does."""
        if self.is_running:
            self._process.send_signal(signal.SIGINT)
        try:
            self.code = self._process.wait(_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self.code = self._process.wait()

    def open_episode(self) -> Episode:
        """Return the first episode.

        Raises:
            RecordingError: If there is none.
        """
        return Episode.open(self.find_recording())

    def find_recording(self) -> Path:
        """Return the first episode's path."""
        return self._out / "episode_000000.mcap"

    def _show(self) -> None:
        text = self.text
        if "\n" in text[self._n_shown :]:
            end = text.rindex("\n")
            say(
                "\n".join(
                    f"  | {line}" for line in text[self._n_shown : end].split("\n")
                )
            )
            self._n_shown = end + 1

    def _find_leaders(self) -> Iterator[int]:
        for entry in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = entry.read_bytes().split(b"\0")
                stat = (entry.parent / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(stat[1]) == self._process.pid and any(map(_LEADER.fullmatch, words)):
                yield int(entry.parent.name)
