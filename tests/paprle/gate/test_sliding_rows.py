"""What a robot that slides remembers of bodies, and how strongly it is drawn along."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from paprle.gate.contact.avoidance_qp import SOLVERS
from paprle.gate.contact.sliding import Sliding
from paprle.gate.tcp_limits import JOINT_SHARE, STRAIGHT

H = 0.005  # [s]
ROW, OTHER = np.array([1.0, 0.5]), np.array([-0.5, 1.0])
AT = np.array([0.7, -0.4])  # [rad]
METRIC, PULL, WEIGHT = np.diag([2.0, 3.0]), np.array([0.5, -1.0]), np.array([4.0, 5.0])


class Sight:
    """What a gate of two limbs of one joint measures in a period, and its motion."""

    def __init__(self):
        self.measured = SimpleNamespace(
            rows=None, allowed=None, waits=np.zeros(2), pair=np.zeros(2, dtype=int)
        )
        self.motion = SimpleNamespace(
            q_cmd=AT,
            goal_error=np.array([0.1, 0.1]),
            v_next=np.zeros(2),
            kept_by=np.full(2, -1),
        )
        self.parts = SimpleNamespace(
            collision=SimpleNamespace(measured=self.measured),
            motion=self.motion,
            tools=SimpleNamespace(metric=METRIC, pull=PULL, weight=WEIGHT),
            box=SimpleNamespace(
                dq_track=np.zeros(2),
                dq_goal=np.array([0.3, 0.3]),
                low=-np.ones(2),
                high=np.ones(2),
                brake=np.zeros(2),
            ),
        )
        limbs = [np.array([0]), np.array([1])]
        self.sliding = Sliding(self.parts, limbs, SOLVERS["daqp"])

    def see(self, c, *rows):
        """Return gradients and allowed speeds where these rows allow 0.01 m/s."""
        self.motion.q_cmd = c
        self.measured.rows = np.array(rows).reshape(-1, 2)
        self.measured.allowed = np.full(len(rows), 0.01)
        return self.sliding._add_remembered(len(rows), H)[:2]


@pytest.mark.parametrize("closed", [0.0, 0.002, -0.002])
def test_a_row_that_is_not_seen_any_more_holds_as_it_was(closed):
    sight = Sight()
    sight.see(AT, ROW)

    rows, allowed = sight.see(AT + [closed, 0.0], OTHER)

    np.testing.assert_array_equal(rows, [OTHER, ROW])
    # a quarter of what it has opened is closed in a period; closer, and it opens none
    assert allowed == pytest.approx([0.01, max(0.01 + 0.25 * closed / H, 0.0)])


@pytest.mark.parametrize("far", [0.011, -0.011])
def test_a_row_of_elsewhere_is_forgotten(far):
    sight = Sight()
    sight.see(AT, ROW)

    rows, _ = sight.see(AT + [0.0, far], OTHER)

    np.testing.assert_array_equal(rows, [OTHER])
    assert len(sight.sliding._rows) == 1


@pytest.mark.parametrize("size", [0.0, 0.1, 1.0, 5.0])
def test_a_row_that_is_seen_again_is_not_counted_twice(size):
    sight = Sight()
    sight.see(AT, size * ROW)

    rows, _ = sight.see(AT, size * ROW * (1.0 + 5e-4))

    assert len(rows) == 1


@pytest.mark.parametrize("size", [0.1, 1.0, 5.0])
def test_a_row_that_differs_by_more_is_another_one(size):
    sight = Sight()
    sight.see(AT, size * ROW)

    rows, _ = sight.see(AT, size * ROW * (1.0 + 5e-3))

    assert len(rows) == 2


@pytest.mark.parametrize("way", [0.002, -0.008])
def test_a_row_that_turned_with_the_robot_is_the_same_one(way):
    """Of a round body, rows of before forbade what lies around the bend."""
    sight = Sight()
    sight.see(AT, ROW)

    rows, _ = sight.see(AT + [0.0, way], ROW + 10.0 * way * OTHER)

    assert len(rows) == 1


def test_a_row_that_turned_farther_than_the_robot_has_leapt():
    sight = Sight()
    sight.see(AT, ROW)

    rows, _ = sight.see(AT + [0.0, 0.002], ROW + 0.1 * OTHER)

    assert len(rows) == 2


def test_a_row_of_another_pair_is_not_the_same_one():
    sight = Sight()
    sight.see(AT, ROW)
    sight.measured.pair = np.ones(2, dtype=int)

    rows, _ = sight.see(AT, ROW)

    assert len(rows) == 2


@pytest.mark.parametrize(("side", "is_held"), [(1.0, False), (-1.0, True)])
def test_a_body_does_not_hold_a_receding_limb(side, is_held):
    sight = Sight()
    sight.see(AT, side * ROW)

    v, found = sight.sliding.find_velocity(1, H)

    assert found == is_held
    closing = -side * ROW @ v
    assert closing == pytest.approx(0.01, abs=1e-4) if is_held else closing < -0.01


@pytest.mark.parametrize(
    ("error", "share"),
    [(0.5, 0.0), (1.0, 0.0), (1.5, 0.5), (-1.5, 0.5), (2.0, 1.0), (9.0, 1.0)],
)
def test_far_from_the_goal_joints_count_beside_tools(error, share):
    sight = Sight()
    sight.motion.goal_error = np.array([0.0, error * STRAIGHT])

    metric, _ = sight.sliding._weigh()

    expected = METRIC + np.diag(share / JOINT_SHARE * WEIGHT)
    np.testing.assert_allclose(metric, expected)


@pytest.mark.parametrize("far", [0.0, 0.02, 0.2, 0.5, 1.0])
def test_no_hair_breadth_of_the_way_makes_joints_count_much_more(far):
    """Where joints and tools disagreed an arm shook by A on the edge of the two."""
    sight, counts = Sight(), []
    for error in (STRAIGHT * (1.0 + far), STRAIGHT * (1.0 + far) + 1e-4):
        sight.motion.goal_error = np.array([0.0, error])
        metric, _ = sight.sliding._weigh()
        counts.append(np.diag(metric - METRIC) + WEIGHT)

    assert (counts[1] <= 1.02 * counts[0]).all()


@pytest.mark.parametrize(
    ("speed", "way", "pace"),
    [(0.6, 0.1, 0.5), (-0.6, 0.1, 0.5), (3.0, -0.1, 0.1), (0.2, 0.1, 1.0), (0, 0, 1)],
)
def test_a_limb_is_drawn_no_quicker_than_three_times_its_way_a_second(speed, way, pace):
    sight = Sight()
    sight.parts.box.dq_goal = np.array([speed, 0.3])
    sight.motion.goal_error = np.array([way, 0.1])

    np.testing.assert_allclose(sight.sliding._find_pace(), [pace, 1.0])
    metric, pull = sight.sliding._weigh()
    np.testing.assert_allclose(pull, [pace * PULL[0], PULL[1]])


def test_a_body_does_not_hold_a_standing_limb():
    sight = Sight()
    sight.parts.tools.pull = np.zeros(2)
    sight.see(AT, ROW)

    v, is_held = sight.sliding.find_velocity(1, H)

    assert v == pytest.approx([0.0, 0.0], abs=1e-9)
    assert not is_held


def test_a_limb_is_drawn_from_what_it_would_do_by_itself_on():
    sight = Sight()
    sight.parts.box.dq_track = np.array([0.1, -0.05])
    sight.parts.box.dq_goal = np.array([0.7, 0.3])

    _, pull = sight.sliding._weigh()

    along = METRIC @ sight.parts.box.dq_track
    # 0.6 rad/s more than by itself, and 0.1 rad to go; the other one goes all its way
    np.testing.assert_allclose(pull, along + [0.5, 0.3 / 0.35] * (PULL - along))
