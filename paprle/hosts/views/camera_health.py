"""Health of a camera, judged by its images."""

from __future__ import annotations

import zlib
from collections import deque
from enum import Enum
from typing import NamedTuple

from paprle.contracts.images import CameraInfo, Frame

LATE = 2.0  # [periods] asked for: seen within two frame periods
_FIRST_NS = (
    3_000_000_000  # [ns] chosen: a sensor that was just opened may take this long
)
_SLOW = 1.3  # chosen: 30 Hz that come as 25 are jitter and light, 20 are not
_OVER = 15  # [images] chosen: half a second of them tells a rate that wavers
_LATE_NS = 150_000_000  # [ns] chosen: a busy machine delays an image, but not several
_N_LATE = 2  # [images] one late image is jitter
_WELL_NS = 1_000_000_000  # [ns] chosen: told to be well again after so long


class CameraState(Enum):
    """Health of a camera, as named in recordings."""

    STARTING = "starting"
    OK = "ok"
    SLOW = "slow"
    SILENT = "silent"
    FROZEN = "frozen"
    GONE = "gone"


NO_IMAGE = {CameraState.SILENT, CameraState.FROZEN, CameraState.GONE}
"""In these there is no image that anybody may take for the newest."""


class Change(NamedTuple):
    """A change of health, with a message."""

    state: CameraState
    text: str


class Health:
    """Health of one camera."""

    def __init__(self, info: CameraInfo, now_ns: int, *, is_back: bool = False) -> None:
        """Start with an opened camera; ``is_back``: it was gone."""
        self.state = CameraState.STARTING
        self.n_refused = self.n_repeated = self.n_faults = 0
        self._info = info
        self._period_ns = round(1e9 / info.fps)
        self._began_ns = now_ns
        self._arrivals: deque[int] = deque(maxlen=_OVER)
        self._arrived_ns = self._stamp_ns = 0
        self._n_late = self._late_ns = 0  # images in a row that came late, and how long
        self._digest: int | None = None
        self._ill_ns = 0
        self._told = CameraState.GONE if is_back else CameraState.OK
        self._changes: list[Change] = []

    def accept(self, frame: Frame, now_ns: int) -> bool:
        """Return whether an image is as declared and newer."""
        fault = self._info.find_fault(frame)
        if not fault and frame.stamp_ns <= self._stamp_ns:
            fault = "expected stamps that rise, got one that does not"
        if fault:
            self.n_refused += 1
            if self.n_refused == 1:
                self._changes.append(Change(self.state, fault))
            return False
        self._stamp_ns = frame.stamp_ns
        if self._info.is_noisy:
            digest = zlib.crc32(frame.data)
            if digest == self._digest:
                self.n_repeated += 1
                text = "gives the same image again and again: is it covered, or hung?"
                self._become(CameraState.FROZEN, text, now_ns)
                self._arrived_ns = now_ns
                return False
            self._digest = digest
        self._arrivals.append(now_ns)
        spacing, self._arrived_ns = now_ns - self._arrived_ns, now_ns
        self._judge_rate(spacing, now_ns)
        return True

    def begin(self, now_ns: int) -> None:
        """Note that the device was opened again."""
        if self.state is CameraState.GONE:
            self.state = CameraState.SILENT
        self._began_ns = now_ns

    def lose(self, why: str, now_ns: int) -> None:
        """Note that the device is gone."""
        self._become(CameraState.GONE, why, now_ns)

    def look(self, now_ns: int) -> list[Change]:
        """Return new reports; due after ``find_nap``."""
        is_waiting = self.state in {CameraState.OK, CameraState.SLOW}
        if is_waiting and now_ns - self._arrived_ns > LATE * self._period_ns:
            age = (now_ns - self._arrived_ns) * 1e-6
            self._become(CameraState.SILENT, f"no image for {age:.0f} ms", now_ns)
        if self.state is CameraState.STARTING and now_ns - self._began_ns > _FIRST_NS:
            self._become(CameraState.SILENT, "no image since it was opened", now_ns)
        taken, self._changes = self._changes, []
        return taken

    def find_nap(self, now_ns: int) -> float:
        """Return the time until silence would show, [s]."""
        nap_ns = self._period_ns // 2
        left_ns = self._arrived_ns + round(LATE * self._period_ns) - now_ns
        if self.state in {CameraState.OK, CameraState.SLOW} and left_ns >= 0:
            nap_ns = min(nap_ns, left_ns + 1)
        return nap_ns * 1e-9

    def _judge_rate(self, spacing_ns: int, now_ns: int) -> None:
        if spacing_ns > _SLOW * self._period_ns and len(self._arrivals) > 1:
            self._n_late, self._late_ns = self._n_late + 1, self._late_ns + spacing_ns
        else:
            self._n_late = self._late_ns = 0
        mean_ns = self._average()
        if mean_ns > _SLOW * self._period_ns:
            rate, asked = 1e9 / mean_ns, self._info.fps
            self._become(CameraState.SLOW, f"{rate:.1f} of {asked:g} images/s", now_ns)
        elif self.state is CameraState.STARTING or now_ns - self._ill_ns > _WELL_NS:
            self._become(CameraState.OK, "gives images again", now_ns)
        elif self.state in NO_IMAGE:
            self.state = (
                CameraState.SLOW
            )  # images come; it is told once they keep coming

    def _average(self) -> float:
        # 0 where they are too few to tell.
        if self._n_late >= _N_LATE and self._late_ns > _LATE_NS:
            return self._late_ns / self._n_late
        if len(self._arrivals) < _OVER:
            return 0.0
        return (self._arrivals[-1] - self._arrivals[0]) / (_OVER - 1)

    def _become(self, state: CameraState, text: str, now_ns: int) -> None:
        if state is not CameraState.OK:
            self._ill_ns = now_ns
        if state is self.state:
            return
        self.state = state
        self.n_faults += state is not CameraState.OK
        if state in NO_IMAGE:
            self._arrivals.clear()
        if state is not self._told:
            self._told = state
            self._changes.append(Change(state, text))
