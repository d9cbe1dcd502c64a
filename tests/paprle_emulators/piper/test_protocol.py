"""The arm's frames against the vendor's parser: two readings of one protocol."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle_emulators.piper import protocol as p

piper_sdk = pytest.importorskip("piper_sdk")
can = pytest.importorskip("can")

from piper_sdk.piper_msgs.msg_v2 import (  # noqa: E402
    ArmMsgGripperCtrl,
    ArmMsgJointCtrl,
    ArmMsgType,
    PiperMessage,
)
from piper_sdk.protocol.protocol_v2 import C_PiperParserV2  # noqa: E402

INT32 = st.integers(-(2**31), 2**31 - 1)


def decode(can_id, data):
    message = PiperMessage()
    frame = can.Message(arbitration_id=can_id, data=data, is_extended_id=False)
    assert C_PiperParserV2().DecodeMessage(frame, message)
    return message


def encode(kind, **parts):
    message, frame = PiperMessage(), can.Message()
    message.type_ = kind
    for name, value in parts.items():
        setattr(message, name, value)
    assert C_PiperParserV2().EncodeMessage(message, frame)
    return frame.arbitration_id, bytes(frame.data)


@given(can_id=st.integers(0, 0x7FF), data=st.binary(max_size=8), is_error=st.booleans())
def test_a_frame_survives_the_socket(can_id, data, is_error):
    frame = p.Frame(can_id, data, is_error)

    packet = p.pack_frame(frame)

    assert len(packet) == p.FRAME_SIZE == 16
    assert p.unpack_frame(packet) == frame


@given(first=INT32, second=INT32)
def test_the_sdk_reads_our_joints(first, second):
    read = decode(p.JOINT_STATES[1], p.pack_pair(first, second)).arm_joint_feedback

    assert (read.joint_3, read.joint_4) == (first, second)


@given(first=INT32, second=INT32)
def test_we_read_the_joints_of_the_sdk(first, second):
    can_id, data = encode(
        ArmMsgType.PiperMsgJointCtrl_56,
        arm_joint_ctrl=ArmMsgJointCtrl(joint_5=first, joint_6=second),
    )

    assert can_id == p.JOINTS[2]
    assert p.unpack_pair(data) == (first, second)


def test_the_sdk_reads_our_status():
    data = p.pack_status(1, 7, 1, is_moving=True, error=0x0201)

    read = decode(p.STATUS, data).arm_status_msgs

    assert (read.ctrl_mode, read.arm_status, read.mode_feed) == (1, 7, 1)
    assert read.err_status.joint_2_angle_limit
    assert read.err_status.communication_status_joint_1
    assert not read.err_status.joint_1_angle_limit


def test_the_sdk_reads_our_gripper_and_we_read_its():
    read = decode(p.GRIPPER_STATE, p.pack_gripper_state(70_000, -300, 0x40))
    state = read.gripper_feedback
    can_id, data = encode(
        ArmMsgType.PiperMsgGripperCtrl,
        arm_gripper_ctrl=ArmMsgGripperCtrl(35_000, 1500, 1, 0),
    )

    assert (state.grippers_angle, state.grippers_effort) == (70_000, -300)
    assert state.foc_status.driver_enable_status
    assert can_id == p.GRIPPER
    assert p.unpack_gripper(data) == (35_000, 1500, 1)


def test_the_sdk_reads_our_motors():
    fast = decode(p.MOTORS_FAST[3], p.pack_motor_fast(-1.5, 2.0, 0.1))
    slow = decode(p.MOTORS_SLOW[0], p.pack_motor_slow(24.0, 40, -5, 0x42))

    motor = fast.arm_high_spd_feedback_4
    assert (motor.motor_speed, motor.current) == (-1500, 2000)
    assert motor.cal_effort() == pytest.approx(2000 * p.TORQUE_PER_AMPERE[3])
    motor = slow.arm_low_spd_feedback_1
    assert (motor.vol, motor.foc_temp, motor.motor_temp) == (240, 40, -5)
    assert motor.foc_status.motor_overheating
    assert motor.foc_status.driver_enable_status


def test_the_sdk_reads_our_limits():
    read = decode(p.LIMITS, p.pack_limits(3, -170, 0, 3.14))

    limits = read.arm_feedback_current_motor_angle_limit_max_spd
    assert (limits.motor_num, limits.min_angle_limit) == (3, -1700)
    assert (limits.max_angle_limit, limits.max_joint_spd) == (0, 3140)
    read = decode(p.ACCELERATION, p.pack_acceleration(2, 5.0))
    assert read.arm_feedback_current_motor_max_acc_limit.max_joint_acc == 5000


def test_currents_beyond_the_wire_are_cut_not_wrapped():
    data = p.pack_motor_fast(100.0, -100.0, 0.0)

    motor = decode(p.MOTORS_FAST[0], data).arm_high_spd_feedback_1

    assert (motor.motor_speed, motor.current) == (32767, -32768)


@given(angle=st.floats(-3.2, 3.2))
def test_angles_are_rounded_to_the_nearest_thousandth(angle):
    back = p.from_millideg(p.to_millideg(angle))

    assert abs(back - angle) <= np.radians(0.5e-3) * (1 + 1e-9)
