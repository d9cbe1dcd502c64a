"""MuJoCo follower: lag, droop, overshoot, load, cost.

python -m benchmarks.devices.mujoco_follower [ROBOT …]
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

from paprle.contracts.settings.core import RobotSettings
from paprle.followers.mujoco.config import MujocoConfig, RandomiseConfig
from paprle.followers.mujoco.follower import MujocoFollower
from paprle.hardware.mujoco.mechanism import make_mechanism
from paprle.hardware.mujoco.robot import set_home
from paprle.robot import RobotModel

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = ("piper", "ur5e", "papras_7dof", "papras_7dof_2arm", "g1")


def load_robot(name):
    text = (ROOT / "configs/follower" / f"{name}.yaml").read_text(encoding="utf-8")
    settings = TypeAdapter(RobotSettings).validate_json(
        json.dumps(yaml.safe_load(text))
    )
    return RobotModel.from_settings(settings, name, ROOT).info


class Rig:
    """A follower with its own clock, and MuJoCo's FK."""

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
        """Return eef positions, (limbs, 3), [m]."""
        set_home(self.model, self.data, replace(make_mechanism(self.robot), home=q))
        return np.array(
            [self.data.body(limb.eef_link).xpos for limb in self.robot.limbs]
        )

    def directions(self):
        """Return arm joints' signs towards mid-range; 0 for grippers."""
        robot = self.robot
        low = np.maximum(robot.q_min, -10)
        middle = (low + np.minimum(robot.q_max, 10)) / 2
        away = np.where(middle >= robot.home, 1.0, -1.0)
        is_arm = [name not in self.grippers for name in robot.joint_names]
        return away * is_arm


def measure_lag(robot, config, speed=0.5, duration=0.6):
    """Return the lag behind a ramp: median and worst, [ms]."""
    rig = Rig(robot, config)
    signs, n = rig.directions(), int(duration * rig.info.rate)
    for k in range(1, n + 1):
        q_cmd = robot.home + signs * speed * k / rig.info.rate
        state = rig.cycle(q_cmd)
    lags = (np.abs(q_cmd - state.q) / speed)[signs != 0] * 1e3
    return np.median(lags), lags.max(), rig.info.lag * 1e3


def measure_droop(robot, config, duration=1.0):
    """Return the worst eef's droop at home, [mm]."""
    rig = Rig(robot, config)
    for _ in range(int(duration * rig.info.rate)):
        state = rig.cycle(robot.home)
    away = np.linalg.norm(rig.eefs(state.q) - rig.eefs(robot.home), axis=1)
    return away.max() * 1e3


def measure_overshoot(robot, config, speed=0.5):
    """Return the worst overshoot of braking at A, [mrad]."""
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


def measure_cost(robot, config, n=1000, is_paced=False):
    """Return a write's cost: median and p99, [µs]."""
    # Paced at its rate caches are cold and clocks are low, as in a session.
    rig = Rig(robot, config)
    signs, costs = rig.directions(), []
    next_time = time.perf_counter()
    for k in range(n):
        next_time += 1 / rig.info.rate
        while is_paced and (rest := next_time - time.perf_counter()) > 0:
            time.sleep(rest)
        q_cmd = robot.home + signs * 0.1 * np.sin(4 * k / rig.info.rate)
        begin = time.perf_counter()
        rig.follower.write(q_cmd)
        costs.append(time.perf_counter() - begin)
        rig.follower.read()
    return np.median(costs) * 1e6, np.percentile(costs, 99) * 1e6


def measure_spread(robot, config, n_seeds=20):
    """Return the largest distance by friction and load, [mm]."""
    runs = []
    for seed in range(n_seeds):
        varied = RandomiseConfig(friction=0.2, load=0.05, seed=seed)
        rig = Rig(robot, replace(config, randomise=varied))
        signs, rate, path = rig.directions(), rig.info.rate, []
        for k in range(int(2 * rate)):
            swing = 0.15 * (1 - np.cos(np.pi * k / rate))
            state = rig.cycle(robot.home + signs * swing)
            if k % 10 == 0:
                path.append(rig.eefs(state.q)[0])
        runs.append(path)
    away = np.linalg.norm(np.array(runs) - np.mean(runs, axis=0), axis=2)
    return away.max() * 1e3


def measure_tracking(robot, config, duration=4.0):
    """Return the first eef's error without lag, [mm]."""
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


COLUMNS = (
    ("robot", 17, "s"),
    ("lag ms", 7, ".2f"),
    ("worst", 6, ".2f"),
    ("stated", 7, ".2f"),
    ("droop mm", 9, ".4f"),
    ("no gravcomp", 12, ".3f"),
    ("0.5 kg", 7, ".3f"),
    ("over mrad", 10, ".3f"),
    ("track mm", 9, ".4f"),
    ("spread mm", 10, ".4f"),
    ("write µs", 9, ".0f"),
    ("p99", 5, ".0f"),
    ("paced µs", 9, ".0f"),
    ("p99", 5, ".0f"),
)


def measure(name):
    robot, config = load_robot(name), MujocoConfig()
    return (
        name,
        *measure_lag(robot, config),
        measure_droop(robot, config),
        measure_droop(robot, replace(config, gravcomp=False)),
        measure_droop(robot, replace(config, payload=0.5)),
        measure_overshoot(robot, config),
        measure_tracking(robot, config),
        measure_spread(robot, config),
        *measure_cost(robot, config),
        *measure_cost(robot, config, is_paced=True),
    )


def main():
    config = MujocoConfig()
    print(
        f"mujoco {mujoco.__version__}, {config.rate:g} Hz, "
        f"{config.n_steps} steps of {1e3 * config.step:g} ms a write"
    )
    print("| " + " | ".join(f"{title:>{width}}" for title, width, _ in COLUMNS) + " |")
    print("|" + "---|" * len(COLUMNS))
    for name in sys.argv[1:] or ROBOTS:
        cells = zip(measure(name), COLUMNS, strict=True)
        row = (f"{value:>{width}{kind}}" for value, (_, width, kind) in cells)
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
