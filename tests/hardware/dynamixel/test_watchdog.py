"""Watchdogs that do not stop their motors: found at the start, and guarded."""

import os
import signal
import time

import numpy as np
import pytest
from dynamixel_rig import VirtualWire
from emulated_puppeteers import make_limb, run_emulated, wait_for

from paprle.hardware.dynamixel.bus import Bus
from paprle.hardware.dynamixel.bus_thread import BusSettings, BusThread
from paprle.hardware.dynamixel.inspection import ServoSpec
from paprle.hardware.dynamixel.torque import TorqueCommand
from paprle.hardware.serial_bus import port_thread
from paprle_emulators.dynamixel.config import LimbSpec, RigSpec
from paprle_emulators.dynamixel.config import ServoSpec as Spec
from paprle_emulators.dynamixel.rig import Rig

pytestmark = pytest.mark.timed  # a busy machine makes servos silent

SMALL, LARGE = "xc330-t288", "xm430-w350"


def make_rig(*models, **how):
    servos = tuple(
        Spec(joint=f"j{i}", number=i, model=model)
        for i, model in enumerate(models, start=1)
    )
    return Rig(RigSpec(limbs=(LimbSpec(name="arm", servos=servos),), **how))


def make_bus(rig):
    specs = [ServoSpec(s.number, s.model) for s in rig.spec.limbs[0].servos]
    bus = Bus(VirtualWire(rig, "bus"), specs, lambda: rig.now_ns)
    bus.open()
    return bus


def find_runaways(rig):
    bus = make_bus(rig)
    bus.try_watchdogs()
    return [servo.spec.id for servo in bus.runaways]


def bite(rig):
    """Give all servos current, and let their bus fall silent."""
    for servo in rig.limbs["arm"].servos:
        servo.table.put("Torque Enable", 1)
        servo.table.put("Goal Current", 50)
        servo.table.put("Bus Watchdog", 2)
        servo._refresh()
        servo.heard_ns = rig.now_ns
    for _ in range(100):
        rig.step(0.001)
    return rig.limbs["arm"].servos


def test_with_firmware_51_it_bites_and_the_motor_turns_on():
    small, large = bite(make_rig(SMALL, LARGE))

    assert small.table.memory[98] == large.table.memory[98] == 255
    assert small.torque > 0.0
    assert large.torque == 0.0
    assert small.write(102, b"\0\0") == 4  # range error: not even 0 is taken


@pytest.mark.parametrize("how", [{"watchdog": "ideal"}, {"firmware": 50}], ids=str)
def test_another_one_stops_the_small_one_too(how):
    (small,) = bite(make_rig(SMALL, **how))

    assert small.torque == 0.0


def test_the_start_finds_whose_watchdog_does_not_stop_it():
    assert find_runaways(make_rig(SMALL, LARGE, "xl330-m077")) == [1, 3]


def test_the_start_finds_nothing_where_there_is_nothing():
    assert find_runaways(make_rig(SMALL, LARGE, "xl430-w250", watchdog="ideal")) == []


def test_the_trial_leaves_servos_limp_and_where_they_were():
    rig = make_rig(SMALL, LARGE)

    find_runaways(rig)

    for servo in rig.limbs["arm"].servos:
        assert servo.table.memory[64] == servo.table.memory[98] == 0
        assert abs(servo.angle) < 0.02


def test_a_servo_of_which_nothing_can_be_said_is_not_trusted():
    rig = make_rig(LARGE)
    rig.limbs["arm"].servos[0].step = lambda _dt: 0.0  # its motor never shows

    assert find_runaways(rig) == [1]


@pytest.mark.parametrize(("firmware", "found"), [(50, []), (51, [1])])
def test_a_twin_is_tried_as_well(firmware, found):
    servo = Spec(joint="j1", number=1, model=SMALL, twin=2)
    rig = Rig(RigSpec(limbs=(LimbSpec(name="arm", servos=(servo,)),), firmware=50))
    rig.limbs["arm"].twins[0].table.put("Firmware Version", firmware)
    bus = Bus(
        VirtualWire(rig, "bus"), [ServoSpec(1, SMALL, twin=2)], lambda: rig.now_ns
    )
    bus.open()
    bus.try_watchdogs()

    assert [servo.spec.id for servo in bus.runaways] == found


def test_lost_packets_do_not_make_a_good_watchdog_a_bad_one():
    rig = make_rig(*[LARGE] * 8)
    rig.line_faults["bus"].lost = 0.01

    assert find_runaways(rig) == []


def test_a_watchdog_that_does_not_stop_is_not_armed():
    """It would lock the goals, and with them the way to 0."""
    rig = make_rig(SMALL, LARGE)
    bus = make_bus(rig)
    bus.try_watchdogs()
    bus.is_guarded = True

    for _ in range(2):
        bus.enable_next()

    small, large = rig.limbs["arm"].servos
    assert (small.table.memory[64], small.table.memory[98]) == (1, 0)
    assert (large.table.memory[64], large.table.memory[98]) == (1, 5)


def test_torque_stays_off_without_a_watchdog():
    rig = make_rig(SMALL)
    bus = make_bus(rig)
    bus.try_watchdogs()

    bus.enable_next()

    assert rig.limbs["arm"].servos[0].table.memory[64] == 0


def test_a_silent_servo_that_may_turn_on_after_the_end_is_reported():
    rig = make_rig(SMALL)
    bus = make_bus(rig)
    bus.try_watchdogs()
    bus.is_guarded = True
    bus.enable_next()
    rig.limbs["arm"].servos[0].is_silent = True

    (problem,) = bus.close()

    assert "its watchdog does not stop it" in problem
    assert "cut its power" in problem


# -- live --------------------------------------------------------------------------


@pytest.fixture
def emulated(tmp_path):
    with run_emulated(tmp_path, {"limbs": {"left": make_limb("bus")}}) as it:
        yield it


@pytest.fixture
def bus(emulated):
    settings = BusSettings(
        path=emulated.port("left"), servos=emulated.servos("left"), timeout=0.03
    )
    bus = BusThread(settings, time.monotonic_ns)
    yield bus
    bus.close()


def is_on(emulated):
    return any(emulated.servo(i).table.memory[64] for i in (1, 3))


def hold_until(bus, condition):
    def look():
        bus.post(TorqueCommand(np.full(3, 0.05), time.monotonic_ns()))
        return condition()

    wait_for(look)


def test_a_bus_that_stalls_is_switched_off_and_goes_on(emulated, bus, monkeypatch):
    bus.open()
    hold_until(bus, lambda: is_on(emulated))
    stalls = [0.4]

    real = bus._bus.read
    monkeypatch.setattr(
        bus._bus, "read", lambda: (stalls and time.sleep(stalls.pop())) or real()
    )
    wait_for(lambda: not is_on(emulated), "torque off")

    hold_until(bus, lambda: is_on(emulated))  # and it comes back


def test_a_guardian_that_dies_takes_the_torque_with_it(emulated, bus, monkeypatch):
    monkeypatch.setattr(port_thread, "_REOPEN", 0.05)
    bus.open()
    hold_until(bus, lambda: is_on(emulated))
    first = bus._guardian

    os.kill(first._process.pid, signal.SIGKILL)
    wait_for(lambda: bus._guardian is not first, "its end to be seen")
    assert not is_on(emulated)

    hold_until(bus, lambda: is_on(emulated))  # with another one


def test_without_need_there_is_no_guardian(emulated, bus):
    for servo in emulated.rig.limbs["left"].servos:
        servo.is_ideal = True

    bus.open()

    assert bus._guardian is None
    assert bus.notes == ()


def test_the_start_names_the_servos_and_what_is_left(bus):
    bus.open()

    (note,) = bus.notes
    assert "the Bus Watchdog of servos 1, 3 does not stop their motors" in note
    assert "cut the power" in note


def test_unplugged_servos_that_may_turn_on_are_named(emulated, bus):
    bus.open()
    hold_until(bus, lambda: all(emulated.servo(i).table.memory[64] for i in (1, 2, 3)))

    emulated.unplug("left")

    errors = wait_for(lambda: bus.latest().errors, "the end of the port")
    assert set(errors) == {1, 3}
    assert "cut its power" in errors[1]
