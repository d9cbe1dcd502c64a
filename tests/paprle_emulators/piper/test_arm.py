"""The emulated arm alone: what it obeys, what it refuses, how it falls."""

import numpy as np
import pytest

from paprle_emulators.piper import protocol as p
from paprle_emulators.piper.arm import LAG, EmulatedArm, compute_gravity

HOME = np.array([0.0, 1.5, -1.0, 0.0, -0.75, 0.0])
CAN_MODE = p.Frame(p.MODE, bytes([1, 1, 100, 0, 0, 0, 0, 0]))
ON = p.Frame(p.ENABLE, bytes([7, 2, 0, 0, 0, 0, 0, 0]))
OFF = p.Frame(p.ENABLE, bytes([7, 1, 0, 0, 0, 0, 0, 0]))
STOP = p.Frame(p.STOP, bytes([1, 0, 0, 0, 0, 0, 0, 0]))
RESET = p.Frame(p.STOP, bytes([2, 0, 0, 0, 0, 0, 0, 0]))


def send(arm, q):
    numbers = [p.to_millideg(angle) for angle in q]
    for i, can_id in enumerate(p.JOINTS):
        arm.take(p.Frame(can_id, p.pack_pair(*numbers[2 * i : 2 * i + 2])))


def run(arm, time):
    for _ in range(round(time * 1000)):
        arm.step(1e-3)


@pytest.fixture
def arm():
    arm = EmulatedArm(HOME, "S-V1.5-2")
    arm.take(ON)
    arm.take(CAN_MODE)
    return arm


def test_goes_to_its_target_and_holds_it_for_ever(arm):
    goal = HOME + 0.1

    send(arm, goal)
    run(arm, 1.0)

    assert np.abs(arm.q - goal).max() < 1e-4
    assert np.abs(arm.dq).max() < 1e-4
    run(arm, 5.0)
    assert np.abs(arm.q - goal).max() < 1e-4


def test_is_behind_a_ramp_by_its_stated_lag(arm):
    speed = 0.5
    for k in range(500):
        if k % 5 == 0:
            send(arm, HOME + speed * 1e-3 * k)
        arm.step(1e-3)

    # the target stands for 5 ms, half of which a ramp is ahead of it
    behind = (HOME[0] + speed * 0.5 - arm.q[0]) / speed
    assert behind == pytest.approx(LAG + 0.0025, abs=0.001)


def test_stands_without_a_command(arm):
    run(arm, 1.0)

    assert np.abs(arm.q - HOME).max() < 1e-9


@pytest.mark.parametrize("joint", [1, 2])
def test_the_arms_motors_carry_its_weight(arm, joint):
    run(arm, 0.5)

    gravity = compute_gravity(arm.q)
    assert abs(gravity[joint]) > 0.5
    assert arm.tau[joint] == pytest.approx(gravity[joint], abs=0.05)


def test_gravity_is_the_slope_of_the_height():
    """Turning joint 2 up against gravity costs work: U'(q) has the sign of lifting."""
    folded, upright = np.zeros(6), np.array([0, 1.47, -1.57, 0, 0, 0])

    assert compute_gravity(folded)[1] > 0, "rests on its limit of 0"
    assert compute_gravity(folded)[2] < 0, "rests on its limit of 0"
    assert abs(compute_gravity(upright)[0]) == 0


@pytest.mark.parametrize("frames", [[OFF], [RESET], [STOP, RESET]])
def test_without_power_it_falls(arm, frames):
    for frame in frames:
        arm.take(frame)
    run(arm, 1.0)

    assert arm.q[1] != pytest.approx(HOME[1], abs=0.05)
    assert not arm.is_enabled[:6].any()
    assert (arm.tau == 0).all()


def test_an_emergency_stop_sinks_slowly_and_takes_no_command(arm):
    arm.take(STOP)
    send(arm, HOME + 0.5)
    run(arm, 0.3)

    fast = EmulatedArm(HOME, "")
    run(fast, 0.3)
    assert arm.status is p.ArmStatus.EMERGENCY_STOP
    sunk, fallen = np.abs(arm.q - HOME).max(), np.abs(fast.q - HOME).max()
    assert 0.001 < sunk < 0.5 * fallen


def test_after_a_reset_it_stands_by_without_power_until_asked(arm):
    arm.take(STOP)
    arm.take(ON)
    assert arm.status is p.ArmStatus.EMERGENCY_STOP

    arm.take(RESET)

    assert arm.status is p.ArmStatus.NORMAL
    assert arm.mode is p.ControlMode.STANDBY
    arm.take(ON)
    assert arm.is_enabled[:6].all()


def test_a_target_beyond_its_limits_is_refused_and_told(arm):
    beyond = HOME.copy()
    beyond[4] = np.radians(70.5)

    send(arm, beyond)
    run(arm, 0.3)

    assert arm.status is p.ArmStatus.TARGET_BEYOND_LIMIT
    assert arm.error == 1 << 8 + 4
    assert np.abs(arm.q - HOME).max() < 1e-6
    send(arm, HOME)
    assert arm.status is p.ArmStatus.NORMAL
    assert arm.error == 0


def test_a_taught_arm_obeys_nobody(arm):
    arm.mode = p.ControlMode.TEACHING

    arm.take(CAN_MODE)
    send(arm, HOME + 0.1)
    run(arm, 0.3)

    assert arm.mode is p.ControlMode.TEACHING
    assert np.abs(arm.q - HOME).max() < 1e-6


def test_a_command_needs_its_three_frames(arm):
    numbers = [p.to_millideg(angle) for angle in HOME + 0.2]
    arm.take(p.Frame(p.JOINTS[0], p.pack_pair(*numbers[:2])))
    arm.take(p.Frame(p.JOINTS[2], p.pack_pair(*numbers[4:])))
    run(arm, 0.3)

    assert np.abs(arm.q - HOME).max() < 1e-6


def test_the_gripper_opens_when_it_has_power(arm):
    frame = p.Frame(p.GRIPPER, (70_000).to_bytes(4, "big") + bytes([3, 232, 1, 0]))

    arm.take(frame)
    run(arm, 0.1)
    halfway, pressing = arm.opening, arm.finger_torque
    run(arm, 1.0)

    assert 0 < halfway < 0.07
    assert pressing == 1.0
    assert arm.opening == pytest.approx(0.07)
    assert arm.finger_torque == 0.0
    assert arm.is_enabled[6]


def test_answers_questions(arm):
    limits = arm.take(p.Frame(p.QUERY_LIMITS, bytes([2, 1, 0, 0, 0, 0, 0, 0])))
    speeds = arm.take(p.Frame(p.QUERY_LIMITS, bytes([2, 2, 0, 0, 0, 0, 0, 0])))
    nothing = arm.take(p.Frame(p.QUERY_LIMITS, bytes([9, 1, 0, 0, 0, 0, 0, 0])))
    firmware = arm.take(p.Frame(p.FIRMWARE, bytes(8)))

    assert [frame.can_id for frame in limits] == [p.LIMITS]
    assert [frame.can_id for frame in speeds] == [p.ACCELERATION]
    assert nothing == []
    assert b"".join(frame.data for frame in firmware).startswith(b"S-V1.5-2")


@pytest.mark.parametrize(
    "frame",
    [
        p.Frame(p.ENABLE, bytes([7, 2])),
        p.Frame(p.ENABLE, bytes([7, 2, 0, 0, 0, 0, 0, 0]), is_error=True),
        p.Frame(0x123, bytes(8)),
    ],
)
def test_nonsense_is_no_command(frame):
    arm = EmulatedArm(HOME, "")

    assert arm.take(frame) == []
    assert not arm.is_enabled.any()


def test_old_firmware_stays_in_mit_until_a_reset(arm):
    arm.move_mode = p.MOVE_M

    arm.take(CAN_MODE)
    assert arm.move_mode == p.MOVE_M

    arm.take(RESET)
    arm.take(CAN_MODE)
    assert arm.move_mode == p.MOVE_J


def test_in_mit_a_target_is_obeyed_at_once(arm):
    arm.move_mode = p.MOVE_M

    send(arm, HOME + np.array([1.0, 0, 0, 0, 0, 0]))
    run(arm, 0.1)

    assert arm.q[0] > 0.9  # planned, it would be at 0.3


def test_a_gripper_without_a_stroke_does_nothing():
    arm = EmulatedArm(HOME, "S-V1.5-2", stroke=0)
    arm.take(p.Frame(p.GRIPPER, bytes([0, 1, 0x11, 0x70, 3, 0xE8, 1, 0])))
    run(arm, 1.0)

    (answer,) = arm.take(p.Frame(p.QUERY_SETTINGS, bytes([p.ASKS_GRIPPER] + [0] * 7)))

    assert arm.opening == 0.0
    assert answer.can_id == p.GRIPPER_SETTINGS
    assert answer.data[1] == 0
