"""How often a live gate holds because it stalled, when engaging and while engaged.

python -m benchmarks.stalls [--runs 5] [--episodes 4] [--hogs 0] [--rate 200] [--json]

The PiPER draws small circles beside busy processes. A process of higher priority
detects standstills of the machine itself; the rest are the product's, or all without
the right to such a priority.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.itv import run
from benchmarks.machine import Machine
from paprle.contracts.types import GateState
from paprle.gate.reasons import Reason
from paprle.recording.reader import Episode

ENGAGING = 0.3  # [s] chosen: what a first engaged period touches, it touches by then
CIRCLE = ("leader=autopilot", "leader.size=0.04", "leader.speed=0.1")


def find_stalls(episode: Episode) -> tuple[list[dict[str, float]], float]:
    """Return an episode's stalls with holds, and engaged time."""
    gate = episode.gate
    t = gate["stamp_ns"] * 1e-9
    is_engaged = gate["state"] == GateState.ENGAGED
    has_stalled = gate["reasons"] & np.uint64(1 << Reason.STALLED) > 0
    stalls = []
    for k in np.flatnonzero(has_stalled[1:] & is_engaged[:-1]) + 1:
        engaged_at = t[np.flatnonzero(~is_engaged[:k])[-1]]
        # what stalls a period after it has looked at the clock holds with the next
        first = max(k - 2, 0)
        begin = first + int(np.diff(t[first : k + 1]).argmax())
        stalls.append(
            {
                "after_s": float(t[begin] - engaged_at),
                "begin": float(t[begin]),
                "end": float(t[begin + 1]),
            }
        )
    return stalls, float(np.diff(t)[is_engaged[1:]].sum())


def measure(n_runs, n_episodes, rate, out):
    """Return counts and times over sessions."""
    with Machine() as machine:
        for number in range(n_runs):
            run(
                "run", *CIRCLE, "follower=piper", "env=kinematic", f"env.rate={rate}",
                f"session.episodes={n_episodes}",
                f"record.dir={out / str(number)}",
            )  # fmt: skip
    episodes = [Episode.open(path) for path in sorted(out.glob("*/*.mcap"))]
    stalls, engaged = [], 0.0
    for episode in episodes:
        found, seconds = find_stalls(episode)
        stalls += found
        engaged += seconds
    for stall in stalls:
        stall["is_machine"] = any(
            begin < stall["end"] and end > stall["begin"] for begin, end in machine.gaps
        )
    own = [stall for stall in stalls if not stall["is_machine"]]
    late = np.concatenate([episode.gate["late_ns"] for episode in episodes])
    took = np.concatenate([episode.gate["compute_ns"] for episode in episodes])
    return {
        "episodes": len(episodes),
        "engaged_s": engaged,
        "holds": len(stalls),
        "holds_by_the_product": len(own),
        "of_these_when_engaging": sum(stall["after_s"] < ENGAGING for stall in own),
        "late_ms": spread(late * 1e-6),
        "compute_ms": spread(took * 1e-6),
        "stalls": stalls,
    }


def spread(values):
    """Return median, p99 and maximum."""
    p50, p99 = np.percentile(values, [50, 99])
    return {"p50": float(p50), "p99": float(p99), "max": float(values.max())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="sessions")
    parser.add_argument("--episodes", type=int, default=4, help="episodes of each")
    parser.add_argument("--hogs", type=int, default=0, help="busy neighbours")
    parser.add_argument("--rate", type=float, default=200.0, help="of the gate, [Hz]")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    spin = [sys.executable, "-c", "while True: pass"]
    hogs = [subprocess.Popen(spin) for _ in range(args.hogs)]
    try:
        with tempfile.TemporaryDirectory() as scratch:
            found = measure(args.runs, args.episodes, args.rate, Path(scratch))
    finally:
        for hog in hogs:
            hog.kill()
    if args.json:
        print(json.dumps(found, indent=2))
        return
    late, took = found["late_ms"], found["compute_ms"]
    print(
        f"{found['episodes']} episodes, {found['engaged_s']:.0f} s engaged, "
        f"{args.hogs} busy neighbours\n"
        f"holds by a stall {found['holds']}, of the product's own making "
        f"{found['holds_by_the_product']}, of these when engaging "
        f"{found['of_these_when_engaging']}\n"
        f"woke late p50 {late['p50']:.2f}, p99 {late['p99']:.2f}, max "
        f"{late['max']:.1f} ms; a period took p50 {took['p50']:.2f}, p99 "
        f"{took['p99']:.2f}, max {took['max']:.1f} ms"
    )


if __name__ == "__main__":
    main()
