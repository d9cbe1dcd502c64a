"""Time of one warm IK solve: median, p99, max, and what it leaves.

Each limb of a robot follows, at 200 Hz, a smooth path about its home (3 cm and 0.1 rad
at up to 0.2 m/s). ``tight`` solves back to back, ``paced`` one tick every 5 ms, which
finds caches cold. Run with ``python benchmarks/ik.py``.
"""

from __future__ import annotations

import gc
import json
import math
import time
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml
from pydantic import TypeAdapter

from paprle.kinematics import IkSolver
from paprle.robot import RobotModel
from paprle.robot.chain import Limb
from paprle.settings import RobotSettings

ROOT = Path(__file__).resolve().parents[1]
ROBOTS = (
    "open_manipulator_x",
    "piper",
    "ur5e",
    "papras_7dof",
    "papras_7dof_2arm",
    "g1",
)
PERIOD = 0.005  # [s]
N_TICKS = {"tight": 4000, "paced": 800}


def load_robot(name: str) -> RobotModel:
    """Load a robot of configs/follower."""
    text = json.dumps(
        yaml.safe_load((ROOT / f"configs/follower/{name}.yaml").read_text())
    )
    return RobotModel.from_settings(
        TypeAdapter(RobotSettings).validate_json(text), name, ROOT
    )


def make_targets(limb: Limb, n: int) -> list[pin.SE3]:
    """Make a smooth path of the eef about home."""
    T0 = limb.fk(limb.home)
    targets = []
    for k in range(n):
        t = 5.0 * k * PERIOD
        p = 0.03 * np.array(
            [math.sin(t) - 0.5, math.sin(0.7 * t), 0.5 * math.cos(t) - 1]
        )
        w = 0.06 * np.array([math.sin(0.9 * t), math.sin(0.6 * t), math.sin(0.5 * t)])
        targets.append(pin.SE3(pin.exp3(w) @ T0.rotation, T0.translation + p))
    return targets


def wait_until(t: float) -> None:
    """Sleep until ``time.perf_counter`` says t."""
    rest = t - time.perf_counter()
    if rest > 0.0:
        time.sleep(rest)


def measure(name: str, mode: str) -> str:
    """Measure one robot; returns a row of the table."""
    n, robot = N_TICKS[mode], load_robot(name)
    solvers = [IkSolver(limb) for limb in robot.limbs.values()]
    paths = [make_targets(solver.limb, n) for solver in solvers]
    qs = [s.solve_global(p[0], s.limb.home).q for s, p in zip(solvers, paths, strict=True)]
    times, errors, n_iterations = [], [], []
    gc.disable()
    t0 = time.perf_counter()
    for k in range(n):
        if mode == "paced":
            wait_until(t0 + k * PERIOD)
        start = time.perf_counter()
        found = [s.solve(p[k], q) for s, p, q in zip(solvers, paths, qs, strict=True)]
        times.append(time.perf_counter() - start)
        qs = [f.q for f in found]
        errors.append(max(f.err_pos for f in found))
        n_iterations.append(sum(f.n_iterations for f in found) / len(found))
    gc.enable()
    us = 1e6 * np.array(times)
    joints = "+".join(str(len(limb.joint_names)) for limb in robot.limbs.values())
    return (
        f"{name:20} {joints:8} {np.median(us):8.1f} {np.percentile(us, 99):8.1f} "
        f"{us.max():8.1f} {np.mean(n_iterations):6.2f} {1e6 * max(errors):9.3f}"
    )


def main() -> None:
    """Print the table."""
    for mode in N_TICKS:
        print(f"IK, {mode}, all limbs of a robot together")
        print(
            f"{'robot':20} {'joints':8} {'median':>8} {'p99':>8} {'max µs':>8} "
            f"{'iter':>6} {'worst µm':>9}"
        )
        for name in ROBOTS:
            print(measure(name, mode))


if __name__ == "__main__":
    main()
