"""IK alone: time of warm solves, cold search, and tracking across an arm's whole range.

``python -m benchmarks.ik [warm] [cold] [track] [--json FILE]``. Robots of this
workspace, and arms of example-robot-data that it has no settings for.

warm: each limb of a robot follows, at 200 Hz, a smooth path about its home (3 cm and
0.1 rad at up to 0.2 m/s), each limb by itself and all in one call. ``tight`` solves
back to back, ``paced`` one tick every 5 ms, which finds caches cold.
cold: targets from positions anywhere within limits, searched from home; and targets
twice as far away as the arm can reach.
track: eef poses of sines over a share of each joint's whole range, through whatever
singularities lie there; a sample counts within 1 mm and 0.5°. All targets are
reachable, though not always from the branch that the solver is on.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import sysconfig
import time
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml
from pydantic import TypeAdapter

from paprle.contracts.settings.core import IkSettings, RobotSettings
from paprle.kinematics import IkSolver
from paprle.kinematics.robot_solver import LimbSolver
from paprle.robot import RobotModel
from paprle.robot.chain import Limb

ROOT = Path(__file__).resolve().parents[1]
PUBLIC = (
    Path(sysconfig.get_paths()["purelib"])
    / "cmeel.prefix/share/example-robot-data/robots"
)
OWN = ("open_manipulator_x", "piper", "ur5e", "papras_7dof", "papras_7dof_2arm", "g1")
STRANGERS = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
}
PERIOD = 0.005  # [s]
N_TICKS = {"tight": 4000, "paced": 800}
N_COLD, N_FAR = 2000, 50
N_PATHS, N_SAMPLES = 20, 2000
MOTIONS = {"0.5 rad/s, 60 %": (0.5, 0.6), "3 rad/s, 100 %": (3.0, 1.0)}

Row = dict[str, object]


def load_robot(name: str) -> RobotModel:
    """Load a robot, named or of example-robot-data."""
    if name in STRANGERS:
        return RobotModel.from_urdf(PUBLIC / STRANGERS[name])
    text = json.dumps(
        yaml.safe_load((ROOT / f"configs/follower/{name}.yaml").read_text())
    )
    return RobotModel.from_settings(
        TypeAdapter(RobotSettings).validate_json(text), name, ROOT
    )


def longest(robot: RobotModel) -> Limb:
    """Return the limb with the most joints."""
    return max(robot.limbs.values(), key=lambda limb: len(limb.joint_names))


def span(limb: Limb) -> tuple[np.ndarray, np.ndarray]:
    """Return limits within one turn."""
    return np.maximum(limb.q_min, -math.pi), np.minimum(limb.q_max, math.pi)


def make_targets(limb: Limb, n: int) -> list[pin.SE3]:
    """Return a smooth eef path about home."""
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
    """Sleep until ``t`` of ``time.perf_counter``."""
    rest = t - time.perf_counter()
    if rest > 0.0:
        time.sleep(rest)


def measure_warm(name: str, mode: str) -> Row:
    """Time limbs by tick, singly and in one call."""
    n, robot = N_TICKS[mode], load_robot(name)
    limbs = list(robot.limbs.values())
    solvers = [IkSolver(limb) for limb in limbs]
    together = LimbSolver(robot, IkSettings(), 0.0)
    paths = [make_targets(limb, n) for limb in limbs]
    T = np.array([[path[k].homogeneous for path in paths] for k in range(n)])
    q, is_asked = np.array(robot.home), np.ones(len(limbs), dtype=bool)
    anywhere = np.full(len(q), np.nan)
    qs = [s.solve_global(path[0]).q for s, path in zip(solvers, paths, strict=True)]
    for limb, q_limb in zip(limbs, qs, strict=True):
        q = limb.put(q, q_limb)
    alone, joint, worst, n_iterations = [], [], 0.0, 0
    gc.disable()
    t0 = time.perf_counter()
    for k in range(n):
        if mode == "paced":
            wait_until(t0 + k * PERIOD)
        start = time.perf_counter()
        found = [s.solve(t[k], q) for s, t, q in zip(solvers, paths, qs, strict=True)]
        between = time.perf_counter()
        q, _, _ = together.solve(T[k], is_asked, anywhere, q, q)
        joint.append(time.perf_counter() - between)
        alone.append(between - start)
        qs = [f.q for f in found]
        worst = max(worst, *(f.err_pos for f in found))
        n_iterations += sum(f.n_iterations for f in found)
    gc.enable()
    return {
        "robot": name,
        "joints": "+".join(str(len(limb.joint_names)) for limb in limbs),
        **summary("alone", alone),
        **summary("together", joint),
        "iterations": round(n_iterations / n / len(limbs), 2),
        "worst µm": round(1e6 * worst, 4),
    }


def summary(what: str, seconds: list[float]) -> Row:
    us = 1e6 * np.array(seconds)
    return {
        f"{what} µs": round(float(np.median(us)), 1),
        f"{what} p99": round(float(np.percentile(us, 99)), 1),
    }


def measure_cold(name: str) -> Row:
    """Search the longest limb's targets from home."""
    rng, limb = np.random.default_rng(0), longest(load_robot(name))
    solver, (low, high) = IkSolver(limb), span(limb)
    times, n_found, n_tried, far = [], 0, [], []
    for _ in range(N_COLD):
        T = limb.fk(rng.uniform(low, high))
        start = time.perf_counter()
        found = solver.solve_global(T)
        times.append(time.perf_counter() - start)
        n_found += found.err_pos < 1e-4 and found.err_rot < 1e-3
        n_tried.append(found.n_iterations)
    for _ in range(N_FAR):
        T = limb.fk(rng.uniform(low, high))
        start = time.perf_counter()
        solver.solve_global(pin.SE3(T.rotation, T.translation + [0.0, 0.0, 5.0]))
        far.append(time.perf_counter() - start)
    return {
        "robot": name,
        "joints": len(limb.joint_names),
        "targets": N_COLD,
        "found %": round(100.0 * n_found / N_COLD, 2),
        **summary("search", times),
        "tried": int(np.median(n_tried)),
        "tried p99": int(np.percentile(n_tried, 99)),
        "far ms": round(1e3 * float(np.median(far)), 2),
    }


def measure_track(name: str, speed: float, share: float) -> Row:
    """Follow sines of the longest limb's joints."""
    rng, limb = np.random.default_rng(0), longest(load_robot(name))
    solver, (low, high) = IkSolver(limb), span(limb)
    amplitude, t = share * (high - low) / 2.0, PERIOD * np.arange(N_SAMPLES)[:, None]
    errors = []
    for _ in range(N_PATHS):
        omega = speed / amplitude * rng.uniform(0.5, 1.0, len(low))
        phase = rng.uniform(0.0, 2.0 * math.pi, len(low))
        path = (low + high) / 2.0 + amplitude * np.sin(omega * t + phase)
        q = path[0]
        for row in path:
            found = solver.solve(limb.fk(row), q)
            q = found.q
            errors.append((found.err_pos, found.err_rot))
    mm, degrees = 1e3 * np.array(errors)[:, 0], np.degrees(np.array(errors)[:, 1])
    is_good = (mm < 1.0) & (degrees < 0.5)
    return {
        "robot": name,
        "joints": len(limb.joint_names),
        "samples": len(mm),
        "good %": round(100.0 * float(np.mean(is_good)), 3),
        "whole paths": int(is_good.reshape(N_PATHS, -1).all(axis=1).sum()),
        "median mm": f"{np.median(mm):.1e}",
        "median °": f"{np.median(degrees):.1e}",
    }


def show(title: str, rows: list[Row]) -> list[Row]:
    print(f"\n{title}")
    widths = {k: max(len(k), *(len(str(row[k])) for row in rows)) for k in rows[0]}
    print("  ".join(f"{k:>{w}}" for k, w in widths.items()))
    for row in rows:
        print("  ".join(f"{row[k]!s:>{w}}" for k, w in widths.items()))
    return rows


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="*", default=["warm", "cold", "track"])
    parser.add_argument("--json", type=Path, help="write the figures here, too")
    args = parser.parse_args()
    names, tables = [*OWN, *STRANGERS], {}
    if "warm" in args.what:
        for mode in N_TICKS:
            title = f"warm, {mode}: all limbs of a robot"
            tables[title] = show(title, [measure_warm(name, mode) for name in OWN])
    if "cold" in args.what:
        title = "cold: 0.1 mm and 1 mrad, within limits, longest limb"
        tables[title] = show(title, [measure_cold(name) for name in names])
    if "track" in args.what:
        for motion, how in MOTIONS.items():
            title = f"track: sines of up to {motion} of the range, longest limb"
            tables[title] = show(title, [measure_track(name, *how) for name in names])
    if args.json:
        args.json.write_text(json.dumps(tables, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
