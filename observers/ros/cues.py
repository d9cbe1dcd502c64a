"""Motion cues as RViz markers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pinocchio as pin

from paprle.contracts.kit.motion_cues import (
    COLOURS,
    CueReader,
    CueRole,
    CueSettings,
    MotionCue,
)
from paprle.contracts.plugins import SessionView
from paprle.contracts.types import RobotInfo, Vec
from paprle.hardware.ros.bus import Bus
from paprle.hardware.ros.telemetry import (
    ARROW,
    LINES,
    MARKERS,
    SPHERES,
    STRIP,
    Marker,
    encode_markers,
)
from paprle.observers.ros.frames import Frames

_SHAFT, _HEAD, _HEAD_LENGTH = 0.012, 0.03, 0.03  # [m] chosen: seen beside a finger
_LINE, _DOT, _AXIS = 0.006, 0.02, 0.06  # [m] chosen: likewise
_NONE = np.zeros((0, 3))


class CueSender:
    """Sends all cues as one MarkerArray."""

    def __init__(
        self,
        bus: Bus,
        topic: str,
        robot: RobotInfo,
        frames: Frames,
        settings: CueSettings,
    ) -> None:
        self._publisher = bus.advertise(topic, MARKERS)
        self._codec, self._frames, self._settings = bus.codec, frames, settings
        is_fixed = settings.attached == "world"
        self._eefs = {limb.name: limb.eef_link for limb in robot.limbs}
        self._readers = {
            name: CueReader(name, is_fixed=is_fixed) for name in self._eefs
        }

    def send(
        self, view: SessionView, frame_id: str, date: Callable[[int], int]
    ) -> None:
        """Send a view's cues in the world frame; ``date`` returns wall time, [ns]."""
        self._frames.update(view.q)
        markers: list[Marker] = []
        for name, link in self._eefs.items():
            cues = self._readers[name].read(view, self._frames.place(link))
            told = {cue.role: cue for cue in cues}
            for role in COLOURS:
                markers += self._make_markers(f"{name}/{role}", role, told.get(role))
        stamp_ns = date(view.measured_ns)
        self._publisher.publish(
            encode_markers(self._codec, frame_id, markers, stamp_ns)
        )

    def _make_markers(
        self, name: str, role: CueRole, cue: MotionCue | None
    ) -> Iterator[Marker]:
        s, colour = self._settings, COLOURS[role]
        arrow = cue.arrow if cue is not None and s.arrows else _NONE
        arc = cue.arc if cue is not None and s.arrows else _NONE
        dots = cue.path[1:, :3] if cue is not None and s.waypoints else _NONE
        ghost = _make_axes(cue.path[-1]) if cue is not None and s.ghost else _NONE
        size = np.array([_SHAFT, _HEAD, _HEAD_LENGTH])
        yield Marker(f"{name}/way", ARROW, arrow, size, colour)
        yield Marker(f"{name}/turn", STRIP, arc, np.full(3, _LINE), colour)
        yield Marker(f"{name}/tip", ARROW, arc[-2:], size, colour)
        yield Marker(f"{name}/waypoints", SPHERES, dots, np.full(3, _DOT), colour)
        yield Marker(f"{name}/ghost", LINES, ghost, np.full(3, _LINE), colour)


def _make_axes(pose: Vec) -> Vec:
    """Return the lines of a pose's axes, (6, 3)."""
    T = pin.XYZQUATToSE3(pose)
    ends = T.translation + _AXIS * T.rotation.T
    return np.stack([np.tile(T.translation, (3, 1)), ends], axis=1).reshape(6, 3)
