"""Markers in a picture, with OpenCV."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.advisors.markers.config import MarkersConfig
from paprle.contracts.images import CameraInfo
from paprle.contracts.types import Vec

Grey = npt.NDArray[np.uint8]

_FAMILIES = {
    "apriltag_16h5": cv2.aruco.DICT_APRILTAG_16h5,
    "apriltag_25h9": cv2.aruco.DICT_APRILTAG_25h9,
    "apriltag_36h11": cv2.aruco.DICT_APRILTAG_36h11,
    "aruco_4x4_50": cv2.aruco.DICT_4X4_50,
    "aruco_5x5_50": cv2.aruco.DICT_5X5_50,
    "aruco_6x6_50": cv2.aruco.DICT_6X6_50,
}


class Detector:
    """Detector of one family and size for one camera."""

    def __init__(self, config: MarkersConfig) -> None:
        self._config = config
        rotation = pin.rpy.rpyToMatrix(*config.rpy)
        self._T_world_cam = pin.SE3(rotation, np.array(config.xyz))
        parameters = cv2.aruco.DetectorParameters()
        parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
        family = cv2.aruco.getPredefinedDictionary(_FAMILIES[config.family])
        self._detector = cv2.aruco.ArucoDetector(family, parameters)
        half = config.size / 2.0
        # the order of the detector's corners: clockwise from the top left
        self._corners = np.array(
            [[-half, half, 0], [half, half, 0], [half, -half, 0], [-half, -half, 0]]
        )

    def read(self, path: Path) -> dict[int, pin.SE3]:
        """Return T_world_marker by id.

        Raises:
            OSError: If the file cannot be read.
            ValueError: If it holds no picture.
        """
        data = np.frombuffer(path.read_bytes(), dtype=np.uint8)
        picture = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if data.size else None
        if picture is None:
            raise ValueError(f"{path}: expected a picture, got {data.size} other bytes")
        K = self._make_K(picture.shape[1], picture.shape[0])
        return self._find(picture, K, self._T_world_cam)

    def find(
        self, data: bytes, info: CameraInfo, T_world_cam: pin.SE3
    ) -> dict[int, pin.SE3]:
        """Return T_world_marker by id in an encoded image.

        Raises:
            ValueError: If it is no image.
        """
        row = np.frombuffer(data, dtype=np.uint8)
        n = info.width * info.height
        picture = None
        if info.encoding == "mono8" and row.size == n:
            picture = row.reshape(info.height, info.width)
        elif info.encoding == "rgb8" and row.size == 3 * n:
            colours = row.reshape(info.height, info.width, 3)
            picture = cv2.cvtColor(colours, cv2.COLOR_RGB2GRAY)
        elif info.encoding in {"jpeg", "png"} and row.size:
            picture = cv2.imdecode(row, cv2.IMREAD_GRAYSCALE)
        if picture is None:
            raise ValueError(f"expected {info.encoding}, got {row.size} other bytes")
        return self._find(picture, info.K, T_world_cam)

    def _find(self, picture: Grey, K: Vec, T_world_cam: pin.SE3) -> dict[int, pin.SE3]:
        corners, ids, _ = self._detector.detectMarkers(picture)
        if ids is None:
            return {}
        found = zip(ids.ravel().tolist(), corners, strict=True)
        return {
            number: T_world_cam * self._place(row.reshape(4, 2), K)
            for number, row in found
        }

    def _make_K(self, width: int, height: int) -> Vec:
        (fx, fy), centre = self._config.focal, self._config.centre
        cx, cy = centre or ((width - 1) / 2.0, (height - 1) / 2.0)
        return np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]])

    def _place(self, corners: Vec, K: Vec) -> pin.SE3:
        _, turn, shift = cv2.solvePnP(
            self._corners,
            corners.astype(np.float64),
            K,
            None,
            flags=cv2.SOLVEPNP_IPPE_SQUARE,
        )
        return pin.SE3(pin.exp3(turn.ravel()), shift.ravel())
