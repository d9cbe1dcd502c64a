"""``paprle setup-servos``: ids, rates and return delays, without the vendor's tool."""

import time

import pytest
from emulated_puppeteers import make_config, make_limb, run_emulated

from paprle.contracts.errors import ConfigError
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.leaders.puppeteer.leader import Puppeteer

pytestmark = pytest.mark.timed  # a busy machine makes servos silent

MODELS = ("xl330-m288", "xm430-w350")


@pytest.fixture
def rig(tmp_path, monkeypatch):
    """Two joints and a trigger; few rates and ids are asked, a scan takes 0.8 s."""
    monkeypatch.setattr(Wire, "scan", ask_few)
    rates = (
        "paprle.hardware.dynamixel.setup.BAUD_RATES",
        "paprle.hardware.dynamixel.line.search.BAUD_RATES",
    )
    for name in rates:
        monkeypatch.setattr(name, (57600, 4_000_000))
    tree = {"limbs": {"left": make_limb("a", models=MODELS)}}
    with run_emulated(tmp_path, tree) as emulated:
        leader = Puppeteer(make_config(tree, emulated.port), time.monotonic_ns)
        yield emulated, leader


def ask_few(wire):
    numbers = {i: wire.ping(i) for i in (1, 2, 3, 9)}  # a busy machine loses some
    return {i: number for i, number in numbers.items() if number is not None}


def put(servo, **values):
    for name, value in values.items():
        servo.table.put(name.replace("_", " "), value)


def state(servo):
    names = ("ID", "Baud Rate", "Return Delay Time")
    return tuple(servo.table.get(name) for name in names)


def let_stand_alone(emulated, servo):
    """Unplug all but one."""
    for other in emulated.rig.limbs["left"].servos:
        other.voltage = 12.0 if other is servo else 0.0


def test_a_chain_with_its_ids_is_set_up_at_once(rig):
    emulated, leader = rig
    servos = emulated.rig.limbs["left"].servos
    for servo in servos:
        put(servo, Baud_Rate=1, Return_Delay_Time=250)

    dialogue = leader.set_up([])
    asked = next(dialogue)
    with pytest.raises(StopIteration) as end:
        dialogue.send("")

    assert "all 3 servos answer with their ids" in asked
    assert [state(servo) for servo in servos] == [(i, 6, 0) for i in (1, 2, 3)]
    assert len(end.value.value["servos"]) == 3


def test_a_chain_that_is_set_up_is_asked_nothing_and_written_nothing(rig):
    emulated, leader = rig
    memories = [bytes(s.table.memory[:64]) for s in emulated.rig.limbs["left"].servos]

    with pytest.raises(StopIteration):
        next(leader.set_up([]))

    servos = emulated.rig.limbs["left"].servos
    assert [bytes(servo.table.memory[:64]) for servo in servos] == memories


def test_servos_from_their_boxes_are_set_up_one_by_one(rig):
    emulated, leader = rig
    servos = emulated.rig.limbs["left"].servos
    for servo in servos:
        put(servo, ID=1, Baud_Rate=1, Return_Delay_Time=250)

    dialogue = leader.set_up([])
    let_stand_alone(emulated, None)
    asked = next(dialogue)
    for number, servo in enumerate(servos, start=1):
        assert f"alone (a {servo.model.name}; it becomes id {number})" in asked
        let_stand_alone(emulated, servo)
        try:
            asked = dialogue.send("")
        except StopIteration as end:
            assert len(end.value["servos"]) == 3

    assert [state(servo) for servo in servos] == [(i, 6, 0) for i in (1, 2, 3)]


def test_several_at_once_another_model_and_none_are_refused(rig):
    emulated, leader = rig
    servos = emulated.rig.limbs["left"].servos
    put(servos[0], ID=9)
    dialogue = leader.set_up(["left/joint1"])
    next(dialogue)

    assert "expected one servo alone, got ids 2, 3, 9" in dialogue.send("")
    let_stand_alone(emulated, servos[1])
    assert "expected a xl330-m288, got a xm430-w350" in dialogue.send("")
    let_stand_alone(emulated, None)
    assert "expected a servo, got no answer at" in dialogue.send("")
    let_stand_alone(emulated, servos[0])
    with pytest.raises(StopIteration) as end:
        dialogue.send("")

    assert end.value.value["servos"][0].startswith("left/joint1: id 1, 4000000 [bit/s]")
    assert state(servos[0]) == (1, 6, 0)
    assert state(servos[1]) == (2, 6, 0)


def test_a_joint_that_is_not_there_is_refused(rig):
    with pytest.raises(ConfigError, match="one of left/joint1, .* got 'left/x'"):
        next(rig[1].set_up(["left/x"]))


def test_leaving_lets_go_of_the_port(rig):
    emulated, leader = rig
    put(emulated.servo(1), ID=9)
    dialogue = leader.set_up([])
    next(dialogue)

    dialogue.close()

    put(emulated.servo(9), ID=1)
    leader.open()
    leader.close()
