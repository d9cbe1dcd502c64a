"""The figures of one limb: errors, what it was short of, orientation, lag."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec
from paprle.evaluation.metrics import (
    DELTA,
    align,
    colour_errors,
    is_inside,
    is_outside,
    measure_position_errors,
    measure_relative_errors,
    pair_by_time,
    summarise,
)
from paprle.evaluation.poses import Trajectory, interpolate, measure_angles
from paprle.evaluation.reach import Reach, describe_reach
from paprle.evaluation.shift import find_shift
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
        tau: The best shift, [s]; None when it is not known.
        figures: JSON values.
        reach: Which targets were reached; None where nothing tells.
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
    reach: Reach | None = None
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
    shift = find_shift(track)
    if shift.note:
        notes.append(f"limb '{track.limb}': its delay is not known: {shift.note}")
    tau = shift.tau
    kept = target[:0]
    if tau is not None:
        kept = target[is_inside(target.t, track.spans, after=tau)]
    shifted = kept if tau is None else interpolate(track.measured, kept.t + tau)
    errors_shifted = measure_position_errors(kept, shifted)
    angles_shifted = measure_angles(kept.quat_xyzw, shifted.quat_xyzw)
    is_free = is_outside(kept.t, track.short, after=tau or 0.0)
    figures: Json = {
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
            "within_limits": _measure_reached(track, errors_shifted, is_free),
            "aligned": summarise(_measure_aligned(target, actual), MM),
        },
        "reach": describe_reach(track.reach),
        "rpe": _measure_rpe(track, actual),
        "orientation_deg": {
            "raw": summarise(angles, DEG),
            "lag_compensated": summarise(angles_shifted, DEG),
        },
        "lag_ms": None if shift.lag is None else shift.lag * MS,
        "colours": _count_colours(errors),
    }
    notes += _note_worse(track, figures["ate_mm"])
    return LimbResult(
        name=track.limb,
        target=target,
        actual=actual,
        errors=errors,
        t_shifted=kept.t,
        errors_shifted=errors_shifted,
        tau=tau,
        figures=figures,
        reach=track.reach,
        notes=notes,
    )


def _measure_reached(track: Track, errors: Vec, is_free: npt.NDArray[np.bool_]) -> Json:
    """Errors of targets that were reached until the robot's motion, and their share."""
    if track.reach is None:
        return {**summarise(errors[:0], MM), "share_percent": None}
    return {
        **summarise(errors[is_free], MM),
        "share_percent": _find_share(is_free),
    }


def _note_worse(track: Track, ate: Json) -> list[str]:
    """Say why errors without lag are larger than raw ones, where they are."""
    raw, shifted = ate["raw"]["median"], ate["lag_compensated"]["median"]
    if shifted is None or shifted <= raw:
        return []
    return [
        f"limb '{track.limb}': without lag the median is larger than as it was "
        f"({shifted:.3g} against {raw:.3g} mm): the delay is that of targets which "
        "were reached; a robot that stood off its target is brought no nearer by it"
    ]


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
