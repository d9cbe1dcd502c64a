"""Servos that others set up: reversed ones, and two at one joint."""

import numpy as np
import pytest
from dynamixel_rig import VirtualWire

from paprle.hardware.dynamixel.bus import Bus
from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.inspection import ServoSpec
from paprle_emulators.dynamixel.config import LimbSpec, RigSpec
from paprle_emulators.dynamixel.config import ServoSpec as Spec
from paprle_emulators.dynamixel.rig import Rig

MODEL = "xm430-w350"


def make_rig(*servos):
    return Rig(RigSpec(limbs=(LimbSpec(name="arm", servos=servos),)))


def joint(number, **rest):
    return Spec(joint=f"j{number}", number=number, model=MODEL, **rest)


def make_bus(rig, *specs):
    bus = Bus(VirtualWire(rig, "bus"), specs, lambda: rig.now_ns)
    bus.open()
    return bus


def render(rig, bus, tau):
    """Ask for a torque at the first joint; return what acts on it."""
    while any(servo.is_waiting for servo in bus.servos):
        bus.enable_next()
    bus.write_torque(np.array([tau] + [0.0] * (len(bus.servos) - 1)))
    limb = rig.limbs["arm"]
    limb.hold(False)
    rig.step(0.001)
    return limb.arm.tau_motor[0], bus.read().torque[0]


# -- reversed ----------------------------------------------------------------------


@pytest.mark.parametrize("drive_mode", [0, 1])
def test_angle_and_torque_are_the_horns_whatever_the_drive_mode(drive_mode):
    rig = make_rig(joint(1))
    limb, servo = rig.limbs["arm"], rig.limbs["arm"].servos[0]
    limb.hold(False)
    limb.arm.q[:] = limb.arm.motor_q[:] = 0.4
    servo.table.put("Drive Mode", drive_mode)
    servo.angle = 0.4
    servo.reboot()
    bus = make_bus(rig, ServoSpec(1, MODEL))

    reading = bus.read()
    made, measured = render(rig, bus, 0.3)

    assert reading.angle[0] == pytest.approx(0.4, abs=0.002)
    assert made == pytest.approx(0.3, abs=0.01)
    assert measured == pytest.approx(0.3, abs=0.01)


def test_a_look_without_opening_knows_the_drive_mode_too():
    rig = make_rig(joint(1))
    servo = rig.limbs["arm"].servos[0]
    servo.table.put("Drive Mode", 1)
    servo.angle = 0.4
    servo.reboot()
    bus = Bus(VirtualWire(rig, "bus"), [ServoSpec(1, MODEL)], lambda: rig.now_ns)
    bus.wire.open()
    bus.assume_present()

    assert bus.read().angle[0] == pytest.approx(0.4, abs=0.002)


# -- two at one joint --------------------------------------------------------------


def test_a_twin_that_nobody_named_doubles_the_torque_and_is_refused():
    rig = make_rig(joint(1), joint(2, twin=3), joint(4))

    with pytest.raises(BusError, match="servo 3 .* obeys id 2 as well.*add twin: 3"):
        make_bus(rig, *(ServoSpec(i, MODEL) for i in (1, 2, 4)))


def test_a_twin_behind_the_last_id_is_found_as_well():
    rig = make_rig(joint(1, twin=2))

    with pytest.raises(BusError, match="add twin: 2 to the servo with id 1"):
        make_bus(rig, ServoSpec(1, MODEL))


def test_a_servo_of_its_own_between_the_others_is_none_of_our_business():
    rig = make_rig(joint(1), joint(2), joint(3))

    make_bus(rig, ServoSpec(1, MODEL), ServoSpec(3, MODEL))


def test_a_joint_with_a_twin_makes_the_torque_that_is_asked_for():
    rig = make_rig(joint(1, twin=2))
    bus = make_bus(rig, ServoSpec(1, MODEL, twin=2))

    made, measured = render(rig, bus, 0.5)

    assert made == pytest.approx(0.5, abs=0.02)
    assert measured == pytest.approx(0.5, abs=0.02)
    assert bus.caps[0] == pytest.approx(2 * 0.3 * 4.1)


def test_a_twin_is_seen_to_be_limp_itself():
    rig = make_rig(joint(1, twin=2))
    bus = make_bus(rig, ServoSpec(1, MODEL, twin=2))
    render(rig, bus, 0.5)
    twin = rig.limbs["arm"].twins[0]
    assert twin.table.memory[64] == 1
    twin.table.put("Secondary(Shadow) ID", 255)  # it does not hear the first one's id

    assert bus.disable() == []

    assert twin.table.memory[64] == 0


def test_a_twin_whose_secondary_id_is_not_set_is_refused():
    rig = make_rig(joint(1), joint(2))

    with pytest.raises(BusError, match="servo 2 .*expected secondary id 1, .* got 255"):
        make_bus(rig, ServoSpec(1, MODEL, twin=2))


def test_a_missing_twin_is_named():
    rig = make_rig(joint(1))

    with pytest.raises(BusError, match="servo 2 .*expected an answer, got none"):
        make_bus(rig, ServoSpec(1, MODEL, twin=2))


def test_an_overloaded_twin_is_an_error_of_its_joint():
    rig = make_rig(joint(1, twin=2))
    bus = make_bus(rig, ServoSpec(1, MODEL, twin=2))
    rig.limbs["arm"].twins[0].fail(0x20)

    assert "overloaded" in str(bus.check_next())
