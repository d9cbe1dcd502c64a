"""The doctor looks at an SO-101 without torque, and names each planted fault."""

from __future__ import annotations

import re

import pytest

from paprle.followers.feetech.follower import FeetechFollower

pytestmark = pytest.mark.process


@pytest.fixture
def look(arm, config, robot, clock):
    def look():
        found = list(FeetechFollower(config, robot, clock).diagnose())
        assert not any(servo.is_on for servo in arm.rig.limbs["follower"].servos)
        return [text for is_well, text in found if not is_well]

    return look


def test_a_healthy_arm_has_no_faults(look):
    assert look() == []


@pytest.mark.parametrize(
    ("register", "value", "words"),
    [
        ("Max_Position_Limit", 2600, "shoulder_lift=.*calibrate it"),
        ("Min_Position_Limit", 1600, "shoulder_lift=.*calibrate it"),
        ("Min_Position_Limit", 100, "expected a travel of 200 .*calibrate it"),
        ("Operating_Mode", 1, "setup-servos"),
        ("Phase", 0x1C, "setup-servos"),
    ],
)
def test_a_wrong_setting_is_named_with_its_remedy(look, arm, register, value, words):
    servo = arm.servo(2)
    servo.memory.put(register, value)
    servo.memory.save()

    found = " ".join(look())

    assert "servo 2" in found or "shoulder_lift" in found
    assert re.search(words, found), found


@pytest.mark.parametrize(
    ("fault", "rest", "words"),
    [
        ("silent", {"id": 3}, "servo 3"),
        ("duplicate_id", {"id": 4, "of": 5}, "servo 4|servo 5"),
        ("overheat", {"id": 2, "temperature": 75}, "servo 2"),
        ("voltage", {"id": 6, "volts": 3.0}, "servo 6"),
        ("wrong_model", {"id": 1, "number": 1284}, "servo 1"),
    ],
)
def test_a_faulty_servo_is_named(look, arm, fault, rest, words):
    arm.cause(fault, **rest)

    found = " ".join(look())

    assert any(word in found for word in words.split("|")), found
