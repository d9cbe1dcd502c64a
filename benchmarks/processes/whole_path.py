"""Emulated puppeteers drive a simulated robot by ``run.py``: its rates and jitter.

python -m benchmarks.processes.whole_path [--leader NAME] [--follower NAME]
    [--env mujoco] [--seconds 60] [--motion sines] [--stall sleep|spin] [--json]
    [key=value …]

Servos are emulated on pseudo-terminals. ``own`` is without the machine's standstills,
by a watch of higher priority. Figures hold for an idle machine, so its free share is
printed. The feedback thread's are those of the session's last line.

``--stall`` stalls the feedback thread for a second (asleep, or busy) after two of
driving; that second's rates are printed, too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import stall_law

from benchmarks.processes.machine import Machine, read_idle
from benchmarks.processes.start import find_cpu
from paprle.contracts.types import SessionState
from paprle.ipc.process import WORKSPACE
from paprle.recording.reader import Episode
from paprle_lab.evaluation.reporting.report import evaluate

START = 60  # [s] chosen: the emulated hands grasp until a session has started
ERRORS = ("raw", "lag_compensated")
STALL_AFTER = 2.0  # [s] chosen: it drives in earnest by then
FEEDBACK = re.compile(
    r"feedback: (\d+) steps at ([\d.]+) Hz, late p50 ([\d.]+), p99 ([\d.]+), "
    r"max ([\d.]+) ms, (\d+) missed"
)


class Rig:
    """Emulated rig: grasps until the session drives, then moves."""

    def __init__(self, leader: str, motion: str) -> None:
        words = [sys.executable, "-m", "paprle_emulators.dynamixel"]
        self.process = subprocess.Popen(
            [*words, f"leader={leader}", f"motion=grasp_all:{START}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=WORKSPACE, text=True,
        )  # fmt: skip
        self.overrides = json.loads(self.process.stdout.readline())["overrides"]
        self._motion = motion

    def move(self):
        """Start moving."""
        order = {"cmd": "motion", "program": self._motion}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def end(self):
        self.process.terminate()
        self.process.wait()


def find_roles(pid):
    """Return process ids by role."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    roles = {"session": pid}
    for child in children:
        words = Path(f"/proc/{child}/cmdline").read_text().split("\0")
        found = re.search(r"paprle\.hosts\.(\w+)", " ".join(words))
        if found:
            roles[found[1]] = int(child)
    return roles


def plan_stall(args, out):
    """Return settings and environment of one stall."""
    if args.stall is None:
        return [], None
    path = [*stall_law.install(out / "site"), str(WORKSPACE)]
    settings = {"how": args.stall, "after": STALL_AFTER, "mark": out / "mark"}
    words = [f"feedback.laws.stall.{name}={value}" for name, value in settings.items()]
    return words, {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def run_session(rig, args, out):
    """Return a session's output and costs."""
    stall, env = plan_stall(args, out)
    session = subprocess.Popen(
        [sys.executable, "run.py", f"leader={args.leader}",
         f"follower={args.follower}", f"env={args.env}", "session.episodes=1",
         f"session.duration={args.seconds}", f"record.dir={out}",
         *rig.overrides, *stall, *args.settings],
        cwd=WORKSPACE, env=env, stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    said = []
    reader = threading.Thread(target=lambda: said.extend(session.stdout))
    reader.start()
    # hands that move while an arm comes to them keep it coming
    while not any("ENGAGED" in line for line in said) and session.poll() is None:
        time.sleep(0.2)
    rig.move()
    costs = watch(session, rig, args.seconds - 4.0)
    session.wait()
    reader.join()
    return "".join(said), costs


def watch(session, rig, seconds):
    """Return processes' shares of a core, and the free share."""
    time.sleep(2.0)
    try:
        return read_costs(session, rig, seconds)
    except OSError:
        return {}  # it has ended before


def read_costs(session, rig, seconds):
    """Return the same of these seconds."""
    pids = find_roles(session.pid) | {"emulator": rig.process.pid}
    begin = {name: find_cpu(pid) for name, pid in pids.items()}
    idle, began = read_idle(), time.monotonic()
    while session.poll() is None and time.monotonic() < began + seconds:
        time.sleep(0.2)
    took = time.monotonic() - began
    shares = {
        name: round((find_cpu(pid) - begin[name]) / took, 2)
        for name, pid in pids.items()
    }
    free = (read_idle() - idle) / took / (os.cpu_count() or 1)
    return {"core_share": shares, "free": round(free, 2)}


def find_driven(ticks):
    """Return first and last time of driving, [ns]."""
    return ticks["stamp_ns"][ticks["state"] == SessionState.ENGAGED][[0, -1]]


def judge(episode, gaps, begin, end):
    """Return rates and jitter between two times, [ns]."""
    gate, ticks = episode.gate, episode.ticks
    found = {}
    for name, rows in (("session", ticks), ("gate", gate)):
        use = rows[(rows["stamp_ns"] >= begin) & (rows["stamp_ns"] <= end)]
        t, late = use["stamp_ns"] * 1e-9, use["late_ns"] * 1e-6
        is_own = np.ones(t.size, dtype=bool)
        for a, b in gaps:
            is_own &= (t < a) | (t > b + 0.05)
        found[name] = {
            "hz": round(float((t.size - 1) / (t[-1] - t[0])), 2),
            "late_ms": spread(late),
            "late_ms_own": spread(late[is_own]),
            "compute_ms": spread(use["compute_ns"] * 1e-6),
            "missed": int(use["n_overruns"][-1] - use["n_overruns"][0]),
        }
    rows = ticks[(ticks["stamp_ns"] >= begin) & (ticks["stamp_ns"] <= end)]["sample"]
    seconds = 1e-9 * (rows["stamp_ns"][-1] - rows["stamp_ns"][0])
    found["reads_hz"] = round(float(rows["seq"][-1] - rows["seq"][0]) / seconds, 1)
    found["s"] = round(1e-9 * float(end - begin), 1)
    return found


def spread(values):
    """Return median, p99 and maximum."""
    p50, p99 = np.percentile(values, [50, 99])
    return {k: round(float(v), 3) for k, v in
            (("p50", p50), ("p99", p99), ("max", values.max()))}  # fmt: skip


def measure(args, out):
    """Run a rig and a session; return figures."""
    rig = Rig(args.leader, args.motion)
    try:
        with Machine() as machine:
            said, costs = run_session(rig, args, out)
    finally:
        rig.end()
    paths = sorted(out.glob("*.mcap"))
    if not paths:
        raise RuntimeError(said)
    episode = Episode.open(paths[0])
    found = judge(episode, machine.gaps, *find_driven(episode.ticks)) | costs
    if args.stall is not None:
        if not (out / "mark").exists():
            raise RuntimeError(f"it did not drive long enough to stall\n{said}")
        during = map(int, (out / "mark").read_text().split())
        found["during_stall"] = judge(episode, machine.gaps, *during)
    values = FEEDBACK.search(said)
    if values is None:
        raise RuntimeError(said)
    names = ("steps", "hz", "late_p50_ms", "late_p99_ms", "late_max_ms", "missed")
    found["feedback"] = dict(zip(names, map(float, values.groups()), strict=True))
    longest = max((b - a for a, b in machine.gaps), default=0.0)
    found["machine"] = {
        "standstills": len(machine.gaps), "longest_ms": round(1e3 * longest, 1)
    }  # fmt: skip
    entry = evaluate(paths[:1])[0]
    found["position_mm"] = {
        name: {kind: figures["ate_mm"][kind]["median"] for kind in ERRORS}
        for name, figures in entry["limbs"].items()
    }
    found["violations"] = entry["gate"]["violations"]
    return found, said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leader", default="puppeteer_papras_7dof_2arm")
    parser.add_argument("--follower", default="papras_7dof_2arm")
    parser.add_argument("settings", nargs="*", help="key=value of the session")
    parser.add_argument("--env", default="mujoco")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--motion", default="sines", help="of the emulated hands")
    parser.add_argument("--stall", choices=("sleep", "spin"))
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found, said = measure(args, Path(folder))
    if not args.json:
        print(said)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
