"""Rigs with one planted fault each: the right check fails, with the right words."""

from __future__ import annotations

import numpy as np
import pytest
from cells import spread
from planted_rigs import (
    Coasting,
    Creeping,
    Late,
    Mirrored,
    Planted,
    Silent,
    Stale,
    make_kit,
)

from paprle.contracts.errors import DeviceError
from paprle_lab.acceptance.moves import check_limits, check_start, check_stop
from paprle_lab.acceptance.touch import check_gripper

pytestmark = pytest.mark.long

CHECKS = {
    "start": check_start,
    "limits": check_limits,
    "stop": check_stop,
    "gripper": check_gripper,
}


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize(
    "follower", spread(["piper", "piper_2arm", "ur5e"], "piper_2arm")
)
def test_a_sound_rig_passes(name, follower):
    if (name, follower) == ("gripper", "ur5e"):
        pytest.skip("it has none")
    kit, _ = make_kit(Planted, f"follower={follower}")

    outcome = CHECKS[name](kit)

    assert outcome.problems == []
    assert outcome.figures


@pytest.mark.parametrize(
    ("name", "robot", "words", "told"),
    [
        ("start", Creeping, (), "joint2 moved by 0.06"),
        (
            "limits",
            Mirrored,
            (),
            "joint3 moved the other way: expected +0.09",
        ),
        ("limits", Planted, ("env.faults=[opposite@0]",), "moved the other way"),
        ("limits", Planted, ("env.faults=[ignoring@0]",), "joint1 did not move"),
        ("limits", Planted, ("env.faults=[double@0]",), "joint1 moved by 2.00 of what"),
        (
            "limits",
            Planted,
            ("env.faults=[delayed@0]",),
            "no usable state of the robot any more",
        ),
        ("limits", Late, ("env.time_constant=0.3",), "lags by more than the 0 ms"),
        ("stop", Coasting, (), "the robot still moved"),
        ("stop", Coasting, (), "joint1 went on by"),
    ],
)
def test_a_planted_fault_fails_its_check_with_its_words(name, robot, words, told):
    kit, _ = make_kit(robot, *words)

    problems = CHECKS[name](kit).problems

    assert told in "\n".join(problems)


@pytest.mark.parametrize("robot", [Silent, Stale])
def test_a_robot_that_measures_nothing_is_no_pass(robot):
    kit, _ = make_kit(robot)

    with pytest.raises(DeviceError, match="expected measured positions, got none; "):
        check_start(kit)


@pytest.mark.parametrize("name", ["limits", "stop", "gripper"])
def test_all_motion_keeps_to_a_tenth_of_the_speed_and_acceleration(name):
    kit, opened = make_kit()

    CHECKS[name](kit)

    speeds, full = opened[0].speeds, kit.robot
    assert (np.abs(speeds).max(axis=0) <= 0.1 * full.dq_max + 1e-9).all()
    accelerations = np.abs(np.diff(speeds, axis=0)) * opened[0].config.rate
    assert (accelerations.max(axis=0) <= 0.1 * full.ddq_max + 1e-6).all()
    assert np.abs(speeds).max() > 0.05 * full.dq_max.min()


def test_a_person_who_sees_another_direction_fails_the_joint():
    asked = []

    def answer(question):
        asked.append(question)
        return "n" if question.startswith("joint3") else "y"

    kit, _ = make_kit(answer=answer)

    (problem,) = check_limits(kit).problems

    assert "joint3: the person did not see it move as asked" in problem
    assert any("moves left by" in question for question in asked)
    assert any("moves up by" in q or "moves down by" in q for q in asked)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_motion_is_braked_before_the_robot_is_left(interruption):
    def interrupt(clock):
        has_interrupted = []

        def sleep(dt):
            clock.advance(dt)
            if not has_interrupted and clock() > 1.5e9 and opened[0].speeds[-1].any():
                has_interrupted.append(clock())
                raise interruption

        return sleep

    kit, opened = make_kit(sleep=interrupt)

    with pytest.raises(interruption):
        check_limits(kit)

    speeds = np.abs(opened[0].speeds).max(axis=1)
    assert speeds.max() > 0.0
    assert speeds[-1] < 1e-9
    assert np.abs(np.diff(speeds)).max() * 200.0 < 0.1 * kit.robot.ddq_max.max() + 1e-6
