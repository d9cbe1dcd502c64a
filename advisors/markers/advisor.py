"""Advisor: markers of a file or a camera."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from paprle.advisors.markers.config import MarkersConfig
from paprle.advisors.markers.listed import read_poses
from paprle.advisors.markers.sources import (
    CameraSource,
    FileSource,
    KnownMarkers,
    MarkerSource,
)
from paprle.contracts.errors import ConfigError, DeviceError, MissingDependency
from paprle.contracts.images import EXACT
from paprle.contracts.plugins import (
    Advisor,
    CameraInfo,
    Clock,
    Frame,
    Record,
    SessionView,
    make_advice_dtype,
)
from paprle.contracts.types import RobotInfo

if TYPE_CHECKING:
    from paprle.advisors.markers.picture import Detector

N_MARKERS = 8
"""Most markers in a record."""

ADVICE = make_advice_dtype(
    ("id", "i4", (N_MARKERS,)),  # −1: none
    ("pose", "f8", (N_MARKERS, 7)),  # T_world_marker, xyz + quat_xyzw; NaN: none
    ("seen_ns", "i8", (N_MARKERS,)),  # when each was seen
)


class Markers(Advisor):
    """Poses of markers in the robot's world.

    Marker axes, seen from the front: x right, y up, z towards the viewer.
    """

    config: MarkersConfig

    def __init__(
        self,
        config: MarkersConfig,
        robot: RobotInfo,
        cameras: Mapping[str, CameraInfo],
        clock: Clock,
    ) -> None:
        """Raise ConfigError for a missing or uncalibrated camera."""
        super().__init__(config, robot, cameras, clock)
        if config.camera is not None:
            _check_camera(config.camera, cameras)
        self._source: MarkerSource | None = None
        self._warnings: list[str] = []
        self._complaint = ""

    @property
    def advice(self) -> np.dtype[np.void]:
        """Ids and poses of up to eight markers."""
        return ADVICE

    def open(self) -> None:
        """Read the file, or place the camera.

        Raises:
            DeviceError: If the file is missing or invalid.
            MissingDependency: Without OpenCV.
        """
        self._complaint = ""
        self._warnings.clear()
        self._source = self._make_source()

    def advise(self, view: SessionView, frames: Mapping[str, Frame]) -> Record | None:
        """Return the known markers; invalid without any."""
        if self._source is None:
            return None
        seen = self._source.look(view, frames)
        n = len(seen.markers)
        too_many = (
            f"expected at most {N_MARKERS} markers, got {n}; those of the lowest ids "
            "are told"
            if n > N_MARKERS
            else ""
        )
        self._complain(seen.fault or too_many)
        return self._make(seen)

    def close(self) -> None:
        """Forget the markers; may be called twice."""
        self._source = None

    def take_warnings(self) -> list[str]:
        """Return new problems."""
        taken, self._warnings = self._warnings, []
        return taken

    def _make_source(self) -> MarkerSource:
        c = self.config
        if c.camera is not None:
            find = self._load_detector().find
            try:
                info = self.cameras[c.camera]
                return CameraSource(c.camera, info, self.robot, find, c.keep)
            except ValueError as err:
                raise DeviceError(f"advisors.markers: {err}") from err
        read = read_poses if c.poses else self._load_detector().read
        file = FileSource(Path(c.picture or c.poses or ""), read, self.clock)
        if fault := file.load().fault:
            raise DeviceError(f"advisors.markers: {fault}")
        return file

    def _load_detector(self) -> Detector:
        try:
            from paprle.advisors.markers.picture import Detector  # noqa: PLC0415 - an SDK
        except ModuleNotFoundError as err:
            if err.name != "cv2":
                raise
            raise MissingDependency(
                "advisors.markers: expected the package 'opencv-python-headless', got "
                "none; install it with: pip install 'paprle[cameras]'"
            ) from err
        return Detector(self.config)

    def _make(self, seen: KnownMarkers) -> Record:
        record = self.make_advice(seen.stamp_ns, valid=bool(seen.markers))
        record["id"], record["pose"] = -1, np.nan
        for row, number in enumerate(sorted(seen.markers)[:N_MARKERS]):
            one = seen.markers[number]
            record["id"][row] = number
            record["pose"][row] = pin.SE3ToXYZQUAT(one.T)
            record["seen_ns"][row] = one.seen_ns
        return record

    def _complain(self, text: str) -> None:
        if text and text != self._complaint:
            self._warnings.append(f"advisors.markers: {text}")
        self._complaint = text


def _check_camera(name: str, cameras: Mapping[str, CameraInfo]) -> None:
    info = cameras.get(name)
    if info is None:
        known = ", ".join(cameras) or "none"
        wrong = f"expected a camera of the session ({known}), got '{name}'"
    elif not np.isfinite(info.K).all():
        wrong = f"expected a calibrated camera, got '{name}'; set its focal"
    elif info.encoding in EXACT:
        wrong = f"expected a camera of pictures, got '{name}' of {info.encoding}"
    else:
        return
    raise ConfigError(f"advisors.markers.camera: {wrong}")
