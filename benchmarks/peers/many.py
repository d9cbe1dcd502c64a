"""Fast tracking over many paths: ``python -m benchmarks.peers.many papras_7dof``.

The six paths of the comparison say how peers compare, not how often a target is kept:
a lost one is lost for half a second, and some paths have none. Here are as many as
wanted, of any seed, for ours alone: within the gate's box, and ``IkSolver.solve``.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.peers.judge import GOOD_POS, GOOD_ROT, measure_errors
from benchmarks.peers.problem import Targets
from benchmarks.peers.robots import DT, Robot, make_robot
from benchmarks.peers.targets import make_motion
from benchmarks.peers.with_ours import find_bases
from benchmarks.peers.with_solve import KinematicSolver
from paprle import GateConfig, IkConfig
from paprle.kinematics.robot_solver import LimbSolver

_SECONDS = 4.0  # [s] as in the comparison

Step = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Joints for the poses of a tick, from where the robot is."""


def make_ours(robot: Robot) -> Step:
    """Return a session's IK."""
    limbs = LimbSolver(robot.model, IkConfig(), GateConfig().position_margin)
    bases = find_bases(robot.problem)
    is_asked = np.ones(len(bases), dtype=np.bool_)
    anywhere = np.full(len(robot.model.home), np.nan)

    def step(T: np.ndarray, q: np.ndarray) -> np.ndarray:
        poses = np.array([base @ pose for base, pose in zip(bases, T, strict=True)])
        return limbs.solve(poses, is_asked, anywhere, q, q, DT)[0]

    return step


def make_kinematic(robot: Robot) -> Step:
    """Return the library's ``IkSolver.solve``, without a period."""
    solver = KinematicSolver(robot.problem)

    def step(T: np.ndarray, q: np.ndarray) -> np.ndarray:
        solver.reset(q)
        solver.step(solver.prepare(T))
        return solver.read()[0]

    return step


def follow(step: Step, targets: Targets) -> np.ndarray:
    """Return joints by tick, (n_ticks, n)."""
    out = np.empty((len(targets.T), targets.q_start.shape[1]))
    for path, q_start in zip(targets.paths(), targets.q_start, strict=True):
        q = q_start
        for k in range(path.start, path.stop):
            q = out[k] = step(targets.T[k], q)
    return out


def main() -> None:
    """Follow and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robot", help="of configs/follower")
    parser.add_argument("--paths", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        robot = make_robot(args.robot, Path(folder))
        targets = make_motion(robot, "fast", args.paths, _SECONDS, args.seed)
        for name, make in (("in the box", make_ours), ("solve", make_kinematic)):
            pos, rot = measure_errors(robot, targets.T, follow(make(robot), targets))
            share = float(((pos < GOOD_POS) & (rot < GOOD_ROT)).mean())
            print(
                f"{name:10s} {100 * share:6.2f} % of {len(pos)} ticks, median "
                f"{np.median(pos) * 1e3:.1e} mm {np.degrees(np.median(rot)):.1e}°"
            )


if __name__ == "__main__":
    main()
