"""Every trajectory carries its own stop, and that is the gate's verified brake."""

from __future__ import annotations

import numpy as np
import pytest

from hardware.ros.stopping import StopPlanner

H = 0.005
A = np.array([20.0, 10.0, 5.0])
V = np.array([3.0, 2.5, 0.08])
LOW, HIGH = np.full(3, -2.0), np.full(3, 2.0)
PLANNER = StopPlanner(LOW, HIGH, A, H)


def brake(q, v):
    """Brake as the gate does: A less every period, until there is no speed left."""
    path = [q.copy()]
    while np.abs(v).max() > 0:
        v = np.sign(v) * np.maximum(np.abs(v) - A * H, 0.0)
        path.append(path[-1] + v * H)
    return np.array(path)


def sample(times, q, dq, t):
    """Cubic interpolation between points, as joint_trajectory_controller does it."""
    i = min(int(np.searchsorted(times, t, side="right")) - 1, len(times) - 2)
    T = times[i + 1] - times[i]
    s = min((t - times[i]) / T, 1.0)
    m0, m1, step = T * dq[i], T * dq[i + 1], q[i + 1] - q[i]
    return q[i] + m0 * s + (3 * step - 2 * m0 - m1) * s**2 + (m0 + m1 - 2 * step) * s**3


@pytest.fixture(params=range(8))
def motion(request):
    rng = np.random.default_rng(request.param)
    v = rng.uniform(-1, 1, 3) * V
    q = rng.uniform(-0.5, 0.5, 3)
    return q, v


def test_the_path_is_the_gates_own_brake(motion):
    q, v = motion
    times, positions, velocities = PLANNER.plan(q, q - v * H, 0.01)

    path = brake(q, v)

    assert times[0] == 0.01
    np.testing.assert_array_equal(positions[0], q)
    for k, expected in enumerate(path):
        t = 0.01 + k * H
        got = (
            positions[-1] if t >= times[-1] else sample(times, positions, velocities, t)
        )
        # where a joint's speed is used up between two periods the gate rounds it
        assert np.abs(got - expected).max() <= (A * H**2 / 8).max() + 1e-9


def test_it_ends_at_rest_in_time_and_slows_down_by_no_more_than_a(motion):
    q, v = motion
    times, _, velocities = PLANNER.plan(q, q - v * H, H)

    assert not velocities[-1].any()
    assert times[-1] - times[0] <= (np.abs(v) / A).max() + 1e-9
    slowing = np.abs(np.diff(velocities, axis=0)) / np.diff(times)[:, None]
    assert (slowing <= A * 1.2).all()
    assert (np.abs(velocities) <= np.abs(v) + 1e-12).all()
    assert (velocities * v >= -1e-12).all()
    assert (np.diff(times) >= 1e-3 - 1e-12).all()
    assert len(times) <= len(q) + 1


def test_a_robot_at_rest_gets_one_point():
    q = np.array([0.1, 0.2, 0.3])
    times, positions, velocities = PLANNER.plan(q, q, H)

    np.testing.assert_array_equal(times, [H])
    np.testing.assert_array_equal(positions, [q])
    assert not velocities.any()


def test_it_stays_within_the_limits_where_the_gate_does():
    # the fastest approach that the gate allows: its brake ends on the limit
    v = np.array([3.0, 2.5, 0.08])
    reach = brake(np.zeros(3), v)[-1]

    _, positions, _ = PLANNER.plan(HIGH - reach, HIGH - reach - v * H, H)

    assert (positions <= HIGH).all()


def test_a_joint_outside_its_limits_is_not_made_to_jump():
    q = np.array([2.05, 0.0, 0.0])
    _, positions, _ = PLANNER.plan(q, q, H)

    np.testing.assert_array_equal(positions[0], q)
