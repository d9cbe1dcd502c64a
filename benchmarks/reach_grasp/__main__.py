"""Does what was learnt of recordings work? Reach, grasp and lift, in MuJoCo.

    python -m benchmarks.reach_grasp

Demonstrations of a scripted leader from random starts become a data set, a network is
trained on it, and drives from starts that it has not seen, as ``leader=policy`` through
retargeting and gate. All of it on the virtual clock, so that every run is the same.
With --out a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.reach_grasp.train import Network, read_pairs
from paprle.config import resolve
from paprle.contracts.types import SessionState
from paprle.hosts.virtual import VirtualSession
from paprle.recording.reader import Episode
from paprle_lab.dataset.create import create

_WORLD = (
    "follower=piper",
    "env=mujoco",
    "session.clock=virtual",
    "session.episodes=1",
    "env.randomise.block=0.05",  # [m] chosen: a square of 10 cm
    "record.task=grasp the block and lift it",
)
_EXPERT = (
    "leader=policy",
    "leader.function=benchmarks.reach_grasp.expert:Expert",
    "leader.action=ee_pose",
    "leader.duration=20",
)
_LIFTED = 0.10  # [m] chosen: higher than the hand was when it closed, by far
_UNSEEN = 1000  # chosen: seeds of starts that no demonstration has
_Z95 = 1.959964  # spec: both sides of 95 % of a normal distribution


def find_interval(k: int, n: int) -> tuple[float, float]:
    """Return Wilson's interval, 95 %, of k in n."""
    p, z2 = k / n, _Z95**2
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return middle - half, middle + half


def run(words: tuple[str, ...], seed: int, out: Path) -> bool:
    """Run one session; return whether the block hangs."""
    seeded = (*words, f"env.randomise.seed={seed}", f"record.dir={out}")
    if not list(out.glob("episode_*.json")):
        VirtualSession(resolve((*_WORLD, *seeded)), say=lambda _: None).run()
    (path,) = out.glob("episode_*.mcap")
    episode = Episode.open(path)
    ticks, gate = episode.ticks, episode.gate
    driven = ticks["stamp_ns"][ticks["state"] == SessionState.ENGAGED]
    at = np.searchsorted(gate["stamp_ns"], driven[-1])
    return bool(gate["objects"][min(at, len(gate) - 1), 0, 2] > _LIFTED)


def report(what: str, successes: list[bool], seconds: float) -> None:
    """Print the number of lifted blocks."""
    k, n = sum(successes), len(successes)
    low, high = find_interval(k, n)
    print(
        f"{what}: {k} of {n} lifted the block, {100 * k / n:.0f} % "
        f"(95 %: {100 * low:.0f} … {100 * high:.0f} %), {seconds:.0f} s"
    )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--demos", type=int, default=50)
    parser.add_argument("--rollouts", type=int, default=30)
    parser.add_argument("--out", type=Path, help="keeps recordings, data set, network")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prove(args.out or Path(folder), args.demos, args.rollouts)


def prove(out: Path, n_demos: int, n_rollouts: int) -> None:
    """Demonstrate, make a data set, train and roll out."""
    begin = time.perf_counter()
    demos = [run(_EXPERT, k, out / f"demo/{k:03d}") for k in range(n_demos)]
    report("demonstrations", demos, time.perf_counter() - begin)
    good = [out / f"demo/{k:03d}" for k, lifted in enumerate(demos) if lifted]
    made = create(good, out / "set", "lerobot")
    print(f"data set: {made.n_episodes} episodes, {made.n_frames} frames")
    path = out / "policy.onnx"
    if not path.exists():
        train(out / "set", path)
    policy = ("leader=policy", f"leader.path={path}", "leader.duration=8")
    begin = time.perf_counter()
    rolled = [
        run(policy, _UNSEEN + k, out / f"rollout/{k:03d}") for k in range(n_rollouts)
    ]
    report("policy, unseen starts", rolled, time.perf_counter() - begin)


def train(root: Path, path: Path) -> None:
    """Train a network on a data set and write it."""
    begin = time.perf_counter()
    network = Network(*read_pairs(root), seed=0)
    loss = network.train()
    network.save(path)
    seconds = time.perf_counter() - begin
    print(f"trained in {seconds:.0f} s to {loss:.3f} deviations")


if __name__ == "__main__":
    main()
