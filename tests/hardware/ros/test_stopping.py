"""Every trajectory carries its own stop, and that is the gate's verified brake."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.hardware.ros.stopping import StopPlan, StopPlanner

H = 0.005
A = np.array([20.0, 10.0, 5.0])
V = np.array([3.0, 2.5, 0.08])
LOW, HIGH = np.full(3, -2.0), np.full(3, 2.0)
PLANNER = StopPlanner(LOW, HIGH, V, A, H)


def brake(q, v):
    """Brake as the gate does: A less every period, until there is no speed left."""
    path = [q.copy()]
    while np.abs(v).max() > 0:
        v = np.sign(v) * np.maximum(np.abs(v) - A * H, 0.0)
        path.append(path[-1] + v * H)
    return np.array(path)


@pytest.fixture(params=range(8))
def motion(request):
    rng = np.random.default_rng(request.param)
    v = rng.uniform(-1, 1, 3) * V
    q = rng.uniform(-0.5, 0.5, 3)
    return q, v


def test_the_path_is_the_gates_own_brake(motion):
    q, v = motion
    plan = PLANNER.plan(q, q - v * H, 0.01)

    path = brake(q, v)

    assert plan.times[0] == 0.01
    np.testing.assert_array_equal(plan.q[0], q)
    for k, expected in enumerate(path):
        got, _ = plan.at(0.01 + k * H)
        # where a joint's speed is used up between two periods the gate rounds it
        assert np.abs(got - expected).max() <= (A * H**2 / 8).max() + 1e-9


def test_the_trajectory_ends_at_rest_in_time_and_slows_down_by_no_more_than_a(motion):
    q, v = motion
    plan = PLANNER.plan(q, q - v * H, H)
    times, velocities = plan.times, plan.dq

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
    plan = PLANNER.plan(q, q, H)

    np.testing.assert_array_equal(plan.times, [H])
    np.testing.assert_array_equal(plan.q, [q])
    assert not plan.dq.any()


def test_the_trajectory_stays_within_the_limits_where_the_gate_does():
    # the fastest approach that the gate allows: its brake ends on the limit
    v = np.array([3.0, 2.5, 0.08])
    reach = brake(np.zeros(3), v)[-1]

    plan = PLANNER.plan(HIGH - reach, HIGH - reach - v * H, H)

    assert (plan.q <= HIGH).all()


def test_a_joint_outside_its_limits_is_not_made_to_jump():
    q = np.array([2.05, 0.0, 0.0])
    plan = PLANNER.plan(q, q, H)

    np.testing.assert_array_equal(plan.q[0], q)


class Course:
    """A controller that follows what a planner sends, at 1 kHz."""

    def __init__(self):
        self.planner = StopPlanner(50 * LOW, 50 * HIGH, V, A, H)
        self.now_ns = 10**9
        self.q, self.path = np.zeros(3), []
        self.plan, self.came_ns, self.begin = None, 0, None

    def send(self, q):
        state = self.state()
        plan = self.planner.advance(q, self.now_ns, H)
        self.plan = StopPlan(
            np.append(0.0, plan.times),
            np.vstack([state[0], plan.q]),
            np.vstack([state[1], plan.dq]),
        )
        self.came_ns, self.q = self.now_ns, q

    def state(self):
        if self.plan is None:
            return self.q, np.zeros(3)
        return self.plan.at((self.now_ns - self.came_ns) * 1e-9)

    def wait(self, dt):
        for _ in range(round(dt * 1000)):
            self.now_ns += 1_000_000
            self.path.append(self.state()[0])

    def drive(self, v, n):
        for _ in range(n):
            self.send(self.q + v * H)
            self.wait(H)

    def speed_up(self, v):
        for share in np.linspace(0, 1, 60):
            self.send(self.q + share * v * H)
            self.wait(H)


@pytest.mark.parametrize("gap", [0.02, 0.05, 0.1, 0.5])
@pytest.mark.parametrize("goes_on", [True, False])
def test_after_a_gap_the_robot_is_not_pulled_back(gap, goes_on):
    """The gate was held up and goes on from its last command, or brakes from there."""
    v, course = 0.9 * V, Course()
    course.speed_up(v)
    course.drive(v, 20)
    n = len(course.path)

    course.wait(gap - H)
    if goes_on:
        course.drive(v, 250)
    else:
        for q in brake(course.q, v)[1:]:
            course.send(q)
            course.wait(H)
        course.wait(1.2)

    path = np.array(course.path)[n - 5 :]
    speed = np.diff(path, axis=0) * 1e3
    hardest = np.abs(np.diff(speed, axis=0)).max(axis=0) * 1e3
    assert (speed >= -0.35 * v).all()
    assert (np.abs(speed) <= 1.6 * v).all()
    assert (hardest <= 4.0 * A).all()
    if goes_on:
        np.testing.assert_allclose(path[-1], course.q, atol=1e-3)
    else:
        np.testing.assert_allclose(path[-1], brake(course.q, 0 * v)[-1], atol=1e-3)


def test_without_a_gap_each_command_is_reached_in_its_time():
    course = Course()
    course.speed_up(V * 0.5)
    for _ in range(50):
        course.send(course.q + V * 0.5 * H)
        course.wait(H)
        np.testing.assert_allclose(course.path[-1], course.q, atol=1e-9)
