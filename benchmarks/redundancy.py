"""Arms with a joint to spare: how much of a motion they follow, and how they come back.

``python -m benchmarks.redundancy [slow] [fast] [returns] [--paths N] [--seed N]``, on
Panda and xArm7 (example-robot-data), iiwa 14 and Jaco 2 (by data sheets), and
``papras_7dof``; by ``IkSolver.solve`` and a session's IK (within V and A).

slow: sines of 84 % of each range, the fastest at 1 rad/s (0.9 of V).
fast: ``benchmarks.peers.many``: up to 3 rad/s, one joint near V.
returns: to 1.6 times the reach within a second, back within another. ``late`` is the
excess over the first moment at which joint-wise fastest moves by V (and A, in a
session) could meet the target.

Prints shares of ticks within 1 mm, and 0.5° as well; p99; and steps beyond V. ``back``
is within both.
"""

from __future__ import annotations

import argparse
import logging
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from benchmarks.ik import PUBLIC, STRANGERS
from benchmarks.peers.robots import ROOT, load_settings
from benchmarks.peers.targets import keeps_limits, make_fast, make_time
from paprle import IkSolver, RobotModel
from paprle.contracts.settings.core import (
    GateSettings,
    IkSettings,
    RobotSettings,
)
from paprle.contracts.settings.limits import LimitSettings
from paprle.contracts.types import Vec
from paprle.kinematics.robot_solver import LimbSolver
from paprle.robot.chain import Limb

DT = 0.005  # [s] a session's tick
ON_POS, ON_ROT = 1e-3, math.radians(0.5)  # asked for: [m], and [rad]
N_PATHS = 12  # asked for
SECONDS = {"slow": 12.0, "fast": 4.0}
RANGE, SPEED, OF_V = 0.84, 1.0, 0.9  # asked for: of the range, [rad/s]
SHARES = 0.1, 1.0  # chosen: of the fastest joint's speed
OUT, STANDING = 1.0, 4.0  # [s] the target goes away, and so back; stands
BEYOND = 1.6  # asked for: of the arm's reach
MARGIN = GateSettings().position_margin
TRIES = 2000  # chosen: motions drawn until one keeps V, A and the limits

Step = Callable[[pin.SE3, Vec], Vec]
"""Joints of a tick, shape (n,), from a target and the joints before."""


class Joint(NamedTuple):
    """A joint of an arm, upright at 0.

    Attributes:
        at: Origin in the joint before, [m].
        axis: In that frame.
        reach: Limits are ± this, [rad]; None: endless.
        speed: [rad/s].
    """

    at: str
    axis: str
    reach: float | None
    speed: float


def _arm(heights: list[float], reaches: list[float | None], speeds: list[float]):
    joints = zip(heights, list("zyzyzyz"), reaches, speeds, strict=True)
    axes = {"z": "0 0 1", "y": "0 1 0"}
    return [
        Joint(f"0 0 {d}", axes[axis], r and math.radians(r), math.radians(v))
        for d, axis, r, v in joints
    ]


# KUKA, LBR iiwa 14 R820, data sheet: d 360, 420, 400, 126 mm
IIWA = _arm(
    [0.1575, 0.2025, 0.2045, 0.2155, 0.1845, 0.2155, 0.081],
    [170, 120, 170, 120, 170, 120, 175],
    [85, 85, 100, 75, 130, 135, 135],
)
# Kinova, Jaco 2 with 7 joints and spherical wrist, advanced specification guide
JACO = _arm(
    [0.15675, 0.11875, 0.205, 0.205, 0.2073, 0.10375, 0.10375],
    [None, 133, None, 150, None, 115, None],
    [36, 36, 36, 36, 48, 48, 48],
)
JACO[4] = JACO[4]._replace(at="0 0.0098 0.2073")  # the forearm lies beside
BUILT = {"iiwa": (IIWA, 0.045), "jaco7": (JACO, 0.16)}
SLOW_ARMS = ("panda", "iiwa", "xarm7", "jaco7")  # asked for
FAST_ARMS = ("papras_7dof", "panda", "iiwa")  # asked for


def load(name: str, of_speed: float | None) -> RobotModel:
    """Return an arm, with settings' V or a URDF's share."""
    if name == "papras_7dof":
        return RobotModel.from_settings(load_settings(name), name, ROOT)
    scale = {} if of_speed is None else {"velocity_scale": of_speed}
    limits = LimitSettings(**scale)
    if name in STRANGERS:
        settings = RobotSettings(urdf=str(PUBLIC / STRANGERS[name]), limits=limits)
        return RobotModel.from_settings(settings, name, ROOT)
    joints, tip = BUILT[name]
    text = "<link name='l0'/>"
    for k, joint in enumerate(joints):
        limit = f"velocity='{joint.speed}' effort='100'"
        if joint.reach is not None:
            limit += f" lower='{-joint.reach}' upper='{joint.reach}'"
        kind = "continuous" if joint.reach is None else "revolute"
        text += (
            f"<link name='l{k + 1}'/><joint name='j{k + 1}' type='{kind}'>"
            f"<parent link='l{k}'/><child link='l{k + 1}'/>"
            f"<origin xyz='{joint.at}'/><axis xyz='{joint.axis}'/><limit {limit}/>"
            "</joint>"
        )
    text += (
        f"<link name='tip'/><joint name='tip' type='fixed'><parent link='l7'/>"
        f"<child link='tip'/><origin xyz='0 0 {tip}'/></joint>"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.urdf"
        path.write_text(f"<robot name='{name}'>{text}</robot>")
        settings = RobotSettings(urdf=str(path), limits=limits)
        return RobotModel.from_settings(settings, name, ROOT)


class Arm:
    """An arm and its limits (``peers.targets.Bounds``)."""

    def __init__(self, robot: RobotModel) -> None:
        self.robot = robot
        (self.limb,) = robot.limbs.values()
        self.home, self.dq_max = self.limb.home, self.limb.dq_max
        self.q_min, self.q_max = self.limb.q_min, self.limb.q_max
        self.ddq_max = self.limb.take(robot.ddq_max)


def make_library(arm: Arm) -> Step:
    """Return the library's solver, without time."""
    solver = IkSolver(arm.limb, position_margin=MARGIN)
    return lambda T, q: solver.solve(T, q).q


def make_timed(arm: Arm) -> Step:
    """Return the library's timed solver, within V."""
    solver = IkSolver(arm.limb, position_margin=MARGIN)
    return lambda T, q: solver.solve(T, q, dt=DT).q


def make_session(arm: Arm) -> Step:
    """Return a session's solver, within V and A."""
    robot, limb = arm.robot, arm.limb
    solver = LimbSolver(robot, IkSettings(), MARGIN)
    asked, anywhere = np.ones(1, dtype=bool), np.full(len(robot.home), np.nan)

    def step(T: pin.SE3, q: Vec) -> Vec:
        q_all = limb.put(robot.home, q)
        T_limbs = T.homogeneous[None]
        return limb.take(solver.solve(T_limbs, asked, anywhere, q_all, q_all, DT)[0])

    return step


SOLVERS = {"library": make_library, "with dt": make_timed, "session": make_session}


def make_slow(arm: Arm, rng: np.random.Generator, n: int) -> Vec:
    """Return swings through the range, (n, joints)."""
    low, high = np.maximum(arm.q_min, -np.pi), np.minimum(arm.q_max, np.pi)
    amplitude = RANGE * (high - low) / 2.0
    speed = rng.uniform(*SHARES, len(low))
    speed *= (np.minimum(SPEED, OF_V * arm.dq_max) / speed).min()
    phase = rng.uniform(0.0, 2.0 * np.pi, len(low))
    wave = np.sin(speed / amplitude * make_time(n)[:, None] + phase)
    return (low + high) / 2.0 + amplitude * wave


def make_motion(arm: Arm, kind: str, rng: np.random.Generator) -> Vec:
    """Return a motion within V, A and limits, from rest."""
    for _ in range(TRIES):
        q = MOTIONS[kind](arm, rng, round(SECONDS[kind] / DT))
        if keeps_limits(arm, q):
            return q
    raise ValueError(f"no {kind} motion keeps the limits in {TRIES} tries")


MOTIONS = {"slow": make_slow, "fast": make_fast}


def follow(step: Step, q: Vec, path: list[pin.SE3]) -> Vec:
    """Return the joints by tick, (n, joints)."""
    found = np.empty((len(path), len(q)))
    for k, T in enumerate(path):
        q = found[k] = step(T, q)
    return found


def find_reached(limb: Limb, q: Vec, path: list[pin.SE3]) -> Vec:
    """Return distances, [m], and angles, [rad], (n,)."""
    left = [limb.fk(row).actInv(T) for row, T in zip(q, path, strict=True)]
    pos = np.array([np.linalg.norm(T.translation) for T in left])
    rot = np.array([np.linalg.norm(pin.log3(T.rotation)) for T in left])
    return pos, rot


def show_motions(kind: str, arms: tuple[str, ...], n_paths: int, seed: int) -> None:
    """Print the followed shares by arm."""
    print(f"\n{kind}: {n_paths} paths of {SECONDS[kind]:g} s, seed {seed}")
    print(f"{'arm':<14}{'by':<10}{'1 mm':>9}{'and 0.5°':>10}{'p99':>12}{'p99':>8}"
          f"{'over V':>9}")  # fmt: skip
    for name in arms:
        arm = Arm(load(name, 1.0 if kind == "fast" else None))
        rng = np.random.default_rng(seed)
        motions = [make_motion(arm, kind, rng) for _ in range(n_paths)]
        paths = [[arm.limb.fk(row) for row in motion] for motion in motions]
        for by, make in SOLVERS.items():
            found = [
                follow(make(arm), motion[0], path)
                for motion, path in zip(motions, paths, strict=True)
            ]
            judged = [
                find_reached(arm.limb, q, path)
                for q, path in zip(found, paths, strict=True)
            ]
            pos, rot = (np.array(x) for x in zip(*judged, strict=True))
            near = pos < ON_POS
            over = np.mean(
                [
                    (np.abs(np.diff(q, axis=0)) > 1.001 * DT * arm.dq_max).any(axis=1)
                    for q in found
                ]
            )
            mm, deg = 1e3 * np.percentile(pos, 99), np.degrees(np.percentile(rot, 99))
            both = near & (rot < ON_ROT)
            print(f"{name:<14}{by:<10}{near.mean():9.2%}{both.mean():10.2%}"
                  f"{mm:9.3f} mm{deg:7.2f}°{over:9.2%}", flush=True)  # fmt: skip


def make_return(arm: Arm, rng: np.random.Generator) -> tuple[Vec, list[pin.SE3]]:
    """Return a start, and targets out of reach and back."""
    low, high = np.maximum(arm.q_min, -np.pi), np.minimum(arm.q_max, np.pi)
    half = 0.5 * RANGE * (high - low)
    q = rng.uniform(0.5 * (low + high) - half, 0.5 * (low + high) + half)
    T, limb = arm.limb.fk(q), arm.limb
    drawn = [limb.fk(rng.uniform(low, high)).translation for _ in range(500)]
    way = rng.standard_normal(3)
    way *= BEYOND * np.linalg.norm(drawn, axis=1).max() / np.linalg.norm(way)
    u = np.arange(0.0, OUT, DT) / OUT
    out = 0.5 - 0.5 * np.cos(np.pi * u)
    shares = np.concatenate([out, 1.0 - out, np.zeros(round(STANDING / DT))])
    p = T.translation
    return q, [pin.SE3(T.rotation, p + share * (way - p)) for share in shares]


def find_least(arm: Arm, q: Vec, path: list[pin.SE3], ddq_max: float | Vec) -> int:
    """Return the first tick at which the fastest could be back.

    Postures on target are traced back from the arm's end to the reach's edge; from
    there each joint goes alone, from rest.
    """
    solver = IkSolver(arm.limb, position_margin=MARGIN)
    on, turn = q[-1], round(OUT / DT)
    wanted = {}
    for k in range(len(path) - 1, turn, -1):
        found = solver.solve(path[k], on, max_step=0.1)
        if found.err_pos > ON_POS or found.err_rot > ON_ROT:
            break
        on = wanted[k] = found.q
    first = min(wanted, default=len(path) - 1)
    for k in range(first, len(path)):
        way = np.abs(wanted.get(k, on) - q[first])
        ramp = np.minimum(np.sqrt(way / ddq_max), arm.dq_max / ddq_max)
        took = np.where(
            way > ramp * arm.dq_max, way / arm.dq_max + ramp, 2.0 * ramp
        ).max()
        if took <= (k - first) * DT:
            return k
    return len(path) - 1


def show_returns(n_paths: int, seed: int) -> None:
    """Return the first tick at which the fastest could be back."""
    print(f"\nreturns: {n_paths} ways out to {BEYOND} of the reach, seed {seed}")
    print(f"{'arm':<14}{'by':<10}{'back':>8}{'median':>10}{'worst':>9}{'late':>8}"
          f"{'over V':>9}")  # fmt: skip
    for name in SLOW_ARMS:
        arm, turn = Arm(load(name, None)), round(OUT / DT)
        for by, make in SOLVERS.items():
            rng = np.random.default_rng(seed)
            times, late, over = [], [], []
            for _ in range(n_paths):
                start, path = make_return(arm, rng)
                q = follow(make(arm), start, path)
                pos, rot = find_reached(arm.limb, q, path)
                on = (pos < ON_POS) & (rot < ON_ROT)
                steps = np.abs(np.diff(q, axis=0))
                over.append((steps > 1.001 * DT * arm.dq_max).any(axis=1).mean())
                if not on[-1]:
                    continue
                back = len(on) - int(np.argmin(on[::-1]))
                A = arm.ddq_max if by == "session" else 1e6
                least = find_least(arm, q, path, A)
                times.append((back - turn) * DT)
                late.append((back - turn) / max(least - turn, 1))
            print(f"{name:<14}{by:<10}{len(times):5d}/{n_paths}"
                  f"{np.median(times):8.2f} s{max(times):7.2f} s{max(late):8.2f}"
                  f"{np.mean(over):9.2%}", flush=True)  # fmt: skip


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = ("slow", "fast", "returns")
    parser.add_argument("what", nargs="*", choices=[*kinds, []], default=[])
    parser.add_argument("--paths", type=int, default=N_PATHS)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    logging.getLogger("paprle").setLevel(logging.ERROR)  # no bodies are needed here
    for kind, arms in (("slow", SLOW_ARMS), ("fast", FAST_ARMS)):
        if kind in (args.what or kinds):
            show_motions(kind, arms, args.paths, args.seed)
    if "returns" in (args.what or kinds):
        show_returns(args.paths, args.seed)


if __name__ == "__main__":
    main()
