"""The thread of an arm's bus: snapshots out, goals in, cable out and in again."""

from __future__ import annotations

import time

import numpy as np
import pytest
from driven_rig import LIMB, run_driven
from served_rig import wait_for

from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.position.bus_thread import BusThread
from paprle.hardware.dynamixel.position.inspection import PositionSpec
from paprle.hardware.serial_bus.goal_thread import BusSettings

pytestmark = pytest.mark.timed  # a busy machine makes servos silent
MODEL = "xm430-w350"
SPECS = tuple(PositionSpec(i, MODEL) for i in (11, 12, 13, 14)) + (
    PositionSpec(15, MODEL, torque_limit=0.17),
)


@pytest.fixture
def emulated(tmp_path):
    with run_driven(tmp_path, "open_manipulator_x") as it:
        yield it


@pytest.fixture
def bus(emulated):
    settings = BusSettings(path=emulated.port(LIMB), timeout=0.03)
    bus = BusThread(settings, SPECS, time.monotonic_ns)
    yield bus
    bus.close(off=True)


def is_on(emulated):
    return [bool(emulated.servo(s.id).table.get("Torque Enable")) for s in SPECS]


def test_goals_arrive_and_torque_goes_off_on_closing(emulated, bus):
    bus.open()
    assert not any(is_on(emulated))
    bus.hold()
    begin = bus.snapshot.reading.angle

    for k in range(40):
        bus.set_goal(begin + np.array([0.005 * k, 0, 0, 0, 0]))
        time.sleep(0.005)

    wait_for(
        lambda: bus.snapshot.reading.angle[0] - begin[0] > 0.1, "motion of the waist"
    )
    assert bus.snapshot.held.all()
    bus.close(off=True)
    assert not any(is_on(emulated))
    assert bus.problems == ()


def test_a_cable_that_is_back_moves_nothing_until_torque_is_asked_for(emulated, bus):
    bus.open()
    bus.hold()
    emulated.unplug(LIMB)
    closed = wait_for(lambda: not bus.snapshot.is_open and bus.snapshot, "the loss")
    assert "plug the adapter in" in closed.fault
    with pytest.raises(BusError, match="plug the adapter in"):
        bus.hold()

    emulated.plug(LIMB)
    back = wait_for(lambda: bus.snapshot.is_open and bus.snapshot, "its return")
    goals = [emulated.servo(s.id).table.get("Goal Position") for s in SPECS]
    bus.set_goal(back.reading.angle + 0.3)
    time.sleep(0.2)

    assert all(is_on(emulated)), "their watchdogs hold them"
    assert not bus.snapshot.held.any()
    after = [emulated.servo(s.id).table.get("Goal Position") for s in SPECS]
    assert after == goals
    assert "switch torque on again" in bus.snapshot.health[11]
