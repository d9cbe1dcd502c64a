"""Fingers hold what they close on: through commands alone, as a session would."""

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("mujoco")

from paprle.followers.mujoco.config import MujocoConfig
from paprle.followers.mujoco.follower import MujocoFollower
from paprle.kinematics import IkSolver
from paprle.testing import ManualClock

pytestmark = pytest.mark.sim


def _hand(axis, elevation, roll=0.0):
    """Rotation of a hand whose ``axis`` points forward and down by ``elevation``."""
    out = np.array([np.cos(elevation), 0.0, -np.sin(elevation)])
    side = np.array([0.0, 1.0, 0.0])
    if axis == "z":
        return np.stack([np.cross(side, out), side, out], axis=1)
    R = np.stack([out, side, np.cross(out, side)], axis=1)
    return R @ pin.rpy.rpyToMatrix(roll, 0.0, 0.0)


class Operator:
    """Moves a follower along smooth ways."""

    def __init__(self, model):
        self.model, self.limb = model, next(iter(model.limbs.values()))
        self.follower = MujocoFollower(MujocoConfig(), model.info, ManualClock())
        self.follower.open()
        gripper = model.info.limbs[0].gripper
        self._at = model.info.joint_names.index(gripper.joint)
        self._range = gripper.closed, gripper.open
        self.q_cmd = np.array(model.home)

    def move(self, q_limb, opening, duration):
        goal = self.limb.put(self.q_cmd, q_limb)
        goal[self._at] = np.interp(opening, [0, 1], self._range)
        begin, n = self.q_cmd, int(duration * self.follower.config.rate)
        for k in range(1, n + 1):
            s = k / n
            self.follower.write(begin + (goal - begin) * s * s * (3 - 2 * s))
        self.q_cmd = goal

    @property
    def block(self):
        return pin.XYZQUATToSE3(self.follower.read().objects[0])

    def above_block(self, R, tip, height, q_start):
        target = np.array([*self.block.translation[:2], height]) - R @ tip
        found = IkSolver(self.limb).solve_global(pin.SE3(R, target), q_start)
        assert found.err_pos < 1e-4
        assert found.err_rot < 0.02  # five joints leave a part of it
        return found.q


@pytest.mark.parametrize(
    ("name", "axis", "angles_deg", "reach"),
    [
        ("piper", "z", (45,), 0.1358),  # spec: urdf/piper, fingertips before the eef
        ("papras_7dof", "x", (90,), 0.0),
        ("open_manipulator_x", "x", (60,), 0.0),
        # the eef is on the fixed jaw, half a block beside its middle
        ("so101", "x", (60, 90), 0.015),
        ("so100", "x", (60, -90), 0.015),
    ],
)
def test_grasps_lifts_and_holds_the_block(load_robot, name, axis, angles_deg, reach):
    operator = Operator(load_robot(name))
    R = _hand(axis, *np.deg2rad(angles_deg))
    tip = np.array([0, 0, reach])
    home = operator.limb.take(operator.q_cmd)
    above = operator.above_block(R, tip, 0.12, home)
    around = operator.above_block(R, tip, 0.012, above)

    operator.move(above, 1.0, 0.8)
    operator.move(around, 1.0, 0.8)
    operator.move(around, 0.0, 0.5)
    operator.move(above, 0.0, 0.8)
    lifted = operator.block.translation

    assert lifted[2] > 0.1
    operator.move(above, 0.0, 2.0)
    held = operator.block.translation
    assert np.linalg.norm(held - lifted) < 1e-3, "it slips"
    operator.move(home, 0.0, 0.5)
    assert operator.block.translation[2] > 0.12
    operator.move(home, 1.0, 1.0)
    assert operator.block.translation[2] < 0.05, "an open hand lets go"
