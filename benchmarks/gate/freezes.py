"""Standstills of a robot whose operator asks for motion.

python -m benchmarks.gate.freezes [ROBOT …] [seconds=180] [seed=0]

A scripted operator pushes every hand in a new direction each second, and its gripper;
targets stay near commands. Joints lag, fingers most, and stop at objects every other
time. Counts standstills above 0.5 s, the longest [s], and those beyond 1 s of moving
back.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml
from pydantic import TypeAdapter

from paprle.contracts.settings.core import RobotSettings
from paprle.gate.gate import Gate
from paprle.robot import RobotModel

ROBOTS = (
    "papras_7dof",
    "papras_7dof_2arm",
    "piper",
    "piper_2arm",
    "ur5e",
    "j2s7s300",
    "open_manipulator_x",
    "openmanipulator_y",
    "so101",
    "so101_2arm",
)
ROOT = Path(__file__).resolve().parents[2]
H = 0.005  # [s] chosen: 200 Hz
SPEED, TURN = 0.18, 0.9  # [m/s], [rad/s] spec: leader=keyboard
AHEAD = 0.3  # [rad] chosen: of the target before the command at most
ASKED = 0.05  # [rad] chosen: a target that is nearer asks for nothing
STILL = 2e-3  # [rad] chosen: a command that moves by less stands
AFTER, LONG = 0.5, 1.0  # [s] spec: shown after 0.5 s; no freeze over 1 s
LAGS = 0.02, 0.08, 0.3  # [s] chosen: of joints, from and to, and of fingers


def load(name):
    """Return a robot of ``configs/follower``."""
    settings = yaml.safe_load((ROOT / f"configs/follower/{name}.yaml").read_text())
    made = TypeAdapter(RobotSettings).validate_json(json.dumps(settings))
    return RobotModel.from_settings(made, name, ROOT)


class Arm:
    """An arm, its operator and standstill."""

    def __init__(self, robot, limb):
        self.limb, self.own = limb, limb.indices
        self.data = limb.model.createData()
        self.gripper = limb.gripper
        self.finger = (
            None
            if limb.gripper is None
            else robot.joint_names.index(limb.gripper.joint)
        )
        self.twist, self.opening, self.stop = np.zeros(6), 1.0, None
        self.since, self.at, self.back = 0.0, None, None
        self.freezes, self.unended = [], 0

    def choose(self, rng, q_meas):
        """Choose direction, opening, and an object's width."""
        self.twist = rng.normal(size=6)
        self.twist[:3] *= SPEED / np.linalg.norm(self.twist[:3])
        self.twist[3:] *= TURN / np.linalg.norm(self.twist[3:])
        self.opening = float(rng.integers(2))
        if self.finger is not None:
            self.stop = q_meas[self.finger] if rng.integers(2) else None

    def ask(self, target, q_cmd, q_max, q_min):
        """Move the target by one period."""
        q = q_cmd[self.own]
        J = pin.computeFrameJacobian(
            self.limb.model, self.data, q, self.limb.frame_id, pin.LOCAL
        )
        dq = J.T @ np.linalg.solve(J @ J.T + 1e-3 * np.eye(6), self.twist)
        asked = target[self.own] + (-dq if self.back is not None else dq) * H
        asked = np.clip(asked, q_min[self.own], q_max[self.own])
        target[self.own] = np.clip(asked, q - AHEAD, q + AHEAD)
        if self.finger is not None:
            target[self.finger] = (
                self.gripper.open if self.opening > 0.5 else self.gripper.closed
            )

    def look(self, target, q_cmd, t):
        """Count the standstill; move back after a second."""
        q = q_cmd[self.own]
        is_asked = np.abs(target[self.own] - q).max() > ASKED
        if self.at is None or np.abs(q - self.at).max() > STILL:
            if self.at is not None and t - self.since > AFTER:
                self.freezes.append(t - self.since)
            self.at, self.since, self.back = q.copy(), t, None
            return
        if self.back is None and not is_asked:
            self.since = t
        elif self.back is None and t - self.since > LONG:
            self.back = t
            target[self.own] = q
        elif self.back is not None and t - self.back > LONG:
            self.unended += 1
            self.freezes.append(t - self.since)
            self.at, self.back = None, None


def measure(name, seconds, seed=0):
    """Return the figures of one robot."""
    robot, rng = load(name), np.random.default_rng(seed)
    gate = Gate(robot, h=H)
    arms = [Arm(robot, limb) for limb in robot.limbs.values()]
    lags = rng.uniform(*LAGS[:2], len(robot.joint_names))
    for arm in arms:
        if arm.finger is not None:
            lags[arm.finger] = LAGS[2]
    share = 1.0 - np.exp(-H / lags)
    q_meas, target = np.array(robot.home), np.array(robot.home)
    for k in range(round(seconds / H)):
        if k % round(1.0 / H) == 0:
            for arm in arms:
                if arm.back is None:
                    arm.choose(rng, q_meas)
        for arm in arms:
            arm.ask(target, gate.q_cmd, gate.q_max, gate.q_min)
        q_cmd = gate.step(target, H, q_meas=q_meas).q_cmd
        q_meas = q_meas + share * (q_cmd - q_meas)
        for arm in arms:
            if arm.stop is not None:
                q_meas[arm.finger] = arm.stop
            arm.look(target, q_cmd, k * H)
    freezes = [one for arm in arms for one in arm.freezes]
    return {
        "robot": name,
        "seconds": seconds,
        "freezes": len(freezes),
        "longest": round(max(freezes, default=0.0), 2),
        "unended": sum(arm.unended for arm in arms),
    }


def main():
    words = sys.argv[1:]
    numbers = {k: float(v) for k, _, v in (w.partition("=") for w in words) if v}
    names = [word for word in words if "=" not in word] or ROBOTS
    for name in names:
        seed = int(numbers.get("seed", 0))
        print(json.dumps(measure(name, numbers.get("seconds", 180.0), seed)))


if __name__ == "__main__":
    main()
