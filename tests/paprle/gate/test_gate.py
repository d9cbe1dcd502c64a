"""The gate's promises, judged by an oracle that shares no code with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paprle.contracts.errors import CommandError, ConfigError
from paprle.contracts.settings.core import GateSettings
from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason
from paprle.oracle import JudgedLimits, check_commands
from paprle.testing.robots import make_robot_info

H = 0.005  # [s]
BAD = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e30, 5e-324)


def judge(commands, robot, h=H, q_start=None):
    limits = JudgedLimits(
        q_min=robot.q_min,
        q_max=robot.q_max,
        dq_max=robot.dq_max,
        ddq_max=robot.ddq_max,
        h=h,
    )
    start = robot.home if q_start is None else q_start
    return check_commands(np.array(commands), limits, q_start=start)


def run(gate, targets, h=H, **kwargs):
    return [gate.step(target, h, **kwargs).q_cmd for target in targets]


def make_targets(rng, robot, n, pattern):
    """Adversarial target sequences; one in twenty carries something unspeakable."""
    span = robot.q_max - robot.q_min
    if pattern == "square":
        period = rng.integers(1, 60)
        ends = rng.uniform(robot.q_min - span, robot.q_max + span, (2, len(span)))
        targets = ends[(np.arange(n) // period) % 2]
    elif pattern == "walk":
        targets = np.cumsum(rng.normal(0, 0.05, (n, len(span))), axis=0)
    elif pattern == "edge":
        targets = np.where(rng.random((n, len(span))) < 0.5, robot.q_min, robot.q_max)
        targets = np.nextafter(targets, targets * rng.choice([0.5, 2.0]))
    else:
        targets = rng.uniform(robot.q_min * 2, robot.q_max * 2, (n, len(span)))
    targets = np.array(targets)
    bad = rng.random(n) < 0.05
    targets[bad, rng.integers(len(span))] = rng.choice(BAD)
    return targets


@pytest.mark.long
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 2**32 - 1),
    h=st.integers(1, 50).map(lambda ms: ms / 1000),
    dq_max=st.floats(0.05, 10.0),
    ddq_max=st.floats(0.5, 100.0),
    pattern=st.sampled_from(["square", "walk", "edge", "random"]),
)
def test_no_invariant_is_ever_broken(seed, h, dq_max, ddq_max, pattern):
    rng = np.random.default_rng(seed)
    robot = make_robot_info(
        3, dq_max=dq_max, ddq_max=ddq_max, n_limbs=2, has_gripper=True
    )
    gate = Gate(robot, h=h)
    q_start = rng.uniform(robot.q_min + 0.02, robot.q_max - 0.02)
    gate.reset(q_start)
    commands = []
    for target in make_targets(rng, robot, 1000, pattern):
        if rng.random() < 0.02:
            gate.speed_scale = rng.choice([0.25, 1.0])  # limits change in motion
        age = rng.choice([0.0, 0.05, 0.2, np.nan])
        feed = rng.normal(0, dq_max, len(target)) if rng.random() < 0.5 else None
        q_meas = commands[-1] + rng.normal(0, 0.2, len(target)) if commands else None
        q_meas = q_meas if rng.random() < 0.1 else None
        is_blocked = q_meas is not None and rng.random() < 0.5
        result = gate.step(target, h, age, q_meas, dq_des=feed, is_blocked=is_blocked)
        commands.append(result.q_cmd)

    verdict = judge(commands, robot, h, q_start)

    assert verdict.is_ok, str(verdict)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_an_arm_outside_its_limits_only_comes_back_in(side):
    robot = make_robot_info(2)
    gate = Gate(robot, h=H)
    start = np.array([side * 2.05, 0.0])  # 3 degrees past the limit
    gate.reset(start)

    held = run(gate, [start] * 200)
    outward = run(gate, [start + side] * 200)
    inward = run(gate, [np.zeros(2)] * 400)

    assert all((q == start).all() for q in held)
    assert all(abs(q[0]) <= abs(start[0]) for q in outward)
    assert inward[-1] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert judge(held + outward + inward, robot, q_start=start).is_ok


def test_a_step_target_is_reached_without_overshoot_and_held_to_the_bit():
    robot = make_robot_info(2)
    gate = Gate(robot, h=H)
    target = np.array([1.0, -0.5])

    path = np.array(run(gate, [target] * 600))

    assert (path[:, 0] <= 1.0 + 1e-12).all()
    assert (path[:, 1] >= -0.5 - 1e-12).all()
    assert (path[-100:] == target).all()


def test_a_step_takes_hardly_longer_than_the_time_optimum():
    robot = make_robot_info(1, dq_max=2.0, ddq_max=10.0)
    gate = Gate(robot, h=H)

    path = np.array(run(gate, [np.array([1.5])] * 600))
    arrived = np.argmax(np.abs(path[:, 0] - 1.5) < 1e-3) * H

    optimum = 1.5 / 2.0 + 2.0 / 10.0  # trapezoid: d/V + V/A
    assert arrived <= 1.05 * optimum


@pytest.mark.parametrize("has_feedforward", [True, False])
def test_a_ramp_is_followed_without_lag_whether_its_velocity_is_given(has_feedforward):
    robot = make_robot_info(1)
    gate = Gate(robot, h=H)
    times = np.arange(100) * H
    ramp = np.maximum(0.0, times - 0.1) ** 2 * 2.0  # accelerates at 4 rad/s²

    path = [
        gate.step(
            np.array([q]), H, dq_des=np.array([dq]) if has_feedforward else None
        ).q_cmd[0]
        for q, dq in zip(ramp, np.gradient(ramp, H), strict=True)
    ]

    assert np.abs(np.array(path) - ramp).max() < 1e-4


def make_circle(n, ddq_max, phase):
    """Return a sine from rest that needs this acceleration, shape (n,)."""
    omega = 4.0
    t = np.arange(n) * H
    return ddq_max / omega**2 * (np.sin(omega * t + phase) - np.sin(phase))


def test_a_motion_within_the_limits_is_followed_to_the_bit():
    robot = make_robot_info(2, dq_max=3.0, ddq_max=10.0)
    gate = Gate(robot, h=H)
    targets = np.column_stack([make_circle(600, 8.0, p) for p in (0.4, 1.9)])
    targets[150:] += 0.02  # a leap, and on

    path = np.array(run(gate, targets))

    assert np.abs(path[130:150] - targets[130:150]).max() < 1e-9
    assert np.abs(path[300:] - targets[300:]).max() < 1e-9
    assert judge(path, robot).is_ok


def test_a_joint_whose_goal_is_too_quick_holds_up_no_other():
    robot = make_robot_info(2, dq_max=3.0, ddq_max=10.0)
    gate = Gate(robot, h=H)
    targets = np.column_stack([make_circle(400, 40.0, 0.0), make_circle(400, 5.0, 0.0)])
    targets[50:, 1] += 0.3

    path = np.array(run(gate, targets))

    assert np.abs(path[200:, 1] - targets[200:, 1]).max() < 0.02
    assert judge(path, robot).is_ok


def test_a_goal_that_leaps_is_not_taken_for_one_that_moves():
    gate = Gate(make_robot_info(1, dq_max=2.0, ddq_max=10.0), h=H)

    gate.step(np.array([0.0]), H)
    gate.step(np.array([1.0]), H)

    assert gate._parts.motion.dq_feedforward[0] == 0.0


def test_braking_forgets_how_the_goal_moved():
    gate = Gate(make_robot_info(1, dq_max=2.0, ddq_max=10.0), h=H)
    run(gate, [np.array([k * 1e-3]) for k in range(20)])
    moving = float(gate._parts.motion.dq_feedforward[0])

    gate.step(None, H)
    gate.step(np.array([0.021]), H)

    assert moving == pytest.approx(0.2)
    assert gate._parts.motion.dq_feedforward[0] == 0.0


def test_joints_of_a_limb_keep_a_common_direction():
    robot = make_robot_info(3, dq_max=[2.0, 2.0, 2.0])
    gate = Gate(robot, h=H)
    target = np.array([1.0, 0.5, -0.25])

    path = np.array(run(gate, [target] * 50))
    moved = path[np.abs(path[:, 0]) > 1e-6]

    assert moved[:, 1] / moved[:, 0] == pytest.approx(0.5, abs=1e-9)
    assert moved[:, 2] / moved[:, 0] == pytest.approx(-0.25, abs=1e-9)


def test_one_limb_does_not_slow_another():
    alone = Gate(make_robot_info(2), h=H)
    both = Gate(make_robot_info(2, n_limbs=2), h=H)

    one = run(alone, [np.array([1.0, 0.3])] * 100)
    two = run(both, [np.array([1.0, 0.3, -1.9, 1.9])] * 100)

    assert (np.array(two)[:, :2] == np.array(one)).all()


@pytest.mark.parametrize(
    "garbage",
    [
        np.array([np.nan, 0.0]),
        np.array([0.0, np.inf]),
        np.zeros(3),
        np.zeros((2, 1)),
        "left",
        [None, 1.0],
        [True, False],
        {"q": 1.0},
        [[0.0], [1.0, 2.0]],
    ],
    ids=repr,
)
def test_garbage_brakes_to_rest_and_says_so(garbage):
    robot = make_robot_info(2)
    gate = Gate(robot, h=H)
    moving = run(gate, [np.array([1.5, 1.5])] * 40)

    results = [gate.step(garbage, H) for _ in range(200)]

    assert all(Reason.NOT_FINITE in result.events for result in results)
    assert gate.is_at_rest
    assert judge(moving + [r.q_cmd for r in results], robot).is_ok


def test_apart_from_bodies_each_joint_brakes_by_its_own_limit():
    gate = Gate(make_robot_info(2), h=H)
    run(gate, [np.array([1.5, 0.3])] * 30)
    speeds = gate.dq_cmd.copy()
    assert abs(speeds[0] - speeds[1]) > 0.1, "none is the other's"

    gate.step(np.full(2, np.nan), H)

    assert gate.dq_cmd == pytest.approx(speeds - gate.ddq_max * H)


def test_the_end_of_reduced_mode_restores_the_limits_and_no_more():
    gate = Gate(make_robot_info(1), GateSettings(tool_speed=0.1), h=H)

    gate.reduce(is_reduced=True)
    assert (gate.speed_scale, gate.tool_speed) == (GateSettings().reduced_scale, 0.1)

    gate.reduce(is_reduced=False)
    assert (gate.speed_scale, gate.tool_speed) == (1.0, 0.1)


def test_a_velocity_that_is_no_number_is_none():
    gate = Gate(make_robot_info(2), h=H)

    for _ in range(20):
        gate.step(np.zeros(2), H, dq_des=np.full(2, np.nan))

    assert (gate.q_cmd == 0.0).all()


NO_NUMBERS = [None, "fast", np.array([0.005, 0.1]), {}]


@pytest.mark.parametrize("age", [0.11, 5.0, np.nan, np.inf, -1.0, *NO_NUMBERS])
def test_an_old_command_brakes(age):
    gate = Gate(make_robot_info(1), h=H)
    run(gate, [np.array([1.5])] * 40)

    result = gate.step(np.array([1.5]), H, age)
    run(gate, [np.array([1.5])] * 100, age=age)

    assert Reason.COMMAND_STALE in result.events
    assert gate.is_at_rest


def test_a_target_at_times_faster_than_v_is_fed_forward_at_v_and_not_dropped():
    """Dropped, the feed-forward leapt between V and none at each crossing."""
    robot = make_robot_info(1, dq_max=1.0, ddq_max=10.0)
    gate, v, omega = Gate(robot, h=H), [], 2.0 * np.pi
    for k in range(600):
        dq = 1.1 * np.sin(omega * k * H)
        q = 1.1 / omega * (1.0 - np.cos(omega * k * H))
        gate.step(np.array([q]), H, dq_des=np.array([dq]))
        v.append(gate.dq_cmd[0])

    jerks = np.diff(v, 2)[100:] / H**2
    assert np.abs(jerks).max() < 0.5 * 2.0 * 10.0 / H


@pytest.mark.parametrize("dt", [10 * H, H / 2, 1.001 * H, np.nan, *NO_NUMBERS])
def test_a_step_of_another_period_brakes(dt):
    robot = make_robot_info(1)
    gate = Gate(robot, h=H)
    commands = run(gate, [np.array([1.5])] * 20)
    fast = gate.dq_cmd

    result = gate.step(np.array([1.5]), dt)

    assert Reason.DT_CHANGED in result.events
    assert gate.dq_cmd == pytest.approx(fast - gate.ddq_max * H)
    commands += [result.q_cmd, *run(gate, [np.array([1.5])] * 50, dt)]
    assert gate.is_at_rest
    assert judge(commands, robot).is_ok


def test_one_late_step_teaches_the_gate_no_other_period():
    """After a first step of 50 ms it sent 50 ms of motion every 5 ms, at 10 V."""
    robot = make_robot_info(1)
    gate = Gate(robot, h=H)

    commands = run(gate, [np.array([1.5])], 10 * H) + run(gate, [np.array([1.5])] * 600)

    assert judge(commands, robot).is_ok
    assert commands[-1] == 1.5


@pytest.mark.parametrize("dt", [H + 1e-12, np.float32(H), (3 + H) - 3])
def test_a_period_may_be_rounded(dt):
    gate = Gate(make_robot_info(1), h=H)

    result = gate.step(np.array([1.5]), dt)

    assert Reason.DT_CHANGED not in result.events
    assert result.q_cmd > 0.0


@pytest.mark.parametrize("h", [0.0, -1.0, 1e-160, 9e-5, 1.1, np.nan, *NO_NUMBERS])
def test_a_gate_without_a_period_is_none(h):
    with pytest.raises(ConfigError, match="gate: expected a period h from 0.0001 to"):
        Gate(make_robot_info(1), h=h)


@pytest.mark.parametrize("q", [np.array([np.nan]), np.zeros(2), None])
def test_reset_refuses_what_is_no_position(q):
    gate = Gate(make_robot_info(1), h=H)

    with pytest.raises(CommandError, match="expected 1 finite joint positions"):
        gate.reset(q)


def test_a_blocked_command_comes_back_to_within_e_of_the_measurement():
    robot = make_robot_info(2, has_gripper=True)
    gate = Gate(robot, h=H)
    commands = run(gate, [np.array([1.0, 1.0, 1.0])] * 300)
    stuck = np.array([0.2, 1.0, 0.0])

    commands += run(
        gate, [np.array([1.0, 1.0, 1.0])] * 300, q_meas=stuck, is_blocked=True
    )

    assert commands[-1][0] == pytest.approx(0.35), "drawn back to E of where it is"
    assert commands[-1][2] == 1.0, "a gripper is never held near it"
    assert judge(commands, robot).is_ok


@pytest.mark.parametrize(
    ("q_meas", "is_blocked"), [(np.zeros(2), False), (None, True), ([np.nan] * 2, True)]
)
def test_only_what_is_blocked_and_measured_is_held_near_the_measurement(
    q_meas, is_blocked
):
    gate = Gate(make_robot_info(2), h=H)

    path = run(gate, [np.ones(2)] * 300, q_meas=q_meas, is_blocked=is_blocked)

    assert path[-1] == pytest.approx([1.0, 1.0])


def test_continuous_joints_have_no_position_limit():
    robot = make_robot_info(1, q_min=-np.inf, q_max=np.inf)
    gate = Gate(robot, h=H)

    path = run(gate, [np.array([50.0])] * 6000)

    assert path[-1][0] == pytest.approx(50.0)
    assert judge(path, robot).is_ok


def test_margin_is_kept_from_arm_limits_and_not_from_grippers():
    robot = make_robot_info(1, has_gripper=True)
    gate = Gate(robot, GateSettings(position_margin=0.02), h=H)

    path = run(gate, [np.array([5.0, 5.0])] * 2000)

    assert path[-1] == pytest.approx([1.98, 2.0])


@pytest.mark.long
def test_a_move_of_many_joints_is_straight_and_quick():
    rng = np.random.default_rng(3)
    for _ in range(30):
        robot = make_robot_info(6, dq_max=2.0, ddq_max=10.0)
        gate = Gate(robot, h=H)
        start, goal = rng.uniform(-1.9, 1.9, (2, 6))
        gate.reset(start)

        path = np.array(run(gate, [goal] * 1500))
        arrived = (np.argmax((np.abs(path - goal) < 1e-9).all(axis=1)) + 1) * H
        span = goal - start
        share = (path - start) @ span / (span @ span)
        beside = np.abs(path - start - share[:, None] * span).max()
        reach = np.abs(span).max()
        cruise = max(reach - 2.0**2 / 10.0, 0.0)
        optimum = cruise / 2.0 + 2.0 * np.sqrt(min(reach, 0.4) / 10.0)

        assert beside < 1e-9
        assert arrived <= 1.05 * optimum + 2 * H


@pytest.mark.parametrize("ratio", [1, 2, 5])
def test_a_gate_faster_than_the_session_follows_a_sine(ratio):
    h = H / ratio
    robot = make_robot_info(1, dq_max=2.0, ddq_max=10.0)
    gate = Gate(robot, h=h)
    omega, reach = 6.0, 0.25  # peaks at 1.5 rad/s and 9 rad/s², nine tenths of A
    worst = 0.0
    for k in range(1200):
        t_session = (k // ratio) * H
        q = reach * (1.0 - np.cos(omega * t_session))
        dq = reach * omega * np.sin(omega * t_session)
        ahead = k * h - t_session
        q_cmd = gate.step(np.array([q + dq * ahead]), h, dq_des=np.array([dq])).q_cmd
        true = reach * (1.0 - np.cos(omega * k * h))
        worst = max(worst, abs(q_cmd[0] - true))

    assert worst < 0.01
