"""Drive the gate with adversarial targets and judge every command independently.

Joints alone, by the oracle: many limbs with limits of their own share one gate, so that
one call is a step of each, ``python -m benchmarks.gate_soak --steps 100000000``.
A robot with its bodies, by the oracle and by coal, half-way between commands, too: arms
driven at each other, rubbing and crossing, at several rates, ``--robot table2 --steps
100000``; a robot of ``configs/follower`` or arms around a table. With ``--memory``
nothing judges the commands, and what the process holds is measured instead: ``--robot
piper --memory --steps 10000000``. Exits with 1 on any violation, or if memory grew
after the first tenth. ``--jobs`` shares the steps out, a process and a seed each.
"""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat

import adversary
import numpy as np
from numba.core.runtime import _nrt_python, rtsys

from benchmarks.memory import measure_memory
from paprle.contracts.settings.core import GateSettings
from paprle.gate.gate import Gate
from paprle.oracle import JudgedLimits, check_commands
from paprle.testing.robots import make_robot_info

BAD = np.array([np.nan, np.inf, -np.inf, 1e308, -1e308, 1e30, 5e-324])
BLOCK = 500  # gate steps an oracle call
GROWTH = 4.0  # [MB] chosen: a number kept a step is 80 in ten million
KEPT = 5000  # chosen: blocks of Python, which come and go by hundreds
TOLD = 10.0  # [s] chosen: a line of progress


def make_targets(rng, robot):
    """Return square waves, edges to the last bit, walks, points and some NaN."""
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
    ddq_max = rng.uniform(0.5, 100.0, m)
    robot = make_robot_info(
        n_joints,
        n_limbs=n_limbs,
        dq_max=rng.uniform(0.05, 10.0, m),
        ddq_max=ddq_max,
        dddq_max=ddq_max * 10.0 ** rng.uniform(1.5, 3.0, m),
    )
    h = float(rng.choice([0.001, 0.002, 0.005, 0.01]))
    gate = Gate(robot, h=h)
    gate.reset(rng.uniform(robot.q_min + 0.02, robot.q_max - 0.02))
    limits = JudgedLimits(
        q_min=robot.q_min,
        q_max=robot.q_max,
        dq_max=robot.dq_max,
        ddq_max=robot.ddq_max,
        dddq_max=robot.dddq_max,
        h=h,
    )
    history = np.tile(gate.q_cmd, (4, 1))
    done, violations, progress = 0, 0, Progress(f"seed {seed}")
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
        # from the two before these on, so that the first jerk is judged, too
        judged = np.concatenate([history[2:], commands])
        verdict = check_commands(judged, limits, q_start=history[:2])
        if not verdict.is_ok:
            violations += verdict.n_violations
            print(verdict)
        history = commands[-4:]
        done += BLOCK * n_limbs
        progress.tell(done, violations)
    progress.tell(done, violations, is_last=True)
    return violations


def run_robot(n_steps: int, seed: int, name: str) -> int:
    robot, settings, rng = (
        adversary.load(name),
        GateSettings(),
        np.random.default_rng(seed),
    )
    judge = adversary.Judge(robot, settings)
    progress = Progress(f"{name}, seed {seed}")
    done, violations, worst = 0, 0, -np.inf
    while done < n_steps:
        pattern = ("clash", "rub", "clash", "cross", "square")[done // (4 * BLOCK) % 5]
        h = float(rng.choice([0.001, 0.002, 0.005, 0.005, 0.01]))
        gate = Gate(robot, settings, h=h)
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
        progress.tell(done, violations)
    progress.tell(done, violations, is_last=True)
    return violations


def run_memory(name: str, n_steps: int, seed: int) -> int:
    """Step a gate in all modes; return 1 if memory grew."""
    robot, rng = adversary.load(name), np.random.default_rng(seed)
    h = 0.005
    gate = Gate(robot, h=h)
    servo = adversary.Servo(robot.home, rng.uniform(0.01, 0.1, len(robot.home)))
    kinds = ("cross", "square", "points", "walk", "edge")
    targets = [adversary.make_targets(rng, robot, BLOCK, kind) for kind in kinds]
    memory, started = Memory(n_steps), time.monotonic()
    for k in range(n_steps // BLOCK):
        if k % 10 == 0:
            gate.reset(gate.q_cmd)
            gate.reduce(is_reduced=k % 30 == 0)
        is_measured, has_feedforward = k % 3 > 0, k % 4 == 0
        for target in targets[k % len(targets)]:
            gate.step(
                target if k % 7 else None,
                h,
                q_meas=servo.step(gate.q_cmd) if is_measured else None,
                dq_des=gate.dq_cmd if has_feedforward else None,
                is_blocked=k % 11 == 0,
            )
        done = (k + 1) * BLOCK
        memory.look(done)
        if done % (n_steps // 10) == 0:
            rate = done / (time.monotonic() - started)
            print(f"{name} {done:.2e} steps, {rate:.0f}/s: {memory}", flush=True)
    return memory.judge()


class Progress:
    """Progress lines."""

    def __init__(self, name: str) -> None:
        self._name, self._started, self._told = name, time.monotonic(), 0.0

    def tell(self, done: int, violations: int, *, is_last: bool = False) -> None:
        """Print a line if one is due."""
        elapsed = time.monotonic() - self._started
        if is_last or elapsed - self._told > TOLD:
            self._told = elapsed
            rate = f"{done / elapsed:.2e}/s"
            line = f"{self._name}: {done:.2e} steps, {violations} violations, {rate}"
            print(line, flush=True)


class Memory:
    """Memory after a tenth of the steps, and its growth.

    Process memory, [MB]; Python's blocks; kernels' arrays.
    """

    def __init__(self, n_steps: int) -> None:
        _nrt_python.memsys_enable_stats()
        self._first = n_steps / 10
        self._before: tuple[float, int, int] | None = None

    def look(self, done: int) -> None:
        """Measure, once a tenth is done."""
        if done >= self._first and self._before is None:
            self._before = _find_held()

    def judge(self) -> int:
        """Print the growth; return 1 above the bar."""
        print(f"memory: {self}")
        if self._before is None:
            return 1
        resident, blocks, arrays = _find_held()
        is_flat = resident - self._before[0] <= GROWTH
        is_flat &= blocks - self._before[1] <= KEPT
        return int(not (is_flat and arrays <= self._before[2]))

    def __str__(self) -> str:
        held = self._before or _find_held()
        resident, blocks, arrays = (
            now - then for now, then in zip(_find_held(), held, strict=True)
        )
        return (
            f"{held[0]:.1f} MB, then {resident:+.2f} MB, {blocks:+d} blocks of "
            f"Python and {arrays:+d} arrays of kernels"
        )


def _find_held() -> tuple[float, int, int]:
    stats = rtsys.get_allocation_stats()
    return measure_memory() / 1e6, sys.getallocatedblocks(), stats.alloc - stats.free


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--steps", type=int, default=1_000_000, help="steps of a limb or robot"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limbs", type=int, default=300, help="limbs in one gate")
    parser.add_argument("--robot", help="soak its clearance, not joints alone")
    parser.add_argument(
        "--memory", action="store_true", help="of a robot: measure memory alone"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes that share it")
    args = parser.parse_args()
    if args.robot and args.memory:
        return run_memory(args.robot, args.steps, args.seed)
    soak, what = (run_robot, args.robot) if args.robot else (run, args.limbs)
    seeds = range(args.seed, args.seed + args.jobs)
    with ProcessPoolExecutor(args.jobs) as pool:
        shares = repeat(-(-args.steps // args.jobs))
        violations = sum(pool.map(soak, shares, seeds, repeat(what)))
    print(f"{args.steps:.0e} steps, {violations} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
