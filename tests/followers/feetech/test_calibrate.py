"""``paprle calibrate`` of an SO-101 as a follower, with an operator who does it."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from emulated_feetech import run_feetech
from piper_rig import RealClock
from served_rig import wait_for
from so101_arm import load_robot

from paprle.cli import main
from paprle.followers.feetech.config import FeetechConfig
from paprle.followers.feetech.follower import FeetechFollower

pytestmark = pytest.mark.process
NEAR = 0.03  # [rad] a hand leaves a joint so far from where it is asked
RIGHT = math.radians(3.0)  # of wrist_roll, whose zero is shown: NEAR and 0.9° of play
FACTORY = {"Homing_Offset": 0, "Min_Position_Limit": 0, "Max_Position_Limit": 4095}


class Operator:
    """Holds each arm in turn, shows what is asked, and notes it."""

    def __init__(self, arm, capsys, leaves_at=""):
        self.arm, self.capsys, self.leaves_at = arm, capsys, leaves_at
        self.asked, self.limbs = [], iter(arm.rig.limbs)
        self.name = ""

    def __call__(self, _prompt):
        question = self.capsys.readouterr().out
        self.asked.append(question)
        if self.leaves_at and self.leaves_at in question:
            return "q"
        if "its torque goes off" in question:
            self.name = next(self.limbs)
            self.arm.order(cmd="hold", limb=self.name)
        elif "in the middle of its travel" in question:
            self.stand(self.middle)
        elif "from there turn each joint" in question:
            self.stand({n: q + math.radians(40.0) for n, q in self.middle.items()})
        elif "both of its stops" in question:
            self.stand(self.middle)
            for name, one in self.specs.items():
                for q in (*one.stops, one.middle):
                    self.stand({name: q})
        return ""

    @property
    def specs(self):
        return {one.joint: one for one in self.limb.spec.servos}

    @property
    def middle(self):
        return {name: one.middle for name, one in self.specs.items()}

    @property
    def limb(self):
        return self.arm.rig.limbs[self.name]

    def stand(self, posture):
        self.arm.order(cmd="pose", limb=self.name, joints=posture)
        wanted = np.array(list(posture.values()))
        index = [self.limb.joints.index(name) for name in posture]
        wait_for(
            lambda: np.abs(np.array(self.limb.arm.q)[index] - wanted).max() < NEAR,
            str(posture),
        )


@pytest.fixture
def home(tmp_path, monkeypatch):
    """LeRobot's folder, and a site of its own."""
    monkeypatch.setenv("HF_LEROBOT_CALIBRATION", str(tmp_path / "lerobot"))
    return tmp_path / "lerobot" / "robots" / "so_follower"


def forget(rig):
    """Take the calibration from all servos, which hold torque."""
    for limb in rig.rig.limbs.values():
        for servo in limb.servos:
            for name, value in FACTORY.items():
                servo.memory.put(name, value)
            servo.memory.save()
            servo.power_up()
            servo.write(42, servo.position.to_bytes(2, "little"))


def find_error(rig, limb, config, name):
    """Return the largest error of the joints that a follower then reads, [rad]."""
    follower = FeetechFollower(config, load_robot(name), RealClock())
    try:
        follower.open()
        q = follower.read().q
    finally:
        follower.close("off")
    truth = [rig.rig.limbs[name].arm.q for name in limb]
    return float(np.abs(q - np.concatenate(truth)).max())


@pytest.mark.nightly
def test_a_follower_is_calibrated_limp_and_reads_its_joints(
    arm, home, capsys, monkeypatch
):
    forget(arm)
    servos = arm.rig.limbs["follower"].servos
    assert all(servo.is_on for servo in servos)
    operator = Operator(arm, capsys)
    monkeypatch.setattr("builtins.input", operator)
    port = arm.port("follower")

    code = main(["calibrate", "follower=so101", "env=feetech", f"env.port={port}"])

    assert code == 0
    assert re.search("torque goes off .* the arm falls. Hold it", operator.asked[0])
    assert not any(servo.is_on for servo in servos)
    path = home / "paprle_arm.json"
    assert f"written: {path}" in capsys.readouterr().out
    tree = json.loads(path.read_text())
    assert list(tree) == list(operator.specs)
    kept = [servo.memory.get("Homing_Offset") for servo in servos]
    assert [keys["homing_offset"] for keys in tree.values()] == kept
    config = FeetechConfig(port=port)
    assert find_error(arm, ["follower"], config, "so101") < RIGHT


@pytest.mark.nightly
def test_two_arms_are_calibrated_one_after_the_other(
    tmp_path, home, capsys, monkeypatch
):
    with run_feetech(tmp_path / "ports", "so101_2arm") as arms:
        forget(arms)
        operator = Operator(arms, capsys)
        monkeypatch.setattr("builtins.input", operator)
        ports = {limb: arms.port(limb) for limb in ("left", "right")}
        words = [f"env.ports.{limb}={port}" for limb, port in ports.items()]

        code = main(["calibrate", "follower=so101_2arm", "env=feetech", *words])

        assert code == 0
        asked = [text for text in operator.asked if "torque goes off" in text]
        assert [text.split(":")[0].strip() for text in asked] == ["left", "right"]
        for limb in ports:
            assert "shoulder_pan" in json.loads(
                (home / f"paprle_{limb}.json").read_text()
            )
        config = FeetechConfig(ports=ports)
        error = find_error(arms, list(ports), config, "so101_2arm")
        assert error < RIGHT


def test_leaving_before_the_torque_goes_changes_nothing(arm, home, capsys, monkeypatch):
    forget(arm)
    operator = Operator(arm, capsys, leaves_at="torque goes off")
    monkeypatch.setattr("builtins.input", operator)
    port = arm.port("follower")

    code = main(["calibrate", "follower=so101", "env=feetech", f"env.port={port}"])

    servos = arm.rig.limbs["follower"].servos
    assert code == 1
    assert all(servo.is_on for servo in servos)
    assert not home.exists()
    assert all(servo.memory.get("Homing_Offset") == 0 for servo in servos)


def test_leaving_later_leaves_the_arm_limp_and_its_servos_as_they_were(
    arm, home, capsys, monkeypatch
):
    forget(arm)
    operator = Operator(arm, capsys, leaves_at="both of its stops")
    monkeypatch.setattr("builtins.input", operator)
    port = arm.port("follower")

    code = main(["calibrate", "follower=so101", "env=feetech", f"env.port={port}"])

    servos = arm.rig.limbs["follower"].servos
    assert code == 1
    assert not any(servo.is_on for servo in servos)
    assert not home.exists()
    assert all(servo.memory.get("Homing_Offset") == 0 for servo in servos)


def test_single_joints_are_refused(arm, home, capsys):
    del home
    port = arm.port("follower")
    words = ["follower=so101", "env=feetech", f"env.port={port}"]

    code = main(["calibrate", *words, "--joint", "arm/elbow_flex"])

    assert code == 2
    assert "calibrated as a whole" in capsys.readouterr().err
