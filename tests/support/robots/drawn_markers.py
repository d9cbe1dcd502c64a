"""Markers of a table, drawn as a camera above it sees them, by projection."""

import math

import numpy as np
import pinocchio as pin
import pytest

cv2 = pytest.importorskip("cv2")

WIDTH, HEIGHT, FOCAL, SIZE = 1280, 960, (1000.0, 1010.0), 0.08
K = np.array([[FOCAL[0], 0, 652.5], [0, FOCAL[1], 470.0], [0, 0, 1]])
CAMERA = {"xyz": (0.3, -0.2, 1.1), "rpy": (math.pi - 0.3, 0.2, -0.5)}
T_WORLD_CAM = pin.SE3(pin.rpy.rpyToMatrix(*CAMERA["rpy"]), np.array(CAMERA["xyz"]))
SCALE = 4  # drawn this much larger and then averaged, as a lens does


def facing(x, y, z, roll, pitch, yaw):
    """T_cam_marker of one that faces the camera, but for some turns."""
    R = pin.rpy.rpyToMatrix(math.pi, 0.0, 0.0) @ pin.rpy.rpyToMatrix(roll, pitch, yaw)
    return pin.SE3(R, np.array([x, y, z]))


PLACED = {
    3: facing(-0.12, 0.05, 0.5, 0.3, -0.2, 0.1),
    17: facing(0.15, -0.06, 0.6, -0.35, 0.25, 2.0),
    40: facing(0.02, 0.12, 0.55, 0.1, 0.5, -1.0),
}


def project(placed, family="DICT_APRILTAG_36h11"):
    """Return a picture of markers at T_cam_marker, by id, shape (HEIGHT, WIDTH)."""
    scale = np.diag([SCALE, SCALE, 1.0])
    scale[:2, 2] = (SCALE - 1) / 2.0  # a pixel's centre has whole numbers
    picture = np.full((HEIGHT * SCALE, WIDTH * SCALE), 255, np.uint8)
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, family))
    for number, T in placed.items():
        n = 400
        texture = cv2.aruco.generateImageMarker(dictionary, number, n)
        edge = SIZE / n
        to_marker = np.array(
            [
                [edge, 0, 0.5 * edge - SIZE / 2],
                [0, -edge, SIZE / 2 - 0.5 * edge],
                [0, 0, 1],
            ]
        )
        R = T.rotation
        H = scale @ K @ np.column_stack([R[:, 0], R[:, 1], T.translation]) @ to_marker
        cv2.warpPerspective(
            texture, H, (WIDTH * SCALE, HEIGHT * SCALE), picture,
            flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_TRANSPARENT,
        )  # fmt: skip
    return cv2.resize(picture, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA)
