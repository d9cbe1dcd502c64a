"""The driver on a serial line: consent, motion, objects, faults and a lost line."""

import threading
import time

import pytest

pytest.importorskip("serial")

from paprle.hardware.robotiq.gripper import Gripper, GripperSettings
from paprle.hardware.robotiq.modbus import RtuLine
from paprle.hardware.robotiq.models import MODELS
from paprle.hardware.robotiq.status import Status
from paprle.hardware.vendor_arm.states import ArmError
from paprle_emulators.robotiq.gripper import EmulatedGripper, Fault
from paprle_emulators.robotiq.port import GripperPort

OPEN = 0.0425  # [m] of a finger


@pytest.fixture
def events():
    return []


@pytest.fixture
def device(events):
    return EmulatedGripper("2f85", events.append)


@pytest.fixture
def port(tmp_path, device):
    port = GripperPort(str(tmp_path / "tty"), device, 9)
    port.run()
    yield port
    port.close()


@pytest.fixture
def make(port):
    made = []

    def make(unit=9, **settings):
        gripper = Gripper(
            RtuLine(port.path, unit),
            GripperSettings(model="2f85", closed=0.0, opened=OPEN, **settings),
        )
        made.append(gripper)
        return gripper

    yield make
    for gripper in made:
        gripper.close()


@pytest.fixture
def gripper(make):
    gripper = make(activates=True)
    gripper.open()
    return gripper


def wait_for(is_met, timeout=5.0):
    end = time.monotonic() + timeout
    while not is_met() and time.monotonic() < end:
        time.sleep(0.01)
    assert is_met()


def test_a_gripper_that_is_not_activated_is_refused_and_does_not_move(
    make, device, events
):
    before = device.position

    with pytest.raises(ArmError, match="env.robotiq.activates=true"):
        make().open()

    assert device.position == before
    assert events == [], "nothing was written to it"


def test_with_consent_it_is_activated_once(make, gripper, events):
    gripper.close()

    make(activates=True).open()

    assert events.count("gripper: activation begins") == 1


def test_it_goes_where_its_joint_is_asked_to(gripper, device):
    gripper.write(0.01)
    wait_for(lambda: abs(gripper.q - 0.01) < 3e-4 and gripper.dq == 0.0)

    assert device.opening == pytest.approx(0.02, abs=6e-4)
    assert gripper.tau == 0.0
    assert gripper.failure == ""


@pytest.mark.parametrize(
    ("begin", "at", "goal", "sign"), [(1, 0.03, 0, -1), (0, 0.06, 1, 1)]
)
def test_an_object_is_an_effort_against_the_motion(
    gripper, device, begin, at, goal, sign
):
    gripper.write(begin * OPEN)
    wait_for(lambda: abs(gripper.q - begin * OPEN) < 1e-3)
    device.place(at)
    gripper.write(goal * OPEN)

    wait_for(lambda: gripper.tau != 0.0)

    assert gripper.tau == pytest.approx(sign * (20.0 + 0.2 * 215.0))
    assert gripper.q == pytest.approx(at / 2, abs=1e-3)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.HOT, "too hot; let it cool down"),
        (Fault.VOLTAGE, "look at its 24 V supply"),
        (Fault.CURRENT, "clear its fingers' way"),
        (Fault.INTERNAL, "ask Robotiq's support"),
    ],
)
def test_a_fault_is_named_with_its_remedy_and_goals_are_dropped(
    gripper, device, fault, words
):
    device.fail(fault)

    wait_for(lambda: words in gripper.failure)
    gripper.write(0.0)
    time.sleep(0.1)
    device.fail(Fault.NONE)
    before = device.position
    time.sleep(0.1)
    assert device.position == before


def test_a_lost_activation_is_a_failure_that_nobody_ends_by_moving_it(gripper, device):
    device.lose_power()

    wait_for(lambda: "activate it with its fingers free" in gripper.failure)
    time.sleep(0.2)
    assert not device.outputs["ACT"]


def test_silence_is_a_failure_until_it_answers(gripper, port):
    port.fall_silent(0.6)

    wait_for(lambda: "got none" in gripper.failure)
    wait_for(lambda: not gripper.failure)


def test_a_pulled_adapter_is_a_failure_until_it_is_back(gripper, port):
    port.unplug()
    wait_for(lambda: gripper.failure)

    port.plug()
    wait_for(lambda: not gripper.failure)


def test_single_damaged_answers_are_no_failure(gripper, port):
    port.damage(2)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        assert gripper.failure == ""
        time.sleep(0.01)


def test_other_addresses_and_missing_ports_are_refused(make, tmp_path):
    with pytest.raises(ArmError, match="gripper 4, got none"):
        make(unit=4).open()
    with pytest.raises(ArmError, match="look at the adapter"):
        RtuLine(str(tmp_path / "none"), 9).reach()


def test_it_is_examined_without_motion(make, device):
    is_well, text = make().examine()

    assert not is_well
    assert "not; activate it" in text
    device.write({"ACT": 1})
    time.sleep(3.5)
    is_well, text = make().examine()
    assert is_well
    assert "position 3 of 255, motor at 0.00 [A]" in text


@pytest.mark.parametrize("name", MODELS)
def test_openings_and_counts_are_inverse_to_each_other(name):
    model = MODELS[name]

    for opening in (0.2 * model.stroke, 0.5 * model.stroke, model.stroke):
        found = model.to_opening(model.to_counts(opening))
        assert found == pytest.approx(opening, abs=model.stroke / 400)
    assert model.to_counts(0.0) == 255, "pressed together"
    assert model.to_opening(255) == 0.0
    assert model.to_opening(0) == model.stroke


class StuckLine:
    """An adapter that answers once, and then keeps its caller or breaks it."""

    name = "robotiq 'stuck'"

    def __init__(self, ending):
        self._ending, self._n = ending, 0

    def reach(self):
        pass

    def read(self):
        self._n += 1
        if self._n > 1:
            self._ending()
        return Status(state=3, contact=0, fault=0, position=3, current=0.0)

    def close(self):
        pass


def break_thread():
    raise ValueError("of a library")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("kind", ["hangs", "ends"])
def test_a_thread_that_hangs_or_ends_is_a_failure(kind):
    end = threading.Event()
    line = StuckLine(end.wait if kind == "hangs" else break_thread)
    gripper = Gripper(line, GripperSettings(model="2f85", closed=0.0, opened=OPEN))
    gripper.open()
    assert gripper.failure == ""

    time.sleep(1.1)

    assert "'stuck': its line hangs" in gripper.failure
    end.set()
    gripper.close()
