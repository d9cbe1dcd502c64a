"""Problems that opening a bus finds, each with its remedy."""

import pytest
from emulated_feetech import IDS, run_feetech

from paprle.hardware.feetech.bus import Bus
from paprle.hardware.feetech.errors import BusError
from paprle.hardware.feetech.models import ServoSpec
from paprle.hardware.feetech.wire import Wire

pytestmark = pytest.mark.timed  # a busy machine makes servos silent


@pytest.fixture
def emulated(tmp_path):
    with run_feetech(tmp_path) as it:
        yield it


@pytest.fixture
def bus(emulated):
    wire = Wire(emulated.port("follower"), 1_000_000, 0.02)
    bus = Bus(wire, [ServoSpec(i) for i in IDS], lambda: 7)
    yield bus
    bus.close()


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ({"fault": "silent", "id": 4}, "servo 4 .* got none at 1000000 .* check its"),
        ({"fault": "wrong_model", "id": 4, "number": 1284}, "servo 4 .* number 1284;"),
        (
            {"fault": "duplicate_id", "id": 4, "of": 3},
            "servo 3 .* two at once; connect",
        ),
        ({"fault": "status_level", "id": 4, "level": 0}, "response level 0: .* paprle"),
        ({"fault": "voltage", "id": 4, "volts": 3.0}, "4.0 to 14.0 .* got 3.0 .V.; ch"),
        ({"fault": "baud", "rate": 500_000}, "got all of them at 500000 .* set baud"),
    ],
    ids=lambda one: one["fault"] if isinstance(one, dict) else "",
)
def test_a_bus_is_refused_with_a_remedy(emulated, bus, fault, text):
    emulated.faults.cause(fault)

    with pytest.raises(BusError, match=text):
        bus.open()


@pytest.mark.parametrize(
    ("register", "value", "text"),
    [
        (
            "Operating_Mode",
            1,
            "expected operating mode 0 .* got 1 .speed.; set it with",
        ),
        ("Phase", 28, "positions of one turn, got those of several .* clear it with"),
    ],
)
def test_settings_that_would_move_the_arm_wrongly_are_refused(
    emulated, bus, register, value, text
):
    emulated.servo(2).memory.put(register, value)

    with pytest.raises(BusError, match=f"servo 2 .* {text}"):
        bus.open()


def test_all_problems_come_at_once(emulated, bus):
    emulated.cause("silent", id=4)
    emulated.servo(2).memory.put("Operating_Mode", 2)

    with pytest.raises(BusError) as info:
        bus.open()

    assert len(info.value.problems) == 2


def test_slow_answers_and_heat_are_warned_of(emulated, bus):
    emulated.cause("return_delay", id=1, seconds=0.0005)
    emulated.cause("overheat", id=6, temperature=65)

    bus.open()
    warnings = bus.take_warnings()

    assert "return delay 0, got 500 [µs]" in warnings[0]
    assert "at most 60 [°C], got 65" in warnings[1]
    assert bus.take_warnings() == []


def test_another_controller_on_the_bus_is_noticed(emulated, bus):
    emulated.cause("foreign", period=0.02)

    with pytest.raises(BusError, match="expected silence, got .* another controller"):
        bus.open()


def test_servos_as_delivered_are_refused_with_the_way_to_set_them_up(tmp_path):
    with run_feetech(tmp_path / "new", setup="factory") as new:
        wire = Wire(new.port("follower"), 1_000_000, 0.02)
        bus = Bus(wire, [ServoSpec(i) for i in IDS], lambda: 7)
        with pytest.raises(BusError, match="clear it with paprle setup-servos"):
            bus.open()
        bus.close()


def test_an_adapter_that_returns_what_is_sent_is_no_obstacle(emulated, bus):
    emulated.cause("echo", p=1.0)

    bus.open()
    bus.hold()

    assert bus.read().angle[0] == pytest.approx(-0.0015, abs=1e-3)
    assert bus.is_held.all()
    assert bus.wire.packets.n_echoes > 0


def test_a_missing_port_is_reported_with_those_that_exist():
    bus = Bus(Wire("/dev/nothing", 1_000_000), [ServoSpec(1)], lambda: 7)

    with pytest.raises(BusError, match="'/dev/nothing': expected a serial device"):
        bus.open()
