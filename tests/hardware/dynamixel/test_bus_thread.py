"""The thread of a bus: snapshots out, torques in, unplugged and plugged again."""

import threading
import time

import numpy as np
import pytest
from emulated_puppeteers import make_limb, run_emulated, wait_for
from serial.tools.list_ports_common import ListPortInfo
from served_rig import PATIENCE

from paprle.hardware.dynamixel.bus_thread import (
    HOLD_RATE,
    IDLE_RATE,
    BusSettings,
    BusThread,
)
from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.probe import stand, swing
from paprle.hardware.dynamixel.torque import TorqueCommand
from paprle.hardware.serial_bus.adapter import Adapter, find_adapter

pytestmark = pytest.mark.timed  # a busy machine makes servos silent

N = 3


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


def goal(emulated):
    return emulated.servo(1).table.get("Goal Current")


def is_on(emulated):
    return emulated.servo(1).table.get("Torque Enable") == 1


def push(bus, tau=0.05):
    bus.post(TorqueCommand(np.full(N, tau), time.monotonic_ns()))


def wait_for_reading(bus):
    return wait_for(bus.latest, "a reading")


def hold_until(bus, condition):
    """Keep posting torques, as a feedback thread does, until something happens."""

    def look():
        push(bus)
        return condition()

    wait_for(look)


def test_readings_follow_each_other(emulated, bus):
    bus.open()
    first = wait_for_reading(bus)
    emulated.servo(1).angle = 1.0

    later = wait_for(lambda: (s := bus.latest()).reading.angle[0] > 0.9 and s)

    assert later.seq > first.seq
    assert later.reading.stamp_ns > first.reading.stamp_ns
    assert not later.reading.angle.flags.writeable


def test_servos_are_limp_until_a_torque_is_asked_for(emulated, bus):
    bus.open()
    wait_for_reading(bus)
    push(bus, tau=0.0)
    assert not is_on(emulated)

    hold_until(bus, lambda: goal(emulated) > 0)

    assert is_on(emulated)


def test_torque_that_nobody_renews_vanishes(emulated, bus):
    bus.open()
    hold_until(bus, lambda: goal(emulated) > 0)

    wait_for(lambda: goal(emulated) == 0, "stale torque going to zero")


def test_release_makes_limp(emulated, bus):
    bus.open()
    hold_until(bus, lambda: goal(emulated) > 0)

    bus.post(TorqueCommand(np.zeros(N), 0, is_release=True))

    wait_for(lambda: not is_on(emulated), "torque off")
    assert bus.problems == ()


def test_close_under_torque_leaves_it_off_and_no_thread(emulated, bus):
    bus.open()
    hold_until(bus, lambda: goal(emulated) > 0)

    bus.close()
    bus.close()

    assert not is_on(emulated)
    assert bus.problems == ()
    assert not [t for t in threading.enumerate() if t.name.startswith("dynamixel")]


def test_torque_that_does_not_go_off_is_told_and_switched_off_later(emulated, bus):
    bus.open()
    hold_until(bus, lambda: goal(emulated) > 0)
    servo, write = emulated.servo(1), emulated.servo(1).write
    servo.write = lambda _address, _data: 0
    bus.release()

    wait_for(lambda: bus.problems, "torque that is not seen to be off")
    assert is_on(emulated)
    assert "torque off is not verified" in bus.problems[0]

    servo.write = write
    wait_for(lambda: not is_on(emulated), "torque off")
    wait_for(lambda: not bus.problems, "torque seen to be off")


def test_a_thread_that_does_not_end_is_told(bus, monkeypatch):
    monkeypatch.setattr("paprle.hardware.dynamixel.bus_thread.JOIN", 0.01)
    bus.open()
    wait_for_reading(bus)
    goes_on = threading.Event()
    monkeypatch.setattr(bus._bus, "read", lambda: goes_on.wait() and None)
    time.sleep(0.02)

    bus.close()

    assert "its thread did not end within 0.01 [s]" in bus.problems[0]
    thread = next(t for t in threading.enumerate() if t.name.startswith("dynamixel"))
    goes_on.set()
    thread.join()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_thread_that_dies_leaves_torque_off(emulated, bus, monkeypatch):
    """Whatever is raised in the thread, what was on is switched off."""
    bus.open()
    hold_until(bus, lambda: goal(emulated) > 0)

    monkeypatch.setattr(bus._bus, "check_next", None)

    wait_for(lambda: not is_on(emulated), "torque off")
    wait_for(lambda: not bus.latest().is_open)


def test_unplugged_bus_says_so_and_comes_back_limp(emulated, bus, monkeypatch):
    monkeypatch.setattr("paprle.hardware.serial_bus.port_thread._REOPEN", 0.01)
    tries, look = [], bus._bus.open
    monkeypatch.setattr(bus._bus, "open", lambda **k: (tries.append(1), look(**k)))
    bus.open()
    hold_until(bus, lambda: goal(emulated) > 0)

    emulated.unplug("left")
    lost = wait_for(lambda: (s := bus.latest()) and not s.is_open and s)
    assert "plug the adapter in again" in lost.fault
    wait_for(lambda: len(tries) > 3, "looking for it in vain")

    emulated.plug("left")
    back = wait_for(lambda: (s := bus.latest()).is_open and s)
    assert (back.reading.epoch > lost.reading.epoch).all()
    assert not is_on(emulated)


def test_another_adapter_of_the_same_name_is_sent_nothing(emulated, bus, monkeypatch):
    monkeypatch.setattr("paprle.hardware.serial_bus.port_thread._REOPEN", 0.01)
    adapters = {"is": Adapter(0x0403, 0x6014, "FT1")}
    monkeypatch.setattr(
        "paprle.hardware.serial_bus.wire.find_adapter", lambda _: adapters["is"]
    )
    bus.open()
    wait_for(bus.latest)
    emulated.unplug("left")
    wait_for(lambda: not bus.latest().is_open)

    adapters["is"] = Adapter(0x1A86, 0x7523, "")
    emulated.plug("left")
    time.sleep(0.3)
    assert not bus.latest().is_open

    adapters["is"] = Adapter(0x0403, 0x6014, "FT1")
    wait_for(lambda: bus.latest().is_open)


def test_an_adapter_is_told_by_what_usb_says_of_it(tmp_path, monkeypatch):
    device, link = tmp_path / "ttyUSB3", tmp_path / "left"
    device.touch()
    link.symlink_to(device)
    port = ListPortInfo(str(device))
    port.vid, port.pid, port.serial_number = 0x0403, 0x6014, "FT1"
    monkeypatch.setattr("serial.tools.list_ports.comports", lambda: [port])

    assert str(find_adapter(str(link))) == "0403:6014 FT1"
    assert find_adapter("/dev/pts/0") is None


def test_a_port_that_went_away_takes_its_torque_with_it(bus):
    """What came back may not begin where the one before left off."""
    caps, after = np.ones(N), 60_000_000
    for now in range(0, 10**8, 10**7):
        bus._shaper.step(TorqueCommand(0.5 * caps, now), caps, now, 0.01)

    bus._lose(BusError("gone"))

    for wanted in (0.0 * caps, 0.1 * caps):
        command = TorqueCommand(wanted, after, is_release=not wanted.any())
        assert np.all(bus._shaper.step(command, caps, after, 0.01) <= wanted)


def test_port_belongs_to_one_process(bus):
    bus.open()
    other = BusThread(bus.settings, time.monotonic_ns)

    with pytest.raises(BusError, match="expected it to be free"):
        other.open()


def test_error_of_a_servo_is_told_in_snapshots(emulated, bus):
    bus.open()
    emulated.cause("overload", id=2)

    errors = wait_for(lambda: (s := bus.latest()) and s.errors)

    assert errors == {2: "overloaded"}  # limp, so that it let go of nothing


def test_a_swing_ends_limp_and_tells_what_moved(emulated, bus):
    bus.open()
    seen = []

    def profile(t, _angle):
        seen.append(goal(emulated))
        return None if t > PATIENCE or seen[-1] > 0 else 0.05

    found = swing(bus, 0, profile)

    assert len(found.t) == len(found.angle) == len(seen) - 1
    assert (np.diff(found.t) > 0).all()
    wait_for(lambda: not is_on(emulated), "torque off")


def test_a_stand_tells_where_and_how_still(emulated, bus):
    emulated.servo(2).angle = 0.5
    bus.open()

    found = stand(bus, 0.02)

    assert found.angle == pytest.approx([0.0, 0.5, 0.0], abs=1e-3)
    assert found.sway.max() == 0.0


def count_readings(bus, duration=0.5):
    """Return how many readings a second there are."""
    first, began = wait_for_reading(bus), time.monotonic()
    time.sleep(duration)
    return (bus.latest().seq - first.seq) / (time.monotonic() - began)


def test_idle_bus_is_read_slowly_but_never_stale(bus):
    bus.open()
    wait_for_reading(bus)
    bus.set_idle(is_idle=True)
    time.sleep(0.05)

    assert 10.0 < count_readings(bus) <= 1.1 * IDLE_RATE


def test_bus_that_is_wanted_again_is_read_at_once(bus, monkeypatch):
    monkeypatch.setattr("paprle.hardware.dynamixel.bus_thread.IDLE_RATE", 0.2)
    bus.open()
    bus.set_idle(is_idle=True)
    wait_for_reading(bus)
    time.sleep(0.1)
    seq = bus.latest().seq

    bus.set_idle(is_idle=False)

    began = time.monotonic()
    wait_for(lambda: bus.latest().seq > seq + 1, "readings")
    assert time.monotonic() - began < 1.0  # an idle period is five seconds


def test_an_idle_bus_feeds_watchdogs_while_it_holds_a_torque(
    emulated, bus, monkeypatch
):
    monkeypatch.setattr("paprle.hardware.dynamixel.bus_thread.IDLE_RATE", 0.2)
    bus.open()
    hold_until(bus, lambda: goal(emulated) > 0)

    bus.set_idle(is_idle=True)

    assert bus._find_period(has_answers=True) == 1.0 / HOLD_RATE
    assert bus._find_period(has_answers=False) == 1.0 / bus.settings.rate
    hold_until(bus, lambda: bus.latest().seq > 50)
    assert bus.counters.n_watchdog == 0
    wait_for(lambda: goal(emulated) == 0, "stale torque going to zero")
    wait_for(lambda: not is_on(emulated), "torque off")


def test_a_torque_that_stands_is_told_between_two_readings(emulated, bus, monkeypatch):
    told, write = [], bus._bus.write_torque
    monkeypatch.setattr(
        bus._bus, "write_torque", lambda tau: (told.append(tau), write(tau))
    )
    bus.open()
    hold_until(bus, lambda: goal(emulated) > 0)
    bus.set_idle(is_idle=True)
    hold_until(bus, lambda: bus._find_period(has_answers=True) == 1.0 / HOLD_RATE)
    told.clear()
    seq = bus.latest().seq

    hold_until(bus, lambda: bus.latest().seq >= seq + 20)

    assert 35 <= len(told) <= 45


def test_bus_without_answers_does_not_idle(bus):
    bus.set_idle(is_idle=True)

    assert bus._find_period(has_answers=False) == 1.0 / bus.settings.rate
    assert bus._find_period(has_answers=True) == 1.0 / IDLE_RATE


def test_torque_after_an_idle_pause_rises_from_its_end(bus, monkeypatch):
    monkeypatch.setattr("paprle.hardware.dynamixel.bus_thread.IDLE_RATE", 10.0)
    steps, step = [], bus._shaper.step
    monkeypatch.setattr(
        bus._shaper, "step", lambda *args: (steps.append(args[-1]), step(*args))[1]
    )
    bus.open()
    bus.set_idle(is_idle=True)
    wait_for_reading(bus)
    time.sleep(0.25)

    assert max(steps[2:]) < 0.05  # an idle period is 0.1 s
