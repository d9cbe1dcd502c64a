"""Runs the product as a user does and measures what came of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
from shared_data import SHARED, find_shared

from paprle.cli import main
from paprle.ipc.process import WORKSPACE
from paprle_lab.evaluation.reporting.report import evaluate

MOTION = SHARED / "motion/arbot_rectangle_H1.csv"


def need_motion() -> Path:
    """Return the recorded rectangle, or skip where it is not."""
    return find_shared("motion/arbot_rectangle_H1.csv")


def run_virtual(out: Path, *settings: str) -> dict:
    """Run a session on the virtual clock through the command line, and measure it."""
    code = main(["run", *settings, "session.clock=virtual", f"record.dir={out}"])
    assert code == 0
    return measure(out)


def run_live(
    *words: str, verb: str = "run", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a verb in a process of its own, with all it starts, to its end."""
    start = "import sys; from paprle.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", start, verb, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=WORKSPACE,
        start_new_session=True,
        env={**os.environ, **(env or {})},
    )
    try:
        out, err = process.communicate(timeout=110)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"still running:\n{out}\n{err}") from None
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def run_verb(verb: str, *words: object) -> str:
    """Run a verb as a user does, which is to succeed; return what it prints."""
    done = run_live(*map(str, words), verb=verb)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def measure(out: Path, number: int = 0) -> dict:
    """Return an episode's entry of its report; it is whole and has no error."""
    (entry,) = evaluate([out / f"episode_{number:06d}.mcap"])
    assert entry["error"] is None
    assert entry["is_complete"]
    return entry


def cut_motion(path: Path, begin: float, end: float) -> Path:
    """Copy the rows of the recorded rectangle between two times, [s]."""
    header, *rows = need_motion().read_text().splitlines()
    first = float(rows[0].split(",", 1)[0])
    kept = [r for r in rows if begin <= float(r.split(",", 1)[0]) - first < end]
    path.write_text("\n".join([header, *kept]) + "\n")
    return path


def write_motion(path: Path, center: np.ndarray, quat_xyzw, duration: float) -> Path:
    """Write a hand's motion as ARBot does: 30 Hz, stamps that jitter and repeat.

    A rounded path 16 by 12 cm about a centre, [m], with a turning wrist; within 0.25
    m/s, as people move.
    """
    rng = np.random.default_rng(7)
    stamps = np.cumsum(rng.uniform(0.028, 0.038, int(duration / 0.033)))
    phase = 2 * np.pi * stamps / stamps[-1]
    fade = np.sin(phase / 2) ** 2  # begins and ends at the centre, at rest
    y, z = 0.08 * fade * np.sin(2 * phase), 0.06 * fade * np.sin(4 * phase)
    half = 0.05 * fade * np.sin(phase)  # [rad] half the angle about x
    turn = np.stack([np.sin(half), 0 * half, 0 * half, np.cos(half)], axis=1)
    quats = np.array([_multiply(q, quat_xyzw) for q in turn])
    names = "capture_timestamp,target_pos_x,target_pos_y,target_pos_z,"
    names += ",".join(f"target_orient_{axis}" for axis in "xyzw")
    rows = np.column_stack([1.7e9 + stamps, center + np.c_[0 * y, y, z], quats])
    rows = np.insert(rows, [20, 50], rows[[20, 50]], axis=0)  # as ARBot's files have
    np.savetxt(path, rows, fmt="%.9f", delimiter=",", header=names, comments="")
    return path


def _multiply(a, b) -> np.ndarray:
    """Product of quaternions xyzw."""
    va, vb, wa, wb = np.asarray(a[:3]), np.asarray(b[:3]), a[3], b[3]
    return np.append(wa * vb + wb * va + np.cross(va, vb), wa * wb - va @ vb)


def find_error(limb):
    """Return the median error, [mm]; with the lag where that is not known."""
    error = limb["ate_mm"]
    without_lag = error["lag_compensated"]["median"]
    return error["raw"]["median"] if without_lag is None else without_lag
