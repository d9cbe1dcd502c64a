"""What must not matter to the gate, does not (safety.md 5.1, 3 and 4)."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from adversary import H, drive, load, make_targets
from hypothesis import given, settings
from hypothesis import strategies as st
from minimal_robots import make_swing

from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import LeaderInfo
from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason
from paprle.gate.watchdogs import SetpointWatch
from paprle.ipc.records import make_layout
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

    plain, _, _ = drive(Gate(robot, h=H), targets)
    other, _, _ = drive(Gate(mirrored, h=H), -targets)

    assert (plain == -other).all()


@quick
@given(seeds)
def test_the_order_of_joints_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    robot, targets = make_random(rng)
    order = rng.permutation(4)
    names = ("q_min", "q_max", "dq_max", "ddq_max")
    shuffled = change(robot, **{name: getattr(robot, name)[order] for name in names})

    plain, _, _ = drive(Gate(robot, h=H), targets)
    other, _, _ = drive(Gate(shuffled, h=H), targets[:, order])

    assert (plain[:, order] == other).all()


@quick
@given(seeds)
def test_twice_as_fast_a_robot_is_the_same_in_half_the_time(seed):
    robot, targets = make_random(np.random.default_rng(seed))
    fast = change(robot, dq_max=2 * robot.dq_max, ddq_max=4 * robot.ddq_max)

    plain, _, _ = drive(Gate(robot, h=H), targets, H)
    other, _, _ = drive(Gate(fast, h=H / 2), targets, H / 2)

    assert plain == pytest.approx(other, abs=1e-9)


@quick
@given(seeds, st.sampled_from([4.0, 180.0 / np.pi, 1e-3]))
def test_other_units_give_the_same_motion(seed, unit):
    robot, targets = make_random(np.random.default_rng(seed))
    names = ("q_min", "q_max", "dq_max", "ddq_max")
    scaled = change(robot, **{name: unit * getattr(robot, name) for name in names})

    plain, _, _ = drive(Gate(robot, GateSettings(position_margin=0.02), h=H), targets)
    other, _, _ = drive(
        Gate(scaled, GateSettings(position_margin=0.02 * unit), h=H), unit * targets
    )

    assert plain == pytest.approx(other / unit, abs=1e-7)


@quick
@given(seeds, st.floats(0.05, 1.0), st.floats(0.05, 1.0))
def test_lower_limits_never_give_more_speed(seed, less_v, less_a):
    robot, targets = make_random(np.random.default_rng(seed))
    slow = change(robot, dq_max=less_v * robot.dq_max, ddq_max=less_a * robot.ddq_max)

    commands, _, _ = drive(Gate(slow, h=H), targets)
    one, _, _ = drive(Gate(robot, h=H), [targets[0]] * 200)
    other, _, _ = drive(Gate(slow, h=H), [targets[0]] * 200)

    speeds = np.abs(np.diff(commands, axis=0)) / H
    assert (speeds <= less_v * robot.dq_max * (1 + 1e-9) + 1e-12).all()
    fastest = [np.abs(np.diff(path, axis=0)).max() for path in (one, other)]
    assert fastest[1] <= fastest[0] * (1 + 1e-9) + 1e-12


@quick
@given(seeds, st.integers(1, 120), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_a_lower_share_of_the_speed_never_gives_more_in_any_state(seed, n, high, less):
    robot, targets = make_random(np.random.default_rng(seed), n=1)
    speeds = []
    for share in (high, high * less):
        gate = Gate(robot, h=H)
        drive(gate, targets[:n])
        gate.speed_scale = share
        gate.step(targets[n], H)
        speeds.append(abs(gate.dq_cmd[0]))

    assert speeds[1] <= speeds[0] * (1 + 1e-9) + 1e-12


@quick
@given(seeds)
def test_a_target_that_stays_is_reached_and_held_to_the_bit(seed):
    rng = np.random.default_rng(seed)
    robot, targets = make_random(rng)
    gate = Gate(robot, h=H)
    drive(gate, targets[: rng.integers(1, 200)])
    target = rng.uniform(gate.q_min, gate.q_max)

    path, _, _ = drive(gate, [target] * 4000)

    first = int((path == target).all(axis=1).argmax())
    assert (path[first:] == target).all()
    assert 0 < first < 3999


MOUNTS = ["xyz='1 -2 0.5'", "xyz='0 0 0' rpy='0.4 1.1 -2'", "xyz='3 0 1' rpy='3 0 1'"]


@pytest.mark.parametrize("mount", MOUNTS)
def test_the_mounting_pose_does_not_matter(mount):
    here, there = make_swing(), make_swing(mount)
    ends = [[1.8, -0.5], [0.9, 0.4], [-0.5, -1.0], [1.0, 0.0]]
    targets = np.repeat(ends, 200, axis=0)

    plain, events, _ = drive(Gate(here, h=H), targets)
    other, _, _ = drive(Gate(there, h=H), targets)

    assert any(Reason.CLEARANCE in found for found in events)
    assert other == pytest.approx(plain, abs=1e-6)


@pytest.mark.parametrize("name", ["piper", "papras_7dof_2arm", "g1"])
def test_the_same_targets_give_the_same_bytes(name):
    robot = load(name)
    targets = make_targets(np.random.default_rng(3), robot, 200, "cross")

    runs = [drive(Gate(robot, h=H), targets)[0].tobytes() for _ in range(2)]

    assert runs[0] == runs[1]


def test_a_gate_that_was_used_is_as_good_as_new_after_reset():
    robot = load("papras_7dof_2arm")
    rng = np.random.default_rng(4)
    used = Gate(robot, h=H)
    drive(used, make_targets(rng, robot, 200, "square"), rng=rng)
    used.reset(robot.home)
    used.reduce(is_reduced=False)
    targets = make_targets(rng, robot, 200, "cross")

    assert (drive(used, targets)[0] == drive(Gate(robot, h=H), targets)[0]).all()


def test_arms_far_apart_do_not_change_each_other():
    robot = load("table4")
    limbs = [limb.indices for limb in robot.limbs.values()]
    rng = np.random.default_rng(5)
    target = robot.home.copy()
    target[limbs[0]] += rng.uniform(-0.2, 0.2, 7)
    both = target.copy()
    both[limbs[1]] += rng.uniform(-0.2, 0.2, 7)

    one, _, _ = drive(Gate(robot, h=H), [target] * 100)
    two, _, _ = drive(Gate(robot, h=H), [both] * 100)

    assert (one[:, limbs[0]] == two[:, limbs[0]]).all()


def test_arms_that_face_each_other_and_are_asked_the_same_do_the_same():
    robot = load("table2")
    left, right = (limb.indices for limb in robot.limbs.values())
    target = robot.home.copy()
    target[left] = target[right] = [0.1, 0.9, 0.0, -1.0, 0.2, 0.0, 0.0]

    commands, events, _ = drive(Gate(robot, h=H), [target] * 200)

    assert any(Reason.CLEARANCE in found for found in events)
    assert commands[:, right] == pytest.approx(commands[:, left], abs=1e-6)


@settings(max_examples=5, deadline=None)
@given(seeds)
def test_requests_of_left_and_right_may_be_swapped(seed):
    robot = load("table2")
    order = np.arange(len(robot.home))
    left, right = (limb.indices for limb in robot.limbs.values())
    order[left], order[right] = right, left
    rng = np.random.default_rng(seed)
    targets = robot.home + rng.uniform(-0.5, 0.5, (2, len(order))).repeat(40, axis=0)

    plain, _, _ = drive(Gate(robot, h=H), targets)
    other, _, _ = drive(Gate(robot, h=H), targets[:, order])

    arms = np.concatenate([left, right])
    assert other[:, order][:, arms] == pytest.approx(plain[:, arms], abs=1e-6)


@quick
@given(st.lists(st.integers(1, 40), min_size=1, max_size=60))
def test_packets_that_come_twice_or_out_of_order_change_nothing(numbers):
    noisy, clean, highest = *(SetpointWatch(GateSettings()) for _ in "ab"), 0
    blank = np.zeros((), make_layout(load("piper").info, LeaderInfo(limbs=())).setpoint)
    for k, seq in enumerate(numbers):
        record = blank.copy()
        record["seq"], record["q_des"] = seq, 0.1 * seq + 0.001 * k
        noisy.update(record, k)
        if seq > highest:
            highest = seq
            clean.update(record, k)

        assert noisy.newest == clean.newest
        assert (noisy.q_des == clean.q_des).all()
        assert noisy.compute_age(k) == clean.compute_age(k)
