"""Which torque a current makes: of the motor, or of the supply that feeds it."""

import numpy as np
import pytest

from paprle.hardware.dynamixel.inspection import TORQUE_SHARE, ServoSpec
from paprle.hardware.dynamixel.models import find_model, has_torque, model_names
from paprle.hardware.dynamixel.servo import Servo
from paprle.hardware.dynamixel.torque_map import Dither
from paprle_emulators.dynamixel.models import find_model as find_emulated

SUPPLY = [name for name in model_names() if "330" in name]


def make_servo(name="xc330-t288", **settings):
    servo = Servo(ServoSpec(1, name, **settings), find_model(name))
    servo.cap = TORQUE_SHARE * servo.model.stall_torque
    return servo


@pytest.mark.parametrize("name", [n for n in model_names() if has_torque(n)])
@pytest.mark.parametrize("share", [-0.3, -0.05, 0.01, 0.15, 0.3])
def test_the_emulated_servo_makes_the_torque_that_was_asked_for(name, share):
    """The two were written apart; the emulator knows nothing of the driver's map."""
    servo, emulated = make_servo(name), find_emulated(name)
    wanted = share * servo.model.stall_torque
    unit = emulated.current_unit
    made = [emulated.make_torque(servo.encode(wanted) * unit) for _ in range(400)]

    assert np.mean(made) == pytest.approx(wanted, rel=0.03, abs=2e-3)
    assert np.abs(made).max() <= TORQUE_SHARE * servo.model.stall_torque + 1e-9


@pytest.mark.parametrize("name", SUPPLY)
def test_a_small_torque_of_the_330_size_takes_the_square_of_its_share(name):
    torques = find_model(name).torques

    assert torques.kind == "supply"
    assert torques.find_current(0.02) == pytest.approx(4 * torques.find_current(0.01))


def test_torque_constants_are_those_of_the_makers_tables():
    found = {n: find_model(n).torques.constant for n in ("xc330-t288", "xc330-t181")}

    assert found == {"xc330-t288": 0.967, "xc330-t181": 0.671}
    assert find_model("xh540-w150").torques.constant == 1.673


@pytest.mark.parametrize("kind", ["motor", "supply"])
def test_measured_torque_equals_the_commanded_torque(kind):
    servo = make_servo(torque_map=kind, torque_gain=1.3)
    for torque in (-0.3, -0.01, 0.0, 0.004, 0.2):
        current = servo.torques.find_current(torque)
        assert servo.torques.find_torque(current) == pytest.approx(torque)


def test_a_servo_that_was_weighed_stronger_is_sent_less():
    plain, strong = make_servo(), make_servo(torque_gain=2.0)

    assert strong.encode(0.2) == pytest.approx(plain.encode(0.2) / 4, abs=1)


def test_torques_below_a_count_come_on_average_and_never_beyond_a_count():
    dither, torques = Dither(), find_model("xc330-t288").torques
    count = torques.find_torque(1e-3)
    made = [
        torques.find_torque(1e-3 * dither.find_count(t, 1e-3, torques))
        for t in np.linspace(0.0, 0.015, 800)
    ]

    assert count > 0.025  # of 15 mN·m
    assert np.mean(made) == pytest.approx(0.0075, rel=0.1)
    assert min(made) == 0.0
    assert max(made) <= count + 1e-12


@pytest.mark.parametrize("back", [0.0, -0.004])
def test_a_torque_that_comes_and_goes_is_not_rounded_up(back):
    dither, torques = Dither(), find_model("xc330-t288").torques
    made = [
        torques.find_torque(1e-3 * dither.find_count(t, 1e-3, torques))
        for t in (0.017, back) * 200
    ]

    assert np.mean(made) == pytest.approx(0.5 * (0.017 + back), rel=0.1)
    assert dither.find_count(0.0, 1e-3, torques) == 0
