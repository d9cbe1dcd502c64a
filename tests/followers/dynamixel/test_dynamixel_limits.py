"""Goals of the gate reach the servos within its limits, by the log of the servos."""

from __future__ import annotations

import numpy as np
import pytest
from driven_rig import LIMB, DrivenWire, make_rig
from dynamixel_arm import CENTRE, QUANTUM, SIGNS, load_model
from worlds import Arrived, judge_arrived

from paprle.contracts.kit.followers.servo_arm import list_joints
from paprle.followers.dynamixel.arm import make_specs
from paprle.followers.dynamixel.joint_map import make_map
from paprle.gate.gate import Gate
from paprle.hardware.dynamixel.position import bus as bus_module
from paprle.hardware.dynamixel.position.bus import Bus

pytest.importorskip("dynamixel_sdk")
NAME = "open_manipulator_x"
H = 0.005


class Journal:
    """An arm in virtual time that writes down each goal of its servos."""

    def __init__(self, monkeypatch, config, limb):
        self.rig = make_rig(NAME)
        self.servos = self.rig.limbs[LIMB].servos
        specs = make_specs(config, limb)
        self.bus = Bus(DrivenWire(self.rig), specs, lambda: self.rig.now_ns)
        monkeypatch.setattr(bus_module, "_find_time", lambda: self.rig.now_ns * 1e-9)
        self.rows = []
        for place, servo in enumerate(self.servos):
            servo.on_goal = lambda goal, at=place: self._note(at, goal)

    def _note(self, place, goal):
        if place == 0:
            self.rows.append((self.rig.now_ns, [goal]))
        elif self.rows:
            self.rows[-1][1].append(goal)

    def wait_until(self, end_ns):
        while self.rig.now_ns < end_ns:
            self.rig.step(0.001)

    def arrive(self, ids):
        whole = [row for row in self.rows if len(row[1]) == len(self.servos)]
        counts = np.array([row[1] for row in whole])[:, ids]
        q = (counts - CENTRE) * QUANTUM * np.array(SIGNS[NAME])
        return Arrived("bus", ids, np.array([t for t, _ in whole]), q, QUANTUM)


def test_goals_at_the_servos_keep_the_limits_of_the_gate(monkeypatch):
    model, config = load_model(NAME)
    robot, limb = model.info, model.info.limbs[0]
    arm = Journal(monkeypatch, config, limb)
    found, n = make_map(config, limb), len(list_joints(limb))
    arm.bus.open()
    arm.bus.hold()
    q = found.to_joints(arm.bus.read().angle)
    gate = Gate(model, h=H)
    gate.reset(q)
    goal = robot.home + np.array([0.6, 0.3, -0.3, 0.2, 0.0])[:n]
    for k in range(500):
        begin_ns = arm.rig.now_ns
        q = found.to_joints(arm.bus.read().angle)
        q_des = goal if k < 300 else robot.home  # a leap, and back in full motion
        result = gate.step(q_des, H, q_meas=q)
        arm.bus.write_goals(found.to_servos(result.q_cmd))
        arm.wait_until(begin_ns + round(H * 1e9))

    arrived = arm.arrive(list(range(4)))

    assert len(arrived.q) > 490
    assert np.ptp(arrived.q, axis=0).min() > 0.2, "it moved"
    verdicts = judge_arrived(arrived, robot, H)
    assert verdicts
    assert all(v.is_ok for v in verdicts), str(verdicts)
    assert np.abs(found.to_joints(arm.bus.read().angle) - gate.q_cmd)[:4].max() < 0.15
