"""What must not matter to the gate, does not (safety.md 5.1, 3 and 4)."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from adversary import H, drive, load, make_targets
from hypothesis import given, settings
from hypothesis import strategies as st

from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason
from paprle.settings import GateSettings
from paprle.testing.robots import make_robot_info

pytestmark = pytest.mark.long
seeds = st.integers(0, 2**32 - 1)
quick = settings(max_examples=15, deadline=None)


def make_random(rng, n=4):
    """Return a robot of one limb with limits of its own, and targets for it."""
    robot = make_robot_info(
        n,
        q_min=rng.uniform(-3, -1, n),
        q_max=rng.uniform(1, 3, n),
        dq_max=rng.uniform(0.5, 3, n),
        ddq_max=rng.uniform(3, 30, n),
    )
    return robot, np.repeat(rng.uniform(-3, 3, (8, n)), 40, axis=0)


def change(robot, **changes):
    return dataclasses.replace(
        robot, **{name: np.array(value) for name, value in changes.items()}
    )


@quick
@given(seeds)
def test_mirrored_targets_give_mirrored_commands(seed):
    robot, targets = make_random(np.random.default_rng(seed))
    mirrored = change(robot, q_min=-robot.q_max, q_max=-robot.q_min)

    plain, _, _ = drive(Gate(robot), targets)
    other, _, _ = drive(Gate(mirrored), -targets)

    assert (plain == -other).all()


@quick
@given(seeds)
def test_the_order_of_joints_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    robot, targets = make_random(rng)
    order = rng.permutation(4)
    names = ("q_min", "q_max", "dq_max", "ddq_max")
    shuffled = change(robot, **{name: getattr(robot, name)[order] for name in names})

    plain, _, _ = drive(Gate(robot), targets)
    other, _, _ = drive(Gate(shuffled), targets[:, order])

    assert (plain[:, order] == other).all()


@quick
@given(seeds)
def test_twice_as_fast_a_robot_is_the_same_in_half_the_time(seed):
    robot, targets = make_random(np.random.default_rng(seed))
    fast = change(robot, dq_max=2 * robot.dq_max, ddq_max=4 * robot.ddq_max)

    plain, _, _ = drive(Gate(robot), targets, H)
    other, _, _ = drive(Gate(fast), targets, H / 2)

    assert plain == pytest.approx(other, abs=1e-9)


@quick
@given(seeds)
def test_other_units_give_the_same_motion(seed):
    robot, targets = make_random(np.random.default_rng(seed))
    names = ("q_min", "q_max", "dq_max", "ddq_max")
    scaled = change(robot, **{name: 4 * getattr(robot, name) for name in names})

    plain, _, _ = drive(Gate(robot, GateSettings(position_margin=0.02)), targets)
    other, _, _ = drive(Gate(scaled, GateSettings(position_margin=0.08)), 4 * targets)

    assert 4 * plain == pytest.approx(other, abs=1e-9)


@quick
@given(seeds)
def test_lower_limits_never_give_more_speed(seed):
    robot, targets = make_random(np.random.default_rng(seed))
    slow = change(robot, dq_max=0.5 * robot.dq_max)

    commands, _, _ = drive(Gate(slow), targets)

    speeds = np.abs(np.diff(commands, axis=0)) / H
    assert (speeds <= 0.5 * robot.dq_max * (1 + 1e-9) + 1e-12).all()


@pytest.mark.parametrize("name", ["piper", "papras_7dof_2arm", "g1"])
def test_the_same_targets_give_the_same_bytes(name):
    robot = load(name)
    targets = make_targets(np.random.default_rng(3), robot, 200, "cross")

    runs = [drive(Gate(robot), targets)[0].tobytes() for _ in range(2)]

    assert runs[0] == runs[1]


def test_a_gate_that_was_used_is_as_good_as_new_after_reset():
    robot = load("papras_7dof_2arm")
    rng = np.random.default_rng(4)
    used = Gate(robot)
    drive(used, make_targets(rng, robot, 200, "square"), rng=rng)
    used.reset(robot.home)
    used.reduce(is_reduced=False)
    targets = make_targets(rng, robot, 200, "cross")

    assert (drive(used, targets)[0] == drive(Gate(robot), targets)[0]).all()


def test_arms_far_apart_do_not_change_each_other():
    robot = load("table4")
    limbs = [limb.indices for limb in robot.limbs.values()]
    rng = np.random.default_rng(5)
    target = robot.home.copy()
    target[limbs[0]] += rng.uniform(-0.2, 0.2, 7)
    both = target.copy()
    both[limbs[1]] += rng.uniform(-0.2, 0.2, 7)

    one, _, _ = drive(Gate(robot), [target] * 100)
    two, _, _ = drive(Gate(robot), [both] * 100)

    assert (one[:, limbs[0]] == two[:, limbs[0]]).all()


def test_arms_that_face_each_other_and_are_asked_the_same_do_the_same():
    robot = load("table2")
    left, right = (limb.indices for limb in robot.limbs.values())
    target = robot.home.copy()
    target[left] = target[right] = [0.1, 0.9, 0.0, -1.0, 0.2, 0.0, 0.0]

    commands, events, _ = drive(Gate(robot), [target] * 200)

    assert any(Reason.CLEARANCE in found for found in events)
    assert commands[:, right] == pytest.approx(commands[:, left], abs=1e-6)
