"""The arm and its control box, cycle by cycle."""

import math

import numpy as np
import pytest

from paprle_emulators.xarm import protocol as p
from paprle_emulators.xarm.arm import PERIOD, Arm
from paprle_emulators.xarm.box import Box
from paprle_emulators.xarm.faults import Faults
from paprle_emulators.xarm.models import MODELS
from paprle_emulators.xarm.protocol import Register, Request, State


def make_arm(model="xarm7", gripper="xarm"):
    arm = Arm(model, np.zeros(MODELS[model].axis), gripper)
    start(arm)
    return arm


def start(arm, mode=1):
    arm.enable(8, is_on=True)
    arm.set_mode(mode)
    arm.set_state(0)


def run(arm, seconds):
    for _ in range(round(seconds / PERIOD)):
        arm.step()


def test_goes_straight_to_the_newest_target_at_180_degrees_a_second():
    arm = make_arm()
    assert arm.servo(np.full(7, 0.05))
    arm.servo(np.array([0.3, 0, 0, 0, 0, 0, 0]))

    run(arm, 0.05)
    speed = arm.dq.copy()
    run(arm, 0.3)

    assert np.abs(speed).max() <= math.pi + 1e-9
    assert arm.q == pytest.approx([0.3, 0, 0, 0, 0, 0, 0], abs=1e-6)


def test_holds_its_last_target_when_nobody_speaks():
    arm = make_arm()
    arm.servo(np.array([0.1, 0, 0, 0, 0, 0, 0]))

    run(arm, 2.0)

    assert arm.q[0] == pytest.approx(0.1, abs=1e-6)
    assert arm.state is State.READY
    assert arm.is_enabled.all()


@pytest.mark.parametrize("code", [22, 24, 31, 35, 60])
def test_after_an_error_each_step_of_the_way_back_is_needed(code):
    arm = make_arm()
    target = np.array([0.1, 0, 0, 0, 0, 0, 0])

    arm.fail(code)

    assert not arm.servo(target)
    arm.set_mode(1)
    arm.set_state(0)
    assert arm.state is State.STOPPED, "the error stands"
    arm.clean_error()
    assert not arm.servo(target)
    arm.set_mode(1)
    assert not arm.servo(target)
    arm.set_state(0)
    assert arm.servo(target)


def test_an_emergency_stop_brakes_and_is_not_cleaned_while_it_is_pressed():
    arm = make_arm()
    arm.servo(np.array([0.5, 0, 0, 0, 0, 0, 0]))
    run(arm, 0.1)

    arm.press(is_down=True)
    place = arm.q[0]
    run(arm, 0.5)

    assert arm.error == 1
    assert not arm.is_enabled.any()
    assert 0 < arm.q[0] - place < 0.05
    arm.clean_error()
    assert arm.error == 1
    arm.press(is_down=False)
    arm.clean_error()
    held = arm.q.copy()
    start(arm)
    run(arm, 0.5)
    assert arm.q == pytest.approx(held, abs=1e-6), "power moves nothing"


@pytest.mark.parametrize(
    "target", [[0, 2.2, 0, 0, 0, 0, 0], [math.nan] * 7, [math.inf] * 7]
)
def test_a_target_beyond_the_limits_is_c23(target):
    arm = make_arm()

    assert not arm.servo(np.array(target, dtype=float))
    run(arm, 0.1)

    assert arm.error == 23
    assert arm.q == pytest.approx(np.zeros(7), abs=1e-9)


def test_a_fast_tool_is_c60():
    stretched = np.array([0, 0, 0, 1.5, 0, 0, 0])
    arm = Arm("xarm7", stretched, "none")
    start(arm)
    arm.servo(stretched + [0, 0, 0, 0, 0, 1.0, 0])
    run(arm, 1.0)
    assert arm.error == 0
    arm.servo(stretched + [0, 1.0, 0, 0, 0, 1.0, 0])

    run(arm, 1.0)

    assert arm.error == 60


def test_a_push_is_a_torque_and_then_a_collision():
    arm = make_arm()
    run(arm, 0.1)
    before = arm.tau[3]
    arm.push_torque[3] = 5.0
    arm.step()
    assert arm.tau[3] == pytest.approx(before - 5.0)

    arm.push_torque[3] = 25.0
    arm.step()

    assert arm.error == 31
    assert arm.is_enabled.all(), "it holds"


def test_a_changed_setting_stops_it_until_it_is_started():
    arm = make_arm()
    box = Box(arm)

    box.answer(Request(1, 2, Register.COLLISION, bytes((1,))))

    assert arm.state is State.RESET
    assert not arm.servo(np.zeros(7))
    arm.set_state(0)
    assert arm.servo(np.zeros(7))


@pytest.mark.parametrize(
    ("hex_in", "hex_out"),
    [  # spec: worked examples of the private TCP protocol
        ("00 01 00 02 00 03 0B 08 01", "00 01 00 02 00 02 0B 10"),
        ("00 01 00 02 00 01 0E", "00 01 00 02 00 04 0E 10 00 00"),
        ("00 01 00 02 00 01 0F", "00 01 00 02 00 04 0F 10 00 00"),
        ("00 01 00 02 00 01 11", "00 01 00 02 00 02 11 10"),
    ],
)
def test_answers_as_the_published_examples(hex_in, hex_out):
    box = Box(Arm("xarm6", np.zeros(6), "none"))

    (request,) = p.take_requests(bytearray.fromhex(hex_in))

    assert box.answer(request).hex(" ").upper() == hex_out


def test_an_unknown_register_is_a_warning_and_invalid():
    arm = make_arm()
    box = Box(arm)

    answer = box.answer(Request(1, 2, 222, b""))

    assert answer[7] == p.INVALID | p.HAS_WARNING
    assert arm.warning == 13


@pytest.mark.parametrize("model", MODELS)
def test_gravity_is_the_gradient_of_the_potential(model):
    arm = MODELS[model]
    q = np.linspace(0.3, -0.5, arm.axis)
    table = np.array(arm.links)

    def potential(q):
        frames = arm.compute_frames(q)
        centres = np.einsum("nij,nj->ni", frames[:, :3, :3], 1e-3 * table[:, 1:])
        return 9.81 * (table[:, 0] * (centres + frames[:, :3, 3])[:, 2]).sum()

    steps = 1e-6 * np.eye(arm.axis)
    numeric = [(potential(q + s) - potential(q - s)) / 2e-6 for s in steps]

    assert arm.compute_gravity(arm.compute_frames(q)) == pytest.approx(
        numeric, abs=1e-6
    )


def test_every_fault_is_known_and_a_wrong_one_is_explained():
    faults = Faults(make_arm())
    arguments = {"error": {"code": 31}, "refuse": {"register": 36}}

    for name in faults.names:
        faults.apply(0, {"fault": name, **arguments.get(name, {})})

    with pytest.raises(ValueError, match="expected a fault, got 'x'"):
        faults.apply(0, {"fault": "x"})
    with pytest.raises(ValueError, match="fault 'servo'"):
        faults.apply(0, {"fault": "servo", "wheel": 1})


def test_frozen_and_late_reports_keep_their_ports_apart():
    faults = Faults(make_arm())
    faults.apply(0, {"fault": "late", "delay": 0.1, "time": 0.5})

    assert faults.change(30000, b"a", 0) == []
    assert faults.change(30003, b"b", 0) == []
    assert faults.change(30000, b"c", 100_000_000) == [b"a"]
    assert faults.change(30003, b"d", 100_000_000) == [b"b"]
    faults.pass_time(600_000_000)
    faults.apply(0, {"fault": "stuck"})
    assert faults.change(30001, b"e", 700_000_000) == [b"e"]
    assert faults.change(30001, b"f", 700_000_001) == [b"e"]
