"""Choice of a start posture that follows most of a path.

``python -m benchmarks.branches [MOTIONS [FILE …]]``: feasible random motions, and
files' poses within reach. The judge leads hundreds of postures by damped least squares,
as a session does. Per robot: motions in which the chosen and the home-nearest posture
equal the best, mean shares, and time. Exits with 1 if the chosen one is ever worse.
"""

from __future__ import annotations

import sys
import time
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation, Slerp

from paprle.config import resolve
from paprle.contracts.settings.core import GateSettings, IkSettings
from paprle.contracts.types import Vec
from paprle.hosts.plan import make_robot
from paprle.ipc.records import pose_to_row, row_to_pose
from paprle.kinematics import IkSolver
from paprle.kinematics.robot_solver import LimbSolver
from paprle.leaders.offline.config import OfflineConfig
from paprle.leaders.offline.leader import Offline
from paprle.robot import RobotModel
from paprle.robot.chain import Limb
from paprle.session.postures import PostureGoal, Postures

ROBOTS = ("piper", "ur5e", "papras_6dof", "papras_7dof")
N_MOTIONS = 10
N_SEEDS = 200  # chosen: of the judge; more find no other posture
N_MOST = 40  # chosen: of postures; only where joints are to spare there are more
TICK = 0.005  # [s]
STEP, DURATION = 0.04, 6.0  # [s]
WITHIN = 2e-3, 0.035  # [m], [rad] as the product tells
APART = 0.1  # [rad] two postures are apart by more
SAME = 5e-3  # [1] chosen: shares of a path that differ by more are not the same
SLOW = 0.3  # chosen: share of V, so that no row is missed for its speed


class Judged(NamedTuple):
    """Followed shares of one path, and seconds."""

    best: float
    chosen: float
    nearest: float
    took: float


def find_bounds(limb: Limb) -> tuple[Vec, Vec]:
    """Return the IK's bounds, (n,) each."""
    margin = GateSettings().position_margin
    return (
        np.maximum(limb.q_min + margin, -np.pi),
        np.minimum(limb.q_max - margin, np.pi),
    )


def descend(limb: Limb, T: pin.SE3, q: Vec, n: int = 60) -> tuple[Vec, Vec]:
    """Return damped least squares' result and error, (6,)."""
    margin = GateSettings().position_margin
    low, high = limb.q_min + margin, limb.q_max - margin
    q, damping = np.clip(q, low, high), 1e-3
    error = pin.log6(limb.fk(q).actInv(T)).vector
    for _ in range(n):
        if error @ error < 1e-16:
            break
        J = limb.jacobian(q)
        push = J.T @ error
        free = ~(((q >= high) & (push > 0.0)) | ((q <= low) & (push < 0.0)))
        J = J[:, free]
        step = np.zeros_like(q)
        H = J.T @ J + damping * np.eye(J.shape[1])
        step[free] = np.linalg.solve(H, J.T @ error)
        step *= min(1.0, 0.2 / max(np.abs(step).max(), 1e-12))
        trial = np.clip(q + step, low, high)
        after = pin.log6(limb.fk(trial).actInv(T)).vector
        if after @ after < error @ error:
            q, error, damping = trial, after, max(0.3 * damping, 1e-9)
        else:
            damping *= 5.0
    return q, error


def follow(robot: RobotModel, limb: Limb, path: Vec, q_limb: Vec) -> float:
    """Return the share of a path followed from a posture."""
    solver = LimbSolver(robot, IkSettings(), GateSettings().position_margin)
    m, n = len(robot.limbs), len(robot.home)
    asked = np.array([one is limb for one in robot.limbs.values()])
    T, anywhere = np.tile(np.eye(4), (m, 1, 1)), np.full(n, np.nan)
    place, q, reached = int(asked.argmax()), limb.put(robot.home, q_limb), []
    times = np.arange(path[0, 0] + TICK, path[-1, 0], TICK)
    turns = Slerp(path[:, 0], Rotation.from_quat(path[:, 4:]))(times).as_matrix()
    for k, t in enumerate(times):
        T[place, :3, :3] = turns[k]
        T[place, :3, 3] = [np.interp(t, path[:, 0], path[:, a]) for a in (1, 2, 3)]
        q, errors, _ = solver.solve(T, asked, anywhere, q, q, TICK)
        reached.append((errors[:, place] <= WITHIN).all())
    return float(np.mean(reached))


def find_best(
    robot: RobotModel, limb: Limb, path: Vec, rng: np.random.Generator
) -> float:
    """Return any posture's largest share, by brute force."""
    found: list[Vec] = []
    low, high = find_bounds(limb)
    T, best = row_to_pose(path[0, 1:]), 0.0
    for _ in range(N_SEEDS):
        q, error = descend(limb, T, rng.uniform(low, high))
        is_new = all(np.abs(q - one).max() > APART for one in found)
        if best < 1.0 and np.linalg.norm(error) < 1e-6 and is_new:
            found.append(q)
            best = max(best, follow(robot, limb, path, q))
        if len(found) == N_MOST:
            break
    return best


def make_motion(limb: Limb, rng: np.random.Generator) -> Vec:
    """Return the path of a random motion, (rows, 8)."""
    low, high = find_bounds(limb)
    ends = rng.uniform(low, high, (3, len(low)))
    t = np.arange(0.0, DURATION, STEP)
    u = 2.0 * t / DURATION
    near = np.clip(1.0 - np.abs(u[:, None] - [0.0, 1.0, 2.0]), 0.0, 1.0)
    qs = (near**2 * (3.0 - 2.0 * near)) @ ends
    speed = np.abs(np.diff(qs, axis=0) / STEP / limb.dq_max).max()
    t *= max(1.0, speed / SLOW)
    rows = [[s, *pose_to_row(limb.fk(q))] for s, q in zip(t, qs, strict=True)]
    return np.array(rows)


def lay(limb: Limb, path: Vec, rng: np.random.Generator) -> Vec:
    """Return a file's path from a random posture."""
    low, high = find_bounds(limb)
    T = limb.fk(rng.uniform(low, high)) * row_to_pose(path[0, 1:]).inverse()
    rows = path[:: max(1, len(path) // round(DURATION / STEP))]
    return np.array([[r[0], *pose_to_row(T * row_to_pose(r[1:]))] for r in rows])


def judge(robot: RobotModel, path: Vec, rng: np.random.Generator) -> Judged:
    """Return followed shares by rule."""
    limb = next(iter(robot.limbs.values()))
    T, home = row_to_pose(path[0, 1:]), robot.home
    postures = Postures(robot, GateSettings(), IkSettings())
    postures.warm_up()
    began = time.perf_counter()
    start = postures.find_start(
        PostureGoal(home, home, {limb.name: T}, {limb.name: path}, {}, False)
    )
    took = time.perf_counter() - began
    margin = GateSettings().position_margin
    nearest = IkSolver(limb, position_margin=margin).solve_global(T, limb.home).q
    return Judged(
        find_best(robot, limb, path, rng),
        follow(robot, limb, path, limb.take(start.q)),
        follow(robot, limb, path, nearest),
        took,
    )


def read(path: str) -> Vec:
    """Return a file's poses, (rows, 8)."""
    leader = Offline(OfflineConfig(path=path, frame="relative"), time.monotonic_ns)
    (rows,) = leader.info.path.values()
    return rows


def main(words: list[str]) -> int:
    """Print lines by robot; return 1 for a missed posture."""
    n = int(words[0]) if words else N_MOTIONS
    files = [read(path) for path in words[1:]]
    print(
        f"{'robot':<14}{'as the best':>14}{'nearest':>10}{'mean share':>26}{'took':>9}"
    )
    n_missed = 0
    for name in ROBOTS:
        robot = make_robot(
            resolve([f"follower={name}", "env=kinematic", "leader=autopilot"])
        )
        limb, rng = next(iter(robot.limbs.values())), np.random.default_rng(11)
        paths = [make_motion(limb, rng) for _ in range(n)]
        paths += [lay(limb, rows, rng) for rows in files for _ in range(2)]
        found = [judge(robot, path, rng) for path in paths]
        best, chosen, nearest, took = np.array(found).T
        n_missed += int((chosen < best - SAME).sum())
        print(
            f"{name:<14}{(chosen >= best - SAME).sum():9d}/{len(paths):<4}"
            f"{(nearest >= best - SAME).sum():5d}/{len(paths):<4}"
            f"{best.mean():8.1%}{chosen.mean():9.1%}{nearest.mean():9.1%}"
            f"{took.max():8.2f} s",
            flush=True,
        )
    return int(n_missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
