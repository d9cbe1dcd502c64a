"""A stick that was pushed beyond reach: pulled back, the robot comes back with it."""

import numpy as np
import pytest
from lock_step import LockStep
from retargeting import load_robot

from paprle.contracts.axes import FREEDOMS, AxisSpeeds
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.retargeting.retarget import Retargeting

SPEED = 0.2
STICK = LeaderInfo(
    limbs=("hand",),
    emits="axes",
    axes={"hand": FREEDOMS},
    axis_speeds=AxisSpeeds(SPEED, 0.8, 0.5),
)


class Stick(LockStep):
    """A session that a stick drives, with an ideal robot."""

    def __init__(self, robot):
        self.u = np.zeros(7)
        robot = load_robot(robot)
        super().__init__(
            STICK, pair=(robot, Retargeting(robot, STICK, RetargetSettings()))
        )
        self.limb = next(iter(robot.limbs.values()))
        self.engage()

    def sample(self):
        self.seq += 1
        limbs = {"hand": LimbCommand(axes=self.u)}
        return LeaderSample(
            stamp_ns=self.clock(), seq=self.seq, limbs=limbs, engaged=self.engaged
        )

    def push(self, direction, time):
        self.u = np.concatenate([direction, np.zeros(4)])
        self.step(round(200 * time))
        return self.limb.fk(self.limb.take(self.follower.q)).translation.copy()

    @property
    def target(self):
        return self.core.motion.following.target.T[0, :3, 3].copy()


@pytest.mark.long
@pytest.mark.parametrize(
    ("robot", "direction"),
    [
        ("piper", (0, 1, 0)),
        ("piper", (0.7, 0, 0.7)),
        pytest.param("ur5e", (1, 0, 0), marks=pytest.mark.nightly),
        pytest.param("ur5e", (0, 0, 1), marks=pytest.mark.nightly),
        pytest.param("papras_7dof", (1, 0, 0), marks=pytest.mark.nightly),
        pytest.param("papras_7dof", (0.7, 0.7, 0), marks=pytest.mark.nightly),
        pytest.param("j2s7s300", (1, 0, 0), marks=pytest.mark.nightly),
    ],
)
def test_pulled_back_from_beyond_reach_the_robot_moves_as_far_as_asked(
    robot, direction
):
    direction = np.array(direction, dtype=float)
    session = Stick(robot)
    beyond = session.push(direction, 3.0)
    assert np.linalg.norm(session.target - beyond) > 0.05, "it is beyond reach"

    session.push(-direction, 0.5)
    back = beyond - session.push(np.zeros(3), 0.7)

    asked = 0.5 * SPEED * np.linalg.norm(direction)
    assert back @ direction / np.linalg.norm(direction) >= 0.8 * asked
    assert session.state == "ENGAGED"


def test_within_reach_the_target_is_the_sum_of_all_steps():
    session = Stick("piper")
    session.push(np.zeros(3), 0.1)
    begin, asked = session.target, np.zeros(3)
    for direction in np.array([[0, 1, 0], [0, -1, 0], [1, 0, 0], [-0.5, 0, 0.5]]):
        session.push(direction, 0.2)
        asked += direction * 0.2 * SPEED

        np.testing.assert_allclose(session.target - begin, asked, atol=1e-9)
