"""Stops whose joints rest together, and where stops end, on robots of two joints."""

from __future__ import annotations

import numpy as np
import pytest
from adversary import Judge, drive, judge_joints
from cells import spread
from minimal_robots import BALL, draw_near, make_crane, make_sliders, make_swing

from paprle.contracts.settings.core import GateSettings, SceneBodySettings
from paprle.gate import limits, step
from paprle.gate.contact import clearance, stops, synchronised
from paprle.gate.contact import stop_pose_check as rest
from paprle.gate.contact.scene import place_bodies_at
from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason
from paprle.testing.robots import make_robot_info

H, V, A, KEEP = 0.01, 1.0, 5.0, 0.01
START, GOAL = np.array([0.0, -0.0247]), np.array([1.0, 0.2753])
"""A way that passes the crane's post by 20 mm; braking hard leaves it by as much."""


def apart(path):
    """Distance of the crane's ball from the post, [m]."""
    return np.hypot(path[:, 0] - 0.5, path[:, 1]) - 2 * BALL


def off_the_way(path):
    """Distance from the straight way, [m]."""
    way = (GOAL - START) / np.linalg.norm(GOAL - START)
    gone = path - START
    return np.abs(gone[:, 0] * way[1] - gone[:, 1] * way[0])


def ready(gate, q, v):
    """Measure all bodies in a posture; return memory, posture and velocity."""
    gate.reset(q)
    parts, c, v = gate._parts, np.array(q, dtype=float), np.array(v, dtype=float)
    limits.fill_box(parts.limits, H, 1.0, c, v, parts.box)
    clearance.measure_all(parts.collision, c, *np.full((2, len(c)), 10.0))
    parts.motion.q_cmd[:], parts.motion.v_next[:] = c, v
    return parts, c, v


def test_a_limb_on_a_straight_path_past_a_body_is_not_slowed():
    gate, free = Gate(make_crane(), h=H), Gate(make_crane().info, h=H)
    gate.reset(START)
    free.reset(START)

    path, events, _ = drive(gate, [GOAL] * 140, H)

    assert np.array_equal(path, drive(free, [GOAL] * 140, H)[0])
    assert path[-1] == pytest.approx(GOAL)
    assert not any(Reason.CLEARANCE in found for found in events)


def test_braking_keeps_clear_wherever_it_begins():
    n_synchronised = 0
    for k in range(1, 120, 2):
        gate = Gate(make_crane(), h=H)
        gate.reset(START)
        before, _, _ = drive(gate, [GOAL] * k, H)
        n_synchronised += gate._is_synchronised > 0.0

        after, _, _ = drive(gate, [None] * 22, H)

        assert apart(after).min() >= KEEP - 5e-4
        assert gate.is_at_rest, "no later than its slowest joint"
        path = np.vstack([before, after])
        assert judge_joints(path, make_crane(), H, START).is_ok
        if gate._is_synchronised > 0.0:
            assert off_the_way(after).max() < 1e-9
    assert n_synchronised > 3, "or it was no test of synchronised stops"


def test_a_step_broken_off_leaves_the_stop_that_was_verified():
    gate = Gate(make_crane(), h=H)
    gate.reset(START)
    while gate._is_synchronised == 0.0:
        gate.step(GOAL, H)
    gate._is_stepping, gate._parts.motion.is_synchronised[0] = True, 0.0

    after, _, _ = drive(gate, [None] * 22, H)

    assert off_the_way(after).max() < 1e-9


def test_joints_that_rest_together_brake_in_proportion_and_never_harder_than_they_can():
    gate = Gate(make_crane(), h=H)
    parts, _, _ = ready(gate, START, [0.0, 0.0])
    found = np.full(2, np.nan)

    synchronised.fill_ddq_sync(parts.limits, np.array([1.0, -0.25]), found)
    assert found == pytest.approx([A, A / 4])

    synchronised.fill_ddq_sync(parts.limits, np.array([0.0, -0.25]), found)
    assert found == pytest.approx([A, A])


def test_limbs_come_to_rest_each_in_its_own_proportion():
    gate = Gate(make_robot_info(2, n_limbs=2, ddq_max=A), h=H)
    found = np.full(4, np.nan)

    synchronised.fill_ddq_sync(
        gate._parts.limits, np.array([1.0, 0.5, -0.25, 0.2]), found
    )

    assert found == pytest.approx([A, A / 2, A, 0.8 * A])


def test_braking_synchronised_takes_no_harder_braking_away():
    gate = Gate(make_robot_info(2, ddq_max=A), h=H)
    parts, v = gate._parts, np.array([1.0, 0.2])
    limits.fill_box(parts.limits, H, 1.0, np.zeros(2), v, parts.box)
    hardest = parts.box.low.copy()
    parts.motion.dq_cmd[:] = v

    synchronised.brake_synchronised(parts.limits, H, parts.motion, parts.box)

    assert parts.box.low == pytest.approx(hardest)
    assert (parts.box.brake <= parts.box.high).all()
    assert parts.box.brake == pytest.approx(v * (1.0 - A * H))


@pytest.mark.parametrize(
    ("y", "vy", "fits"),
    [
        (1.95, 0.2, True),
        (1.969, 0.2, False),
        (-1.95, -0.2, True),
        (-1.969, -0.2, False),
        (1.969, -0.2, True),
        (-1.969, 0.2, True),
    ],
)
def test_a_synchronised_stop_has_to_fit_the_position_limits(y, vy, fits):
    parts, _, v = ready(Gate(make_crane(), h=H), [-1.0, y], [1.0, vy])
    synchronised.fill_ddq_sync(parts.limits, v, parts.motion.ddq_sync)

    assert synchronised.is_within(parts.limits, H, parts.motion) == fits


@pytest.mark.nightly
def test_once_it_has_stopped_a_pair_needs_no_more_checks():
    parts, c, v = ready(Gate(make_crane(), h=H), [0.35, 0.0], [0.1, 0.0])
    scene, _, measured, scratch = parts.collision
    scratch.pending[0] = 0
    place_bodies_at(scene, c, scratch.placed, measured.n_queries)
    stops._bound_travel(parts.collision, parts.limits.ddq_max, H, v, 5.0)
    stops._bound_changes(parts.collision, 0)

    left = stops._check_pending(parts.collision, 5.0, 1, 1)

    assert left == 0


@pytest.mark.parametrize(
    ("gap", "way", "left"),
    [(0.2, 0.05, 0.15), (-0.2, -0.3, 0.0), (0.2, -0.05, 0.2), (-0.2, -0.05, -0.15)],
)
def test_a_command_that_comes_back_leaves_the_robot_behind_by_less(gap, way, left):
    assert stops._find_lag(gap, way) == pytest.approx(left)


def test_a_distance_that_had_to_be_measured_counts_as_work():
    parts, c, _ = ready(Gate(make_crane(), h=H), [0.5, 0.12], [0.0, 0.0])
    scene, _, measured, scratch = parts.collision
    place_bodies_at(scene, c, scratch.placed, measured.n_queries)
    measured.n_queries[0] = 0.0

    slack = stops._measure_slack(parts.collision, 0, 1.0, -1.0)

    assert slack == pytest.approx(0.12 - 2 * BALL - 1.0)
    assert measured.n_queries[0] == stops._EXACT


@pytest.mark.nightly
def test_into_a_wall_at_the_position_limit_there_is_neither_stop():
    wall = SceneBodySettings(shape="box", size=(0.2, 4.2, 2.0), xyz=(0.6, 0, 0))
    gate = Gate(make_crane(), GateSettings(scene={"wall": wall}), h=H)
    ready(gate, [0.48 - BALL, 1.969], [1.0, 0.2])

    assert not step._can_stop(*gate._memory, H, False)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_an_invalid_speed_has_no_verified_stop(bad):
    parts, c, v = ready(Gate(make_crane(), h=H), [-1.0, 1.5], [0.0, 0.0])
    v[1] = bad

    assert not stops.verify_stop(parts.collision, parts.limits.ddq_max, H, c, v)


@pytest.mark.parametrize(
    "make", spread([make_sliders, make_crane, make_swing], make_crane)
)
def test_a_stop_that_ends_too_near_is_refused_at_once(make):
    robot, rng = make(), np.random.default_rng(4)
    gate, judge = Gate(robot, h=H), Judge(robot, GateSettings())
    said = {True: 0, False: 0}
    near = draw_near(make, judge, rng)
    while min(said.values()) < 10:
        parts, c, v = ready(gate, *next(near))
        end = [stops.find_place(c[i], v[i], A, H, 99.0) for i in range(2)]
        miss = judge.miss(np.array(end))

        is_clear = rest.is_stop_pose_clear(
            parts.collision, parts.limits.ddq_max, H, c, v
        )

        said[is_clear] += 1
        assert is_clear == (miss <= 0.0) or abs(miss) < 1e-6
        assert is_clear or not stops.verify_stop(
            parts.collision, parts.limits.ddq_max, H, c, v
        )
