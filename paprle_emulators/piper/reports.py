"""Reports of the arm."""

from __future__ import annotations

from paprle_emulators.piper.arm import EmulatedArm
from paprle_emulators.piper.faults import ArmFaults
from paprle_emulators.piper.protocol import (
    GRIPPER_STATE,
    JOINT_STATES,
    MOTORS_FAST,
    MOTORS_SLOW,
    N_JOINTS,
    POSE,
    QUARTER,
    QUARTER_UNTIL,
    STATUS,
    TORQUE_PER_AMPERE,
    Frame,
    MotorBit,
    pack_gripper_state,
    pack_motor_fast,
    pack_motor_slow,
    pack_pair,
    pack_status,
    to_millideg,
)

SLOW_PERIOD_NS = 50_000_000  # [ns] chosen: 20 Hz


def make_reports(
    arm: EmulatedArm, faults: ArmFaults, *, has_slow: bool = True
) -> list[Frame]:
    """Return one period's frames, with zero pose."""
    status = pack_status(arm.mode, arm.status, arm.move_mode, arm.is_moving, arm.error)
    frames = [Frame(STATUS, status)]
    frames += [Frame(can_id, bytes(8)) for can_id in POSE]
    angles = [to_millideg(angle) for angle in arm.q]
    for i, can_id in enumerate(JOINT_STATES):
        frames.append(Frame(can_id, pack_pair(angles[2 * i], angles[2 * i + 1])))
    frames.append(Frame(GRIPPER_STATE, _make_gripper(arm, faults)))
    factors = QUARTER if arm.version <= QUARTER_UNTIL else (1.0,) * N_JOINTS
    for i, can_id in enumerate(MOTORS_FAST):
        current = arm.tau[i] / TORQUE_PER_AMPERE[i] / factors[i]
        frames.append(Frame(can_id, pack_motor_fast(arm.dq[i], current, arm.q[i])))
    if has_slow:
        frames += [
            Frame(can_id, _make_slow(arm, faults, i))
            for i, can_id in enumerate(MOTORS_SLOW)
        ]
    return frames


def _make_gripper(arm: EmulatedArm, faults: ArmFaults) -> bytes:
    bits = faults.motor_bits[N_JOINTS]
    bits |= int(arm.is_enabled[N_JOINTS]) << MotorBit.ENABLED
    opening, torque = round(arm.opening * 1e6), round(arm.finger_torque * 1e3)
    return pack_gripper_state(opening, torque, bits)


def _make_slow(arm: EmulatedArm, faults: ArmFaults, joint: int) -> bytes:
    bits = faults.motor_bits[joint] | int(arm.is_enabled[joint]) << MotorBit.ENABLED
    is_hot = bits >> MotorBit.MOTOR_HOT & 1
    temperature = faults.temperature if is_hot else faults.warm[joint]
    return pack_motor_slow(faults.voltage, temperature, temperature, bits)
