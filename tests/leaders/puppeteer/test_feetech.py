"""An SO-101 leader: limp, calibrated as LeRobot has it, set up servo by servo."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from emulated_feetech import run_feetech
from served_rig import wait_for

from paprle.cli.doctor import resolve_leader
from paprle.contracts.errors import DeviceError
from paprle.hosts.factories import make_leader

pytest.importorskip("scservo_sdk")

pytestmark = pytest.mark.process
NAMES = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")


@pytest.fixture
def rig(tmp_path):
    with run_feetech(tmp_path / "ports", "so101_leader") as rig:
        yield rig


@pytest.fixture
def leader(rig):
    leader = make_leader(find_config(rig))
    yield leader
    leader.close()


def find_config(rig, *words):
    port = rig.port("leader")
    return resolve_leader(["leader=so101", f"leader.limbs.arm.port={port}", *words])


def find_truth(rig):
    return np.array(rig.rig.limbs["leader"].arm.q)


def test_it_gives_the_joints_in_the_hand_and_is_limp(rig, leader):
    leader.open()

    sample = wait_for(leader.latest, "a sample")

    truth = find_truth(rig)
    assert sample.limbs["arm"].q == pytest.approx(truth[:5], abs=math.radians(1.5))
    assert not any(servo.is_on for servo in rig.rig.limbs["leader"].servos)
    assert leader.info.renders == "none"


def test_a_gripper_opens_over_its_own_range(rig, leader):
    leader.open()
    wait_for(leader.latest, "a sample")

    for q, opening in ((-0.14, 0.0), (1.71, 1.0)):
        rig.order(cmd="pose", joints={"gripper": q})
        wait_for(
            lambda opening=opening: (
                abs(leader.latest().limbs["arm"].opening - opening) < 0.05
            ),
            f"an opening of {opening}",
        )


def test_servos_from_the_factory_are_refused_but_can_be_calibrated(rig, leader):
    for servo in rig.rig.limbs["leader"].servos:
        servo.memory.put("Homing_Offset", 0)
        servo.memory.put("Min_Position_Limit", 0)
        servo.memory.put("Max_Position_Limit", 4095)

    with pytest.raises(DeviceError, match="as they left the factory; run paprle cal"):
        leader.open()


def test_the_doctor_finds_nothing_wrong_with_a_healthy_arm(leader):
    assert [text for is_well, text in leader.diagnose() if not is_well] == []


def name_register(joint, name, value):
    return {"fault": "register", "joint": joint, "name": name, "value": value}


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (
            {"fault": "swapped", "joint": "shoulder_pan", "with": "wrist_flex"},
            "shoulder_pan and wrist_flex: .*exchanged; .*calibrate it with paprle",
        ),
        (
            name_register("elbow_flex", "Max_Position_Limit", 2700),
            "elbow_flex: .*a stop was not reached.*zero is .* off; calibrate it",
        ),
        (
            {"fault": "mounting", "joint": "shoulder_lift", "offset": 0.3},
            "away from its rest pose: shoulder_lift by [+]0.30 .*run paprle calibrate",
        ),
        (
            name_register("wrist_flex", "Phase", 28),
            "wrist_flex: servo 4.*of several .*setup-servos",
        ),
    ],
    ids=["exchanged", "missed stop", "horn 17° off at the rest pose", "turns"],
)
def test_the_doctor_names_a_planted_fault_with_its_remedy(rig, leader, fault, text):
    rig.cause(**fault)

    found = [line for is_well, line in leader.diagnose() if not is_well]

    assert any(re.search(text, line) for line in found), found


def sweep(rig, joints):
    """Turn each joint from stop to stop, as a person does."""
    for name, (low, high) in joints.items():
        for q in (low, high, 0.5 * (low + high)):
            rig.order(cmd="pose", joints={name: q})
            index = rig.rig.limbs["leader"].joints.index(name)
            wait_for(
                lambda q=q, index=index: abs(find_truth(rig)[index] - q) < 0.03,
                f"{name} at {q}",
            )


@pytest.mark.nightly
def test_a_calibration_by_two_postures_and_a_sweep_is_right_to_a_degree(
    rig, leader, tmp_path, monkeypatch
):
    monkeypatch.setenv("HF_LEROBOT_CALIBRATION", str(tmp_path / "cal"))
    for servo in rig.rig.limbs["leader"].servos:
        for name, value in (
            ("Homing_Offset", 0),
            ("Min_Position_Limit", 0),
            ("Max_Position_Limit", 4095),
        ):
            servo.memory.put(name, value)
        servo.memory.save()
    specs = {one.joint: one for one in rig.rig.limbs["leader"].spec.servos}
    stops = {name: one.stops for name, one in specs.items()}
    middle = {n: one.middle for n, one in specs.items()}
    dialogue = leader.calibrate([])
    leader.open()

    def stand(posture):
        rig.order(cmd="pose", joints=posture)
        names = rig.rig.limbs["leader"].joints
        wait_for(
            lambda: all(
                abs(find_truth(rig)[names.index(n)] - q) < 0.03
                for n, q in posture.items()
            ),
            "the posture",
        )

    next(dialogue)
    stand(middle)
    dialogue.send("")
    stand({name: q + math.radians(40.0) for name, q in middle.items()})
    dialogue.send("")
    stand(middle)
    sweep(rig, stops)
    with pytest.raises(StopIteration) as end:
        dialogue.send("")

    path = end.value.value["leader"]["limbs"]["arm"]["calibration"]
    tree = json.loads((tmp_path / "cal" / "x").parent.joinpath(path).read_text())
    assert list(tree) == [*NAMES, "gripper"]
    leader.close()
    leader = make_leader(find_config(rig))
    leader.open()
    sample = wait_for(leader.latest, "a sample")
    truth = find_truth(rig)[:5]
    assert sample.limbs["arm"].q == pytest.approx(truth, abs=math.radians(2.0))
    leader.close()
