"""How much live replays of one motion differ on a robot whose friction and load vary.

python -m benchmarks.devices.itv [--n 20] [--out FOLDER] [--friction 0.3] [--load 0.5]
    [--json] [leader=… leader.key=value …]

Records an autopilot's rectangle in MuJoCo, replays it N times live with seeds of
``env.randomise``, and reports inter-trial variability (A28, both definitions). ARBot's
PiPER on hardware: 3.91 mm.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from paprle.ipc.process import WORKSPACE
from paprle_lab.evaluation.reporting.report import evaluate

FRICTION = 0.3  # chosen: share by which dry friction differs between units and days
LOAD = 0.5  # [kg] chosen: a third of the PiPER's rated payload
MOTION = ("leader=autopilot", "leader.shape=rectangle")


def run(verb, *words):
    """Run a verb; print failures only."""
    start = "import sys; from paprle.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", start, verb, *words],
        cwd=WORKSPACE,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{verb} {' '.join(words)}:\n{done.stdout}{done.stderr}")


def measure_spread(n, out, friction=FRICTION, load=LOAD, motion=MOTION):
    """Return ITV of n live replays."""
    triple = (*motion, "follower=piper", "env=mujoco", "session.episodes=1")
    run("run", *triple, "session.clock=virtual", f"record.dir={out / 'source'}")
    episodes = []
    for seed in range(n):
        folder = out / f"replay_{seed:02d}"
        varied = {"friction": friction, "load": load, "seed": seed}
        settings = [f"env.randomise.{key}={value}" for key, value in varied.items()]
        source = out / "source/episode_000000.mcap"
        run("replay", str(source), *settings, f"record.dir={folder}")
        episodes.append(folder / "episode_000000.mcap")
    entries = evaluate(episodes)
    violations = sum(entry["gate"]["violations"] for entry in entries)
    on_time = min(entry["tick"]["on_time_percent"] for entry in entries)
    return {
        **entries[0]["itv"],
        "friction": friction,
        "load_kg": load,
        "gate_violations": violations,
        "worst_on_time_percent": on_time,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=20, help="replays")
    parser.add_argument("--out", type=Path, help="keep the recordings here")
    parser.add_argument("--friction", type=float, default=FRICTION)
    parser.add_argument("--load", type=float, default=LOAD, help="[kg]")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("motion", nargs="*", default=MOTION, help="settings of run")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        out = args.out or Path(scratch)
        itv = measure_spread(args.n, out, args.friction, args.load, args.motion)
    if args.json:
        print(json.dumps(itv, indent=2))
        return
    print(
        f"{itv['n_trials']} live replays, friction ±{100 * args.friction:g} %, load up "
        f"to {args.load:g} kg\nITV, waypoints by arc length:      "
        f"{itv['arc_length_mm']:.3f} mm\nITV, waypoints by normalised time: "
        f"{itv['normalised_time_mm']:.3f} mm\n"
        f"gate violations: {itv['gate_violations']}"
    )


if __name__ == "__main__":
    main()
