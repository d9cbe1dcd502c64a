"""Ports and servos that ``new-leader`` refuses, and that nothing is written then."""

import time

import numpy as np
import pytest
from emulated_puppeteers import run_emulated
from leader_operator import PAUSE, Operator, talk
from printed_leaders import make_printed

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.leaders.puppeteer.find_servos import find_servos
from paprle.leaders.puppeteer.servo_search import PuppeteerServos
from paprle_lab.onboarding.leader.new_leader import LeaderRequest, make_new_leader

pytestmark = [pytest.mark.long, pytest.mark.timed]

KOCH = make_printed()["koch"]


@pytest.fixture
def koch(tmp_path):
    servos = {
        f"j{i}": {"id": i + 1, "model": model} for i, model in enumerate(KOCH.models)
    }
    tree = {"baud": 1_000_000, "limbs": {"arm": {"port": "bus", "servos": servos}}}
    with run_emulated(tmp_path / "rig", tree) as emulated:
        limb = emulated.rig.limbs["arm"]
        rng = np.random.default_rng(7)
        yield emulated, Operator(KOCH, limb.servos, limb.twins, rng)


def make(emulated, tmp_path, **changed):
    request = LeaderRequest(
        name="koch",
        out=tmp_path / "out",
        port=emulated.port("arm"),
        **{**KOCH.options, **changed},
    )
    return make_new_leader(request, PuppeteerServos(), lambda _: None)


@pytest.mark.nightly
def test_a_joint_that_is_not_turned_is_named_and_asked_again(koch, tmp_path):
    emulated, operator = koch
    shown = []

    def leave_the_elbow(question):
        operator.still = () if shown else (2,)
        operator.show_second(question)
        shown.append(question)
        time.sleep(PAUSE)
        return ""

    operator.answers["^second posture"] = leave_the_elbow

    talk(make(emulated, tmp_path), operator)

    assert any(
        text.startswith("elbow_flex: expected a turn of 45") for text in operator.asked
    )
    assert (tmp_path / "out" / "koch.yaml").exists()


@pytest.mark.nightly
def test_exchanged_ids_are_named_and_nothing_is_written(koch, tmp_path):
    emulated, operator = koch
    operator.answers["to and fro"] = lambda _: operator.sweep([0, 2, 1, 3, 4, 5]) or ""
    dialogue = make(emulated, tmp_path)
    question = next(dialogue)
    while "type y" not in question:
        question = dialogue.send(operator.answer(question))
    dialogue.close()

    assert "shoulder_lift: expected its servo (2) to move as number 2" in question
    assert "the ids are 1, 3, 2, 4, 5, 6" in question
    assert not (tmp_path / "out").exists()


def test_a_number_of_servos_that_does_not_fit_is_refused(koch, tmp_path):
    emulated, operator = koch
    words = f"up 50, yaw, {'up 50, pitch, ' * 6}gripper"

    with pytest.raises(ConfigError, match="expected 8 servos .* got 6: ids 1, 2, 3"):
        talk(make(emulated, tmp_path, words=words), operator)


def test_two_servos_of_one_id_are_refused(koch):
    emulated, _ = koch
    emulated.servo(3).table.put("ID", 2)

    with pytest.raises(DeviceError, match="answers of two at once"):
        find_servos(emulated.port("arm"), 6)


def test_a_port_in_use_is_refused(koch):
    emulated, _ = koch
    wire = Wire(emulated.port("arm"), 1_000_000)
    wire.open()
    try:
        with pytest.raises(DeviceError, match="another process has open"):
            find_servos(emulated.port("arm"), 6)
    finally:
        wire.close()


def test_servos_without_power_are_refused(koch):
    emulated, _ = koch
    for servo in emulated.rig.limbs["arm"].servos:
        servo.voltage = 0.0

    with pytest.raises(DeviceError, match="expected servos, got no answer at 57600"):
        find_servos(emulated.port("arm"), 6)
