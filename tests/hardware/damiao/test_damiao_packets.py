"""Our frames against the emulated motor's decoder, and against others' drivers."""

import struct

import numpy as np
import pytest

from paprle.hardware.damiao import packets as p
from paprle.hardware.damiao.models import ARMS, MOTORS
from paprle.hardware.damiao.packets import Status, pack_mit, unpack_feedback
from paprle.hardware.damiao.remedies import REMEDIES, WORDS, describe
from paprle_emulators.damiao import models as theirs
from paprle_emulators.damiao import protocol as device

OTHERS = {"DM4310": "4310", "DM4340": "4340", "DM8009": "8009"}


def draw(rng, model):
    q, dq, tau = rng.uniform(-1.2, 1.2, 3) * (model.q, model.dq, model.tau)
    kp, kd = rng.uniform(0.0, 1.1, 2) * (500.0, 5.0)
    return q, dq, kp, kd, tau


@pytest.mark.parametrize("kind", MOTORS)
def test_a_motor_understands_our_commands_to_half_a_step(kind):
    model, ranges = MOTORS[kind], theirs.MOTORS[kind].ranges
    rng = np.random.default_rng(1)

    for _ in range(300):
        command = draw(rng, model)
        bounds = np.array([model.q, model.dq, 500.0, 5.0, model.tau])
        low = np.array([-model.q, -model.dq, 0.0, 0.0, -model.tau])
        steps = np.array([65535, 4095, 4095, 4095, 4095])

        understood = np.array(device.unpack_mit(pack_mit(model, command), ranges))

        bounded = np.clip(command, low, bounds)
        half = 0.5 * (bounds - low) / steps
        assert (np.abs(understood - bounded) <= half + 1e-12).all()


@pytest.mark.parametrize("kind", MOTORS)
def test_our_bytes_are_those_of_another_driver_but_for_rounding(kind):
    other = pytest.importorskip("damiao_motor")
    motor = other.DaMiaoMotor(1, 0x11, None, motor_type=OTHERS[kind])
    model, rng = MOTORS[kind], np.random.default_rng(2)

    for _ in range(300):
        q, dq, kp, kd, tau = draw(rng, model)
        ours = pack_mit(model, (q, dq, kp, kd, tau))
        its = motor.encode_cmd_msg(q, dq, tau, kp, kd)
        for bits, shift in ((16, 48), (12, 36), (12, 24), (12, 12), (12, 0)):
            mask = (1 << bits) - 1
            a = int.from_bytes(ours, "big") >> shift & mask
            b = int.from_bytes(its, "big") >> shift & mask
            assert a - b in {0, 1}, "it truncates, and we round"


@pytest.mark.parametrize("kind", MOTORS)
def test_another_driver_reads_feedback_as_we_do(kind):
    other = pytest.importorskip("damiao_motor")
    motor = other.DaMiaoMotor(1, 0x11, None, motor_type=OTHERS[kind])
    rng = np.random.default_rng(3)

    for _ in range(100):
        data = bytes([0x11]) + rng.bytes(5) + bytes([40, 50])
        its = motor.decode_sensor_feedback(data)

        ours = unpack_feedback(MOTORS[kind], 1, data, 7)

        assert ours.stamp_ns == 7
        assert ours.status is Status.ENABLED
        assert (ours.q, ours.dq, ours.tau) == pytest.approx(
            (its["pos"], its["vel"], its["torq"]), abs=1e-9
        )
        assert (ours.mos, ours.coil) == (its["t_mos"], its["t_rotor"])


@pytest.mark.parametrize(
    ("code", "its"),
    [
        (p.ENABLE, "encode_enable_msg"),
        (p.DISABLE, "encode_disable_msg"),
        (p.CLEAR, "encode_clear_error_msg"),
    ],
)
def test_special_frames_are_those_of_another_driver(code, its):
    other = pytest.importorskip("damiao_motor")

    assert p.pack_special(code) == getattr(other.DaMiaoMotor, its)()


def test_registers_are_written_and_read_as_the_manual_has_it():
    written = p.pack_register(3, p.WRITE, p.TIMEOUT, 8000)
    assert written == bytes([3, 0, 0x55, 9]) + struct.pack("<I", 8000)
    assert p.unpack_register(3, p.TIMEOUT, written) == 8000.0

    ranged = bytes([3, 0, 0x33, 21]) + struct.pack("<f", 12.5)
    assert p.unpack_register(3, p.P_MAX, ranged) == 12.5
    assert p.unpack_register(4, p.P_MAX, ranged) is None
    assert p.unpack_register(3, p.V_MAX, ranged) is None
    assert p.unpack_register(3, p.P_MAX, ranged[:4]) is None
    assert p.pack_refresh(3) == bytes([3, 0, 0xCC, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    "data",
    [
        bytes([0x12, 1, 2, 3, 4, 5, 30, 30]),  # another motor
        bytes([0x21, 1, 2, 3, 4, 5, 30, 30]),  # no status
        bytes([0x11, 1, 2, 3, 4, 5, 255, 30]),  # no temperature
        bytes([0x11, 1, 2]),
    ],
)
def test_frames_that_are_no_feedback_are_not_read(data):
    assert unpack_feedback(MOTORS["DM4310"], 1, data, 0) is None


def test_each_status_has_words_and_a_remedy_that_fit_into_a_reason():
    for status in Status:
        if status is Status.ENABLED:
            assert not describe("motor 8", status)
            continue
        assert status in WORDS
        assert status in REMEDIES
        assert len(describe("motor 8", status)) < 80


def test_arms_are_those_of_the_emulator_and_their_torques_carry_them():
    for name, arm in ARMS.items():
        table = theirs.ARMS[name]
        assert arm.motors == table.motors
        assert {arm.grip_closed, arm.grip_open} == set(table.grip)
        for kind, most in zip(arm.motors, arm.tau, strict=True):
            assert most <= theirs.MOTORS[kind].peak
