"""Which of two arms a hand has moved: scripted motions on a clock of their own."""

import math

import numpy as np
import pytest
from scripted_rig import ScriptedSearch, make_arm

from paprle.contracts.errors import DeviceError
from paprle_lab.quickstart.motion_watch import MOVED, PATIENCE, Excursion, watch_ports

LEADER, FOLLOWER = "/dev/a", "/dev/b"
NOISE = 0.003  # [rad] two counts


def make_noise(seed):
    rng = np.random.default_rng(seed)
    return lambda _: rng.uniform(-NOISE, NOISE, 6)


def turn(joint, far, start=2.0, time=1.0):
    """One joint turns by ``far`` [rad] and stays there."""
    row = np.eye(6)[joint]
    return lambda t: far * row * min(max((t - start) / time, 0.0), 1.0)


def watch(**motions):
    search = ScriptedSearch(make_arm(LEADER), make_arm(FOLLOWER), **motions)
    try:
        return watch_ports(search, [LEADER, FOLLOWER], search.clock, search.sleep)
    finally:
        assert not search.opened, "every port is closed again"


def add(*motions):
    return lambda t: sum(motion(t) for motion in motions)


def test_the_arm_that_a_hand_moves_is_found_in_noise():
    found = watch(a=add(make_noise(1), turn(1, 0.4)), b=make_noise(2))

    assert found.path == LEADER


def test_a_turn_to_the_other_side_of_the_servos_zero_is_no_whole_turn():
    start = math.pi - 0.05

    found = watch(
        a=lambda t: np.full(6, (start + 0.04 * (t > 2) + math.pi) % math.tau - math.pi),
        b=turn(0, 0.5),
    )

    assert found.path == FOLLOWER


def test_noise_alone_is_no_motion_and_says_what_to_do():
    found = watch(a=make_noise(1), b=make_noise(2))

    assert not found.path
    assert (
        f"within {PATIENCE:g} [s], got 0; move the leader's upper arm" in found.reason
    )
    assert "has torque: it is the follower" in found.reason


def test_two_arms_that_move_are_not_decided_between():
    found = watch(a=turn(1, 0.4), b=turn(2, 0.15))

    assert not found.path
    assert f"expected one arm to move, got {LEADER} and {FOLLOWER}" in found.reason


def test_a_held_arm_that_gives_way_does_not_disturb():
    assert watch(a=turn(1, 0.4), b=turn(2, 0.05)).path == LEADER


def test_a_port_that_is_unplugged_in_the_middle_is_reported():
    with pytest.raises(DeviceError, match="port '/dev/a': the device hung up"):
        watch(a=lambda t: math.inf if t > 1.0 else 0.0, b=lambda _: 0.0)


def test_one_damaged_reading_is_no_motion():
    seen = Excursion()
    for k in range(20):
        seen.add(np.full(6, 1.0 if k == 10 else 0.0))

    assert seen.turn == 0.0


def test_a_silent_servo_is_passed_over():
    seen = Excursion()
    for k in range(20):
        seen.add(np.array([math.nan, 0.1 * k, 0.0]))

    assert seen.turn > MOVED
