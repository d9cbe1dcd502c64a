"""The gate on robots so small that what is right can be worked out by hand."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
from adversary import Judge, drive, judge_joints
from minimal_robots import (
    BALL,
    draw_near,
    gap,
    make_crane,
    make_elbow,
    make_sliders,
    make_swing,
    make_zigzag,
)

from paprle.contracts.settings.core import GateSettings, SceneBodySettings
from paprle.gate import limits
from paprle.gate import tcp_limits as tools
from paprle.gate.contact import clearance, stops
from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason

H = 0.01  # [s]
V, A, KEEP = 1.0, 5.0, 0.01
WALL = {"wall": SceneBodySettings(shape="box", size=(0.2, 2.0, 2.0), xyz=(0.6, 0, 0))}


def time_to(way, speed=V):
    """Time-optimal time from rest to rest, [s]."""
    if way < speed**2 / A:
        return 2.0 * math.sqrt(way / A)
    return way / speed + speed / A


def ready(gate, q, v=None, h=H):
    """Put a gate into a posture, in motion, everything measured there."""
    gate.reset(q)
    parts = gate._parts
    c, v = np.array(q, dtype=float), np.zeros(len(q)) if v is None else np.array(v)
    limits.fill_box(parts.limits, h, 1.0, c, v, parts.box)
    clearance.measure_all(parts.collision, c, *np.full((2, len(c)), 10.0))
    return parts, c, v


def brake_path(c, v, h=H):
    """Return every command of a stop: one period at v, then braking by A."""
    path, c, v = [], c.copy(), v.copy()
    while True:
        c = c + v * h
        path.append(c)
        if not v.any():
            return np.array(path)
        v = np.sign(v) * np.maximum(np.abs(v) - A * h, 0.0)


def test_two_that_meet_share_the_way_and_stop_at_what_is_kept():
    gate = Gate(make_sliders(), h=H)

    path, events, _ = drive(gate, [np.ones(2)] * 120, H)

    assert gap(path).min() >= KEEP
    assert gap(path[-1]) < KEEP + 2e-3, "they are let as near as they may"
    assert path[-1][0] == pytest.approx(path[-1][1], abs=1e-9)
    arrived = np.argmax(gap(path) < KEEP + 3e-3) * H
    assert arrived < 1.25 * time_to(0.5 - BALL - KEEP / 2)
    assert any({Reason.CLEARANCE, Reason.ACCELERATION} <= {*found} for found in events)
    assert judge_joints(path, make_sliders(), H).is_ok


def test_a_slider_without_a_goal_stays():
    gate = Gate(make_sliders(), h=H)

    path, _, _ = drive(gate, [np.array([1.0, 0.0])] * 150, H)

    assert (path[:, 1] == 0.0).all()
    assert KEEP <= gap(path[-1]) < KEEP + 2e-3


def test_a_receding_limb_is_not_held_back():
    near, free = Gate(make_sliders(), h=H), Gate(make_sliders().info, h=H)
    start = np.array([0.44, 0.449])
    near.reset(start)
    free.reset(start)

    path, events, _ = drive(near, [np.zeros(2)] * 100, H)

    assert (path == drive(free, [np.zeros(2)] * 100, H)[0]).all()
    assert not any(Reason.CLEARANCE in found for found in events)


@pytest.mark.parametrize("start", [0.446, 0.449, 0.4499, 0.46])
def test_too_near_already_they_come_no_nearer_but_may_part(start):
    gate = Gate(make_sliders(), h=H)
    gate.reset(np.full(2, start))

    held, _, _ = drive(gate, [np.ones(2)] * 100, H)
    parted, _, _ = drive(gate, [np.zeros(2)] * 150, H)

    assert (gap(held) >= gap(np.full(2, start)) - 1e-8).all()
    assert parted[-1] == pytest.approx([0.0, 0.0])


def test_from_a_scene_more_is_kept():
    gate = Gate(make_sliders(), GateSettings(scene=WALL), h=H)

    path, _, _ = drive(gate, [np.array([1.0, 0.0])] * 150, H)

    room = 0.5 - BALL - path[-1][0]
    assert 0.02 <= room < 0.022
    assert gate.step(path[-1], H).clearance == pytest.approx(room, abs=1e-9)


def test_the_kept_clearance_is_a_setting():
    gate = Gate(make_sliders(), GateSettings(clearance_self=0.1), h=H)

    path, _, _ = drive(gate, [np.ones(2)] * 150, H)

    assert 0.1 <= gap(path[-1]) < 0.102


def test_a_ball_slides_around_a_post():
    gate = Gate(make_crane(), h=H)
    start = np.array([0.2, 0.03])
    gate.reset(start)

    path, events, _ = drive(gate, [np.array([0.9, 0.03])] * 400, H)

    apart = np.hypot(path[:, 0] - 0.5, path[:, 1]) - 2 * BALL
    assert apart.min() >= KEEP - 2e-4
    assert path[-1] == pytest.approx([0.9, 0.03])
    assert path[:, 1].max() < 0.16, "no farther off than it must"
    assert any(Reason.CLEARANCE in found for found in events)


def fly_blind(make, solver, n=400):
    """Return what a gate does whose solver ignores all clearance, and its judge."""
    robot, rng = make(), np.random.default_rng(5)
    gate, judge = Gate(robot, h=H), Judge(robot, GateSettings())
    gate._sliding.solver = solver
    targets = np.repeat([judge.draw_clash(rng, robot) for _ in range(n // 50)], 50, 0)
    return *drive(gate, targets, H)[:2], judge


@pytest.mark.parametrize("make", [make_sliders, make_crane, make_swing])
@pytest.mark.parametrize("corner", ["wanted", "low", "high", "any"])
def test_even_a_blind_solver_is_stopped_by_the_verification(make, corner):
    rng = np.random.default_rng(6)
    answers = {
        "wanted": lambda wanted, *_: wanted,
        "low": lambda *problem: problem[1],
        "high": lambda *problem: problem[2],
        "any": lambda *problem: np.where(rng.random(2) < 0.5, problem[1], problem[2]),
    }

    path, events, judge = fly_blind(make, answers[corner])

    assert corner == "low" or any(Reason.UNVERIFIED in found for found in events)
    assert max(judge.miss(q) for q in path) < 3e-4
    assert judge_joints(path, make(), H).is_ok


def interrupt(*_):
    raise KeyboardInterrupt


def test_a_step_that_is_broken_off_was_none():
    """An interrupt amid the solver: its proposal runs into the other, unverified."""
    gate = Gate(make_sliders(), h=H)
    path, _, _ = drive(gate, [np.ones(2)] * 46, H)
    solver, gate._sliding.solver = gate._sliding.solver, interrupt
    for _ in range(5):
        with pytest.raises(KeyboardInterrupt):
            gate.step(np.ones(2), H)
    gate._sliding.solver = solver

    after, _, _ = drive(gate, [np.ones(2)] * 60, H)

    assert gap(after).min() >= KEEP
    assert judge_joints(np.concatenate([path, after]), make_sliders(), H).is_ok


def test_a_ball_that_flies_past_a_post_is_not_slowed():
    gate, free = Gate(make_crane(), h=H), Gate(make_crane().info, h=H)
    start = np.array([0.0, 2 * BALL + KEEP + 0.03])
    target = start + [1.0, 0.0]
    gate.reset(start)
    free.reset(start)

    path, _, _ = drive(gate, [target] * 150, H)

    assert (path == drive(free, [target] * 150, H)[0]).all()


def test_between_commands_a_fast_ball_keeps_clear_as_well():
    gate, rng = Gate(make_crane(), h=H), np.random.default_rng(0)
    targets = np.repeat(rng.uniform(0.2, 0.8, (20, 2)) - [0.0, 0.5], 40, axis=0)

    path, _, _ = drive(gate, targets, H)

    for share in (0.0, 0.25, 0.5, 0.75):
        q = path[:-1] + share * np.diff(path, axis=0)
        apart = np.hypot(q[:, 0] - 0.5, q[:, 1]) - 2 * BALL
        assert apart.min() >= KEEP - 5e-4


@pytest.mark.parametrize("h", [0.05, 0.1, 0.3])
@pytest.mark.parametrize("shift", [0.0, 0.31, 0.57, 0.83])
def test_a_thin_body_is_not_passed_between_two_commands(h, shift):
    gate, thin = Gate(make_crane(0.004), h=h), 0.008
    start = np.array([-0.5 + shift * h, 0.0])
    gate.reset(start)

    path, _, _ = drive(gate, [np.array([1.5, 0.0])] * round(3.0 / h), h)

    assert path[-1][0] <= 0.5 - thin - KEEP
    assert 0.5 - thin - path[-1][0] < KEEP + 4e-3, "it came as near as it may"


@pytest.mark.parametrize(
    "make",
    [make_sliders, make_crane, pytest.param(make_swing, marks=pytest.mark.nightly)],
)
def test_a_stop_is_verified_if_every_command_of_it_keeps_clear(make):
    robot, rng = make(), np.random.default_rng(1)
    gate, judge = Gate(robot, h=H), Judge(robot, GateSettings())
    said = {True: 0, False: 0}
    near = draw_near(make, judge, rng)
    while min(said.values()) < 10:
        parts, c, v = ready(gate, *next(near))
        least = min(-judge.miss(at) for at in brake_path(c, v))

        is_safe = stops.verify_stop(parts.collision, parts.limits.ddq_max, H, c, v)

        said[is_safe] += 1
        assert not (is_safe and least < -4e-4)
        assert is_safe or least < 0.0


@pytest.mark.parametrize("behind", [0.02, 0.1, 0.3])
def test_a_robot_nearer_than_its_command_may_leave(behind):
    # held 'behind' nearer to the other than it was told to be, 2 mm from it
    gate, c = Gate(make_sliders(), h=H), 0.5 * (1.0 - 2 * BALL - 0.002 - behind)
    gate.reset([c, c])
    q_meas, nearest = np.array([c + behind, c]), 0.002

    for _ in range(50):
        result = gate.step([c + 0.01, c], H, q_meas=q_meas)
    assert result.q_cmd[0] <= c + 1e-9, "no nearer"
    for _ in range(400):
        result = gate.step([0.0, c], H, q_meas=q_meas)
        q_meas = result.q_cmd + [behind, 0.0]
        nearest = min(nearest, gap(q_meas))

    assert result.q_cmd[0] == pytest.approx(0.0, abs=1e-9)
    assert nearest >= 0.002 - 1e-6


def test_a_command_may_come_back_to_a_robot_that_stands_too_near():
    gate = Gate(make_sliders(), h=H)
    gate.reset([0.3, 0.44])
    q_meas = np.array([1.0 - 2 * BALL - 0.44 - 0.015, 0.44])  # 0.145 farther on

    for _ in range(400):
        result = gate.step(q_meas, H, q_meas=q_meas)

    assert result.q_cmd[0] == pytest.approx(q_meas[0], abs=2e-3)


def test_a_stop_is_verified_from_where_the_robot_is_not_only_from_its_command():
    # the command has passed the post and goes down beside it
    parts, c, v = ready(Gate(make_crane(), h=H), [0.65, BALL], [0.0, -0.3])
    assert stops.verify_stop(parts.collision, parts.limits.ddq_max, H, c, v)

    parts.collision.measured.q_lag[:] = np.array([0.35, BALL]) - c
    clearance.measure_all(parts.collision, c, *np.full((2, len(c)), 10.0))
    clearance.measure_to_measured(parts.collision, c)

    assert not stops.verify_stop(parts.collision, parts.limits.ddq_max, H, c, v), (
        "it has not"
    )
    assert stops.verify_stop(parts.collision, parts.limits.ddq_max, H, c, -v), (
        "and may leave"
    )


@pytest.mark.skipif(not numba.config.DISABLE_JIT, reason="kernels have it compiled in")
def test_a_stop_that_needs_too_much_looking_is_refused(monkeypatch):
    gate = Gate(make_crane(), h=H)
    parts, c, v = ready(gate, [0.4, 0.12], [0.9, 0.0])  # past the post
    assert stops.verify_stop(parts.collision, parts.limits.ddq_max, H, c, v)

    monkeypatch.setattr(stops, "_MAX_QUERIES", 0.0)

    assert not stops.verify_stop(parts.collision, parts.limits.ddq_max, H, c, v)


@pytest.mark.skipif(not numba.config.DISABLE_JIT, reason="kernels have it compiled in")
def test_tools_whose_stop_takes_too_many_periods_are_not_slow(monkeypatch):
    gate = Gate(make_elbow(), h=H, allow_no_bodies=True)
    parts, c, v = ready(gate, [0.0, -0.5, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0])
    parts.tools.speed[0] = 0.65  # 0.61 m/s now, and never more than 2.7
    assert tools.are_slow(parts.tools, parts.collision, parts.limits.ddq_max, H, c, v)

    monkeypatch.setattr(tools, "_MAX_PERIODS", 1)

    assert not tools.are_slow(
        parts.tools, parts.collision, parts.limits.ddq_max, H, c, v
    )


@pytest.mark.parametrize("room", [-1e-3, 0.0, 1e-4, 0.003, 0.02])
@pytest.mark.parametrize("t", [0.0, 0.3, 1.0, 4.7])
def test_the_next_check_comes_before_the_slack_is_used_up(room, t):
    parts, c, v = ready(Gate(make_sliders(), h=H), [0.4, 0.4], [0.8, 0.5])
    measured, scratch = parts.collision.measured, parts.collision.scratch
    measured.distance[0] = KEEP + min(room, 0.0)
    stops._bound_travel(parts.collision, parts.limits.ddq_max, H, v, t)
    stops._bound_changes(parts.collision, 0)
    need, between = scratch.max_change[0], min(room, 0.0) + KEEP
    scratch.slack[0] = room

    ahead = stops._find_unchecked_time(parts.collision, 0, t)

    there = min(t + ahead, 30.0)
    at = [[stops.find_place(c[i], v[i], A, H, x) for i in (0, 1)] for x in (t, there)]
    way = np.abs(np.diff(at, axis=0)).sum()
    assert way <= max(room, 0.0) + math.sqrt(8 * 3e-4 * between) + 1e-12
    assert way >= 0.4 * need or way >= 0.4 * max(room, 0.0) + 1.5e-3 or room < 0.0
    assert room >= 0.0 or there <= math.floor(t) + 1.0


@pytest.mark.parametrize("speed", [0.0, 0.03, 0.05, 0.42, 0.5, -0.42])
def test_places_of_a_stop_are_those_of_its_periods(speed):
    path = brake_path(np.array([0.3]), np.array([speed]))[:, 0]

    assert stops.find_place(0.3, speed, A, H, 0) == 0.3
    for step in range(1, len(path) + 3):
        expected = path[min(step, len(path)) - 1]
        assert stops.find_place(0.3, speed, A, H, step) == pytest.approx(expected)
        before = stops.find_place(0.3, speed, A, H, step - 1.0)
        between = stops.find_place(0.3, speed, A, H, step - 0.75)
        assert between == pytest.approx(before + 0.25 * (expected - before))


@pytest.mark.nightly
@pytest.mark.parametrize("make", [make_sliders, make_crane, make_swing])
def test_gradients_are_those_of_differences(make):
    robot, rng = make(), np.random.default_rng(2)
    gate, model = Gate(robot, h=H), Judge(robot, GateSettings()).model
    for _ in range(20):
        q = rng.uniform(-0.4, 0.4, 2)
        parts, c, _ = ready(gate, q)
        parts.box.dq_goal[:] = 1.0
        parts.box.low[:], parts.box.high[:] = -9.0, 9.0
        n, _ = clearance.fill_rows(parts.collision, parts.limits, H, parts.box, c * 0.0)
        for i in range(2):
            d = np.eye(2)[i] * 1e-5
            slope = (model.clearances(q + d) - model.clearances(q - d)) / 2e-5
            rows = parts.collision.measured.rows[:n]
            for row in rows:
                assert np.abs(slope - row[i]).min() < 1e-4
        assert parts.collision.measured.distance[0] == pytest.approx(
            model.clearances(q)[0], abs=1e-7
        )


def test_the_smallest_distance_is_exact_and_never_missed():
    robot, rng = make_swing(), np.random.default_rng(3)
    gate, model = Gate(robot, h=H), Judge(robot, GateSettings()).model
    for _ in range(100):
        q = rng.uniform(-1.9, 1.9, 2)
        gate.reset(q)
        least = model.min_clearance(q)

        found = gate.step(q, H).clearance

        assert found == pytest.approx(least, abs=1e-6) if least > 0.0 else found < 1e-6


def test_no_tool_moves_more_than_its_reach():
    for make in (make_sliders, make_crane, make_swing, make_zigzag):
        robot, rng = make(), np.random.default_rng(4)
        reach = [tools._find_reach(robot, *_eef(robot, limb)) for limb in robot.limbs]
        for _ in range(20):
            q = rng.uniform(-2, 2, 2)
            for k, limb in enumerate(robot.limbs.values()):
                J = limb.jacobian(q[limb.indices])[:3]
                assert (
                    np.linalg.norm(J, axis=0) <= reach[k][limb.indices] + 1e-9
                ).all()


def _eef(robot, name):
    joint, T = robot.link_places[robot.limbs[name].eef_link]
    return joint, T


@pytest.mark.parametrize("limit", [0.1, 0.4])
def test_tools_of_small_robots_keep_their_speed(limit):
    for make in (make_sliders, make_crane, make_swing, make_zigzag):
        robot = make()
        gate = Gate(robot, GateSettings(tool_speed=limit), h=H, allow_no_bodies=True)
        target = robot.home + [0.3, -0.25]
        path, events, _ = drive(gate, [target] * 60, H)
        for limb in robot.limbs.values():
            p = [limb.fk(q[limb.indices]).translation for q in [robot.home, *path]]
            speeds = np.linalg.norm(np.diff(p, axis=0), axis=1) / H
            assert speeds.max() <= limit * (1 + 1e-9)
            assert speeds.max() > 0.7 * limit
        assert any(Reason.TOOL_SPEED in found for found in events)


def test_a_limb_that_is_always_singular_is_never_slowed():
    robot = make_swing()
    careful, plain = (Gate(robot, GateSettings(singularity=s), h=H) for s in (0.1, 0.0))
    targets = np.repeat(np.random.default_rng(0).uniform(-1, 0, (6, 2)), 30, axis=0)

    path, events, _ = drive(careful, targets, H)

    assert (path == drive(plain, targets, H)[0]).all()
    assert not any(Reason.SINGULARITY in found for found in events)
