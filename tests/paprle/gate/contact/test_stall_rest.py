"""A limb that a body keeps from a far goal rests, and goes on when that has changed."""

from __future__ import annotations

import numpy as np
import pytest
from adversary import Judge, drive, judge_joints, load
from minimal_robots import gap, make_sliders

from benchmarks.contact import judge
from paprle.contracts.settings.core import GateSettings
from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason

H = 0.005  # [s]
SOON = 0.5  # [s]
AWAY, BEYOND = np.array([1.5, -1.0]), np.array([1.5, 0.0])  # [m]


def draw_goal(robot, seed):
    """Return a goal anywhere within the limits, shape (n,), [rad]."""
    low, high = np.maximum(robot.q_min, -6.28), np.minimum(robot.q_max, 6.28)
    return np.random.default_rng(seed).uniform(low, high)


def press_sliders(gate):
    """Let the first of two sliders rest before the second, 0.6 m from its goal."""
    commands, _, _ = drive(gate, [BEYOND] * 600, H)
    assert gap(commands[-1]) < 0.02
    assert commands[-1, 0] == commands[-2, 0]
    return commands[-1]


@pytest.mark.parametrize("seed", [1001, 1008, 1023])
def test_a_limb_rests_soon_after_a_body_blocks_it(seed):
    """It crept for 2.5 to 3.5 s: joints shared the pace of the one that was blocked."""
    robot = load("ur5e")
    gate, goal = Gate(robot, h=H, allow_no_bodies=True), draw_goal(robot, seed)
    q, dq, commands, events = [], [], [], []

    for _ in range(1600):
        result = gate.step(goal, H)
        commands.append(result.q_cmd)
        events.append(result.events)
        q.append(gate.q_limited.copy())
        dq.append(gate.dq_limited.copy())

    contact = judge(gate, seed, goal, np.array(q), np.array(dq))
    assert contact.is_far
    assert contact.duration <= SOON
    assert contact.n_reversals == 0
    assert (dq[-1] == 0.0).all(), "it stands"
    assert all(Reason.CLEARANCE in told for told in events[-200:]), "and it is told"
    assert judge_joints(np.array(commands), robot).is_ok
    assert Judge(robot, GateSettings()).find_bad(commands[::20]) == []


@pytest.mark.parametrize("seed", [1008, 1012, 1032])
def test_a_goal_that_two_arms_slide_to_is_reached(seed):
    """What is in the way for a while only brings nothing to rest."""
    robot = load("papras_7dof_2arm")
    gate, goal = Gate(robot, h=H), draw_goal(robot, seed)

    _, events, _ = drive(gate, [goal] * 1600, H)

    assert any(Reason.CLEARANCE in told for told in events)
    assert gate.q_limited.tolist() == np.clip(goal, gate.q_min, gate.q_max).tolist()


def test_a_resting_limb_goes_on_to_another_goal():
    robot = load("ur5e")
    gate = Gate(robot, h=H, allow_no_bodies=True)
    drive(gate, [draw_goal(robot, 1008)] * 1000, H)
    assert gate.is_at_rest

    commands, _, _ = drive(gate, [robot.home] * 1000, H)

    assert commands[-1] == pytest.approx(robot.home, abs=1e-9)


def test_a_goal_that_trembles_wakes_nobody():
    gate = Gate(make_sliders(), h=H)
    rests = press_sliders(gate)

    commands, events, _ = drive(gate, [BEYOND + 0.009, BEYOND - 0.009] * 100, H)

    assert commands[:, 0].tolist() == [rests[0]] * 200
    assert all(Reason.CLEARANCE in told for told in events)


def test_a_resting_limb_goes_on_after_the_obstacle_moves_away():
    gate = Gate(make_sliders(), h=H)
    press_sliders(gate)

    commands, _, _ = drive(gate, [AWAY] * 800, H)

    assert commands[-1] == pytest.approx(AWAY)


def test_a_limb_that_waits_for_the_robot_does_not_rest():
    """The command of the second is away, but the robot itself still stands there."""
    gate = Gate(make_sliders(), h=H)
    stands = press_sliders(gate)
    for _ in range(400):
        gate.step(AWAY, H, q_meas=stands)
    assert gate.q_cmd[0] == pytest.approx(stands[0], abs=0.02)

    for _ in range(800):
        gate.step(AWAY, H, q_meas=gate.q_cmd)

    assert gate.q_cmd == pytest.approx(AWAY)


def test_one_limb_rests_while_the_other_goes_where_it_likes():
    gate = Gate(make_sliders(), h=H)
    rests = press_sliders(gate)

    # nearer to the first, which has no reason to move for it
    nearer = [BEYOND + [0.0, 0.002 * np.sin(0.05 * k)] for k in range(400)]
    commands, _, _ = drive(gate, nearer, H)

    assert np.ptp(commands[:, 0]) == 0.0
    assert commands[-1, 0] == rests[0]


def test_braking_and_a_reset_forget_that_it_rests():
    gate = Gate(make_sliders(), h=H)
    stalled_for = gate._parts.motion.stalled_for
    press_sliders(gate)
    assert stalled_for[0] > 0.0
    assert stalled_for[1] == 0.0, "who is asked for nothing does not stall"

    gate.step(None, H)
    assert not stalled_for.any()

    press_sliders(gate)
    gate.reset(gate.q_cmd)
    assert not stalled_for.any()


def test_a_limb_that_is_slowed_down_does_not_rest_on_its_way():
    """Allowed a tenth of V it is as slow as who creeps, but as fast as it may be."""
    gate = Gate(make_sliders(), h=H)
    gate.speed_scale = 0.1

    commands, _, _ = drive(gate, [AWAY] * 3200, H)

    assert commands[-1] == pytest.approx(AWAY)
