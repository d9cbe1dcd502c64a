"""The thread of a bus: snapshots out, goals in, unplugged and plugged again."""

import threading
import time

import numpy as np
import pytest
from emulated_feetech import IDS, run_feetech
from served_rig import wait_for

from paprle.hardware.feetech.bus_thread import BusSettings, BusThread
from paprle.hardware.feetech.errors import BusError
from paprle.hardware.feetech.models import UNIT, ServoSpec
from paprle.hardware.serial_bus import goal_thread

pytestmark = pytest.mark.timed  # a busy machine makes servos silent


@pytest.fixture
def emulated(tmp_path):
    with run_feetech(tmp_path) as it:
        yield it


@pytest.fixture
def bus(emulated):
    settings = BusSettings(path=emulated.port("follower"), timeout=0.03)
    bus = BusThread(settings, [ServoSpec(i) for i in IDS], time.monotonic_ns)
    yield bus
    bus.close(off=True)


def is_on(emulated):
    return [emulated.servo(i).is_on for i in IDS]


def find_goals(emulated):
    return [emulated.servo(i).memory.get("Goal_Position") for i in IDS]


def wait_for_next(bus, n=3):
    """Wait for some more readings."""
    before = bus.snapshot.seq
    return wait_for(
        lambda: bus.snapshot.seq >= before + n and bus.snapshot, "a reading"
    )


def test_there_is_a_snapshot_once_it_is_open_and_others_follow(bus):
    assert bus.snapshot is None
    bus.open()
    first = bus.snapshot

    later = wait_for_next(bus)

    assert first.is_open
    assert later.reading.stamp_ns > first.reading.stamp_ns
    assert not later.enabled.any()


def test_opening_leaves_torque_as_it_is(emulated, bus):
    emulated.servo(2).write(40, b"\1")
    bus.open()

    assert bus.snapshot.enabled.tolist() == [False, True, False, False, False, False]
    assert is_on(emulated) == bus.snapshot.enabled.tolist()


def test_the_newest_goal_is_followed_once_torque_is_on(emulated, bus):
    bus.open()
    goal = bus.snapshot.reading.angle.copy()
    goal[0] += 0.3
    bus.set_goal(goal)
    wait_for_next(bus)
    assert not any(is_on(emulated))

    bus.hold()
    wait_for_next(bus)
    assert bus.snapshot.held.all()
    assert [emulated.servo(i).n_goals for i in IDS] == [1] * 6

    bus.set_goal(goal)
    wait_for(lambda: abs(bus.snapshot.reading.angle[0] - goal[0]) < 0.05, "the motion")


def test_each_goal_is_sent_once_and_in_order(emulated, bus):
    """Goals of half the rate: one that is repeated makes a servo stop between two."""
    bus.open()
    bus.hold()
    begin = bus.snapshot.reading.angle.copy()
    seen = []
    emulated.servo(1).on_goal = seen.append
    sent = begin[0] + 0.01 * np.arange(1, 40)

    for angle in sent:
        bus.set_goal(np.array([angle, *begin[1:]]))
        time.sleep(0.02)

    counts = np.round(sent / UNIT + 2048).astype(int).tolist()
    assert [goal for goal in seen if goal in counts] == counts
    assert len(seen) == len(counts)


def test_two_goals_that_came_late_are_both_sent_and_apart(emulated, bus):
    bus.open()
    bus.hold()
    begin = bus.snapshot.reading.angle.copy()
    seen = []
    emulated.servo(1).on_goal = lambda goal: seen.append((time.monotonic(), goal))
    for k in (1, 2):
        bus.set_goal(np.array([begin[0] + 0.01 * k, *begin[1:]]))

    wait_for(lambda: len(seen) == 2, "both goals")

    assert seen[0][1] < seen[1][1]
    assert seen[1][0] - seen[0][0] > 0.5 / bus.settings.rate


@pytest.mark.parametrize(("stall", "follows"), [(0.06, True), (0.2, False)])
def test_no_goal_is_skipped_after_a_stall_of_the_bus_alone(
    emulated, bus, stall, follows
):
    bus.open()
    bus.hold()
    begin, seen, goals = bus.snapshot.reading.angle.copy(), [], []
    emulated.servo(1).on_goal = seen.append
    bus._bus.check_next = lambda: time.sleep(stall) or vars(bus._bus).pop("check_next")
    end = time.monotonic() + stall + 0.2

    while time.monotonic() < end:
        goals.append(begin[0] + 0.01 * len(goals))
        bus.set_goal(np.array([goals[-1], *begin[1:]]))
        time.sleep(0.005)

    time.sleep(0.1)
    assert bus.snapshot.held.all() == follows
    most = 1.5 * 0.01 / UNIT
    assert np.abs(np.diff(seen)).max() < most, "a jump"
    if not follows:
        assert "goals waited for" in bus.snapshot.health[1]


@pytest.mark.parametrize(
    "goal", [[0.0] * 5 + [np.nan], [0.0] * 5 + [np.inf], [0.0] * 5]
)
def test_an_invalid_goal_is_refused(bus, goal):
    with pytest.raises(ValueError, match="expected 6 finite goals"):
        bus.set_goal(np.array(goal))


def test_torque_goes_off_on_release(emulated, bus):
    bus.open()
    bus.hold()

    bus.release()

    assert not any(is_on(emulated))
    assert not wait_for_next(bus).enabled.any()


@pytest.mark.parametrize("off", [True, False], ids=["off", "holding"])
def test_closing_leaves_the_arm_as_asked(emulated, bus, off):
    bus.open()
    bus.hold()

    bus.close(off=off)

    assert is_on(emulated) == [not off] * 6
    assert bus.problems == ()
    assert not bus.snapshot.is_open
    assert not [t for t in threading.enumerate() if t.name.startswith("feetech")]
    with pytest.raises(BusError, match="its thread has ended"):
        bus.hold()


def test_torque_that_does_not_go_off_is_reported_on_closing(emulated, bus):
    bus.open()
    bus.hold()
    emulated.cause("silent", id=2)

    bus.close(off=True)

    assert "servo 2" in bus.problems[0]
    assert "cut the servos' power" in bus.problems[0]
    emulated.faults.clear("silent")


def test_a_refused_hold_leaves_torque_off(emulated, bus):
    servo = emulated.servo(3)
    servo.memory.put("Max_Position_Limit", servo.position - 100)
    bus.open()

    with pytest.raises(BusError, match="servo 3 .* within its limits"):
        bus.hold()

    assert not any(is_on(emulated))
    wait_for_next(bus)


def test_an_unplugged_bus_is_reported_and_comes_back_without_motion(emulated, bus):
    bus.open()
    bus.hold()
    bus.set_goal(bus.snapshot.reading.angle)
    wait_for_next(bus)
    emulated.unplug("follower")
    closed = wait_for(lambda: not bus.snapshot.is_open and bus.snapshot, "the loss")
    assert "plug the adapter in" in closed.fault
    with pytest.raises(BusError, match="plug the adapter in"):
        bus.hold()
    assert all(is_on(emulated))
    before = find_goals(emulated)

    emulated.plug("follower")
    back = wait_for(lambda: bus.snapshot.is_open and bus.snapshot, "its return")
    bus.set_goal(back.reading.angle + 0.2)
    back = wait_for_next(bus)

    assert back.enabled.all()
    assert not back.held.any()
    assert find_goals(emulated) == before
    assert "switch torque on again" in back.health[1]
    assert back.reconnects == 1
    assert any("it is back" in text for text in bus.take_warnings())
    bus.hold()
    assert wait_for_next(bus).held.all()


def test_power_that_was_off_for_a_moment_is_reported(emulated, bus):
    bus.open()
    bus.hold()
    emulated.order(fault="brownout", id=3, seconds=0.3)

    gone = wait_for(lambda: 3 in bus.snapshot.health and bus.snapshot, "the loss")
    assert not gone.held[2]
    assert gone.held[0]
    wait_for(lambda: bus.snapshot.reconnects == 1, "its return")
    back = wait_for_next(bus)

    assert not np.isnan(back.reading.angle).any()
    assert back.held.tolist() == [True, True, False, True, True, True]
    assert "switch torque on again" in back.health[3]


def test_power_off_for_all_is_a_fault_of_the_port_until_it_is_back(emulated, bus):
    bus.open()
    bus.hold()
    emulated.cause("silent")
    lost = wait_for(lambda: not bus.snapshot.is_open and bus.snapshot, "the loss")
    assert "check servo power" in lost.fault

    emulated.faults.clear("silent")

    wait_for(lambda: bus.snapshot.is_open, "the return")


def test_another_controller_is_warned_of_while_it_runs(emulated, bus, monkeypatch):
    monkeypatch.setattr(goal_thread, "_UNASKED_EVERY", 0.3)
    bus.open()
    emulated.cause("foreign", period=0.02)

    found = wait_for(bus.take_warnings, "the warning")

    assert "another controller speaks on this bus" in found[0]
    assert bus.snapshot.disturbance == found[0]
    assert not np.isnan(bus.snapshot.reading.angle).any()


@pytest.mark.parametrize(
    ("fault", "p"),
    [
        ("late", 0.03),
        ("corrupted", 0.03),
        ("lost", 0.03),
        ("duplicated", 0.03),
        ("noise", 0.2),
    ],
)
def test_a_bad_line_is_not_taken_for_another_controller(
    emulated, bus, monkeypatch, fault, p
):
    monkeypatch.setattr(goal_thread, "_UNASKED_EVERY", 0.1)
    bus.open()
    emulated.cause(fault, p=p)

    wait_for_next(bus, 60)

    assert bus.take_warnings() == []
    assert bus.snapshot.disturbance == ""
    assert emulated.rig.line_faults["follower"].n_spoilt > 0
    assert bus.snapshot.health == {}


def test_an_open_bus_has_the_stored_values_of_its_servos(emulated, bus):
    bus.open()

    stored = bus.stored[0]

    memory = emulated.servo(1).memory
    assert stored.homing_offset == memory.get("Homing_Offset")
    assert stored.range_min == memory.get("Min_Position_Limit")
    assert stored.range_max == memory.get("Max_Position_Limit")


def test_a_closed_bus_opens_again(bus):
    bus.open()
    bus.close(off=False)

    bus.open()

    assert bus.snapshot.is_open
    wait_for_next(bus)
