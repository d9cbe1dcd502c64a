"""Time limits for the end of processes (K4): 5 s in all after Ctrl-C.

Parking adds its own, a leader's arm that sinks without torque 2.5 s.
"""

from __future__ import annotations

import time

from paprle.hosts.roles import CAMERA, GATE, RECORDER, RoleSpec
from paprle.hosts.supervisor import Children
from paprle.ipc.ports import split_name
from paprle.ipc.records import Record

_BRAKING = 5.0  # [s] chosen: braking and closing the episode; a park adds its own
_SILENT_NS = 1_000_000_000  # [ns] chosen: such a gate brakes nothing any more
_STOPPED = 0.5  # [s] chosen: it may be resumed in this moment
_MUTE = 3.0  # [s] chosen: for a gate that says nothing; with its silence, 4 s
_ALL = 4.0  # [s] chosen: for all that neither moves the robot nor writes
_LEAST = 0.3  # [s] chosen: any healthy process ends in that time


class Shutdown:
    """Timer of a session's end."""

    def __init__(self, children: Children, park_time: float) -> None:
        """Start the timer; ``park_time``, [s], is added."""
        self._children, self._begin = children, time.monotonic()
        self._braking = _BRAKING + park_time

    @property
    def _elapsed(self) -> float:
        return time.monotonic() - self._begin

    def find_status(self) -> Record | None:
        """Return the gate's status; None if gone, silent or out of time."""
        status = self._children.box("status").read()
        is_late = self._elapsed > self._braking
        if status is None or is_late or not self._children.is_alive(GATE):
            return None
        return None if self._is_silent(status) else status

    def give_time(self, spec: RoleSpec) -> float:
        """Return the time left for a process to end, [s]."""
        kind, _ = split_name(spec.name)
        if self._children.is_stopped(spec.name):
            return _STOPPED
        if kind == GATE:
            status = self._children.box("status").read()
            is_silent = status is not None and self._is_silent(status)
            return min(spec.shutdown, _MUTE) if is_silent else spec.shutdown
        if kind in {RECORDER, CAMERA} or spec.is_left_slowly:
            return spec.shutdown
        return min(spec.shutdown, max(_ALL - self._elapsed, _LEAST))

    @staticmethod
    def _is_silent(status: Record) -> bool:
        return time.monotonic_ns() - int(status["stamp_ns"]) > _SILENT_NS
