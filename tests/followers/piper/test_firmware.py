"""What depends on an arm's firmware, and on what other programs left in it."""

import time

import numpy as np
import pytest
from piper_rig import EmulatedPiper, count_commands, cycle, load

from paprle.contracts.errors import DeviceError
from paprle.followers.piper.config import PiperConfig
from paprle.followers.piper.follower import PiperFollower
from paprle_emulators.piper.arm import compute_gravity

pytest.importorskip("piper_sdk")

pytestmark = pytest.mark.process


def test_power_is_measured_as_torque(follower, clock):
    """Reports of joints 1 to 3 are a quarter of it on this firmware."""
    state = cycle(follower, clock, time=0.1)

    weight = compute_gravity(state.q[:6])
    assert abs(weight[1]) > 2.0, "joint 2 carries the arm"
    assert state.tau[:6] == pytest.approx(weight, abs=0.05)


def test_an_arm_left_in_mit_is_refused_before_it_is_given_power(arm, config, robot):
    arm.do("mit")
    begin = time.monotonic_ns()

    with pytest.raises(DeviceError, match="left in MIT or JS .* only a reset"):
        PiperFollower(config, robot, time.monotonic_ns).open()

    record = arm.read()
    assert not record.is_enabled[-1].any()
    assert count_commands(record, begin, time.monotonic_ns()) == 0


def test_an_arm_that_leaves_mit_when_told_to_is_taken(tmp_path, clock):
    arm = EmulatedPiper(tmp_path, "firmware=S-V1.8-6")
    arm.do("mit")
    config = PiperConfig(interface="emucan", channel=arm.channel)
    limits = [
        "follower.limits.q_min.joint2=0.0350",
        "follower.limits.q_max.joint3=-0.035",
    ]
    follower = PiperFollower(config, load("piper", *limits), clock)

    follower.open()

    assert follower.read().stop_reason == ""
    follower.close()
    arm.end()


def test_an_arm_that_is_put_into_mit_stops_the_session(arm, follower, clock):
    cycle(follower, clock, time=0.05)

    arm.do("mit")

    reason = cycle(follower, clock, until="MIT").stop_reason
    assert reason == "arm moves by MIT or JS (0x04); start the session again"


def test_a_gripper_without_a_stroke_is_told_once(tmp_path, robot, clock):
    arm = EmulatedPiper(tmp_path, "stroke=0")
    config = PiperConfig(interface="emucan", channel=arm.channel)
    follower = PiperFollower(config, robot, clock)
    follower.open()
    q = follower.read().q.copy()
    q[6] = 0.03

    assert cycle(follower, clock, q, time=0.3).q[6] == 0.0
    (told,) = follower.take_warnings()

    assert "gripper: expected its stroke to be set" in told
    assert follower.take_warnings() == []
    follower.close()
    arm.end()


def examine(arm, robot):
    config = PiperConfig(interface="emucan", channel=arm.channel)
    return list(PiperFollower(config, robot, time.monotonic_ns).diagnose())


def test_the_doctor_finds_nothing_wrong_with_a_healthy_arm(arm, robot):
    found = examine(arm, robot)

    assert all(is_well for is_well, _ in found), found
    assert "torques of joints 1 to 3 are 4 times what it reports" in found[0][1]
    assert not arm.read().is_enabled[-1].any()


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("mit", "another program left it in MIT or JS"),
        ("teach", "teach mode"),
        ("collision", "collision"),
        ("rogue", "expected nobody to command the arm, got 0x155"),
    ],
)
def test_the_doctor_names_what_is_wrong(arm, robot, fault, text):
    arm.do(fault)

    found = examine(arm, robot)

    assert any(text in said for is_well, said in found if not is_well), found


def test_the_doctor_names_a_gripper_without_a_stroke(tmp_path, robot):
    arm = EmulatedPiper(tmp_path, "stroke=0")

    (fault,) = [said for is_well, said in examine(arm, robot) if not is_well]

    assert "expected its stroke to be set" in fault
    arm.end()


def test_the_doctor_names_a_bus_on_which_nobody_speaks(robot):
    config = PiperConfig(interface="emucan", channel="/nowhere/can")

    (found,) = PiperFollower(config, robot, time.monotonic_ns).diagnose()

    assert found[0] is False


def test_a_gripper_with_a_stroke_is_not_told(follower):
    assert follower.take_warnings() == []


def test_newer_firmware_has_its_zeros_elsewhere(tmp_path, robot, clock):
    arm = EmulatedPiper(tmp_path, "firmware=S-V1.8-2")
    config = PiperConfig(interface="emucan", channel=arm.channel)
    with pytest.raises(DeviceError, match="tighter ones on the arm; add ") as refusal:
        PiperFollower(config, robot, clock).open()
    words = str(refusal.value).split("; add ")[1].split()
    assert len(words) == 2
    assert not arm.read().is_enabled[-1]

    follower = PiperFollower(config, load("piper", *words), clock)
    follower.open()

    q = follower.read().q

    assert np.degrees(q[1:3]) == pytest.approx([2.0, -2.0], abs=0.01)
    cycle(follower, clock, q, time=0.05)
    follower.close("hold")
    commands = arm.read().commands
    assert np.abs(np.degrees(commands[-1, :6])).max() < 0.01
    arm.end()


def test_older_firmware_is_refused(tmp_path, robot, clock):
    arm = EmulatedPiper(tmp_path, "firmware=S-V1.4-1")
    config = PiperConfig(interface="emucan", channel=arm.channel)

    with pytest.raises(DeviceError, match=r"S-V1\.5-2 or newer.*got S-V1\.4-1"):
        PiperFollower(config, robot, clock).open()
    arm.end()
