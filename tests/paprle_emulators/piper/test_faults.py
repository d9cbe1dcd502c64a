import numpy as np
import pytest

from paprle_emulators.piper.arm import EmulatedArm
from paprle_emulators.piper.faults import ArmFaults
from paprle_emulators.piper.protocol import ArmStatus, ControlMode, Frame
from paprle_emulators.piper.reports import make_reports

S = 1_000_000_000


@pytest.fixture
def arm():
    arm = EmulatedArm(np.zeros(6), "")
    arm.mode = ControlMode.CAN
    return arm


@pytest.fixture
def faults(arm):
    return ArmFaults(arm)


@pytest.fixture
def frames(arm, faults):
    return make_reports(arm, faults)


def ids(frames):
    return {frame.can_id for frame in frames}


def test_a_healthy_bus_carries_everything(faults, frames):
    assert faults.change(frames, 0) == frames
    assert len(frames) == 8 + 6 + 6


def test_motors_do_not_report_every_time(arm, faults):
    assert len(make_reports(arm, faults, has_slow=False)) == 8 + 6


def test_silence_lasts_as_long_as_it_was_asked_to(faults, frames):
    faults.apply(0, {"fault": "silence", "time": 0.3})

    assert faults.change(frames, int(0.29 * S)) == []
    assert faults.change(frames, int(0.31 * S)) == frames


def test_silence_without_a_time_lasts_until_it_is_ended(faults, frames):
    faults.apply(0, {"fault": "silence"})
    assert faults.change(frames, 1000 * S) == []

    faults.apply(S, {"fault": "none"})
    assert faults.change(frames, 1000 * S) == frames


def test_frames_are_lost_by_id_or_by_share(faults, frames):
    faults.apply(0, {"fault": "lost", "ids": ["0x2a5"]})
    assert ids(frames) - ids(faults.change(frames, 0)) == {0x2A5}

    faults.apply(0, {"fault": "lost", "share": 0.5})
    kept = sum(len(faults.change(frames, 0)) for _ in range(100))
    assert 0.4 < kept / (100 * len(frames)) < 0.6


def test_late_frames_come_later_in_order_and_none_is_lost(faults, frames):
    faults.apply(0, {"fault": "late", "delay": 0.05, "time": 1.0})

    assert faults.change(frames, 0) == []
    assert faults.change([], int(0.05 * S)) == frames
    faults.change(frames, int(0.99 * S))
    assert faults.change([Frame(1, b"")], int(1.05 * S)) == [*frames, Frame(1, b"")]


@pytest.mark.parametrize(
    ("name", "error_class"), [("error_frames", 8), ("bus_off", 64)]
)
def test_errors_are_frames_of_their_own(faults, frames, name, error_class):
    faults.apply(0, {"fault": name})

    errors = [frame for frame in faults.change(frames, 0) if frame.is_error]

    assert errors
    assert {frame.can_id for frame in errors} == {error_class}


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ({"fault": "estop"}, ArmStatus.EMERGENCY_STOP),
        ({"fault": "collision", "joint": 2}, ArmStatus.COLLISION),
        ({"fault": "limit", "joint": 2}, ArmStatus.JOINT_ERROR),
        ({"fault": "communication"}, ArmStatus.JOINT_COMMUNICATION),
    ],
)
def test_the_arm_stops_by_itself(arm, faults, command, status):
    faults.apply(0, command)

    assert arm.status is status


def test_motors_tell_of_heat_and_voltage(faults):
    faults.apply(0, {"fault": "over_temperature", "joint": 3})
    faults.apply(0, {"fault": "low_voltage"})

    assert faults.motor_bits[2] == 0b11
    assert faults.motor_bits[0] == 0b01
    assert faults.temperature > 80
    assert faults.voltage < 20


def test_people_teach_push_and_cut_the_power(arm, faults):
    arm.is_enabled[:] = True
    faults.apply(0, {"fault": "push", "joint": 1, "by": 0.2})
    faults.apply(0, {"fault": "disable", "joint": 6})
    faults.apply(0, {"fault": "teach"})

    assert arm.q[0] == 0.2
    assert not arm.is_enabled[5]
    assert arm.mode is ControlMode.TEACHING
    faults.apply(0, {"fault": "none"})
    assert arm.mode is ControlMode.STANDBY


def test_an_emergency_stop_ends_by_resume_alone(arm, faults):
    faults.apply(0, {"fault": "estop"})
    faults.apply(0, {"fault": "none"})
    assert arm.status is ArmStatus.EMERGENCY_STOP

    faults.apply(0, {"fault": "resume"})
    assert arm.status is ArmStatus.NORMAL


@pytest.mark.parametrize(
    "command",
    [
        {},
        {"fault": "rain"},
        {"fault": "estop", "x": 1},
        {"fault": "limit", "joint": "a"},
    ],
)
def test_a_fault_that_does_not_exist_is_an_error(faults, command):
    with pytest.raises(ValueError, match="fault"):
        faults.apply(0, command)
