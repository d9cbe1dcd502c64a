"""A stick that was pushed beyond reach: pulled back, the robot comes back with it."""

import numpy as np
import pytest
from lock_step import LockStep
from retargeting import load_robot

from paprle.contracts.axes import FREEDOMS, AxisSpeeds
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.retargeting.retarget import Retargeting
from paprle.retargeting.rules.windup import PushResponse, draw_back

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
        ("piper", (1, 0, 0)),  # to where its elbow is straight
        ("yam", (0.7, 0, -0.7)),  # to where the gate holds it
        pytest.param("piper", (0.7, 0, 0.7), marks=pytest.mark.nightly),
        pytest.param("piper", (-1, 0, 0), marks=pytest.mark.nightly),
        pytest.param("xarm6", (1, 0, 0), marks=pytest.mark.nightly),
        pytest.param("xarm7", (-1, 0, 0), marks=pytest.mark.nightly),
        pytest.param("viperx300s", (0, 0, 1), marks=pytest.mark.nightly),
        pytest.param("so101", (1, 0, 0), marks=pytest.mark.nightly),
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
    came = back @ direction / np.linalg.norm(direction)
    assert 0.8 * asked <= came <= 1.2 * asked
    assert session.state == "ENGAGED"


def test_a_limb_that_comes_back_faster_than_its_stick_leaves_the_target_alone():
    def at(x):
        T = np.eye(4)
        T[0, 3] = x
        return T

    x, standing, speeds = 0.10, PushResponse(at(0.0), at(0.0)), np.array([0.2, 0.8])
    for k in range(20):
        reached = at(-0.01 * k)  # [m], a metre a second
        step = np.array([-0.002, 0.0, 0.0, 0.0, 0.0, 0.0])
        standing = standing.push(reached, reached, step, 0.01)
        begin, standing = draw_back(at(x), at(x - 0.002), standing, speeds)
        x = begin[0, 3] - 0.002

    assert x == pytest.approx(0.01 - 20 * 0.002), "drawn once to 10 mm, then by steps"


def test_pushed_beyond_reach_for_long_the_hand_stays_where_it_came_to():
    session = Stick("piper")
    beyond = session.push(np.array([1.0, 0.0, 0.0]), 2.0)

    later = session.push(np.array([1.0, 0.0, 0.0]), 6.0)

    assert later == pytest.approx(beyond, abs=0.01)


def test_at_the_edge_of_reach_a_push_to_another_side_moves_the_hand():
    session = Stick("piper")
    edge = session.push(np.array([1.0, 0.0, 0.0]), 3.0)

    aside = session.push(np.array([0.7, 0.7, 0.0]), 1.0) - edge

    assert aside[1] > 0.05


def test_within_reach_the_target_is_the_sum_of_all_steps():
    session = Stick("piper")
    session.push(np.zeros(3), 0.1)
    begin, asked = session.target, np.zeros(3)
    for direction in np.array([[0, 1, 0], [0, -1, 0], [1, 0, 0], [-0.5, 0, 0.5]]):
        session.push(direction, 0.2)
        asked += direction * 0.2 * SPEED

        np.testing.assert_allclose(session.target - begin, asked, atol=1e-9)
