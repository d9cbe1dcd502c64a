import pytest

from paprle.followers.piper.reasons import describe_fault, describe_idleness
from paprle.hardware.piper.readings import Condition, Motor

WELL = [Motor(bits=0x40, temperature=35, voltage=240)] * 6


def condition(mode=1, status=0, error=0):
    return Condition(stamp_ns=1, mode=mode, status=status, move_mode=1, error=error)


def with_motor(joint, bits):
    motors = list(WELL)
    motors[joint - 1] = Motor(bits=bits, temperature=95, voltage=170)
    return motors


def test_a_healthy_arm_has_no_reason():
    assert describe_fault(condition(), WELL, 0x40) == ""
    assert describe_idleness(condition(), WELL) == ""


@pytest.mark.parametrize(
    ("status", "error", "text"),
    [
        (1, 0, "emergency stop"),
        (4, 1 << 9, "target beyond the arm's limits: joint2 over its limit"),
        (7, 0, "collision"),
        (0x42, 0, "status 0x42"),
        (0, 1 << 5, "communication lost: joint6"),
    ],
)
def test_a_fault_of_the_arm_has_a_text(status, error, text):
    assert describe_fault(condition(status=status, error=error), WELL, 0) == text


@pytest.mark.parametrize(
    ("bits", "text"),
    [
        (0x42, "joint3: motor too hot (95 C)"),
        (0x48, "joint3: driver too hot (95 C)"),
        (0x41, "joint3: voltage low (17 V)"),
        (0xC0, "joint3: stalled"),
        (0x60, "joint3: driver error"),
    ],
)
def test_a_fault_of_a_motor_has_a_text(bits, text):
    assert describe_fault(condition(), with_motor(3, bits), 0) == text


def test_a_fault_of_the_gripper_has_a_text():
    assert describe_fault(condition(), WELL, 0x44) == "gripper: overcurrent"
    assert describe_fault(condition(), WELL, 0xC0) == "", "homed is no fault"


def test_standing_at_a_limit_is_no_fault():
    assert describe_fault(condition(error=1 << 8), WELL, 0) == ""


@pytest.mark.parametrize(
    ("mode", "text"), [(0, "standby"), (2, "teach mode"), (77, "mode 77")]
)
def test_another_control_mode_has_a_text(mode, text):
    assert describe_idleness(condition(mode=mode), WELL) == f"arm is in {text}"


def test_an_unpowered_joint_is_named():
    assert describe_idleness(condition(), with_motor(5, 0)) == "no power: joint5"


def test_reasons_fit_the_report():
    reason = describe_fault(condition(status=4, error=1 << 9), WELL, 0)

    assert len(reason.encode()) <= 64
