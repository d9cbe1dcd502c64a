"""Measurement of one trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from paprle.contracts.errors import RecordingError
from paprle.contracts.types import Vec
from paprle.recording.exports import read_arbot_csv
from paprle_lab.evaluation.episode import EpisodeResult, measure_episode
from paprle_lab.evaluation.latency import list_captures
from paprle_lab.evaluation.limb import LimbResult, measure_limb
from paprle_lab.evaluation.metrics import colour_errors, summarise
from paprle_lab.evaluation.poses import clean
from paprle_lab.evaluation.tracks import LimbTrack, store_new_samples
from paprle_lab.trials.labels import Trial
from paprle_lab.trials.log import LATENCY, Quality, measure_quality

Json = dict[str, Any]
WINDOW = 5.0  # [s] spec: requirements A21, the short-term error
MM = 1e3
_TARGET, _ACTUAL = slice(1, 8), slice(8, 15)


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """Measurements of one trial.

    Attributes:
        t: Shape (N,), [s]; may repeat.
        target: Shape (N, 3), [m].
        actual: Shape (N, 3), [m].
        errors: Shape (N,), [m].
        latencies: Capture to command, shape (M,), [s].
    """

    trial: Trial
    t: Vec
    target: Vec
    actual: Vec
    errors: Vec
    latencies: Vec
    quality: Quality | None
    figures: Json


def measure_trial(trial: Trial) -> TrialResult:
    """Return the measurements of a log or recording.

    Raises:
        RecordingError: If unreadable or without motion.
    """
    if trial.path.suffix == ".csv":
        return _measure_log(trial)
    return _measure_recording(trial)


def _measure_log(trial: Trial) -> TrialResult:
    table = read_arbot_csv(trial.path)
    table = table[np.isfinite(table[:, :15]).all(axis=1)]
    if len(table) < 2:
        raise RecordingError(f"{trial.path}: expected a motion, got {len(table)} rows")
    t = table[:, 0] - table[0, 0]
    stamps = np.round(t * 1e9).astype(np.int64)
    target, dropped = clean(stamps, table[:, _TARGET])
    measured, _ = clean(stamps, table[:, _ACTUAL])
    spans = np.array([[t.min(), t.max()]])
    track = LimbTrack(
        limb="arm", target=target, measured=measured, spans=spans, dropped=dropped
    )
    latencies = table[:, LATENCY] * 1e-3
    latencies = latencies[np.isfinite(latencies)]
    return _make(
        trial,
        (t, table[:, 1:4], table[:, 8:11]),
        measure_limb(track),
        # a robot's replay logs zeros: nothing was captured
        latencies if latencies.any() else np.zeros(0),
        measure_quality(table),
    )


def _measure_recording(trial: Trial) -> TrialResult:
    result = measure_episode(trial.path)
    if result.entry["error"]:
        raise RecordingError(str(result.entry["error"]))
    limb = next((one for one in result.limbs if len(one.target) > 1), None)
    if limb is None:
        raise RecordingError(f"{trial.path}: expected a motion, got none while ENGAGED")
    paths = limb.target.t, limb.target.p, limb.actual.p
    return _make(trial, paths, limb, _list_latencies(result), None)


def _list_latencies(result: EpisodeResult) -> Vec:
    if result.ticks is None or result.gate is None:
        return np.zeros(0)
    found = list(list_captures(store_new_samples(result.ticks), result.gate))
    look_ahead = (result.entry["look_ahead_ms"] or 0.0) * 1e-3
    return np.concatenate([np.zeros(0), *found]) + look_ahead


def _make(
    trial: Trial,
    paths: tuple[Vec, Vec, Vec],
    limb: LimbResult,
    latencies: Vec,
    quality: Quality | None,
) -> TrialResult:
    t, target, actual = paths
    errors = np.linalg.norm(target - actual, axis=1)
    shares = np.bincount(colour_errors(errors)[1], minlength=3) / len(errors)
    own = limb.figures
    figures: Json = {
        "ate_mm": summarise(errors, MM),
        "axes_rmse_mm": [
            float(MM * np.sqrt((d**2).mean())) for d in (target - actual).T
        ],
        "worst_window_rmse_mm": MM * find_worst_window(t, errors),
        "without_lag_mm": own["ate_mm"]["lag_compensated"],
        "lag_ms": own["lag_ms"],
        "rpe": own["rpe"],
        "orientation_deg": own["orientation_deg"]["raw"],
        "latency_ms": summarise(latencies, 1e3),
        "blue_percent": float(100.0 * shares[0]),
        "red_percent": float(100.0 * shares[2]),
        "seconds": float(t[-1] - t[0]),
        "rows": len(t),
        "notes": " ".join(limb.notes),
    }
    return TrialResult(
        trial=trial,
        t=t,
        target=target,
        actual=actual,
        errors=errors,
        latencies=latencies,
        quality=quality,
        figures=figures,
    )


def find_worst_window(t: Vec, errors: Vec, window: float = WINDOW) -> float:
    """Return the largest rms error [m] of any window [s].

    References:
        ARBot's PiperRmseMetrics reports the last 5 s.
    """
    t = np.maximum.accumulate(t)
    sums = np.concatenate([[0.0], np.cumsum(errors**2)])
    first = np.searchsorted(t, t - window, side="left")
    last = np.arange(1, len(t) + 1)
    means = (sums[last] - sums[first]) / (last - first)
    whole = t - t[0] >= min(window, t[-1] - t[0])
    return float(np.sqrt(means[whole].max()))
