import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paprle.ipc.records import pose_to_row
from paprle.kinematics.seed import clamp_seed_to_command
from paprle.robot.pose_rows import read_pose, write_pose
from paprle.session.velocity import compute_velocities, is_standing


@given(
    st.sampled_from(["any", "half_turn", "small"]),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None)
def test_a_pose_survives_its_row(kind, seed):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    angle = {"any": rng.uniform(0, 3), "half_turn": math.pi, "small": 1e-9}[kind]
    T = pin.SE3(pin.exp3(angle * axis / np.linalg.norm(axis)), rng.normal(size=3))
    row, R, p = np.empty(7), np.empty((3, 3)), np.empty(3)

    write_pose(T.homogeneous, row)

    assert row[6] >= 0.0
    assert read_pose(row, R, p)
    np.testing.assert_allclose(R, T.rotation, atol=1e-14)
    np.testing.assert_array_equal(p, T.translation)
    given_row = pose_to_row(T)
    turned = given_row[3:] * math.copysign(1.0, row[3:] @ given_row[3:])
    np.testing.assert_allclose(row[3:], turned, atol=1e-14)


def test_a_limb_far_from_the_command_is_drawn_straight_to_it():
    q_cmd, q = np.array([0.0, 1.0, 0.5]), np.array([0.7, 0.6])

    pulled = clamp_seed_to_command(np.array([1, 0]), q_cmd, q)

    np.testing.assert_allclose(q, [1.0 - 0.15, 0.3])
    assert pulled == pytest.approx(0.3)
    assert clamp_seed_to_command(np.array([1, 0]), q_cmd, q) < 1e-15


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e9])
def test_a_limb_that_is_nowhere_is_at_the_command(bad):
    q = np.array([bad, 0.1])

    clamp_seed_to_command(np.array([0, 1]), np.zeros(2), q)

    assert abs(q).max() <= 0.3 + 1e-12


def test_a_step_in_no_time_has_no_velocity():
    q, dq, dq_prev = np.array([1.0, 2.0, 3.0]), np.empty(3), np.array([0.5, 0.5, 0.5])
    limb_of = np.array([0, 0, 1])

    compute_velocities(q, np.zeros(3), np.zeros(2), limb_of, dq_prev, dq)
    assert dq.tolist() == [0.0, 0.0, 0.0]
    compute_velocities(q, np.zeros(3), np.array([0.1, np.inf]), limb_of, dq_prev, dq)
    np.testing.assert_allclose(dq, [10.0, 20.0, 0.0])
    compute_velocities(q, q, np.array([0.1, 0.0]), limb_of, dq_prev, dq)
    assert dq.tolist() == [0.0, 0.0, 0.5], "a limb that nobody spoke of keeps its own"


@pytest.mark.parametrize(
    ("speed", "stands"), [(1e-10, True), (-1e-3, False), (math.nan, False)]
)
def test_standing_is_every_joint_at_rest(speed, stands):
    assert is_standing(np.array([0.0, speed]), 1e-9) == stands
    assert is_standing(np.array([speed, 0.0]), 1e-9) == stands
