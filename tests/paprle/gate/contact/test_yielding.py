"""A limb or a gripper that may not go on does not stop the others."""

from __future__ import annotations

import re

import numpy as np
import pytest
from adversary import Judge, judge_joints, load

from paprle.contracts.settings.core import GateSettings
from paprle.gate.gate import Gate
from paprle.gate.reasons import Reason

H = 0.005
NEAR = GateSettings(clearance_self=0.022)  # [m] fingers come nearer to their mount
CLOSING = 200  # [periods] the gripper's command has gone as far as it gets


class Drive:
    """A robot whose arms follow at once, while the fingers stand still."""

    def __init__(self, name, settings=NEAR):
        self.robot = load(name)
        self.gate = Gate(self.robot, settings, h=H)
        self.judge = Judge(self.robot, settings)
        self.is_finger = np.ones(len(self.robot.home), dtype=bool)
        for limb in self.robot.limbs.values():
            self.is_finger[limb.indices] = False
        self.q_meas = np.array(self.robot.home)
        self.commands, self.measured, self.events = [], [], []

    def go(self, target, n):
        for _ in range(n):
            result = self.gate.step(target, H, q_meas=self.q_meas)
            self.q_meas = np.where(self.is_finger, self.q_meas, result.q_cmd)
            self.commands.append(result.q_cmd)
            self.measured.append(self.q_meas)
            self.events.append(result.events)

    def close(self):
        """Return home with every gripper closed."""
        target = np.array(self.robot.home)
        for limb in self.robot.info.limbs:
            at = self.robot.joint_names.index(limb.gripper.joint)
            target[at] = limb.gripper.closed
        return target


@pytest.mark.parametrize("name", ["papras_7dof", "papras_7dof_2arm"])
def test_an_arm_goes_on_while_its_gripper_may_not_close(name):
    drive = Drive(name)
    target = drive.close()
    drive.go(target, CLOSING)
    arms = ~drive.is_finger

    for way in (0.3, -0.3, 0.2):
        target[arms] = drive.robot.home[arms] + way
        drive.go(target, CLOSING)
        reached = drive.commands[-1]
        assert reached[arms] == pytest.approx(target[arms], abs=1e-9)

    commands = np.array(drive.commands)
    assert judge_joints(commands, drive.robot, H).is_ok
    assert drive.judge.find_bad(commands) == []
    assert drive.judge.find_bad_between(commands) == []
    assert drive.judge.find_bad(np.array(drive.measured)) == []


def test_an_arm_goes_on_while_a_stop_of_its_gripper_is_refused():
    drive = Drive("papras_7dof", GateSettings())
    keep = drive.gate._parts.collision.scene.pairs.keep
    keep[np.isinf(keep)] = 0.01  # pairs that are clear at all angles are checked, too
    target, arm = drive.close(), ~drive.is_finger
    drive.go(target, CLOSING)

    target[arm] = drive.robot.home[arm] + 0.3
    drive.go(target, CLOSING)

    assert sum(Reason.UNVERIFIED in found for found in drive.events) > CLOSING
    assert set(drive.gate.held) == {"gripper"}
    assert drive.commands[-1][arm] == pytest.approx(target[arm], abs=1e-9)
    assert judge_joints(np.array(drive.commands), drive.robot, H).is_ok
    assert drive.judge.find_bad_between(np.array(drive.commands)) == []

    drive.go(np.array(drive.robot.home), CLOSING)

    assert drive.commands[-1] == pytest.approx(drive.robot.home, abs=1e-9)


def test_a_gripper_closes_whatever_the_lag_where_its_bodies_are_never_near():
    drive = Drive("papras_7dof", GateSettings())

    drive.go(drive.close(), CLOSING)

    assert drive.commands[-1] == pytest.approx(drive.close(), abs=1e-9)
    assert drive.judge.find_bad(np.array(drive.commands)) == []


def test_a_gripper_that_was_held_opens_again():
    drive = Drive("papras_7dof")
    drive.go(drive.close(), CLOSING)

    drive.go(np.array(drive.robot.home), CLOSING)

    assert drive.commands[-1] == pytest.approx(drive.robot.home, abs=1e-9)


def test_the_gate_names_the_pair_that_keeps_a_gripper_from_closing():
    drive = Drive("papras_7dof")

    drive.go(drive.close(), CLOSING)

    told = drive.gate.held
    assert set(told) == {"gripper"}
    assert re.fullmatch(
        r"'\w+' of arm is kept clear of 'gripper_link\w*' of arm", told["gripper"]
    )
