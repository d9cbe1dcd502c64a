"""A bus through the vendor's SDK against emulated servos."""

import threading

import numpy as np
import pytest
from emulated_puppeteers import make_limb, run_emulated, wait_for

from paprle.hardware.dynamixel.bus import Bus
from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.inspection import ServoSpec
from paprle.hardware.dynamixel.line.wire import Wire

pytestmark = pytest.mark.timed  # a busy machine makes servos silent

BAUD = 4_000_000
TIMEOUT = 0.03  # [s] a busy machine; a rig needs 0.01
MODELS = ("xl330-m288", "xl430-w250", "xm430-w350")
SERVOS = tuple(ServoSpec(i + 1, m) for i, m in enumerate((*MODELS, "xl330-m077")))


@pytest.fixture
def emulated(tmp_path):
    with run_emulated(
        tmp_path, {"limbs": {"left": make_limb("bus", models=MODELS)}}
    ) as it:
        yield it


@pytest.fixture
def bus(emulated):
    bus = Bus(Wire(emulated.port("left"), BAUD, TIMEOUT), SERVOS, lambda: 7)
    yield bus
    bus.close()


def place(emulated, angles):
    for servo, angle in zip(SERVOS, angles, strict=True):
        emulated.servo(servo.id).angle = angle


def test_angles_of_mixed_models_come_in_radians(emulated, bus):
    angles = np.array([0.5, -1.0, 3.0, 0.0])
    place(emulated, angles)
    bus.open()

    reading = bus.read()

    assert reading.stamp_ns == 7
    assert reading.angle == pytest.approx(angles, abs=np.pi / 4096)
    assert np.isnan(reading.torque).tolist() == [False, True, False, False]
    assert bus.is_fast


def test_angles_do_not_jump_where_bytes_look_like_a_header(emulated, bus):
    """Current -1 and velocity -3 spell FF FF FD in a reply."""
    bus.open()
    servo = emulated.servo(1)
    servo.angle, servo.velocity = 0.7, -3 * 0.0239691
    servo.torque = -servo.model.make_torque(servo.model.current_unit)

    for _ in range(20):
        reading = bus.read()
        assert reading.angle[0] == pytest.approx(0.7, abs=0.1)


@pytest.mark.parametrize("is_fast", [True, False], ids=["fast", "plain"])
def test_both_kinds_of_sync_read_say_the_same(emulated, bus, is_fast):
    place(emulated, (0.1, 0.2, 0.3, 0.4))
    bus.open()
    bus._reads.is_fast = is_fast

    assert bus.read().angle == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=1e-3)


def test_servos_are_set_up_for_torque_and_left_limp(emulated, bus):
    emulated.servo(1).table.put("Return Delay Time", 250)
    emulated.servo(1).table.put("Torque Enable", 1)
    emulated.servo(1)._refresh()

    bus.open()

    assert emulated.servo(1).table.get("Return Delay Time") == 0
    assert emulated.servo(1).table.get("Operating Mode") == 0
    assert emulated.servo(1).table.get("Torque Enable") == 0
    assert emulated.servo(2).table.get("Operating Mode") != 0  # it has no current


def test_torque_reaches_the_servos_within_their_caps(emulated, bus):
    bus.open()
    for _ in SERVOS:
        bus.enable_next()

    bus.write_torque(np.array([0.1, 0.1, -100.0, np.nan]))
    bus.read()

    goals = [emulated.servo(s.id).table.get("Goal Current") for s in SERVOS[::2]]
    assert goals[0] == pytest.approx(1470 * (0.1 / 0.52) ** 2, abs=1)
    assert goals[1] == pytest.approx(-0.3 * 2.3 / 2.69e-3, abs=1)
    assert emulated.servo(4).table.get("Goal Current") == 0
    assert emulated.servo(1).table.get("Bus Watchdog") == 5


def test_torque_is_off_after_close_and_the_port_is_free(emulated, bus):
    bus.open()
    for _ in SERVOS:
        bus.enable_next()

    assert bus.close() == []

    assert not any(emulated.servo(s.id).table.get("Torque Enable") for s in SERVOS)
    bus.open()


def test_torque_off_that_cannot_be_seen_is_told(emulated, bus):
    bus.open()
    bus.enable_next()
    emulated.cause("silent", id=1)

    problems = bus.close()

    assert len(problems) == 1
    assert "servo 1" in problems[0]
    assert "watchdog" in problems[0]


def is_on(emulated, servo_id):
    return emulated.servo(servo_id).table.get("Torque Enable") == 1


def deafen(emulated, servo_id, monkeypatch):
    """Let a servo hear nothing: it keeps what it was told last."""
    servo = emulated.servo(servo_id)
    emulated.cause("silent", id=servo_id)
    monkeypatch.setattr(servo, "write", lambda _address, _data: 0)


def test_torque_that_was_not_seen_to_go_off_is_switched_off_again(
    emulated, bus, monkeypatch
):
    bus.open()
    bus.enable_next()
    deafen(emulated, 1, monkeypatch)
    assert "torque off is not verified" in bus.disable()[0]
    assert not bus.is_limp
    assert is_on(emulated, 1)

    monkeypatch.undo()
    emulated.faults.clear()

    assert bus.disable() == []
    assert bus.is_limp
    assert not is_on(emulated, 1)


def test_servo_that_falls_silent_under_torque_is_told_to_let_go_until_it_does(
    emulated, bus, monkeypatch
):
    """What tells it once may be lost, and nobody hears whether it was."""
    bus.open()
    bus.enable_next()
    torque = np.array([0.1, 0.0, 0.0, 0.0])
    bus.write_torque(torque)
    wait_for(lambda: emulated.servo(1).table.get("Goal Current") > 0, "torque")
    deafen(emulated, 1, monkeypatch)
    bus.read()
    assert not bus.is_alive[0]
    bus.read()  # what was sent before it has been lost by now

    monkeypatch.undo()  # it hears again, and still says nothing
    bus.write_torque(torque)
    wait_for(lambda: emulated.servo(1).table.get("Goal Current") == 0, "zeros")
    assert is_on(emulated, 1)

    assert not bus.reconnect()
    wait_for(lambda: not is_on(emulated, 1), "torque off")
    assert "torque off is not verified" in bus.close()[0]


def test_silent_servo_is_left_out_and_taken_in_again(emulated, bus):
    bus.open()
    emulated.cause("silent", id=2)

    for _ in range(3):
        reading = bus.read()
    assert np.isnan(reading.angle).tolist() == [False, True, False, False]
    assert bus.counters.n_lost == 1

    emulated.faults.clear()
    assert bus.reconnect()
    again = bus.read()
    assert np.isfinite(again.angle).all()
    assert again.epoch[1] == reading.epoch[1] + 1


def test_bus_without_any_answer_is_an_error(emulated, bus):
    bus.open()
    emulated.cause("silent")

    with pytest.raises(BusError, match="no servo answered; check servo power"):
        for _ in range(9):
            assert bus.read() is None


def test_a_host_that_pauses_at_the_opening_misses_no_servo(emulated):
    wire = Wire(emulated.port("left"), BAUD)  # with the 10 ms of a rig
    bus = Bus(wire, SERVOS, lambda: 7)
    emulated.cause("silent")
    servos = [emulated.servo(servo.id) for servo in SERVOS]
    wakes = threading.Timer(
        0.08, lambda: [setattr(servo, "is_silent", False) for servo in servos]
    )

    wakes.start()
    bus.open()

    assert bus.is_alive.all()
    assert wire.n_failed["timeout"] > 3, (
        "it was asked in vain more often than in motion"
    )
    bus.close()


def test_looking_at_servos_as_they_are_writes_nothing(emulated, bus, monkeypatch):
    """Not even to one that falls silent meanwhile: ``paprle doctor`` looks so."""
    written = []
    for servo in SERVOS:
        monkeypatch.setattr(
            emulated.servo(servo.id), "write", lambda *what: written.append(what) or 0
        )
    bus.wire.open()
    bus.assume_present()
    emulated.cause("silent", id=2)

    assert np.isnan(bus.read().angle[1])
    assert np.isfinite(bus.read().angle[0])
    assert written == []


def test_lost_and_damaged_packets_are_got_over_and_counted(emulated, bus):
    bus.open()
    place(emulated, (0.1, 0.2, 0.3, 0.4))
    emulated.cause("corrupted", p=0.05)
    emulated.cause("duplicated", p=0.05)

    for _ in range(200):
        angle = bus.read().angle
        assert angle == pytest.approx([0.1, 0.2, 0.3, 0.4], abs=1e-3)

    assert bus.counters.n_retried > 0
    assert bus.counters.n_lost == 0


def test_late_answers_never_pass_for_later_ones(emulated, bus):
    """A block that comes late is not taken for the voltage that is asked next."""
    bus.open()
    place(emulated, (2.0, 2.0, 2.0, 2.0))
    emulated.cause("late", p=0.3, seconds=0.035)

    found = [health for _ in range(40) if (health := bus.check_next())]
    emulated.faults.clear()

    assert found
    assert all(health.voltage in {5.0, 12.0} for health in found)


def test_health_is_told(emulated, bus):
    bus.open()
    emulated.cause("overload", id=3)

    found = {health.servo_id: health for _ in SERVOS if (health := bus.check_next())}

    assert found[3].errors == 0x20
    assert str(found[3]) == "overloaded"
    assert found[1].voltage == pytest.approx(5.0)
    assert found[1].temperature == 25


def test_watchdog_that_tripped_is_seen_and_armed_again(emulated, bus):
    bus.open()
    bus.enable_next()
    emulated.servo(1).table.put("Bus Watchdog", 255)

    for _ in SERVOS:
        bus.check_next()

    assert bus.counters.n_watchdog == 1
    assert emulated.servo(1).table.get("Bus Watchdog") == 5


def test_servo_that_let_go_of_its_torque_is_enabled_again(emulated, bus):
    bus.open()
    bus.enable_next()
    emulated.servo(1).reboot()

    healths = [health for _ in SERVOS if (health := bus.check_next())]

    assert all(health.is_well for health in healths)
    assert is_on(emulated, 1)
    assert emulated.servo(1).table.get("Bus Watchdog") == 5


def test_torque_that_was_let_go_of_comes_back_softly(emulated, bus):
    for servo in emulated.rig.limbs["left"].servos:
        servo.check_watchdog = lambda _now_ns: None  # a busy machine pauses for longer
    bus.open()
    bus.enable_next()
    emulated.servo(1).reboot()
    for _ in SERVOS:
        bus.check_next()

    model, made, full = emulated.servo(1).model, [], 0.1
    for _ in range(220):
        bus.write_torque(np.array([full, 0.0, 0.0, 0.0]))
        bus.read()
        goal = emulated.servo(1).table.get("Goal Current")
        made.append(model.make_torque(goal * model.current_unit))

    mean = np.convolve(made, np.ones(20) / 20, mode="valid")  # counts are made by turns
    assert made[0] < 0.02 * full
    assert np.diff(made).max() <= model.make_torque(model.current_unit) + 1e-12
    assert np.diff(mean).max() < 0.02 * full
    assert made[-1] == pytest.approx(full, rel=0.02)


def test_servo_that_does_not_take_its_torque_is_told(emulated, bus):
    bus.open()
    bus.enable_next()
    emulated.cause("overload", id=1)

    found = {health.servo_id: health for _ in SERVOS if (health := bus.check_next())}

    assert str(found[1]) == "overloaded, torque is off"
    assert found[3].is_well


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (("silent", {"id": 2}), "servo 2 .*: expected an answer, got none"),
        (("duplicate_id", {"id": 2, "of": 1}), "servo 1 .*: expected one servo with"),
        (("wrong_model", {"id": 3, "number": 1190}), "xm430-w350, got a xl330-m077"),
        (("overload", {"id": 1}), "got 'overloaded'; take the load off"),
        (("baud", {"id": 1, "rate": 57600}), "none at 4000000"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_open_says_what_is_wrong(emulated, bus, fault, text):
    emulated.cause(fault[0], **fault[1])

    with pytest.raises(BusError, match=text):
        bus.open()


def test_servos_that_are_all_at_another_rate_are_one_line(emulated, bus):
    emulated.cause("baud", rate=1_000_000)

    with pytest.raises(BusError) as caught:
        bus.open()

    (problem,) = caught.value.problems
    assert "got all of them at 1000000 [bit/s]; set leader.baud=1000000, or" in problem


def test_open_says_everything_at_once(emulated, bus):
    emulated.cause("silent", id=2)
    emulated.servo(3).table.put("Drive Mode", 8)

    with pytest.raises(BusError) as caught:
        bus.open()

    assert len(caught.value.problems) == 2
    assert "drive mode normal, got torque on by goal" in caught.value.problems[1]


def test_damaged_orders_are_given_again(emulated, bus):
    bus.open()
    emulated.cause("corrupted", p=0.1)

    for _ in range(5):
        for _ in SERVOS:
            bus.enable_next()
        assert [m.is_enabled for m in bus.servos] == [True, False, True, True]
        assert bus.disable() == []


def test_servos_go_limp_by_themselves_when_nobody_speaks(emulated, bus):
    """So does a process that was killed leave them, where their watchdogs work."""
    emulated.servo(1).is_ideal = True
    bus.open()
    bus.enable_next()
    bus.write_torque(np.full(4, 0.1))
    wait_for(lambda: emulated.servo(1).table.get("Goal Current") > 0, "torque")

    wait_for(lambda: emulated.servo(1).table.get("Goal Current") == 0, "watchdog")

    assert emulated.servo(1).table.get("Bus Watchdog") == 255
