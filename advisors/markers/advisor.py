"""The advisor: markers of a file, told again whenever it is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from advisors.markers.config import MarkersConfig
from advisors.markers.listed import read_poses
from paprle.contracts.errors import DeviceError, MissingDependency
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

N_MARKERS = 8
"""How many markers a record has room for."""

ADVICE = make_advice_dtype(
    ("id", "i4", (N_MARKERS,)),  # −1: none
    ("pose", "f8", (N_MARKERS, 7)),  # T_world_marker, xyz + quat_xyzw; NaN: none
    ("seen_ns", "i8", (N_MARKERS,)),  # when each was seen
)

Read = Callable[[Path], dict[int, pin.SE3]]
"""Returns T_world_marker by id; raises ValueError or OSError when it cannot."""


class _Seen(NamedTuple):
    """What a file held when it was read last."""

    version: tuple[int, int]
    stamp_ns: int
    markers: Mapping[int, pin.SE3]


class Markers(Advisor):
    """Tells where markers are in the robot's world.

    The axes of a marker, seen from its front: x to the right, y up, z towards whoever
    looks.
    """

    config: MarkersConfig

    def __init__(
        self,
        config: MarkersConfig,
        robot: RobotInfo,
        cameras: Mapping[str, CameraInfo],
        clock: Clock,
    ) -> None:
        super().__init__(config, robot, cameras, clock)
        self._read: Read | None = None
        self._seen: _Seen | None = None
        self._warnings: list[str] = []
        self._complaint = ""

    @property
    def advice(self) -> np.dtype[np.void]:
        """Ids and poses of up to eight markers."""
        return ADVICE

    def open(self) -> None:
        """Read the file for the first time.

        Raises:
            DeviceError: If there is none, or it holds no picture or list.
            MissingDependency: If OpenCV is not there.
        """
        self._seen, self._complaint = None, ""
        self._warnings.clear()
        self._read = read_poses if self.config.poses else self._load_detector()
        try:
            self._look()
        except (OSError, ValueError) as err:
            self.close()
            raise DeviceError(f"advisors.markers: {err}") from err

    def advise(
        self,
        view: SessionView,  # noqa: ARG002 - markers stand where they stand
        frames: Mapping[str, Frame],  # noqa: ARG002 - it has a file
    ) -> Record | None:
        """Return what the file holds; advice without markers is not valid."""
        if self._read is None:
            return None
        try:
            seen = self._look()
            self._complaint = ""
        except (OSError, ValueError) as err:
            self._complain(f"advisors.markers: {err}")
            return self._make(_Seen((0, 0), self.clock(), {}))
        return self._make(seen)

    def close(self) -> None:
        """Forget the file; may be called twice."""
        self._read = self._seen = None

    def take_warnings(self) -> list[str]:
        """Return what was wrong with the file since the last call."""
        taken, self._warnings = self._warnings, []
        return taken

    def _load_detector(self) -> Read:
        try:
            from advisors.markers.picture import Detector  # noqa: PLC0415 - an SDK
        except ModuleNotFoundError as err:
            if err.name != "cv2":
                raise
            raise MissingDependency(
                "advisors.markers: expected the package 'opencv-python-headless', got "
                "none; install it with: pip install 'paprle[markers]'"
            ) from err
        return Detector(self.config).read

    def _look(self) -> _Seen:
        """Read the file, where it is not the one that was read last."""
        path = Path(self.config.picture or self.config.poses or "")
        status = path.stat()
        version = (status.st_mtime_ns, status.st_size)
        if self._seen is None or self._seen.version != version:
            markers = {} if self._read is None else self._read(path)
            self._seen = _Seen(version, self.clock(), markers)
            if len(markers) > N_MARKERS:
                self._complain(
                    f"advisors.markers: expected at most {N_MARKERS} markers, got "
                    f"{len(markers)} in '{path}'; those of the lowest ids are told"
                )
        return self._seen

    def _make(self, seen: _Seen) -> Record:
        record = self.make_advice(seen.stamp_ns, valid=bool(seen.markers))
        record["id"], record["pose"] = -1, np.nan
        for row, number in enumerate(sorted(seen.markers)[:N_MARKERS]):
            record["id"][row] = number
            record["pose"][row] = pin.SE3ToXYZQUAT(seen.markers[number])
            record["seen_ns"][row] = seen.stamp_ns
        return record

    def _complain(self, text: str) -> None:
        """Say it once, until something else is wrong or all is well."""
        if text != self._complaint:
            self._complaint = text
            self._warnings.append(text)
