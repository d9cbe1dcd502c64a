"""A bus through the vendor's SDK against emulated servos."""

import threading
import time

import numpy as np
import pytest
from emulated_feetech import IDS, run_feetech
from served_rig import wait_for

from paprle.hardware.feetech.bus import Bus
from paprle.hardware.feetech.errors import BusError
from paprle.hardware.feetech.models import ServoSpec
from paprle.hardware.feetech.wire import Wire

pytestmark = pytest.mark.timed  # a busy machine makes servos silent

BAUD, TIMEOUT = 1_000_000, 0.03  # [s] a busy machine
SERVOS = tuple(ServoSpec(i) for i in IDS)
COUNT = 2 * np.pi / 4096
SAG = 12  # [counts] of a servo under its arm: 1°; without torque it falls


@pytest.fixture
def emulated(tmp_path):
    with run_feetech(tmp_path) as it:
        yield it


@pytest.fixture
def bus(emulated):
    bus = Bus(Wire(emulated.port("follower"), BAUD, TIMEOUT), SERVOS, lambda: 7)
    yield bus
    bus.close()


def freeze(emulated):
    """Keep all servos where a test puts them."""
    emulated.rig.limbs["follower"].step = lambda _t, _dt: None


def place(emulated, servo_id, angle):
    """Turn a servo of no homing offset to an angle after it."""
    servo = emulated.servo(servo_id)
    servo.memory.put("Homing_Offset", 0)
    servo.angle = angle
    servo.refresh()


def read_positions(emulated):
    """The true positions, [counts]."""
    return np.array([emulated.servo(i).position for i in IDS])


def test_measurements_come_in_si_units(emulated, bus):
    freeze(emulated)
    place(emulated, 2, 0.5)
    emulated.servo(2).velocity = -1.0
    bus.open()

    reading = bus.read()

    assert reading.stamp_ns == 7
    assert reading.angle[1] == pytest.approx(0.5, abs=COUNT)
    assert reading.velocity[1] == pytest.approx(-1.0, abs=COUNT)
    assert reading.voltage == pytest.approx(np.full(6, 12.0))
    assert reading.temperature == pytest.approx(np.full(6, 25.0))
    assert not reading.angle.flags.writeable


def test_a_position_that_wraps_goes_on_counting(emulated, bus):
    freeze(emulated)
    place(emulated, 5, 3.0)
    bus.open()
    seen = []
    for angle in (3.1, 3.3, 4.5, 6.0, 3.0):
        emulated.servo(5).angle = angle
        seen.append(bus.read().angle[4])

    assert seen == pytest.approx([3.1, 3.3, 4.5, 6.0, 3.0], abs=COUNT)


def test_a_goal_beyond_the_turn_stops_at_its_end(emulated, bus):
    """The way round would sweep the whole turn."""
    freeze(emulated)
    place(emulated, 5, 3.1)
    bus.open()
    bus.read()
    bus.hold()
    goal = np.zeros(6)
    goal[4] = 3.2

    bus.write_goals(goal)
    bus.read()

    assert emulated.servo(5).memory.get("Goal_Position") == 4095


def test_a_goal_beyond_the_wrap_is_counted_from_there(emulated, bus):
    freeze(emulated)
    place(emulated, 5, 3.1)
    bus.open()
    bus.read()
    emulated.servo(5).angle = 3.3
    bus.read()
    bus.hold()
    goal = np.zeros(6)
    goal[4] = 3.4

    bus.write_goals(goal)
    bus.read()

    assert emulated.servo(5).memory.get("Goal_Position") == round(3.4 / COUNT) - 2048


def test_opening_writes_nothing(emulated, bus):
    before = [bytes(emulated.servo(i).memory.ram[:56]) for i in IDS]

    bus.open()

    assert [bytes(emulated.servo(i).memory.ram[:56]) for i in IDS] == before


def test_torque_on_moves_nothing(emulated, bus):
    bus.open()
    for i in IDS:  # goals that were left behind
        emulated.servo(i).memory.put("Goal_Position", 1000)

    before = read_positions(emulated)
    bus.hold()
    time.sleep(0.2)

    assert np.abs(read_positions(emulated) - before).max() <= SAG
    assert all(emulated.servo(i).is_on for i in IDS)
    assert all(emulated.servo(i).memory.get("Lock") for i in IDS)
    assert bus.is_held.all()


def test_torque_stays_off_where_it_would_move_a_joint_into_its_limits(emulated, bus):
    freeze(emulated)
    servo = emulated.servo(3)
    servo.memory.put("Max_Position_Limit", servo.position - 100)
    bus.open()

    with pytest.raises(BusError, match="servo 3 .* within its limits .* by hand"):
        bus.hold()

    assert not any(emulated.servo(i).is_on for i in IDS)
    assert not bus.is_held.any()


def test_a_joint_that_bends_a_little_beyond_its_limit_is_held_there(emulated, bus):
    freeze(emulated)
    servo = emulated.servo(3)
    servo.memory.put("Max_Position_Limit", servo.position - 10)
    bus.open()

    bus.hold()

    assert servo.memory.get("Goal_Position") == servo.position - 10


def test_torque_limits_are_written_before_torque_goes_on(emulated):
    specs = (ServoSpec(1), ServoSpec(6, torque_limit=0.25))
    emulated.servo(1).memory.put("Max_Torque_Limit", 600)
    bus = Bus(Wire(emulated.port("follower"), BAUD, TIMEOUT), specs, lambda: 7)
    bus.open()
    bus.hold()

    limits = [emulated.servo(i).memory.get("Torque_Limit") for i in (1, 6)]
    bus.close()

    assert limits == [600, 250]


def test_goals_are_followed(emulated, bus):
    bus.open()
    bus.hold()
    goal = bus.read().angle.copy()
    goal[0] += 0.3

    bus.write_goals(goal)
    time.sleep(0.4)

    assert bus.read().angle == pytest.approx(goal, abs=0.05)
    assert emulated.servo(1).n_goals == 2  # where it was, and the new one


def test_torque_off_is_verified(emulated, bus):
    bus.open()
    bus.hold()

    assert bus.release() == []
    assert not any(emulated.servo(i).is_on for i in IDS)


def test_torque_off_that_cannot_be_seen_is_reported(emulated, bus):
    bus.open()
    bus.hold()
    emulated.cause("silent", id=4)

    problems = bus.release()

    assert len(problems) == 1
    assert "servo 4" in problems[0]


def test_a_silent_servo_is_nan_and_the_others_go_on(emulated, bus):
    bus.open()
    bus.hold()
    emulated.cause("silent", id=2)

    reading = bus.read()

    assert np.isnan(reading.angle).tolist() == [False, True, False, False, False, False]
    assert "check its cable" in bus.describe_faults()[2]
    assert bus.is_held.tolist() == [True, False, True, True, True, True]


def test_a_servo_that_is_back_gets_no_goals_until_it_is_held_again(emulated, bus):
    bus.open()
    bus.hold()
    emulated.cause("silent", id=2)
    bus.read()
    emulated.faults.clear("silent")
    before = emulated.servo(2).memory.get("Goal_Position")

    assert bus.reconnect()
    bus.write_goals(np.full(6, 0.7))
    reading = bus.read()

    assert not np.isnan(reading.angle).any()
    assert emulated.servo(2).memory.get("Goal_Position") == before
    assert emulated.servo(1).memory.get("Goal_Position") != before
    bus.hold()
    assert bus.is_held.all()
    assert bus.describe_faults() == {}


def test_a_joint_that_a_load_bends_yields_no_further_when_it_is_held_again(
    emulated, bus
):
    bus.open()
    bus.hold()
    at = emulated.servo(1).memory.get("Goal_Position")
    emulated.order(cmd="push", tau={"shoulder_pan": 0.6})
    wait_for(lambda: abs(emulated.servo(1).position - at) > 10, "the load")
    wait_for(lambda: abs(bus.read().velocity[0]) < 0.02, "its end")

    bus.servos[0].lose("as after silence")
    bus.hold()

    assert emulated.servo(1).memory.get("Goal_Position") == at
    assert bus.is_held.all()


def test_a_goal_far_away_is_forgotten_when_it_is_held_again(bus):
    bus.open()
    bus.hold()
    goal = bus.read().angle.copy()
    goal[0] += 1.5
    bus.write_goals(goal)
    bus.read()
    bus.servos[0].lose("as after silence")

    bus.hold()
    time.sleep(0.2)

    assert abs(bus.read().angle[0] - goal[0]) > 1.0


def look_at_all(bus):
    for _ in IDS:
        bus.check_next()


def test_a_restart_is_noticed_by_its_registers(emulated, bus):
    bus.open()
    bus.hold()
    emulated.servo(3).power_up()

    look_at_all(bus)

    assert "supply broke down" in bus.describe_faults()[3]
    assert not bus.is_held[2]


def test_a_restart_within_a_reading_is_noticed_before_the_next_goal(emulated, bus):
    bus.open()
    bus.hold()
    emulated.cause("silent", id=3)
    threading.Timer(0.05, emulated.faults.clear, ("silent",)).start()
    emulated.servo(3).power_up()
    before = emulated.servo(3).memory.get("Goal_Position")

    reading = bus.read()
    bus.write_goals(np.full(6, 0.5))
    bus.read()

    assert not np.isnan(reading.angle).any()
    assert emulated.servo(3).memory.get("Goal_Position") == before


def test_torque_that_a_protection_switched_off_is_noticed(emulated, bus):
    bus.open()
    bus.hold()
    emulated.cause("overheat", id=5)

    look_at_all(bus)
    bus.read()

    fault = bus.describe_faults()[5]
    assert "overheated" in fault
    assert "let it cool" in fault
    assert "expected torque on, got off" in fault


def test_overload_is_reported_with_its_remedy(emulated, bus):
    bus.open()
    bus.hold()
    emulated.cause("overload", id=6)

    reading = bus.read()

    assert reading.errors.tolist() == [0, 0, 0, 0, 0, 0x20]
    assert "overloaded'; take the load off" in bus.describe_faults()[6]


def test_lost_and_damaged_packets_lose_no_servo(emulated, bus):
    bus.open()
    emulated.cause("lost", p=0.02)
    emulated.cause("corrupted", p=0.02)

    readings = [bus.read() for _ in range(40)]

    assert not np.isnan([r.angle for r in readings if r]).any()
    assert bus.counters.n_lost == 0
    assert bus.counters.n_missed > 0


def test_no_servo_at_all_is_an_error(emulated, bus):
    bus.open()
    emulated.cause("silent")

    with pytest.raises(BusError, match="no servo answered; check servo power"):
        for _ in range(10):
            bus.read()
