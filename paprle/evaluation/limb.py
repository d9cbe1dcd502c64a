"""The figures of one limb: errors, relative errors, orientation, lag."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec
from paprle.evaluation.latency import find_lag
from paprle.evaluation.metrics import (
    DELTA,
    TAU_MAX,
    align,
    colour_errors,
    find_best_shift,
    is_inside,
    is_outside,
    measure_position_errors,
    measure_relative_errors,
    pair_by_time,
    summarise,
)
from paprle.evaluation.poses import Trajectory, interpolate, measure_angles
from paprle.evaluation.tracks import Track

Json = dict[str, Any]

MM, DEG, MS = 1e3, 180.0 / np.pi, 1e3
BINS = ("blue_percent", "between_percent", "red_percent")


@dataclass(frozen=True, kw_only=True)
class LimbResult:
    """Figures of one limb, and the arrays that plots are made of.

    Attributes:
        name: Its name.
        target: Raw target while ENGAGED, N poses.
        actual: Measured poses at the target's stamps, N poses.
        errors: Position errors, shape (N,), [m].
        t_shifted: Times of ``errors_shifted``, shape (M,), [s].
        errors_shifted: Position errors after the shift ``tau``, shape (M,), [m].
        tau: The best shift, [s]; None when there was too little motion for one.
        figures: JSON values.
        notes: What a reader should know of them.
    """

    name: str
    target: Trajectory
    actual: Trajectory
    errors: Vec
    t_shifted: Vec
    errors_shifted: Vec
    tau: float | None
    figures: Json
    notes: list[str] = field(default_factory=list)


def measure_limb(track: Track) -> LimbResult:
    """Compute everything about one limb; what cannot be computed is None and noted."""
    target, notes = track.target, _note_track(track)
    if len(target):
        actual = interpolate(track.measured, target.t)
    else:
        actual = target
        notes.append(f"limb '{track.limb}': no target pose while ENGAGED and measured")
    errors = measure_position_errors(target, actual)
    angles = measure_angles(target.quat_xyzw, actual.quat_xyzw)
    tau = find_best_shift(target, track.measured, track.spans)
    fixed = target[is_inside(target.t, track.spans, after=TAU_MAX)]
    if tau is None:
        fixed = target[:0]
        shifted = fixed
        if len(target):
            notes.append(
                f"limb '{track.limb}': no ENGAGED stretch is longer than "
                f"{TAU_MAX:g} s, so there is no lag-compensated error"
            )
    else:
        shifted = interpolate(track.measured, fixed.t + tau)
    errors_shifted = measure_position_errors(fixed, shifted)
    angles_shifted = measure_angles(fixed.quat_xyzw, shifted.quat_xyzw)
    if tau is not None and tau > TAU_MAX - 1e-3:
        notes.append(f"limb '{track.limb}': the best shift is at the end of its range")
    is_free = is_outside(fixed.t, track.limited, after=tau or 0.0)
    lag = find_lag(
        (target.t, target.p), (track.measured.t, track.measured.p), track.spans
    )
    figures = {
        "n_samples": len(target),
        "target": "FK of q_des" if track.is_from_joints else "retargeted pose",
        "dropped": {
            "nan": track.dropped.nan,
            "quaternion": track.dropped.quaternion,
            "duplicate": track.dropped.duplicate,
            "disorder": track.dropped.disorder,
        },
        "ate_mm": {
            "raw": summarise(errors, MM),
            "lag_compensated": {
                **summarise(errors_shifted, MM),
                "tau_ms": None if tau is None else tau * MS,
            },
            "within_limits": {
                **summarise(errors_shifted[is_free], MM),
                "share_percent": _find_share(is_free),
            },
            "aligned": summarise(_measure_aligned(target, actual), MM),
        },
        "rpe": _measure_rpe(track, actual),
        "orientation_deg": {
            "raw": summarise(angles, DEG),
            "lag_compensated": summarise(angles_shifted, DEG),
        },
        "lag_ms": None if lag is None else lag * MS,
        "colours": _count_colours(errors),
    }
    return LimbResult(
        name=track.limb,
        target=target,
        actual=actual,
        errors=errors,
        t_shifted=fixed.t,
        errors_shifted=errors_shifted,
        tau=tau,
        figures=figures,
        notes=notes,
    )


def _find_share(flags: npt.NDArray[np.bool_]) -> float | None:
    return float(100.0 * flags.mean()) if len(flags) else None


def _note_track(track: Track) -> list[str]:
    notes = []
    if track.dropped.total:
        dropped = track.dropped
        notes.append(
            f"limb '{track.limb}': left out {dropped.nan} target rows that are not "
            f"finite, {dropped.quaternion} without a unit quaternion, "
            f"{dropped.duplicate} with a duplicate stamp, {dropped.disorder} out of "
            "order"
        )
    if track.is_from_joints and len(track.target):
        notes.append(
            f"limb '{track.limb}': the leader gave joints, so the target is the pose "
            "of q_des"
        )
    return notes


def _measure_aligned(target: Trajectory, actual: Trajectory) -> Vec:
    """Position errors after the best rotation and translation; empty below 3 poses."""
    if len(target) < 3:
        return np.zeros(0)
    moved = align(target.p, actual.p)
    errors: Vec = np.linalg.norm(target.p - moved, axis=1)
    return errors


def _measure_rpe(track: Track, actual: Trajectory) -> Json:
    pairs = pair_by_time(track.target.t, track.spans)
    translation, rotation = measure_relative_errors(track.target, actual, pairs)
    return {
        "delta_s": DELTA,
        "n_pairs": len(pairs),
        "translation_mm": summarise(translation, MM),
        "rotation_deg": summarise(rotation, DEG),
    }


def _count_colours(errors: Vec) -> Json:
    """Share of samples in each of ARBot's error colours, [%]."""
    _, bins = colour_errors(errors)
    counts = np.bincount(bins, minlength=3)
    total = max(len(errors), 1)
    return {
        name: float(100.0 * n / total) for name, n in zip(BINS, counts, strict=True)
    }
