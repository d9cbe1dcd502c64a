"""Quality of a log."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paprle.contracts.types import Vec
from paprle.recording.exports import ARBOT_COLUMNS

GAP = 0.25  # [s] spec: without data for longer, a motion is not known (leaders/offline)
LARGEST = 5.0  # [m] chosen: no arm of a table reaches as far; more is millimetres
LATEST = 1e11  # [s] chosen: year 5138; more is ms or ns
APART = 0.5  # [m] chosen: farther, target and robot are not in one frame
NORM = 0.1  # spec: safety.md A6, quaternion norms outside 1 ± 0.1 are refused
SLOWEST = 0.5  # [ms] chosen: a whole log of less than this is in seconds
_P, _QUAT = slice(1, 4), slice(4, 8)
_ACTUAL_P, _ACTUAL_QUAT = slice(8, 11), slice(11, 15)
LATENCY = ARBOT_COLUMNS.index("e2e_latency_at_control_ms")


@dataclass(frozen=True, kw_only=True)
class Quality:
    """Quality of a log's stamps and units.

    Attributes:
        seconds: [s].
        rate_hz: Distinct stamps per second; 0 without duration.
        longest_gap_s: [s].
    """

    rows: int
    seconds: float
    rate_hz: float
    duplicates: int
    disorder: int
    longest_gap_s: float
    gaps: int
    units: tuple[str, ...]


def measure_quality(table: Vec) -> Quality:
    """Measure a log, shape (N, 19), columns as ``ARBOT_COLUMNS``."""
    t = table[:, 0]
    steps = np.diff(t)
    seconds = float(t[-1] - t[0]) if len(t) else 0.0
    own = int((steps > 0.0).sum())
    return Quality(
        rows=len(table),
        seconds=seconds,
        rate_hz=own / seconds if seconds > 0.0 else 0.0,
        duplicates=int((steps == 0.0).sum()),
        disorder=int((steps < 0.0).sum()),
        longest_gap_s=float(steps.max(initial=0.0)),
        gaps=int((steps > GAP).sum()),
        units=tuple(_judge_units(table)),
    )


def _judge_units(table: Vec) -> list[str]:
    """Return values not in s, m, unit quaternions, ms or a common frame."""
    if not len(table):
        return []
    if not np.isfinite(table).all():
        bad = int((~np.isfinite(table)).any(axis=1).sum())
        return [f"{bad} rows have values that are not finite"]
    found = []
    if np.abs(table[:, 0]).max() > LATEST:
        found.append("stamps are no seconds")
    for who, p, quat in (
        ("target", table[:, _P], table[:, _QUAT]),
        ("kinematic", table[:, _ACTUAL_P], table[:, _ACTUAL_QUAT]),
    ):
        if np.abs(p).max() > LARGEST:
            found.append(f"{who} positions are no metres: up to {np.abs(p).max():.0f}")
        off = np.abs(np.linalg.norm(quat, axis=1) - 1.0)
        if off.max() > NORM:
            n = int((off > NORM).sum())
            found.append(f"{who} orientations of {n} rows are no unit quaternions")
    distances = np.linalg.norm(table[:, _P] - table[:, _ACTUAL_P], axis=1)
    if not found and np.median(distances) > APART:
        found.append(
            f"target and kinematic positions are {np.median(distances):.2f} m apart, "
            "not in one frame"
        )
    latest = float(np.abs(table[:, LATENCY]).max())
    if 0.0 < latest < SLOWEST:
        found.append(f"latencies are no ms: at most {latest:.3f}")
    return found


def hash_file(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
