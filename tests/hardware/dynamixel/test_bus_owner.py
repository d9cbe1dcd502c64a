"""The thread of a bus: snapshots out, torques in, unplugged and plugged again."""

import threading
import time

import numpy as np
import pytest
from puppets import PATIENCE, make_limb, puppets, wait_for

from hardware.dynamixel.errors import BusError
from hardware.dynamixel.owner import BusOwner, BusSettings
from hardware.dynamixel.probe import stand, swing
from hardware.dynamixel.torque import TorqueCommand

N = 3


@pytest.fixture
def emulated(tmp_path):
    with puppets(tmp_path, {"limbs": {"left": make_limb("bus")}}) as it:
        yield it


@pytest.fixture
def owner(emulated):
    settings = BusSettings(
        path=emulated.port("left"), servos=emulated.servos("left"), timeout=0.03
    )
    owner = BusOwner(settings, time.monotonic_ns)
    yield owner
    owner.close()


def goal(emulated):
    return emulated.servo(1).table.get("Goal Current")


def is_on(emulated):
    return emulated.servo(1).table.get("Torque Enable") == 1


def push(owner, tau=0.05):
    owner.post(TorqueCommand(np.full(N, tau), time.monotonic_ns()))


def wait_for_reading(owner):
    return wait_for(owner.latest, "a reading")


def hold_until(owner, condition):
    """Keep posting torques, as a feedback thread does, until something happens."""

    def look():
        push(owner)
        return condition()

    wait_for(look)


def test_readings_follow_each_other(emulated, owner):
    owner.open()
    first = wait_for_reading(owner)
    emulated.servo(1).angle = 1.0

    later = wait_for(lambda: (s := owner.latest()).reading.angle[0] > 0.9 and s)

    assert later.seq > first.seq
    assert later.reading.stamp_ns > first.reading.stamp_ns
    assert not later.reading.angle.flags.writeable


def test_servos_are_limp_until_a_torque_is_asked_for(emulated, owner):
    owner.open()
    wait_for_reading(owner)
    push(owner, tau=0.0)
    assert not is_on(emulated)

    hold_until(owner, lambda: goal(emulated) > 0)

    assert is_on(emulated)


def test_torque_that_nobody_renews_vanishes(emulated, owner):
    owner.open()
    hold_until(owner, lambda: goal(emulated) > 0)

    wait_for(lambda: goal(emulated) == 0, "stale torque going to zero")


def test_release_makes_limp(emulated, owner):
    owner.open()
    hold_until(owner, lambda: goal(emulated) > 0)

    owner.post(TorqueCommand(np.zeros(N), 0, is_release=True))

    wait_for(lambda: not is_on(emulated), "torque off")
    assert owner.problems == ()


def test_close_under_torque_leaves_it_off_and_no_thread(emulated, owner):
    owner.open()
    hold_until(owner, lambda: goal(emulated) > 0)

    owner.close()
    owner.close()

    assert not is_on(emulated)
    assert owner.problems == ()
    assert not [t for t in threading.enumerate() if t.name.startswith("dynamixel")]


def test_torque_that_does_not_go_off_is_told_and_switched_off_later(emulated, owner):
    owner.open()
    hold_until(owner, lambda: goal(emulated) > 0)
    servo, write = emulated.servo(1), emulated.servo(1).write
    servo.write = lambda _address, _data: 0
    owner.release()

    wait_for(lambda: owner.problems, "torque that is not seen to be off")
    assert is_on(emulated)
    assert "torque off is not verified" in owner.problems[0]

    servo.write = write
    wait_for(lambda: not is_on(emulated), "torque off")
    wait_for(lambda: not owner.problems, "torque seen to be off")


def test_a_thread_that_does_not_end_is_told(owner, monkeypatch):
    monkeypatch.setattr("hardware.dynamixel.owner._JOIN", 0.01)
    owner.open()
    wait_for_reading(owner)
    goes_on = threading.Event()
    monkeypatch.setattr(owner._bus, "read", lambda: goes_on.wait() and None)
    time.sleep(0.02)

    owner.close()

    assert "expected its thread to end within 0.01 [s]" in owner.problems[0]
    thread = next(t for t in threading.enumerate() if t.name.startswith("dynamixel"))
    goes_on.set()
    thread.join()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_owner_that_dies_leaves_torque_off(emulated, owner, monkeypatch):
    """Whatever is raised in the thread, what was on is switched off."""
    owner.open()
    hold_until(owner, lambda: goal(emulated) > 0)

    monkeypatch.setattr(owner._bus, "check_next", None)

    wait_for(lambda: not is_on(emulated), "torque off")
    wait_for(lambda: not owner.latest().is_open)


def test_unplugged_bus_says_so_and_comes_back_limp(emulated, owner, monkeypatch):
    monkeypatch.setattr("hardware.dynamixel.owner._REOPEN", 0.01)
    tries, look = [], owner._bus.open
    monkeypatch.setattr(owner._bus, "open", lambda **k: (tries.append(1), look(**k)))
    owner.open()
    hold_until(owner, lambda: goal(emulated) > 0)

    emulated.unplug("left")
    lost = wait_for(lambda: (s := owner.latest()) and not s.is_open and s)
    assert "plug the adapter in again" in lost.fault
    wait_for(lambda: len(tries) > 3, "looking for it in vain")

    emulated.plug("left")
    back = wait_for(lambda: (s := owner.latest()).is_open and s)
    assert (back.reading.epoch > lost.reading.epoch).all()
    assert not is_on(emulated)


def test_a_port_that_went_away_takes_its_torque_with_it(owner):
    """What came back may not begin where the one before left off."""
    caps, after = np.ones(N), 60_000_000
    for now in range(0, 10**8, 10**7):
        owner._shaper.step(TorqueCommand(0.5 * caps, now), caps, now, 0.01)

    owner._lose(BusError("gone"))

    for wanted in (0.0 * caps, 0.1 * caps):
        command = TorqueCommand(wanted, after, is_release=not wanted.any())
        assert np.all(owner._shaper.step(command, caps, after, 0.01) <= wanted)


def test_port_belongs_to_one_process(owner):
    owner.open()
    other = BusOwner(owner.settings, time.monotonic_ns)

    with pytest.raises(BusError, match="expected it to be free"):
        other.open()


def test_error_of_a_servo_is_told_in_snapshots(emulated, owner):
    owner.open()
    emulated.cause("overload", id=2)

    errors = wait_for(lambda: (s := owner.latest()) and s.errors)

    assert errors == {2: "overloaded"}  # limp, so that it let go of nothing


def test_a_swing_ends_limp_and_tells_what_moved(emulated, owner):
    owner.open()
    seen = []

    def profile(t, _angle):
        seen.append(goal(emulated))
        return None if t > PATIENCE or seen[-1] > 0 else 0.05

    found = swing(owner, 0, profile)

    assert len(found.t) == len(found.angle) == len(seen) - 1
    assert (np.diff(found.t) > 0).all()
    wait_for(lambda: not is_on(emulated), "torque off")


def test_a_stand_tells_where_and_how_still(emulated, owner):
    emulated.servo(2).angle = 0.5
    owner.open()

    found = stand(owner, 0.02)

    assert found.angle == pytest.approx([0.0, 0.5, 0.0], abs=1e-3)
    assert found.sway.max() == 0.0
