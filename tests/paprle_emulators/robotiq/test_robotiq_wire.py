"""The emulated gripper answers as the maker's manuals print it, and as Modbus asks."""

import pytest

from paprle_emulators.robotiq.gripper import EmulatedGripper, Fault
from paprle_emulators.robotiq.rtu import RtuGripper, add_crc
from paprle_emulators.robotiq.urcap import UrcapSession

# spec: Robotiq, instruction manual of 2F-85 and 2F-140, "Control logic example"
RESET = "09 10 03 E8 00 03 06 00 00 00 00 00 00 73 30"
CLOSE = "09 10 03 E8 00 03 06 09 00 00 FF FF FF 42 29"
OPEN = "09 10 03 E8 00 03 06 09 00 00 00 FF FF 72 19"
WRITTEN = "09 10 03 E8 00 03 01 30"
READ_STATE = "09 04 07 D0 00 01 30 0F"
IN_PROGRESS, DONE = "09 04 02 11 00 54 A1", "09 04 02 31 00 4D 61"
READ = "09 03 07 D0 00 03 04 0E"
ACTIVATE = "09 10 03 E8 00 03 06 01 00 00 00 00 00"


@pytest.fixture
def gripper():
    return EmulatedGripper("2f85", lambda _: None)


@pytest.fixture
def rtu(gripper):
    return RtuGripper(gripper, 9)


def ask(rtu, text):
    return rtu.answer(bytes.fromhex(text)).hex(" ").upper()


def ask_words(rtu, text):
    return rtu.answer(add_crc(bytes.fromhex(text)))


def step(gripper, time):
    for _ in range(round(time / 0.005)):
        gripper.step(0.005)
        gripper.hear()


def activate(gripper):
    gripper.write({"ACT": 1})
    step(gripper, 3.0)
    assert gripper.state == 3


def test_the_frames_of_the_manual(gripper, rtu):
    assert ask(rtu, RESET) == WRITTEN
    ask_words(rtu, ACTIVATE)
    assert ask(rtu, READ_STATE) == IN_PROGRESS
    step(gripper, 3.0)
    assert ask(rtu, READ_STATE) == DONE
    gripper.place(0.02)
    assert ask(rtu, CLOSE) == WRITTEN
    step(gripper, 2.0)
    status, _, fault, echo, position, current = bytes.fromhex(ask(rtu, READ))[3:9]
    assert (status, fault, echo) == (0xB9, 0, 0xFF), "as after the manual's grasp"
    assert position == round(230 - 0.02 / 0.085 * 227)
    assert current > 0
    assert ask(rtu, OPEN) == WRITTEN
    step(gripper, 0.005)
    assert ask(rtu, READ)[9:11] == "39", "in motion"
    step(gripper, 2.0)
    assert ask(rtu, READ)[9:11] == "F9", "arrived"


@pytest.mark.parametrize(
    ("request_hex", "code"),
    [
        ("09 01 00 00 00 01", 1),
        ("09 03 00 00 00 01", 2),
        ("09 03 07 D0 00 09", 2),
        ("09 03 07 D0 00 00", 3),
        ("09 10 03 E8 00 03 04 00 00 00 00", 3),
        ("09 10 07 D0 00 01 02 00 00", 2),
        ("09 03 07", 3),
    ],
)
def test_wrong_requests_are_exceptions(rtu, request_hex, code):
    answer = ask_words(rtu, request_hex)
    assert answer[1] & 0x80
    assert answer[2] == code
    assert add_crc(answer[:-2]) == answer


def test_damaged_and_other_frames_are_not_answered(rtu):
    good = bytes.fromhex(READ)
    for at in range(len(good)):
        damaged = bytearray(good)
        damaged[at] ^= 1
        assert rtu.answer(bytes(damaged)) == b""
    assert ask_words(rtu, "0A 03 07 D0 00 03") == b""


def test_faults_come_and_end_as_the_manual_has_them(gripper):
    gripper.write({"GTO": 1, "POS": 255})
    assert gripper.fault is Fault.NOT_ACTIVATED
    gripper.write({"ACT": 0})
    gripper.write({"ACT": 1, "GTO": 1})
    assert gripper.fault is Fault.ACTIVATING
    step(gripper, 3.0)
    assert (gripper.fault, gripper.state) == (Fault.NONE, 3)
    gripper.fail(Fault.HOT)
    before = gripper.position
    gripper.write({"POS": 100, "SPE": 255, "GTO": 1})
    step(gripper, 1.0)
    assert gripper.position == before, "a hot gripper stands still"
    gripper.fail(Fault.NONE)
    step(gripper, 2.0)
    assert gripper.position == pytest.approx(100, abs=0.5)
    gripper.fail(Fault.VOLTAGE)
    step(gripper, 0.5)
    assert (gripper.fault, gripper.state) == (Fault.VOLTAGE, 0)
    gripper.write({"ACT": 0})
    activate(gripper)
    assert gripper.fault is Fault.NONE


def test_a_second_of_silence_is_a_fault_that_ends_with_the_next_question(gripper, rtu):
    activate(gripper)
    for _ in range(220):
        gripper.step(0.005)
    assert ask(rtu, READ)[15:17] == "09"
    assert ask(rtu, READ)[15:17] == "00"


def test_automatic_release_opens_slowly_and_ends_the_activation(gripper):
    activate(gripper)
    gripper.write({"POS": 255, "SPE": 255, "GTO": 1})
    step(gripper, 1.0)
    gripper.write({"ATR": 1})
    assert gripper.fault is Fault.RELEASING
    step(gripper, 2.0)
    assert 3 < gripper.position < 230
    step(gripper, 4.0)
    assert (gripper.fault, gripper.state) == (Fault.RELEASED, 0)


def test_objects_are_gripped_from_outside_and_from_inside(gripper):
    activate(gripper)
    gripper.place(0.04)
    gripper.write({"POS": 255, "SPE": 255, "FOR": 100, "GTO": 1})
    step(gripper, 2.0)
    assert (gripper.contact, gripper.opening) == (2, pytest.approx(0.04, abs=2e-3))
    gripper.place(None)
    step(gripper, 2.0)
    assert gripper.contact == 3, "it was lost"
    gripper.place(0.05)
    gripper.write({"POS": 0})
    step(gripper, 2.0)
    assert (gripper.contact, gripper.opening) == (1, pytest.approx(0.05, abs=2e-3))


def test_the_urcap_answers_in_lines(gripper):
    has_power = True
    session = UrcapSession(gripper, lambda: has_power)
    assert session.take(b"GET ST") == b""
    assert session.take(b"A\n") == b"STA 0"
    assert session.take(b"SET ACT 1 GTO 0\n") == b"ack"
    assert session.take(b"GET STA\n") == b"STA 1"
    assert session.take(b"SET POS 300\n") == b"ack"
    assert session.take(b"GET PRE\n") == b"PRE 255"
    assert session.take(b"SET NO 1\n") == session.take(b"nonsense\n") == b"?"
    has_power = False
    assert session.take(b"GET POS\n") == b"POS ?"
    with pytest.raises(ValueError, match="line feed"):
        session.take(b"x" * 5000)
    with pytest.raises(ValueError, match="expected 2f85"):
        EmulatedGripper("2f200", print)
