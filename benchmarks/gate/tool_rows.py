"""Cost of the tool's rows: speed (C2) and singularities (C3).

``python -m benchmarks.gate.tool_rows FILE [FOLLOWER …]`` plays a motion at 1, 5 and 10
times its speed, by ``gate.tool_speed`` and ``gate.singularity``: share reached, error
with and without lag. Then random joint targets: mean and longest time over that without
rows, and a period's CPU time.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from paprle import Gate, GateConfig, RobotModel
from paprle.config import resolve
from paprle.hosts.plan import make_robot
from paprle.hosts.virtual import VirtualSession
from paprle_lab.evaluation.episode import measure_episode

ROBOTS = ("piper",)
SPEEDS = (1, 5, 10)
SETTINGS: tuple[tuple[float | None, float], ...] = (
    (None, 0.0),
    (1.0, 0.0),
    (2.0, 0.0),
    (None, 0.01),
    (None, 0.02),
    (None, 0.04),
)
"""Speed limit of tools, [m/s], and the singular value below which they are slowed."""
H = 0.005  # [s]
N_TARGETS = 30
LONGEST = 4000  # periods; what has not arrived by then never will


def play(path: str, robot: str, speed: int, rows: tuple[float | None, float]) -> str:
    """Return share reached, error and that without lag."""
    tool_speed, sigma = rows
    words = ["leader=offline", f"leader.path={path}", f"leader.speed={speed}"]
    words += [f"follower={robot}", "env=mujoco", "session.clock=virtual"]
    words += ["session.episodes=1", f"gate.singularity={sigma}"]
    words += [] if tool_speed is None else [f"gate.tool_speed={tool_speed}"]
    with tempfile.TemporaryDirectory() as folder:
        VirtualSession(resolve([*words, f"record.dir={folder}"])).run()
        entry = measure_episode(next(Path(folder).glob("*.mcap"))).entry
    ate, reach = entry["ate_mm"], entry["reach"]
    figures = (
        reach["reached_percent"],
        ate["raw"]["median"],
        ate["lag_compensated"]["median"],
    )
    return "".join(" " * 9 + "–" if x is None else f"{x:10.3f}" for x in figures)


def move(robot: RobotModel, rows: tuple[float | None, float]) -> tuple[float, ...]:
    """Return times to targets, [periods], and CPU time, [µs]."""
    tool_speed, sigma = rows
    gate = Gate(robot, GateConfig(tool_speed=tool_speed, singularity=sigma), h=H)
    rng, times, used = np.random.default_rng(0), [], 0.0
    apart = min(0.04, 0.9 * robot.min_clearance(robot.home))
    low, high = np.maximum(gate.q_min, -np.pi), np.minimum(gate.q_max, np.pi)
    while len(times) < N_TARGETS:
        goal = rng.uniform(low, high)
        way = np.linspace(gate.q_cmd, goal, 40)
        if min(robot.min_clearance(q) for q in way) < apart:
            continue
        start = time.thread_time()
        times.append(float(_count_periods(gate, goal)))
        used += time.thread_time() - start
        gate.reset(goal)
    return (*times, 1e6 * used / sum(times))


def _count_periods(gate: Gate, goal: np.ndarray) -> int:
    for k in range(1, LONGEST):
        gate.step(goal, H)
        if gate.is_at_rest and np.abs(gate.q_cmd - goal).max() < 1e-6:
            return k
    return LONGEST


def main(words: list[str]) -> None:
    """Print robots, settings and speeds, and joint targets."""
    path, *robots = words
    print(f"{'':<28}{'reached %':>10}{'raw mm':>10}{'no lag':>10}")
    for name in robots or ROBOTS:
        robot = make_robot(
            resolve(["leader=autopilot", f"follower={name}", "env=kinematic"])
        )
        plain = np.array(move(robot, SETTINGS[0])[:-1])
        for rows in SETTINGS:
            head = f"{name:<10}{rows[0] or '–':>5} m/s σ {rows[1]:<5}"
            for speed in SPEEDS:
                print(f"{head}{speed:3d}×{play(path, name, speed, rows)}", flush=True)
            *times, cpu = move(robot, rows)
            ratio = np.array(times) / plain
            print(
                f"{head} joint targets: {ratio.mean():.3f} × mean, {ratio.max():.2f} × "
                f"longest, {cpu:.1f} µs a period",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
