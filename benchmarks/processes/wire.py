"""How long a command takes from the gate to the robot.

``python -m benchmarks.processes.wire``: a session of the autopilot with an emulated
robot in each world. The gate's recording says when a command left, the robot's own log
when it arrived; both are on one clock. Commands are matched by value while the arm
moves. The ROS emulator looks every 0.5 ms here, which is in its figures. ``--time``
sets how long each is driven, [s].
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from ros_rig import run_master
from worlds import WORLDS, World

from paprle.recording.reader import Episode

LOOKS = 2000.0  # [Hz] chosen: what it adds is below what is looked for, 2 ms
MOVING = 0.02  # [rad/s] chosen: slower commands look alike
BEFORE = 40  # chosen: commands looked through for the one that arrived
SAME = 1e-9  # [rad] chosen: beside a bus's own quantum


def measure(name: str, duration: float) -> tuple[np.ndarray, int]:
    """Return latencies [ms], and the number of unmatched commands."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(name, "piper", Path(folder))
        if name != "can":
            world.emulators[0].append(f"rate={LOOKS:g}")
        words = ["leader=autopilot", "leader.size=0.1", "leader.speed=0.15"]
        words += ["leader.laps=1000", f"session.duration={duration:g}"]
        words += ["session.episodes=1", f"record.dir={folder}/out"]
        master = run_master() if name == "ros1" else iter([{}])
        done = world.run(words, time=duration + 180.0, env=next(master))
        next(master, None)  # ends it
        if done.returncode:
            raise SystemExit(f"{name}: {done.stdout}")
        gate = Episode.open(Path(folder) / "out/episode_000000.mcap").gate
        arm = max(world.read(), key=lambda arrived: len(arrived.ids))
    q, left = gate["q_cmd"][:, arm.ids], gate["stamp_ns"]
    speed = np.abs(gate["dq_cmd"][:, arm.ids]).max(axis=1)
    latencies, n_lost = [], 0
    for t, came in zip(arm.t_ns, arm.q, strict=True):
        k = int(np.searchsorted(left, t, side="right"))
        rows = np.arange(max(0, k - BEFORE), k)
        if not len(rows) or speed[rows[-1]] < MOVING:
            continue
        off = np.abs(q[rows] - came).max(axis=1)
        best = len(rows) - 1 - int(np.argmin(off[::-1]))
        if off[best] <= arm.quantum + SAME:
            latencies.append((t - left[rows[best]]) * 1e-6)
        else:
            n_lost += 1
    return np.array(latencies), n_lost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", type=float, default=20.0)
    parser.add_argument("worlds", nargs="*", default=WORLDS)
    args = parser.parse_args()
    print("| env | commands | p50 ms | p99 ms | max ms | not matched |")
    print("|---|---|---|---|---|---|")
    for name in args.worlds:
        ms, n_lost = measure(name, args.time)
        p50, p99 = np.percentile(ms, [50, 99])
        row = f"{len(ms)} | {p50:.2f} | {p99:.2f} | {ms.max():.1f} | {n_lost}"
        print(f"| `{name}` | {row} |", flush=True)


if __name__ == "__main__":
    main()
