"""Ids, rates and calibration of servos, and the search for ports."""

import pytest
from emulated_feetech import IDS, run_feetech

from paprle.hardware.feetech import search, setup
from paprle.hardware.feetech.bus import Bus
from paprle.hardware.feetech.eeprom import (
    Stored,
    read_stored,
    write_settings,
    write_stored,
)
from paprle.hardware.feetech.errors import BusError, ServoError
from paprle.hardware.feetech.models import ServoSpec
from paprle.hardware.feetech.search import find_buses
from paprle.hardware.feetech.setup import Found, find_alone, is_set_up, set_up
from paprle.hardware.feetech.wire import Wire

pytestmark = pytest.mark.timed  # a busy machine makes servos silent

BAUD = 1_000_000
PATIENCE = 0.05  # [s]


@pytest.fixture
def emulated(tmp_path, monkeypatch):
    monkeypatch.setattr(setup, "BAUD_RATES", (BAUD, 500_000, 115_200))
    with run_feetech(tmp_path) as it:
        yield it


@pytest.fixture
def wire(emulated):
    wire = Wire(emulated.port("follower"), BAUD, 0.03)
    wire.open()
    yield wire
    wire.close()


def leave(emulated, *ids):
    """Unplug all other servos."""
    for i in set(IDS) - set(ids):
        emulated.servo(i).is_silent = True


def restart(servo):
    servo.power_up()
    return servo.memory


def test_a_lone_servo_is_found_at_another_rate(emulated, wire):
    leave(emulated, 4)
    emulated.servo(4).memory.put("Baud_Rate", 1)

    assert find_alone(wire, PATIENCE) == Found(4, "sts3215", 500_000)
    assert wire.baud == BAUD


@pytest.mark.parametrize(
    ("ids", "text"), [((3, 4), "got ids 3, 4 at 1000000"), ((), "got no answer at")]
)
def test_a_servo_that_is_not_alone_is_refused(emulated, wire, ids, text):
    leave(emulated, *ids)

    with pytest.raises(BusError, match=text):
        find_alone(wire, PATIENCE)


def test_two_servos_with_one_id_are_refused(emulated, wire):
    leave(emulated, 3, 4)
    emulated.cause("duplicate_id", id=4, of=3)

    with pytest.raises(BusError, match="two at once; unplug one"):
        find_alone(wire, PATIENCE)


def test_id_rate_and_settings_are_written_and_survive_a_restart(emulated, wire):
    leave(emulated, 1)
    servo = emulated.servo(1)
    for name, value in (
        ("Baud_Rate", 4),
        ("Return_Delay_Time", 250),
        ("Operating_Mode", 1),
        ("Phase", 28),
        ("Torque_Enable", 1),
    ):
        servo.memory.put(name, value)
    found, goal = find_alone(wire, PATIENCE), ServoSpec(9)
    assert not is_set_up(wire, found, goal, BAUD)

    set_up(wire, found, goal, BAUD)

    memory = restart(servo)
    assert [memory.get(n) for n in ("ID", "Baud_Rate", "Return_Delay_Time")] == [
        9,
        0,
        0,
    ]
    assert [memory.get(n) for n in ("Operating_Mode", "Phase", "Lock")] == [0, 12, 1]
    assert is_set_up(wire, find_alone(wire, PATIENCE), goal, BAUD)


def test_six_servos_as_delivered_become_an_arm(tmp_path, monkeypatch):
    monkeypatch.setattr(setup, "BAUD_RATES", (BAUD,))
    with run_feetech(tmp_path, setup="factory") as new:
        bus, servos = new.rig.buses["follower"], new.rig.limbs["follower"].servos
        for servo in servos:
            servo.memory.keep("ID", 1)
        wire = Wire(new.port("follower"), BAUD, 0.03)
        wire.open()
        for i, servo in enumerate(servos, start=1):
            bus.connected = [servo]
            set_up(wire, find_alone(wire, PATIENCE), ServoSpec(i), BAUD)
        wire.close()
        bus.connected = list(servos)
        for servo in servos:
            servo.power_up()
        arm = Bus(wire, [ServoSpec(i) for i in IDS], lambda: 0)

        arm.open()

        assert arm.take_warnings() == []
        assert not arm.is_on.any()
        arm.close()


def test_an_id_in_use_is_not_given_away(emulated, wire):
    with pytest.raises(BusError, match="expected this id to be free"):
        set_up(wire, Found(1, "sts3215", BAUD), ServoSpec(2), BAUD)

    assert emulated.servo(1).number == 1


@pytest.mark.parametrize(
    ("found", "baud", "text"),
    [
        (Found(1, "sts3250", BAUD), BAUD, "expected a sts3215, got a sts3250"),
        (Found(1, "sts3215", BAUD), 38_400, "expected a rate of 1000000, .* got 38400"),
    ],
)
def test_an_impossible_servo_setting_is_refused(wire, found, baud, text):
    with pytest.raises(BusError, match=text):
        set_up(wire, found, ServoSpec(1), baud)


def test_calibration_is_kept_by_the_servo(emulated, wire):
    stored = Stored(homing_offset=-1234, range_min=100, range_max=3900)

    write_stored(wire, 2, stored)

    assert read_stored(wire, 2) == stored
    memory = restart(emulated.servo(2))
    assert memory.get("Homing_Offset") == -1234
    assert memory.get("Min_Position_Limit") == 100
    assert memory.get("Max_Position_Limit") == 3900
    assert memory.get("Lock") == 1


def test_calibration_is_not_changed_under_torque(emulated, wire):
    emulated.servo(2).write(40, b"\1")
    before = read_stored(wire, 2)

    with pytest.raises(ServoError, match="expected torque off, got on: it would jump"):
        write_stored(wire, 2, Stored(0, 0, 4095))

    assert read_stored(wire, 2) == before
    write_stored(wire, 2, before)  # what is there already is not written


@pytest.mark.parametrize(
    "stored", [Stored(2048, 0, 4095), Stored(0, -1, 4095), Stored(0, 3000, 2000)]
)
def test_calibration_out_of_range_is_refused(wire, stored):
    with pytest.raises(ServoError, match="within ±2047 and a range within 0 to 4095"):
        write_stored(wire, 2, stored)


def test_settings_that_are_right_are_not_written(wire):
    assert write_settings(wire, 2, {"Operating_Mode": 0}) == []
    assert write_settings(wire, 2, {"P_Coefficient": 32}) == ["P_Coefficient"]


def test_the_port_with_an_arm_is_found(emulated, wire, tmp_path):
    wire.close()
    port = emulated.port("follower")

    arm, nothing = find_buses([port, str(tmp_path / "none")], timeout=0.03)

    assert arm.has_arm()
    assert arm.voltage == pytest.approx(12.0)
    assert set(arm.models.values()) == {"sts3215"}
    assert not nothing.has_arm()
    assert "expected a serial device" in nothing.problem


def test_an_arm_that_lacks_a_servo_is_none(emulated, wire):
    wire.close()
    leave(emulated, 1, 2, 3, 4, 5)

    (found,) = find_buses([emulated.port("follower")], timeout=0.03)

    assert not found.has_arm()
    assert list(found.models) == [1, 2, 3, 4, 5]


class _Port:
    def __init__(self, device, vid):
        self.device, self.vid = device, vid


def test_ports_have_their_lasting_names(tmp_path, monkeypatch):
    (tmp_path / "ttyACM0").touch()
    (tmp_path / "usb-1a86_arm").symlink_to(tmp_path / "ttyACM0")
    device = str(tmp_path / "ttyACM0")
    ports = [_Port("/dev/ttyS0", None), _Port("/dev/ttyACM9", 1), _Port(device, 1)]
    monkeypatch.setattr(search.list_ports, "comports", lambda: ports)
    monkeypatch.setattr(search, "_BY_ID", tmp_path)

    assert search.list_usb_ports() == ("/dev/ttyACM9", str(tmp_path / "usb-1a86_arm"))
