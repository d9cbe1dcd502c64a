"""A drawn board: the corners are where OpenCV projects them to, by the true rig."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from paprle.cameras.drawn_board.camera import DrawnBoard
from paprle.cameras.drawn_board.config import DrawnBoardConfig, TrueSettings
from paprle.config import resolve
from paprle.contracts.errors import DeviceError
from paprle.contracts.images import RobotPose
from paprle.contracts.settings.camera import PoseSettings
from paprle.hosts.plan import make_robot
from paprle.testing import CameraContract, ManualClock

cv2 = pytest.importorskip("cv2")

ROBOT = make_robot(
    resolve(["leader=autopilot", "follower=piper", "env=kinematic"])
).info
BOARD = PoseSettings(xyz=(-0.1, -0.07, 0.45), rpy_xyz_extrinsic=(0.2, -0.3, 0.1))
TRUE = TrueSettings(
    focal=(610.0, 615.0),
    centre=(325.0, 236.0),
    distortion=(-0.15, 0.05, 5e-4, -4e-4, 0.0),
    T_link_board=BOARD,
)


def make(clock, true=TRUE, **fields):
    camera = DrawnBoard(DrawnBoardConfig(true=true, **fields), clock)
    camera.watch(ROBOT, {}, lambda: RobotPose(clock(), ROBOT.home, {}))
    return camera


class TestDrawnBoard(CameraContract):
    def make_camera(self, clock):
        return make(clock)


def take(camera, clock):
    camera.open()
    clock.advance(0.1)
    frame = camera.grab(1.0)
    camera.close()
    return np.frombuffer(frame.data, np.uint8).reshape(480, 640, 3)[:, :, 0].copy()


def test_corners_are_where_opencv_projects_them():
    clock = ManualClock()

    picture = take(make(clock), clock)

    family = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    board = cv2.aruco.CharucoBoard((7, 5), 0.03, 0.022, family)
    corners, ids, _, _ = cv2.aruco.CharucoDetector(board).detectBoard(picture)
    p_board = board.getChessboardCorners()[ids.ravel()].astype(float)
    T = BOARD.to_se3()
    K = np.array([[610.0, 0, 325.0], [0, 615.0, 236.0], [0, 0, 1]])
    expected, _ = cv2.projectPoints(
        p_board, pin.log3(T.rotation), T.translation, K, np.array(TRUE.distortion)
    )
    off = np.linalg.norm((corners - expected).reshape(-1, 2), axis=1)
    assert len(off) == 24
    assert off.max() < 0.35


def test_a_board_from_behind_is_grey():
    turned = PoseSettings(xyz=(0.1, -0.07, 0.45), rpy_xyz_extrinsic=(0.0, 3.14159, 0.0))
    clock = ManualClock()

    picture = take(make(clock, TrueSettings(T_link_board=turned)), clock)

    assert np.ptp(picture) == 0


def test_joints_follow_within_their_play():
    camera = make(ManualClock(), TrueSettings(play=0.02))
    q = np.zeros(3)

    ways = [camera._play(q + step)[0] for step in (0.0, 0.005, 0.03, 0.025, 0.0)]

    assert ways == pytest.approx([0.0, 0.0, 0.02, 0.02, 0.01])


def test_a_link_that_is_not_there_is_refused():
    camera = make(ManualClock(), TrueSettings(camera_link="nose"))

    with pytest.raises(DeviceError, match="expected a link of the robot, got 'nose'"):
        camera.open()
