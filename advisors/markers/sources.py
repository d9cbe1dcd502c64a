"""Sources of markers: a file, or a camera's images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pinocchio as pin

from paprle.contracts.images import CameraInfo, Frame
from paprle.contracts.plugins import Clock
from paprle.contracts.session_view import SessionView
from paprle.contracts.types import RobotInfo
from paprle.contracts.urdf.link_poses import LinkPoses

Read = Callable[[Path], dict[int, pin.SE3]]
"""Returns T_world_marker by id; raises ValueError or OSError when it cannot."""

Find = Callable[[bytes, CameraInfo, pin.SE3], dict[int, pin.SE3]]
"""Likewise, of the bytes of an image, what it is, and T_world_cam."""


class Sighting(NamedTuple):
    """Pose of a marker, T_world_marker, and its time, [ns]."""

    T: pin.SE3
    seen_ns: int


class KnownMarkers(NamedTuple):
    """Known markers.

    Attributes:
        stamp_ns: Of the source, [ns].
        fault: Empty without a fault.
    """

    stamp_ns: int
    markers: Mapping[int, Sighting]
    fault: str = ""


class MarkerSource(Protocol):
    """A source of markers."""

    def look(self, view: SessionView, frames: Mapping[str, Frame]) -> KnownMarkers:
        """Return the known markers."""


class FileSource:
    """A file, reloaded on change."""

    def __init__(self, path: Path, read: Read, clock: Clock) -> None:
        self._path, self._read, self._clock = path, read, clock
        self._version = (0, 0)
        self._seen = KnownMarkers(0, {})

    def load(self) -> KnownMarkers:
        """Return the file's markers."""
        try:
            status = self._path.stat()
            version = (status.st_mtime_ns, status.st_size)
            if version != self._version:
                now_ns = self._clock()
                found = self._read(self._path)
                markers = {n: Sighting(T, now_ns) for n, T in found.items()}
                self._seen, self._version = KnownMarkers(now_ns, markers), version
        except (OSError, ValueError) as err:
            self._version = (0, 0)
            return KnownMarkers(self._clock(), {}, str(err))
        return self._seen

    def look(
        self,
        view: SessionView,  # noqa: ARG002 - markers stand where they stand
        frames: Mapping[str, Frame],  # noqa: ARG002 - it has a file
    ) -> KnownMarkers:
        """Return the file's markers."""
        return self.load()


class CameraSource:
    """A camera; hidden markers count for a while."""

    def __init__(
        self, name: str, info: CameraInfo, robot: RobotInfo, find: Find, keep: float
    ) -> None:
        """Raise ValueError for an unreadable URDF."""
        self._name, self._info, self._find = name, info, find
        self._links = LinkPoses(robot) if info.link else None
        self._keep_ns = round(keep * 1e9)
        self._stamp_ns, self._fault = 0, ""
        self._markers: dict[int, Sighting] = {}

    def look(self, view: SessionView, frames: Mapping[str, Frame]) -> KnownMarkers:
        """Search a new image; return recent markers."""
        frame = frames.get(self._name)
        if frame is not None and frame.stamp_ns != self._stamp_ns:
            self._stamp_ns = frame.stamp_ns
            self._search(frame, view)
        oldest_ns = view.stamp_ns - self._keep_ns
        self._markers = {
            n: one for n, one in self._markers.items() if one.seen_ns >= oldest_ns
        }
        return KnownMarkers(self._stamp_ns, self._markers, self._fault)

    def _search(self, frame: Frame, view: SessionView) -> None:
        T_world_cam = self._info.T_link_cam
        if self._links is not None:
            if not np.isfinite(view.q).all():
                return
            self._links.update(view.q)
            T_world_cam = self._links.place(self._info.link) * T_world_cam
        try:
            found = self._find(frame.data, self._info, T_world_cam)
        except ValueError as err:
            self._fault = f"camera '{self._name}': {err}"
            return
        self._fault = ""
        for number, T in found.items():
            self._markers[number] = Sighting(T, frame.stamp_ns)
