"""Servos that follow positions, against emulated arms in virtual time."""

from __future__ import annotations

import numpy as np
import pytest
from driven_rig import LIMB, DrivenWire, make_rig

from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.position import bus as bus_module
from paprle.hardware.dynamixel.position.bus import Bus
from paprle.hardware.dynamixel.position.inspection import PositionSpec

COUNT = 2.0 * np.pi / 4096
PERIOD = 0.005
BIG, SMALL = "xm540-w270", "xm430-w350"
SPECS = (
    PositionSpec(1, BIG),
    PositionSpec(2, BIG, twin=3),
    PositionSpec(4, BIG, twin=5),
    PositionSpec(6, BIG),
    PositionSpec(7, BIG),
    PositionSpec(8, SMALL),
    PositionSpec(9, SMALL, torque_limit=0.3),
)


class Bench:
    """A ViperX and a bus on it."""

    def __init__(self, monkeypatch):
        self.rig = make_rig()
        self.limb = self.rig.limbs[LIMB]
        self.wire = DrivenWire(self.rig)
        self.bus = Bus(self.wire, SPECS, lambda: self.rig.now_ns)
        monkeypatch.setattr(bus_module, "_find_time", lambda: self.rig.now_ns * 1e-9)
        self.goals = []
        for servo in self.limb.servos:
            servo.on_goal = lambda goal, n=servo.number: self.goals.append((n, goal))

    def servo(self, number):
        return next(s for s in self.limb.all_servos if s.number == number)

    def get(self, number, name):
        return self.servo(number).table.get(name)

    def put(self, number, name, value):
        servo = self.servo(number)
        servo.table.put(name, value)
        servo._refresh()

    def cycle(self, goals=None, n=1):
        """Read and write, a period each; return the last reading."""
        for _ in range(n):
            begin = self.rig.now_ns
            reading = self.bus.read()
            if goals is not None:
                self.bus.write_goals(np.asarray(goals))
            left = PERIOD - (self.rig.now_ns - begin) * 1e-9
            self.wire.wait(max(left, 0.001))
        return reading

    def hold(self):
        self.bus.open()
        self.bus.hold()
        return self.cycle().angle


@pytest.fixture
def bench(monkeypatch):
    return Bench(monkeypatch)


def test_angles_are_the_horns_whatever_the_drive_mode(bench):
    bench.bus.open()

    reading = bench.bus.read()

    angles = [servo.angle for servo in bench.limb.servos]
    assert reading.angle == pytest.approx(angles, abs=COUNT)
    assert not reading.angle.flags.writeable


def test_opening_switches_nothing(bench):
    before = [bytes(servo.table.memory[:120]) for servo in bench.limb.all_servos]

    bench.bus.open()

    after = [bytes(servo.table.memory[:120]) for servo in bench.limb.all_servos]
    assert after == before


def test_torque_comes_where_the_arm_is_without_motion(bench):
    begin = bench.limb.arm.q.copy()

    bench.hold()
    bench.cycle(n=40)

    assert bench.bus.is_held.all()
    assert all(servo.table.get("Torque Enable") for servo in bench.limb.all_servos)
    assert np.abs(bench.limb.arm.q - begin)[:6].max() < 0.1, "by its weight alone"
    assert bench.get(9, "Operating Mode") == 5
    assert bench.get(9, "Goal Current") == round(0.3 * 1193)
    assert {bench.get(i, "Operating Mode") for i in range(1, 9)} == {3}


def test_goals_are_followed_by_pairs_as_well(bench):
    angle = bench.hold()
    goal = angle.copy()
    for k in range(200):
        goal = angle + 0.3 * np.array([1, -1, 1, 1, -1, 1, 0.5]) * (k + 1) / 200
        bench.cycle(goal)
    reading = bench.cycle(goal, n=100)

    assert np.abs(reading.angle - goal).max() < 0.1
    assert bench.get(3, "Goal Position") == bench.get(2, "Goal Position")
    assert not bench.bus.describe_faults()


def test_goals_end_at_the_servos_own_limits(bench):
    angle = bench.hold()
    low, high = bench.bus.servos[1].limits

    bench.bus.write_goals(angle + np.array([0, 9.0, 0, 0, 0, 0, 0]))

    assert bench.get(2, "Goal Position") in {low, high}


def test_an_arm_that_holds_is_taken_over_where_it_hangs(bench):
    bench.hold()
    bench.cycle(n=100)
    bench.bus.close()
    goals = [bench.get(i, "Goal Position") for i in (2, 4)]

    bench.hold()

    assert [bench.get(i, "Goal Position") for i in (2, 4)] == goals
    assert all(servo.table.get("Torque Enable") for servo in bench.limb.all_servos)


def test_a_silent_host_leaves_an_arm_that_holds_by_itself(bench):
    bench.hold()
    bench.cycle(n=20)
    begin = bench.limb.arm.q.copy()

    bench.wire.let_pass(1.0)

    assert bench.get(1, "Bus Watchdog") == 255
    assert bench.get(3, "Bus Watchdog") == 255
    assert all(servo.table.get("Torque Enable") for servo in bench.limb.all_servos)
    assert np.abs(bench.limb.arm.q - begin)[:6].max() < 0.1, "by its weight alone"


def test_after_a_silence_goals_from_elsewhere_are_not_sent(bench):
    angle = bench.hold()
    bench.cycle(angle, n=20)
    bench.wire.let_pass(0.6)
    bench.goals.clear()

    bench.cycle()
    assert not bench.bus.write_goals(angle + 0.3)

    assert bench.bus.n_stops == 1
    sent = dict(bench.goals)
    assert all(abs(sent[n] - bench.servo(n).position) < 100 for n in sent)
    assert bench.bus.is_held.all()
    assert bench.get(1, "Bus Watchdog") == 10


def test_after_a_silence_goals_from_where_it_stands_are_followed(bench):
    angle = bench.hold()
    bench.cycle(angle, n=20)
    bench.wire.let_pass(0.6)

    bench.cycle()
    rest = bench.bus.take_rest()

    assert bench.bus.take_rest() is None
    assert rest == pytest.approx(bench.bus.read().angle, abs=0.12), "by its weight"
    assert bench.bus.write_goals(rest)
    assert bench.bus.write_goals(rest + 0.2), "it is led away by a stream again"


def test_after_a_silence_goals_that_stay_elsewhere_lose_the_servos(bench):
    angle = bench.hold()
    bench.cycle(angle, n=20)
    bench.wire.let_pass(0.6)

    bench.cycle(angle + 0.3, n=230)

    assert not bench.bus.is_held.any()
    assert "while this computer paused" in bench.bus.describe_faults()[2]


def test_a_closed_bus_leaves_no_watchdog_and_no_change(bench):
    angle = bench.hold()
    bench.cycle(angle, n=20)
    bench.bus.close()

    bench.wire.let_pass(1.0)

    assert bench.get(1, "Bus Watchdog") == 0
    assert bench.get(2, "Torque Enable") == 1


@pytest.mark.parametrize("number", [2, 3])
def test_an_overloaded_servo_of_a_pair_is_named_with_a_remedy(bench, number):
    bench.hold()
    bench.servo(number).fail(0x20)

    bench.cycle(n=5)
    for _ in bench.bus.servos:
        bench.bus.check_next()

    assert "'overloaded'; take the load off" in bench.bus.describe_faults()[2]


def test_a_restart_is_noticed_and_moves_nothing(bench):
    angle = bench.hold()
    servo = bench.servo(7)
    servo.reboot()
    for _ in bench.bus.servos:
        bench.bus.check_next()
    bench.goals.clear()

    bench.cycle(angle)

    assert "its supply broke down" in bench.bus.describe_faults()[7]
    assert 7 not in dict(bench.goals)
    assert not bench.bus.is_held[4]


def test_a_lost_servo_gets_no_goals_until_it_is_held_again(bench):
    angle = bench.hold()
    bench.servo(8).is_silent = True
    bench.cycle(angle, n=3)
    assert "got none for a while" in bench.bus.describe_faults()[8]
    bench.servo(8).is_silent = False
    while not bench.bus.reconnect():
        pass
    bench.goals.clear()

    bench.cycle(angle)

    assert not bench.bus.is_held[5]
    assert 8 not in dict(bench.goals)
    bench.bus.hold()
    assert bench.bus.is_held.all()


def test_torque_off_is_verified_at_pairs(bench):
    bench.hold()

    assert bench.bus.release() == []

    assert not any(servo.table.get("Torque Enable") for servo in bench.limb.all_servos)


REGISTERS = {
    "pair turns one way": (3, "Drive Mode", 1, "turn against each other; change bit 0"),
    "pair apart": (3, "Homing Offset", 60, "pull against each other; set its Homing"),
    "no pair": (3, "Secondary(Shadow) ID", 255, "expected secondary id 2"),
    "torque by goal": (1, "Drive Mode", 8, "torque on by goal"),
    "no limits": (1, "Max Position Limit", 0, "a range between them"),
    "no current": (1, "Current Limit", 0, r"set Current Limit \(38\)"),
    "offset of a gripper": (9, "Homing Offset", 100, "DynamixelSDK#584"),
    "error": (6, "Hardware Error Status", 4, "'overheated'; let it cool"),
    "another model": (6, "Model Number", 1060, "expected a xm540-w270, got a xl430"),
}


@pytest.mark.parametrize(
    ("number", "name", "value", "text"), REGISTERS.values(), ids=list(REGISTERS)
)
def test_wrong_register_values_are_refused_with_a_remedy(
    bench, number, name, value, text
):
    bench.put(number, name, value)

    with pytest.raises(BusError, match=text):
        bench.bus.open()


def test_a_wrong_mode_is_set_while_limp_and_refused_under_torque(bench):
    bench.put(1, "Operating Mode", 1)
    bench.hold()
    assert bench.get(1, "Operating Mode") == 3

    bench.put(1, "Operating Mode", 1)
    bench.bus.close()
    with pytest.raises(BusError, match="operating mode 3, got 1 with torque on"):
        bench.bus.open()


def test_a_servo_out_of_its_range_gets_no_torque(bench):
    bench.put(7, "Max Position Limit", bench.servo(7).position - 200)
    bench.bus.open()

    with pytest.raises(BusError, match="servo 7 .* torque would move it"):
        bench.bus.hold()

    assert not any(servo.table.get("Torque Enable") for servo in bench.limb.all_servos)


def test_two_servos_of_one_id_are_refused(bench):
    bench.put(8, "ID", 6)

    with pytest.raises(BusError, match="two at once"):
        bench.bus.open()


def test_a_second_servo_that_nobody_named_is_refused(bench):
    specs = [PositionSpec(1, BIG), PositionSpec(2, BIG)]
    bus = Bus(bench.wire, specs, lambda: 0)

    with pytest.raises(BusError, match="obeys id 2 as well"):
        bus.open()


def test_a_port_that_is_gone_is_an_error_and_back_without_motion(bench):
    angle = bench.hold()
    bench.wire.unplug()
    with pytest.raises(BusError, match="plug the adapter in again"):
        bench.bus.read()
    bench.bus.close()
    bench.wire.is_plugged = True
    bench.wire.let_pass(0.5)
    bench.bus.open(needs_all=False)
    bench.goals.clear()

    bench.cycle(angle + 0.2, n=3)

    assert bench.goals == []
    assert not bench.bus.is_held.any()
