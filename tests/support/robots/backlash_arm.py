"""Arms whose joints have backlash, driven on the ways that a calibration takes.

A play operator of each joint stands between motor and output (Visintin, *Differential
Models of Hysteresis*, 1994); sensors are at the motors. Links are pinocchio's by the
URDF, apart from the chains of the product.
"""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
from calibration_rigs import PLAY, ROOT, SIZE, SimulatedRig

from paprle.contracts.images import CameraInfo
from paprle.robot import RobotModel
from paprle_lab.calibration.board import FoundBoard, average_boards
from paprle_lab.calibration.camera_run import CameraRun, CameraTask
from paprle_lab.calibration.eye import IMAGES, SearchedImage

_STEP = 0.01  # [rad] chosen: of a way; the side of gravity is looked at in each
_FRICTION = 0.2  # [N m] chosen: of a bearing; below it gravity takes up no play
_NAP = 0.005  # [s] chosen: leaves the processor to what is computed meanwhile
INFO = CameraInfo(
    width=SIZE[0],
    height=SIZE[1],
    fps=30.0,
    encoding="rgb8",
    K=np.full((3, 3), np.nan),
    link="",
    T_link_cam=pin.SE3.Identity(),
)


class BacklashArm:
    """Motors and outputs of one limb.

    Where gravity's torque exceeds the friction of a bearing, it holds the output at its
    side of the play; elsewhere, and with ``is_heavy=False``, the way alone decides.
    """

    def __init__(self, follower, rng, *, is_heavy=True, play=PLAY):
        self.robot = RobotModel.from_yaml(ROOT / f"configs/follower/{follower}.yaml")
        self.limb = limb = next(iter(self.robot.limbs.values()))
        self._model = pin.buildModelFromUrdf(str(self.robot.info.urdf_path))
        self._data = self._model.createData()
        ids = [self._model.getJointId(name) for name in limb.joint_names]
        self._at = np.array([self._model.joints[k].idx_q for k in ids])
        self._frames = [
            self._model.getFrameId(link) for link in (limb.base_link, limb.eef_link)
        ]
        self.half, self._is_heavy = 0.5 * play, is_heavy
        self.q_motor = limb.home.copy()
        self.q_out = self.q_motor + rng.uniform(-self.half, self.half, len(ids))

    @property
    def T_base_eef(self):
        """Where the outputs put the hand."""
        pin.framesForwardKinematics(self._model, self._data, self._spread(self.q_out))
        T_base, T_eef = (self._data.oMf[frame] for frame in self._frames)
        return T_base.inverse() * T_eef

    def drive(self, q):
        """Move the motors on a straight way, the outputs behind them."""
        n = max(1, int(np.ceil(np.abs(q - self.q_motor).max() / _STEP)))
        for motor in np.linspace(self.q_motor, q, n + 1)[1:]:
            low, high = motor - self.half, motor + self.half
            self.q_out = np.clip(self.q_out, low, high)
            if self._is_heavy:
                pull = self.find_pull(motor)
                self.q_out = np.where(pull > _FRICTION, high, self.q_out)
                self.q_out = np.where(pull < -_FRICTION, low, self.q_out)
        self.q_motor = np.array(q)

    def find_pull(self, q):
        """Return gravity's torques on the joints, [N m]."""
        tau = pin.computeGeneralizedGravity(self._model, self._data, self._spread(q))
        return -tau[self._at]

    def _spread(self, q):
        whole = pin.neutral(self._model)
        whole[self._at] = q
        return whole


def choose_start(arm, rng):
    """Return a free posture in the middle of the joints' ranges."""
    limb, robot = arm.limb, arm.robot
    low, high = np.maximum(limb.q_min, -2.5), np.minimum(limb.q_max, 2.5)
    while True:
        q = 0.5 * (low + high) + rng.uniform(-0.15, 0.15, len(low)) * (high - low)
        if robot.find_collision(limb.put(np.array(robot.info.home), q)) is None:
            return q


class DrivenScene(SimulatedRig):
    """Camera and board of an arm that begins where nothing collides."""

    def __init__(self, arm, follower, mounting, seed, lens=None):
        self._arm = arm
        super().__init__(follower, mounting, seed, lens=lens)

    def _choose_posture(self):
        return choose_start(self._arm, self.rng)


class DrivenRig:
    """In place of an ``AcceptanceRig``; motions take no time."""

    trouble = held = ""

    def __init__(self, arm):
        self.arm, self.robot = arm, arm.robot
        self.n_periods, self._n_moves = 1, 0

    @property
    def q(self):
        return self.arm.limb.put(np.array(self.robot.info.home), self.arm.q_motor)

    @property
    def speed(self):
        return np.zeros(1)

    def list_motion(self, _first):
        return SimpleNamespace(t=[1e-9 * self._n_moves])

    def look(self, _duration):
        time.sleep(_NAP)

    stand = look

    def go(self, q):
        self.arm.drive(self.arm.limb.take(q))
        self._n_moves += 1
        return True


class DrawnEye:
    """In place of an ``Eye``; ``lags`` are those of motors in each view."""

    def __init__(self, scene, arm):
        self._scene, self._arm, self.lags = scene, arm, []

    def find_after(self, stamp_ns):
        scene, found = self._scene, None
        seen = scene.see(self._arm.T_base_eef)
        if seen is not None:
            is_in, pixels = seen
            noises = scene.rng.normal(0.0, scene.noise, (IMAGES, *pixels.shape))
            corners = scene.p_board[is_in]
            found = average_boards([FoundBoard(corners, pixels + e) for e in noises])
            self.lags.append(self._arm.q_motor - self._arm.q_out)
        return SearchedImage(stamp_ns + 1, np.zeros((1, 1), np.uint8), found)


class Drive:
    """A whole run of ``calibrate camera``, without gate, pictures and time."""

    def __init__(self, follower, mounting, seed, *, is_heavy=True, lens=None):
        self.arm = BacklashArm(follower, np.random.default_rng(seed), is_heavy=is_heavy)
        self.scene = DrivenScene(self.arm, follower, mounting, seed, lens)
        self.truth = self.scene.truth
        self.arm.drive(self.scene.q_0)

    def calibrate(self, lens=None):
        """Return the result; ``lens`` is the one that the verb is given."""
        arm, eye = self.arm, DrawnEye(self.scene, self.arm)
        task = CameraTask(mounting=self.truth.mounting, info=INFO, lens=lens)
        run = CameraRun(DrivenRig(arm), arm.limb, eye, task, lambda _: None)
        run.look()
        result = run.go()
        self.views, self.lags = [one.view for one in run.taken], np.array(eye.lags)
        return result
