"""Examinations of a ViperX in virtual time: without torque, with remedies."""

from __future__ import annotations

import pytest
from driven_rig import LIMB, DrivenWire, make_rig
from dynamixel_arm import resolve_robot
from piper_rig import RealClock

from paprle.followers.dynamixel.follower import DynamixelFollower

pytest.importorskip("dynamixel_sdk")


@pytest.fixture(scope="module")
def known():
    return resolve_robot("viperx300s")


@pytest.fixture
def rig():
    return make_rig()


@pytest.fixture
def look(rig, known, monkeypatch):
    """Return the faults, and all lines, of an examination."""

    def make_wire(*_):
        return DrivenWire(rig)

    monkeypatch.setattr("paprle.followers.dynamixel.arm.Wire", make_wire)

    def run():
        robot, config = known
        found = list(DynamixelFollower(config, robot, RealClock()).diagnose())
        servos = rig.limbs[LIMB].all_servos
        assert not any(servo.table.get("Torque Enable") for servo in servos)
        return [text for is_well, text in found if not is_well], [t for _, t in found]

    return run


def test_an_arm_without_faults_has_a_line_for_each_joint(look):
    faults, lines = look()

    assert faults == []
    assert len(lines) == 7
    assert "shoulder: servo 2 on 'bus' with servo 3: xm540-w270, 12.0 [V]" in lines[1]


def test_a_wrong_homing_offset_of_a_pair_is_named_with_the_right_one(rig, look):
    twin = rig.limbs[LIMB].twins[2]
    twin.table.put("Homing Offset", -40)
    twin._refresh()

    faults, _ = look()

    assert any("set its Homing Offset (20) to 0" in text for text in faults)


def test_a_silent_servo_is_named_by_its_joint(rig, look):
    rig.limbs[LIMB].servos[4].is_silent = True

    faults, lines = look()

    assert faults[0].startswith("wrist_angle: servo 7")
    assert any(text.startswith("wrist_rotate: servo 8") for text in lines)


def test_a_port_that_is_missing_is_an_obstacle(known):
    robot, config = known
    follower = DynamixelFollower(config, robot, RealClock())

    (text,) = follower.preflight()

    assert text.startswith("env 'dynamixel': port")
    assert not follower.goes_on_unattended
