"""Tracker's process, in its own environment."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from paprle.hardware.hand.errors import HandError
from paprle.hardware.hand.frames import FrameStream, HandFrame

_ROOT = Path(__file__).absolute().parents[3]
_START = 30.0  # [s] chosen: MediaPipe loads for 5 s, longer on a busy machine
_RETRY = 1.0  # [s] chosen: a camera that is plugged in again needs as long
_JOIN = 3.0  # [s] chosen: a driver that lets go of a camera


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackerSettings:
    """Settings of the tracker.

    Attributes:
        python: Interpreter; empty: ours.
        model: Empty: MediaPipe's own.
        size: [px].
        rate: [Hz].
        field_of_view: Across a webcam's width, [rad].
        domain: DDS domain of a RealSense; None: by USB.
    """

    kind: Literal["realsense", "webcam"] = "realsense"
    device: str = ""
    python: str = ""
    model: str = ""
    size: tuple[int, int] = (640, 480)
    rate: float = 30.0
    field_of_view: float = 1.1
    domain: int | None = None


class TrackerProcess:
    """A tracker.

    Attributes:
        fault: Reason for missing frames, or empty.
    """

    def __init__(self, settings: TrackerSettings, clock: Callable[[], int]) -> None:
        self._settings, self._clock = settings, clock
        self.newest: HandFrame | None = None
        self.fault = ""
        self.n_restarts = self.n_refused = 0
        self._seq = 0
        self._end = threading.Event()
        self._first = threading.Event()
        self._thread = threading.Thread(
            target=self._keep_on, name="hand tracker", daemon=True
        )
        self._process: subprocess.Popen[bytes] | None = None

    def open(self) -> None:
        """Start it and await an image.

        Raises:
            HandError: It does not start.
        """
        python = self._settings.python or sys.executable
        if not Path(python).exists():
            raise HandError(
                f"hand tracker: expected a Python at '{python}', got none; make its "
                "environment as leaders/hand_imu/README.md has it"
            )
        self._thread.start()
        end = time.monotonic() + _START
        while not self._first.wait(0.05):
            if self.fault or time.monotonic() > end:
                why = self.fault or f"hand tracker: no image within {_START:g} [s]"
                self.close()
                raise HandError(why)

    def close(self) -> None:
        """End it."""
        self._end.set()
        process = self._process
        if process is not None:
            _let_go(process)
        if self._thread.is_alive():
            self._thread.join(_JOIN)

    def _keep_on(self) -> None:
        while not self._end.is_set():
            with tempfile.TemporaryFile() as words:
                self._run(words.fileno())
                words.seek(0)
                said = words.read().decode(errors="replace")
            self.fault = f"hand tracker: {_find_last_words(said)}"
            if self._end.wait(_RETRY):
                return
            self.n_restarts += 1

    def _run(self, words: int) -> None:
        reading, writing = os.pipe()
        try:
            self._process = subprocess.Popen(
                make_command(self._settings, writing),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=words,
                pass_fds=(writing,),
                cwd=_ROOT,
                env=os.environ | {"PYTHONPATH": str(_ROOT)},
                start_new_session=True,
            )
        except OSError as err:
            os.write(words, str(err).encode())
            os.close(reading)
            return
        finally:
            os.close(writing)
        try:
            self._read(reading)
        finally:
            os.close(reading)
            _let_go(self._process)

    def _read(self, reading: int) -> None:
        stream = FrameStream()
        while not self._end.is_set() and (data := os.read(reading, 65536)):
            for frame in stream.feed(data):
                # the same clock in another process: its age holds for ours, whichever
                age_ns = max(0, time.monotonic_ns() - frame.stamp_ns)
                self._seq += 1
                stamp_ns = self._clock() - age_ns
                before = self.newest
                if before is not None:
                    stamp_ns = max(stamp_ns, before.stamp_ns)
                self.newest = frame._replace(stamp_ns=stamp_ns, seq=self._seq)
                self.fault = ""
                self._first.set()
            self.n_refused = stream.n_refused


def make_command(settings: TrackerSettings, fd: int) -> list[str]:
    """Return a tracker's command; it writes to ``fd``."""
    words = {
        "kind": settings.kind,
        "device": settings.device,
        "model": settings.model,
        "width": settings.size[0],
        "height": settings.size[1],
        "rate": settings.rate,
        "field-of-view": settings.field_of_view,
        "fd": fd,
    }
    if settings.domain is not None:
        words["domain"] = settings.domain
    python = settings.python or sys.executable
    options = [f"--{name}={value}" for name, value in words.items()]
    return [python, "-m", "paprle.hardware.hand", *options]


def _let_go(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(_JOIN)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _find_last_words(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else "it ended"
