"""An SO-101 is opened without motion, follows, and stops with a reason."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from emulated_feetech import run_feetech
from served_rig import wait_for
from so101_arm import load_robot

from paprle.contracts.errors import DeviceError
from paprle.followers.feetech.config import FeetechConfig
from paprle.followers.feetech.follower import FeetechFollower

pytestmark = pytest.mark.process
UNIT = 2.0 * math.pi / 4096
N_ARM = 5


def find_truth(arm, limb="follower"):
    return np.array(arm.rig.limbs[limb].arm.q)


def cycle(follower, clock, q, time=0.5):
    for _ in range(round(time * 200)):
        state = follower.read()
        follower.write(q)
        clock.advance(1 / 200)
    return state


def write_file(path, arm, shift=0, **changes):
    """Write LeRobot's file of an arm; ``shift`` the homing offsets in it, [counts]."""
    tree = {}
    for number, servo in enumerate(arm.rig.limbs["follower"].servos, start=1):
        memory = servo.memory
        tree[f"motor{number}"] = {
            "id": number,
            "drive_mode": 0,
            "homing_offset": memory.get("Homing_Offset") + shift,
            "range_min": memory.get("Min_Position_Limit") - shift,
            "range_max": memory.get("Max_Position_Limit") - shift,
        } | changes.get(f"motor{number}", {})
    path.write_text(json.dumps(tree))
    return str(path)


def test_it_reads_the_joints_where_they_are(arm, follower):
    q = follower.read().q

    assert q == pytest.approx(find_truth(arm), abs=math.radians(1.0))


def test_opening_moves_nothing_and_gives_torque(arm, config, robot, clock):
    before = find_truth(arm)

    follower = FeetechFollower(config, robot, clock)
    follower.open()
    clock.advance(0.3)

    assert find_truth(arm) == pytest.approx(before, abs=math.radians(0.6))
    assert all(servo.is_on for servo in arm.rig.limbs["follower"].servos)
    follower.close("hold")


def test_an_arm_whose_goals_are_elsewhere_does_not_jump_to_them(
    arm, config, robot, clock
):
    """Goals that another program left, far from where the limp arm lies now."""
    for servo in arm.rig.limbs["follower"].servos:
        servo.memory.put("Goal_Position", 100)
    before = find_truth(arm)

    follower = FeetechFollower(config, robot, clock)
    follower.open()
    clock.advance(0.3)

    assert find_truth(arm) == pytest.approx(before, abs=math.radians(0.6))
    follower.close("hold")


def test_it_goes_where_it_is_told(arm, follower, clock):
    begin = follower.read().q
    goal = begin + [0.2, 0.3, -0.3, -0.3, 0.3, -0.4]
    for share in np.linspace(0.0, 1.0, 100):
        cycle(follower, clock, begin + share * (goal - begin), 0.005)

    state = cycle(follower, clock, goal, 1.0)

    sag = math.radians(4.0)  # servos without an integral part give way to a weight
    assert state.q == pytest.approx(goal, abs=sag)
    assert state.q == pytest.approx(find_truth(arm), abs=math.radians(1.0))


def test_hold_keeps_torque_and_off_takes_it(arm, config, robot, clock):
    servos = arm.rig.limbs["follower"].servos
    follower = FeetechFollower(config, robot, clock)

    follower.open()
    follower.close("hold")
    assert all(servo.is_on for servo in servos)

    follower.open()
    follower.close("off")
    assert not any(servo.is_on for servo in servos)


def test_the_gripper_gets_half_of_its_torque(arm, follower):  # noqa: ARG001
    limits = [s.memory.get("Torque_Limit") for s in arm.rig.limbs["follower"].servos]

    assert limits == [1000] * N_ARM + [500]


def test_a_file_stands_for_what_the_servos_lost(arm, config, robot, clock, tmp_path):
    """A file written before the homing offsets at the servos were changed."""
    turning = {"homing_offset": arm.servo(5).memory.get("Homing_Offset")}
    turning |= {"range_min": 0, "range_max": 4095}
    path = write_file(tmp_path / "mine.json", arm, shift=150, motor5=turning)
    config = FeetechConfig(port=config.port, calibration=path)

    follower = FeetechFollower(config, robot, clock)
    follower.open()

    assert follower.read().q == pytest.approx(find_truth(arm), abs=math.radians(1.0))
    follower.close("hold")


@pytest.mark.parametrize("homing", [-1500, 1500, -600, 600])
def test_a_file_whose_range_the_servo_cannot_reach_is_refused(
    homing, arm, config, robot, clock, tmp_path
):
    """Its goals would pass the end of the counts, and turn the joint the long way."""
    path = write_file(tmp_path / "mine.json", arm)
    servo = arm.servo(1)
    servo.memory.put("Homing_Offset", homing)
    servo.memory.save()
    config = FeetechConfig(port=config.port, calibration=path)

    with pytest.raises(DeviceError, match="got others at shoulder_pan"):
        FeetechFollower(config, robot, clock).open()

    assert not servo.is_on


def test_a_file_is_found_by_its_name_at_lerobots_places(
    arm, config, robot, clock, tmp_path, monkeypatch
):
    monkeypatch.setenv("HF_LEROBOT_CALIBRATION", str(tmp_path))
    for folder in ("so_follower", "so101_follower"):
        (tmp_path / "robots" / folder).mkdir(parents=True)
        write_file(tmp_path / "robots" / folder / f"{folder}.json", arm)
        named = FeetechConfig(port=config.port, calibration=folder)
        follower = FeetechFollower(named, robot, clock)

        follower.open()

        follower.close("hold")
    unknown = FeetechConfig(port=config.port, calibration="nobodys")
    with pytest.raises(DeviceError, match=r"there are .*so101_follower\.json"):
        FeetechFollower(unknown, robot, clock).open()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected JSON"),
        ("[]", "expected motors by name"),
        ('{"a": {"id": 1}}', "expected id, drive_mode"),
        ('{"a": {"id": 1, "drive_mode": 0, "homing_offset": 0, "range_min": 9, '
         '"range_max": 8}}', "range_min below range_max"),
        ('{"a": {"id": 1, "drive_mode": 0, "homing_offset": 9999, "range_min": 1, '
         '"range_max": 8}}', "homing_offset: expected a whole number"),
        ('{"a": {"id": 1, "drive_mode": 0, "homing_offset": 0, "range_min": 1, '
         '"range_max": 800}}', "none with id 2, 3, 4, 5, 6"),
    ],
)  # fmt: skip
def test_an_invalid_file_is_refused(text, words, arm, config, robot, clock, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(text)
    config = FeetechConfig(port=config.port, calibration=str(path))

    with pytest.raises(DeviceError, match=words):
        FeetechFollower(config, robot, clock).open()

    assert not any(servo.is_on for servo in arm.rig.limbs["follower"].servos)


def test_servos_from_the_factory_are_refused(arm, config, robot, clock):
    servo = arm.servo(3)
    for name, value in (
        ("Homing_Offset", 0),
        ("Min_Position_Limit", 0),
        ("Max_Position_Limit", 4095),
    ):
        servo.memory.put(name, value)

    with pytest.raises(DeviceError, match="got elbow_flex as they left the factory"):
        FeetechFollower(config, robot, clock).open()


def test_a_range_that_was_not_swept_whole_is_refused(arm, config, robot, clock):
    """A sweep that ended 34 degrees before the stop puts the zero 17 degrees off."""
    servo = arm.servo(2)
    end = servo.memory.get("Max_Position_Limit") - round(math.radians(34.0) / UNIT)
    servo.memory.put("Max_Position_Limit", end)

    with pytest.raises(DeviceError, match=r"q_max\.shoulder_lift=.*calibrate it"):
        FeetechFollower(config, robot, clock).open()


def test_a_range_wider_than_the_joint_is_refused(arm, config, robot, clock):
    servo = arm.servo(2)
    servo.memory.put("Min_Position_Limit", 10)

    with pytest.raises(DeviceError, match="shoulder_lift: expected a travel of 200"):
        FeetechFollower(config, robot, clock).open()


def test_a_silent_servo_stops_the_arm_with_a_reason(arm, follower, clock):
    q = cycle(follower, clock, follower.read().q, 0.1).q

    arm.cause("silent", id=4)

    def has_reason():
        follower.write(q)
        return "wrist_flex" in follower.read().stop_reason

    wait_for(has_reason, "a reason")


def test_a_brown_out_stops_the_arm_and_moves_nothing_afterwards(arm, follower, clock):
    q = cycle(follower, clock, follower.read().q, 0.1).q
    arm.cause("brownout", id=2, seconds=0.2)

    wait_for(lambda: follower.read().stop_reason, "a reason")
    cycle(follower, clock, q + 0.5, 0.5)  # a command far from the arm

    truth = find_truth(arm)
    assert truth[[0, 2, 3, 4]] == pytest.approx(q[[0, 2, 3, 4]], abs=0.03)


def test_a_port_that_is_back_needs_a_new_start(arm, follower, clock):
    q = cycle(follower, clock, follower.read().q, 0.1).q
    arm.unplug("follower")
    wait_for(lambda: "start the session again" in follower.read().stop_reason, "it")
    arm.plug("follower")
    clock.advance(1.5)

    state = cycle(follower, clock, q + 0.4, 0.5)

    assert "start the session again" in state.stop_reason
    assert find_truth(arm) == pytest.approx(q, abs=0.03)


def test_two_arms_are_one_robot_with_a_port_each(tmp_path, clock):
    robot = load_robot("so101_2arm")
    with run_feetech(tmp_path / "two", "so101_2arm") as rig:
        ports = {name: rig.port(name) for name in ("left", "right")}
        follower = FeetechFollower(FeetechConfig(ports=ports), robot, clock)
        follower.open()

        q = follower.read().q

        truth = np.concatenate([find_truth(rig, name) for name in ports])
        assert q == pytest.approx(truth, abs=math.radians(1.0))
        follower.close("hold")


def test_a_port_is_missing_for_a_limb(clock):
    robot = load_robot("so101_2arm")

    with pytest.raises(DeviceError, match=r"env\.ports: expected one of each limb"):
        FeetechFollower(FeetechConfig(ports={"left": "/dev/a"}), robot, clock).open()


def test_a_port_that_is_not_there_is_told_before_the_start(robot, clock):
    follower = FeetechFollower(FeetechConfig(port="/dev/nothing"), robot, clock)

    assert "/dev/nothing" in follower.preflight()[0]
