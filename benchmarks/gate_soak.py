"""Drive the gate with adversarial targets and judge every command independently.

Joints alone, by the oracle: many limbs with limits of their own share one gate, so that
one call is a step of each, ``python -m benchmarks.gate_soak --steps 100000000``.
A robot with its bodies, by the oracle and by coal, half-way between commands, too: arms
driven at each other, rubbing and crossing, at several rates, ``--robot table2 --steps
100000``; a robot of ``configs/follower`` or arms around a table. Exits with 1 on any
violation, and (joints) if memory grew after the first tenth: ``--limbs 1 --steps
10000000``.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from pathlib import Path

import numpy as np

from paprle.gate.gate import Gate
from paprle.oracle import Limits, check_commands
from paprle.settings import GateSettings
from paprle.testing.robots import make_robot_info

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests" / "support"))
import adversary

BAD = np.array([np.nan, np.inf, -np.inf, 1e308, -1e308, 1e30, 5e-324])
BLOCK = 500  # gate steps an oracle call
GROWTH = 4.0  # [MB] chosen: of the peak; a number kept a step is 80 in ten million


def make_targets(rng, robot):
    """Square waves, edges to the last bit, random walks, random points; some NaN."""
    n, m = BLOCK, len(robot.joint_names)
    span = robot.q_max - robot.q_min
    square = rng.uniform(robot.q_min - span, robot.q_max + span, (2, m))
    targets = square[
        (np.arange(n)[:, None] // rng.integers(1, 60, m)) % 2, np.arange(m)
    ]
    kind = rng.integers(0, 4, m)
    walk = np.cumsum(rng.normal(0, 0.05, (n, m)), axis=0)
    edge = np.where(rng.random((n, m)) < 0.5, robot.q_min, robot.q_max)
    edge = np.nextafter(edge, rng.choice([-9.0, 9.0], (n, m)))
    points = rng.uniform(2 * robot.q_min, 2 * robot.q_max, (n, m))
    targets = np.where(kind == 1, walk, targets)
    targets = np.where(kind == 2, edge, targets)
    return np.where(kind == 3, points, targets)


def run(n_steps: int, seed: int, n_limbs: int) -> int:
    rng = np.random.default_rng(seed)
    n_joints = 3
    m = n_limbs * n_joints
    robot = make_robot_info(
        n_joints,
        n_limbs=n_limbs,
        dq_max=rng.uniform(0.05, 10.0, m),
        ddq_max=rng.uniform(0.5, 100.0, m),
    )
    gate = Gate(robot)
    gate.reset(rng.uniform(robot.q_min + 0.02, robot.q_max - 0.02))
    h = float(rng.choice([0.001, 0.002, 0.005, 0.01]))
    limits = Limits(
        q_min=robot.q_min,
        q_max=robot.q_max,
        dq_max=robot.dq_max,
        ddq_max=robot.ddq_max,
        h=h,
    )
    history = np.array([gate.q_cmd, gate.q_cmd])
    done, violations, started = 0, 0, time.monotonic()
    memory = Memory(n_steps)
    while done < n_steps:
        targets = make_targets(rng, robot)
        commands = np.empty((BLOCK, m))
        for k, target in enumerate(targets):
            if rng.random() < 0.01:
                gate.speed_scale = float(rng.choice([0.25, 1.0]))
            if rng.random() < 0.01:
                target = target.copy()  # noqa: PLW2901 - the whole vector is refused
                target[rng.integers(m)] = rng.choice(BAD)
            age = float(rng.choice([0.0, 0.0, 0.0, 0.05, 0.2, np.nan]))
            feed = rng.normal(0, robot.dq_max) if rng.random() < 0.5 else None
            commands[k] = gate.step(target, h, age, dq_des=feed).q_cmd
        verdict = check_commands(commands, limits, q_start=history)
        if not verdict.is_ok:
            violations += verdict.n_violations
            print(verdict)
        history = commands[-2:]
        done += BLOCK * n_limbs
        memory.look(done)
        rate = done / (time.monotonic() - started)
        print(f"\r{done:.2e} steps, {violations} violations, {rate:.2e}/s", end="")
    print()
    return violations + memory.judge()


def run_robot(name: str, n_steps: int, seed: int) -> int:
    robot, settings, rng = (
        adversary.load(name),
        GateSettings(),
        np.random.default_rng(seed),
    )
    judge, gate = adversary.Judge(robot, settings), Gate(robot, settings)
    done, violations, worst, started = 0, 0, -np.inf, time.monotonic()
    while done < n_steps:
        pattern = ("clash", "rub", "clash", "cross", "square")[done // (4 * BLOCK) % 5]
        h = float(rng.choice([0.001, 0.002, 0.005, 0.005, 0.01]))
        gate.reset(robot.home)
        gate.reduce(is_reduced=False)
        is_changing = rng if rng.random() < 0.3 else None
        targets = adversary.make_targets(rng, robot, 4 * BLOCK, pattern, judge)
        commands, _, _ = adversary.drive(gate, targets, h, rng=is_changing)
        verdict = adversary.judge_joints(commands, robot, h)
        near = judge.find_bad(commands)
        halves = judge.find_bad_between(commands)
        violations += verdict.n_violations + len(near) + len(halves)
        if near or halves or not verdict.is_ok:
            half_way = 0.5 * (commands[1:] + commands[:-1])
            worst = max([worst, *(judge.miss(commands[k]) for k in near)])
            worst = max([worst, *(judge.miss(half_way[k]) for k in halves)])
            n_near = len(near) + len(halves)
            print(f"{pattern} h={h}: {n_near} too near, at worst {worst}\n{verdict}")
        done += len(commands)
        rate = done / (time.monotonic() - started)
        print(
            f"\r{name} {done:.2e} steps, {violations} violations, {rate:.0f}/s", end=""
        )
    print()
    return violations


class Memory:
    """Peak memory of this process after a tenth of the steps, and what came on top."""

    def __init__(self, n_steps: int) -> None:
        self._first = n_steps / 10
        self._before = float("nan")

    def look(self, done: int) -> None:
        """Take the peak, once a tenth is done."""
        if done >= self._first and not self._before > 0.0:
            self._before = _find_peak()

    def judge(self) -> int:
        """Say how much was added; return 1 if it is too much."""
        grown = _find_peak() - self._before
        print(f"peak memory {self._before:.0f} MB, then {grown:+.2f} MB")
        return int(not grown <= GROWTH)


def _find_peak() -> float:
    unit = 1e6 if sys.platform == "darwin" else 1e3  # bytes there, kB on Linux
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--steps", type=int, default=1_000_000, help="steps of a limb or robot"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limbs", type=int, default=300, help="limbs in one gate")
    parser.add_argument("--robot", help="soak its clearance, not joints alone")
    args = parser.parse_args()
    if args.robot:
        return 1 if run_robot(args.robot, args.steps, args.seed) else 0
    return 1 if run(args.steps, args.seed, args.limbs) else 0


if __name__ == "__main__":
    sys.exit(main())
