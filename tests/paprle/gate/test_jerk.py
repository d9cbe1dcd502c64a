"""The jerk of what is sent is within J, at no cost to any other limit."""

from __future__ import annotations

import itertools

import adversary
import numpy as np
import pytest
from cells import spread
from hypothesis import given, settings
from hypothesis import strategies as st

from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.core import GateSettings
from paprle.gate.gate import Gate
from paprle.gate.smoothing import (
    Smoothing,
    compute_delay,
    compute_straying,
    count_periods,
    smooth,
)
from paprle.gate.smoothing import (
    start as stand_at,
)
from paprle.testing.robots import make_robot_info

BAD = (np.nan, np.inf, -np.inf, 1e308, 5e-324)


def make_robot(h, m=4, A=10.0, **limits):
    """Return a robot whose J makes a command the mean of m."""
    return make_robot_info(2, ddq_max=A, dddq_max=2.0 * A / (m * h), **limits)


def drive(gate, targets, h):
    return np.array([gate.step(target, h).q_cmd for target in targets])


@pytest.mark.parametrize(
    ("m", "h"), [(1, 0.005), (2, 0.005), (4, 0.002), (8, 0.001), (40, 0.001)]
)
def test_there_and_back_at_full_acceleration_keeps_the_jerk(m, h):
    robot = make_robot(h, m)
    gate = Gate(robot, h=h)
    ends = np.array([[1.5, -1.5], [-1.5, 1.5], [0.0, 0.0]])
    n = int(2.5 / h)

    q = drive(gate, ends.repeat(n, axis=0), h)

    assert count_periods(robot, h) == m
    assert adversary.judge_joints(q, robot, h).is_ok
    jerk = np.abs(np.diff(q, n=3, axis=0)).max(axis=0) / h**3
    assert (jerk > 0.45 * robot.dddq_max).all(), "more would be allowed"
    np.testing.assert_array_equal(q[[n - 1, 2 * n - 1, 3 * n - 1]], ends)


def test_a_command_is_the_mean_of_what_the_limits_gave():
    robot, h = make_robot(0.005, m=4), 0.005
    rows = np.empty((5, 2)), np.empty((5, 2))
    smoothing = Smoothing(np.empty(2), np.empty(2), *rows, np.zeros(1, dtype=np.int64))
    stand_at(smoothing, np.array([1.0, -1.0]))
    for q in (1.1, 1.3, 1.6, 2.0, 2.5):
        smooth(smoothing, np.array([q, -q]), np.array([10.0 * q, 0.0]))

    assert compute_delay(robot, h) == pytest.approx(1.5 * h)
    np.testing.assert_allclose(smoothing.q_cmd, [1.85, -1.85])
    np.testing.assert_allclose(smoothing.dq_cmd, [18.5, 0.0])


def test_the_command_of_the_limits_is_returned_beside_its_mean():
    h, m = 0.002, 6
    gate = Gate(make_robot(h, m=m), h=h)
    given = [(gate.q_limited.copy(), gate.dq_limited.copy())] * m
    for _ in range(60):
        gate.step([1.0, -0.5], h)
        given.append((gate.q_limited.copy(), gate.dq_limited.copy()))
        q, dq = np.mean(given[-m:], axis=0)
        np.testing.assert_allclose(gate.q_cmd, q, atol=1e-12)
        np.testing.assert_allclose(gate.dq_cmd, dq, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    h=st.sampled_from([0.001, 0.002, 0.005, 0.01]),
    turning=st.floats(0.0005, 0.1),
)
def test_any_request_keeps_the_jerk_and_all_other_limits(seed, h, turning):
    rng = np.random.default_rng(seed)
    A = rng.uniform(0.5, 100.0, 3)
    robot = make_robot_info(
        3, dq_max=rng.uniform(0.05, 10.0, 3), ddq_max=A, dddq_max=2.0 * A / turning
    )
    gate = Gate(robot, h=h)
    start = rng.uniform(-2.5, 2.5, 3)  # outside its limits, too
    gate.reset(start)
    sent = []
    target = start
    for _ in range(400):
        if rng.random() < 0.1:
            target = rng.uniform(-4.0, 4.0, 3)
        if rng.random() < 0.02:
            target = target.copy()
            target[rng.integers(3)] = rng.choice(BAD)
        is_none, is_late = rng.random(2) < (0.02, 0.02)
        dq_des = rng.normal(0.0, robot.dq_max) if rng.random() < 0.5 else None
        given_target = None if is_none else target
        age = 1.0 if is_late else 0.0
        sent.append(gate.step(given_target, h, age, dq_des=dq_des).q_cmd)

    verdict = adversary.judge_joints(sent, robot, h, q_start=start)

    assert verdict.is_ok, str(verdict)
    assert "M5" in verdict.counts


def test_a_slower_speed_limit_is_reached_without_a_jerk():
    h = 0.002
    robot = make_robot(h, m=6)
    gate = Gate(robot, h=h)
    swing = 1.9 * np.sign(np.sin(np.arange(3000) * 0.002))[:, None] * np.ones(2)
    sent, allowed = [], []
    for k, target in enumerate(swing):
        gate.speed_scale = 0.25 if (k // 170) % 2 else 1.0
        sent.append(gate.step(target, h).q_cmd)
        allowed.append(gate.speed_scale * robot.dq_max)

    limits = adversary.JudgedLimits(
        q_min=robot.q_min, q_max=robot.q_max, dq_max=np.array(allowed),
        ddq_max=robot.ddq_max, dddq_max=robot.dddq_max, h=h,
    )  # fmt: skip
    assert adversary.check_commands(np.array(sent), limits).is_ok


def test_the_delay_is_half_of_the_window():
    h, m = 0.001, 8
    robot = make_robot(h, m)
    sharp, smooth = Gate(make_robot_info(2), h=h), Gate(robot, h=h)
    targets = 0.5 * np.sin(2.0 * np.arange(2000) * h)[:, None] * np.ones(2)

    before, after = drive(sharp, targets, h), drive(smooth, targets, h)

    late = 0.5 * (m - 1)
    t = np.arange(500, 1900)
    expected = np.interp(t - late, np.arange(2000), before[:, 0])
    straying = 0.5 * 2.0**2 * h**2 * (m**2 - 1) / 24.0
    np.testing.assert_allclose(after[t, 0], expected, atol=straying)


@pytest.mark.parametrize(("m", "h"), [(1, 0.005), (2, 0.005), (4, 0.002), (9, 0.001)])
def test_the_mean_strays_from_the_path_of_the_limits_as_clearances_allow_for(m, h):
    robot, t = make_robot(h, m), np.arange(m) * h
    path = 0.5 * robot.ddq_max[0] * t**2

    strays = path.mean() - 0.5 * robot.ddq_max[0] * t.mean() ** 2

    assert compute_straying(robot, m, h) == pytest.approx([strays] * 2)


def test_a_standing_start_has_no_earlier_speed():
    m, rows = 4, (np.full((5, 2), 3.0), np.full((5, 2), 7.0))
    smoothing = Smoothing(np.ones(2), np.ones(2), *rows, np.zeros(1, dtype=np.int64))
    place = np.array([0.2, -0.3])

    stand_at(smoothing, place)

    assert smoothing.dq_cmd.tolist() == [0.0, 0.0]
    for _ in range(m):
        smooth(smoothing, place, np.zeros(2))
        assert smoothing.q_cmd.tolist() == place.tolist()
        assert smoothing.dq_cmd.tolist() == [0.0, 0.0]


def test_a_limb_keeps_to_its_straight_way():
    h = 0.002
    robot = make_robot_info(
        2, dq_max=[2.0, 0.3], ddq_max=[10.0, 3.0], dddq_max=[400.0, 3000.0]
    )
    gate = Gate(robot, h=h)

    q = drive(gate, np.tile([1.0, -0.7], (2500, 1)), h)

    np.testing.assert_allclose(q[:, 1], -0.7 * q[:, 0], atol=1e-9)
    np.testing.assert_array_equal(q[-1], [1.0, -0.7])


def test_a_step_that_was_broken_off_leaves_no_trace(monkeypatch):
    h = 0.002
    robot = make_robot(h, m=5)
    gate, other = Gate(robot, h=h), Gate(robot, h=h)
    for _ in range(50):
        gate.step([1.0, 1.0], h)
        other.step([1.0, 1.0], h)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("paprle.gate.gate._keep", interrupt)
        with pytest.raises(KeyboardInterrupt):
            gate.step([-1.0, 1.0], h)

    for _ in range(300):
        np.testing.assert_array_equal(
            gate.step([1.0, 1.0], h).q_cmd, other.step([1.0, 1.0], h).q_cmd
        )


@pytest.mark.parametrize("J", [19.9, 1e-6, 5e-324])
def test_a_jerk_limit_that_would_make_commands_seconds_late_is_refused(J):
    with pytest.raises(ConfigError, match="dddq_max of at least 20"):
        Gate(make_robot_info(2, ddq_max=10.0, dddq_max=J), h=0.002)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "h"),
    spread(
        itertools.product(("piper", "table2"), (0.001, 0.005)),
        ("piper", 0.001),
        ("table2", 0.005),
    ),
)
def test_the_smoothed_command_keeps_clear(name, h):
    robot, rules = adversary.load(name), GateSettings()
    judge, rng = adversary.Judge(robot, rules), np.random.default_rng(5)
    gate = Gate(robot, rules, h=h)
    for pattern in ("clash", "rub"):
        gate.reset(robot.home)
        targets = adversary.make_targets(rng, robot, 1500, pattern, judge)
        sent, _, _ = adversary.drive(gate, targets, h)
        assert adversary.judge_joints(sent, robot, h).is_ok
        assert judge.find_bad(sent) == []
        assert judge.find_bad_between(sent) == []
