"""Accuracy of a puppeteer with another kind of arm, by SE(3).

python -m benchmarks.devices.other_arms [--live] [LEADER … [key=value …]]

Emulated counts become poses by the puppeteer's URDF, played on the virtual clock:
errors are those of retargeting, IK and gate, at the best constant lag, means over
driven ticks [mm]. *In limits* leaves out unreached targets, and samples until a
held-back motion ends. ``--live`` runs emulated servos and ``run.py``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from paprle.cli import main as paprle
from paprle.config import resolve
from paprle.hardware.dynamixel.bus import Reading
from paprle.hardware.dynamixel.counts import BetweenCounts
from paprle.ipc.records import pose_to_row
from paprle.leaders.puppeteer.leader import Puppeteer
from paprle.retargeting.leader_arms import load_arms
from paprle_emulators.dynamixel.bus import PING
from paprle_emulators.dynamixel.config import read_rig
from paprle_emulators.dynamixel.models import CENTRE, RAD_PER_TICK, VELOCITY_UNIT
from paprle_emulators.dynamixel.packets import BROADCAST, make_instruction
from paprle_emulators.dynamixel.rig import Rig
from paprle_lab.evaluation.reporting.report import evaluate

FOLLOWER = "papras_7dof"  # spec: issue, acceptance 2
LEADERS = ("puppeteer_ur5", "puppeteer_omy")  # spec: issue, acceptance 2
MOTIONS = ("reach", "sines")
START = 40.0  # [s] chosen: a hand grasps until a session has surely started
DURATION = 60.0  # [s] chosen: two dozen ways
CYCLE = 0.0025  # [s] spec: 400 Hz, the bus of a puppeteer
ROOT = Path(__file__).resolve().parents[2]
HEADER = "t,x,y,z,qx,qy,qz,qw"


def record(leader, motion):
    """Return a puppeteer hand's poses, rows of HEADER."""
    config = resolve([f"leader={leader}", f"follower={FOLLOWER}", "env=kinematic"])
    puppeteer = Puppeteer(config.leader, lambda: 0)
    (arm,) = puppeteer.arms
    limb = load_arms(puppeteer.info)[arm.name]
    rig = Rig(read_rig(leader))
    (emulated,) = rig.limbs.values()
    rig.play(motion)
    rig.answer(emulated.spec.port, make_instruction(BROADCAST, PING))
    epoch, nothing = np.ones(len(arm.servos), int), np.zeros(len(arm.servos))
    between = BetweenCounts(np.full(len(arm.servos), RAD_PER_TICK))
    rows = []
    for index in range(round(DURATION / CYCLE)):
        rig.step(CYCLE)
        counts = np.array([servo.position for servo in emulated.servos])
        angle = (counts - CENTRE) * RAD_PER_TICK
        speed = VELOCITY_UNIT * np.round(
            [servo.velocity / VELOCITY_UNIT for servo in emulated.servos]
        )
        angle = between.step(angle, speed, round(index * CYCLE * 1e9))
        state = arm.convert(Reading(0, angle, nothing, nothing, epoch))
        row = pose_to_row(limb.fk(state.q[: arm.n_arm]))
        rows.append(np.append(index * CYCLE, row))
    return np.array(rows)


def drive(rows, out, settings):
    """Return the limb's report of poses on the virtual clock."""
    path = out / "motion.csv"
    np.savetxt(path, rows, fmt="%.9f", delimiter=",", header=HEADER, comments="")
    code = paprle(
        ["run", "leader=offline", f"leader.path={path}", f"follower={FOLLOWER}",
         "env=kinematic", "session.clock=virtual", f"record.dir={out}", *settings]
    )  # fmt: skip
    if code:
        raise SystemExit(code)
    (entry,) = evaluate([out / "episode_000000.mcap"], out)
    return entry


def measure(leader, motion, settings):
    """Return a leader's figures of one motion."""
    rows = record(leader, motion)
    speed = np.linalg.norm(np.diff(rows[::20, 1:4], axis=0), axis=1) / (20 * CYCLE)
    with tempfile.TemporaryDirectory() as out:
        entry = drive(rows, Path(out), settings)
    return {
        "leader": leader,
        "motion": motion,
        "hand_m_s": {"mean": round(speed.mean(), 3), "max": round(speed.max(), 3)},
        **tell(entry),
    }


def measure_live(leader, settings):
    """Return a live session's figures."""
    with tempfile.TemporaryDirectory() as out:
        words = [f"leader={leader}", f"motion=grasp_all:{START:g},reach:60,end"]
        session = [f"leader={leader}", f"follower={FOLLOWER}", "env=kinematic",
                   "session.episodes=1", f"record.dir={out}", *settings]  # fmt: skip
        done = subprocess.run(
            [sys.executable, "demos/with_emulators.py", "dynamixel", *words, "--",
             *session],
            cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        paths = sorted(Path(out).glob("*.mcap"))
        if done.returncode or not paths:
            raise SystemExit(done.stdout + done.stderr)
        (entry,) = evaluate(paths[:1], Path(out))
    return {"leader": leader, "motion": "reach, live", **tell(entry)}


def tell(entry):
    """Return the figures of an episode's report."""
    ate = entry["ate_mm"]
    return {
        "lag_ms": shorten_one(ate["lag_compensated"]["tau_ms"], 2),
        "all_mm": shorten(ate["lag_compensated"]),
        "in_limits_mm": shorten(ate["within_limits"]),
        "in_limits_percent": shorten_one(ate["within_limits"]["share_percent"], 1),
        "violations": entry["gate"]["violations"],
    }


def shorten(figures):
    return {key: shorten_one(figures[key], 4) for key in ("mean", "p95", "max")}


def shorten_one(value, n_digits):
    """Return a rounded figure, None for a dash."""
    return None if value is None else round(value, n_digits)


def main():
    words = sys.argv[1:]
    settings = [word for word in words if "=" in word]
    leaders = [w for w in words if "=" not in w and w != "--live"] or LEADERS
    for leader in leaders:
        if "--live" in words:
            print(json.dumps(measure_live(leader, settings)), flush=True)
            continue
        for motion in MOTIONS:
            print(json.dumps(measure(leader, motion, settings)), flush=True)


if __name__ == "__main__":
    main()
