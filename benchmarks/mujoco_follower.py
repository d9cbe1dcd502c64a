"""How the MuJoCo follower follows: lag, droop, overshoot, load, cost of a write.

python -m benchmarks.mujoco_follower [ROBOT …]
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import yaml
from pydantic import TypeAdapter

from followers.mujoco.config import MujocoConfig
from followers.mujoco.follower import MujocoFollower
from followers.mujoco.scene import make_mechanism
from hardware.mujoco.robot import set_home
from paprle.robot import RobotModel
from paprle.settings import RobotSettings

ROOT = Path(__file__).resolve().parents[1]
ROBOTS = ("piper", "ur5e", "papras_7dof", "papras_7dof_2arm", "g1")


def load_robot(name):
    text = (ROOT / "configs/follower" / f"{name}.yaml").read_text(encoding="utf-8")
    settings = TypeAdapter(RobotSettings).validate_json(
        json.dumps(yaml.safe_load(text))
    )
    return RobotModel.from_settings(settings, name, ROOT).info


class Rig:
    """A follower with a clock that it drives itself, and its eef by MuJoCo's FK."""

    def __init__(self, robot, config):
        self.robot, self.config, self.now_ns = robot, config, 0
        self.follower = MujocoFollower(config, robot, lambda: self.now_ns)
        self.info = self.follower.open()
        self.model = mujoco.MjModel.from_xml_string(self.info.scene["mjcf"])
        self.data = mujoco.MjData(self.model)
        self.grippers = {limb.gripper.joint for limb in robot.limbs if limb.gripper}

    def cycle(self, q_cmd):
        self.follower.write(q_cmd)
        self.now_ns += round(1e9 / self.info.rate)
        return self.follower.read()

    def eefs(self, q):
        """Positions of the end effectors, shape (limbs, 3), [m]."""
        set_home(self.model, self.data, replace(make_mechanism(self.robot), home=q))
        return np.array(
            [self.data.body(limb.eef_link).xpos for limb in self.robot.limbs]
        )

    def directions(self):
        """1 for arm joints, towards the middle of their range; 0 for grippers."""
        robot = self.robot
        low = np.maximum(robot.q_min, -10)
        middle = (low + np.minimum(robot.q_max, 10)) / 2
        away = np.where(middle >= robot.home, 1.0, -1.0)
        is_arm = [name not in self.grippers for name in robot.joint_names]
        return away * is_arm


def measure_lag(robot, config, speed=0.5, duration=0.6):
    """Lag behind a ramp of all arm joints at once: median and worst joint, [ms]."""
    rig = Rig(robot, config)
    signs, n = rig.directions(), int(duration * rig.info.rate)
    for k in range(1, n + 1):
        q_cmd = robot.home + signs * speed * k / rig.info.rate
        state = rig.cycle(q_cmd)
    lags = (np.abs(q_cmd - state.q) / speed)[signs != 0] * 1e3
    return np.median(lags), lags.max(), rig.info.lag * 1e3


def measure_droop(robot, config, duration=1.0):
    """How far the end effectors hang below the command at home, worst limb, [mm]."""
    rig = Rig(robot, config)
    for _ in range(int(duration * rig.info.rate)):
        state = rig.cycle(robot.home)
    away = np.linalg.norm(rig.eefs(state.q) - rig.eefs(robot.home), axis=1)
    return away.max() * 1e3


def measure_overshoot(robot, config, speed=0.5):
    """How far joints run over when the command brakes at A, worst joint, [mrad]."""
    rig = Rig(robot, config)
    signs, h = rig.directions(), 1 / rig.info.rate
    q_cmd, dq = robot.home.copy(), np.zeros_like(robot.home)
    path = []
    for k in range(round(1.0 / h)):
        goal = speed if k * h < 0.4 else 0.0
        dq += np.clip(goal - dq, -robot.ddq_max * h, robot.ddq_max * h)
        q_cmd = q_cmd + signs * dq * h
        path.append(rig.cycle(q_cmd).q)
    return ((np.array(path) - q_cmd) * signs).max() * 1e3


def measure_cost(robot, config, n=1000):
    """Cost of a write with its simulation steps: median and p99; of a read, [µs]."""
    rig = Rig(robot, config)
    signs = rig.directions()
    writes, reads = [], []
    for k in range(n):
        q_cmd = robot.home + signs * 0.1 * np.sin(4 * k / rig.info.rate)
        begin = time.perf_counter()
        rig.follower.write(q_cmd)
        middle = time.perf_counter()
        rig.follower.read()
        writes.append(middle - begin)
        reads.append(time.perf_counter() - middle)
    return (
        np.median(writes) * 1e6,
        np.percentile(writes, 99) * 1e6,
        np.median(reads) * 1e6,
    )


def measure_tracking(robot, config, duration=4.0):
    """Error at the first eef after taking out the lag, on a wide motion, [mm]."""
    rig = Rig(robot, config)
    signs, rate = rig.directions(), rig.info.rate
    commands, states = [], []
    for k in range(int(duration * rate)):
        t = k / rate
        swing = 0.15 * (1 - np.cos(2 * np.pi * 0.5 * t))
        commands.append(robot.home + signs * swing)
        states.append(rig.cycle(commands[-1]).q)
    asked = np.array([rig.eefs(q)[0] for q in commands])
    done = np.array([rig.eefs(q)[0] for q in states])
    times = np.arange(len(done)) / rate
    best = min(
        (
            np.median(np.linalg.norm(done - shifted, axis=1)[100:])
            for lag in np.arange(0, 0.03, 0.0005)
            for shifted in [
                np.stack(
                    [np.interp(times - lag, times, asked[:, i]) for i in range(3)], 1
                )
            ]
        ),
    )
    return best * 1e3


def main():
    names = sys.argv[1:] or ROBOTS
    print(f"mujoco {mujoco.__version__}, 500 Hz, 2 steps of 1 ms a write")
    print(
        f"{'robot':18}{'lag ms':>8}{'worst':>7}{'stated':>7}{'droop mm':>10}"
        f"{'no gravcomp':>12}{'0.5 kg':>8}{'over mrad':>11}{'track mm':>10}"
        f"{'write µs':>10}{'p99':>6}{'read':>6}"
    )
    config = MujocoConfig()
    for name in names:
        robot = load_robot(name)
        lag, worst, stated = measure_lag(robot, config)
        droop = measure_droop(robot, config)
        bare = measure_droop(robot, replace(config, gravcomp=False))
        loaded = measure_droop(robot, replace(config, payload=0.5))
        over = measure_overshoot(robot, config)
        track = measure_tracking(robot, config)
        cost, p99, read = measure_cost(robot, config)
        print(
            f"{name:18}{lag:8.2f}{worst:7.2f}{stated:7.1f}{droop:10.4f}{bare:12.3f}"
            f"{loaded:8.3f}{over:11.3f}{track:10.4f}{cost:10.0f}{p99:6.0f}{read:6.0f}"
        )


if __name__ == "__main__":
    main()
