"""Figures of one limb."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec
from paprle_lab.evaluation.causes import LimbReach, describe_reach
from paprle_lab.evaluation.metrics import (
    DELTA,
    PAIR_TOLERANCE,
    Alignment,
    colour_errors,
    is_inside,
    is_outside,
    measure_position_errors,
    measure_relative_errors,
    pair_by_time,
    summarise,
)
from paprle_lab.evaluation.poses import (
    POSE,
    Trajectory,
    interpolate,
    list_blocks,
    measure_angles,
    take_around,
)
from paprle_lab.evaluation.shift import find_shift
from paprle_lab.evaluation.store import NumberColumn, Thinned, cut
from paprle_lab.evaluation.tracks import LimbTrack

Json = dict[str, Any]

MM, DEG, MS = 1e3, 180.0 / np.pi, 1e3
_TIMED = np.dtype([("t", "f8"), ("error", "f8")])
_ACTUAL = [("actual_p", "f8", (3,)), ("actual_quat_xyzw", "f8", (4,)), ("error", "f8")]
_PATH = np.dtype([*POSE.descr, *_ACTUAL])
BINS = ("blue_percent", "between_percent", "red_percent")


@dataclass(frozen=True, kw_only=True)
class LimbResult:
    """Figures of one limb, and thinned arrays for plots.

    Attributes:
        target: Raw target while ENGAGED, N poses.
        actual: Measured poses at its stamps.
        errors: Of positions, shape (N,), [m].
        t_shifted: Shape (M,), [s].
        errors_shifted: After the shift ``tau``, shape (M,), [m].
        tau: Best shift, [s].
    """

    name: str
    target: Trajectory
    actual: Trajectory
    errors: Vec
    t_shifted: Vec
    errors_shifted: Vec
    tau: float | None
    figures: Json
    reach: LimbReach | None = None
    notes: list[str] = field(default_factory=list)


def measure_limb(track: LimbTrack) -> LimbResult:
    """Compute a limb's figures; failed ones are None and noted."""
    notes = _note_track(track)
    if not len(track.target):
        notes.append(f"limb '{track.limb}': no target pose while ENGAGED and measured")
    raw = _Raw(track)
    shift = find_shift(track)
    if shift.note:
        notes.append(f"limb '{track.limb}': its delay is not known: {shift.note}")
    tau = shift.tau
    shifted = _Shifted(track, tau, raw.alignment)
    path, late = raw.path.rows, shifted.path.rows
    figures: Json = {
        "n_samples": len(track.target),
        "target": "FK of q_des" if track.is_from_joints else "retargeted pose",
        "dropped": {
            "nan": track.dropped.nan,
            "quaternion": track.dropped.quaternion,
            "duplicate": track.dropped.duplicate,
            "disorder": track.dropped.disorder,
        },
        "ate_mm": {
            "raw": summarise(raw.errors, MM),
            "lag_compensated": {
                **summarise(shifted.errors, MM),
                "tau_ms": None if tau is None else tau * MS,
            },
            "within_limits": {
                **summarise(shifted.reached, MM),
                "share_percent": shifted.share_percent,
            },
            "aligned": summarise(shifted.aligned, MM),
        },
        "reach": describe_reach(track.reach),
        "rpe": {
            "delta_s": DELTA,
            "n_pairs": len(raw.rpe[0]),
            "translation_mm": summarise(raw.rpe[0], MM),
            "rotation_deg": summarise(raw.rpe[1], DEG),
        },
        "orientation_deg": {
            "raw": summarise(raw.angles, DEG),
            "lag_compensated": summarise(shifted.angles, DEG),
        },
        "lag_ms": None if shift.lag is None else shift.lag * MS,
        "colours": _describe_colours(raw.colours),
    }
    notes += _note_worse(track, figures["ate_mm"])
    return LimbResult(
        name=track.limb,
        target=Trajectory(path["t"].copy(), path["p"], path["quat_xyzw"]),
        actual=Trajectory(path["t"].copy(), path["actual_p"], path["actual_quat_xyzw"]),
        errors=path["error"].copy(),
        t_shifted=late["t"].copy(),
        errors_shifted=late["error"].copy(),
        tau=tau,
        figures=figures,
        reach=track.reach,
        notes=notes,
    )


class _Raw:
    """Errors between targets and robot at equal times.

    Attributes:
        errors: Positions, [m].
        angles: Orientations, [rad].
        rpe: Motions over 1 s, [m] and [rad].
        colours: Counts by colour, shape (3,).
    """

    def __init__(self, track: LimbTrack) -> None:
        self.errors, self.angles = NumberColumn(), NumberColumn()
        self.rpe = NumberColumn(), NumberColumn()
        self.colours = np.zeros(3, dtype=np.int64)
        self.alignment = Alignment()
        self.path = Thinned(_PATH)
        for where in cut(len(track.target)):
            self._add(track, where)

    def _add(self, track: LimbTrack, where: slice) -> None:
        own = track.target[where]
        until = track.target.count(float(own.t[-1]) + (1.0 + PAIR_TOLERANCE) * DELTA)
        target = track.target[where.start : max(until + 1, where.stop)]
        near = take_around(track.measured, float(target.t[0]), float(target.t[-1]))
        actual = interpolate(near, target.t)
        pairs = pair_by_time(target.t, track.spans)
        pairs = pairs[pairs[:, 0] < len(own)]
        for column, errors in zip(
            self.rpe, measure_relative_errors(target, actual, pairs), strict=True
        ):
            column.append(errors)
        actual = actual[: len(own)]
        errors = measure_position_errors(own, actual)
        self.errors.append(errors)
        self.angles.append(measure_angles(own.quat_xyzw, actual.quat_xyzw))
        self.colours += np.bincount(colour_errors(errors)[1], minlength=3)
        self.alignment.add(own.p, actual.p)
        rows = np.zeros(len(own), _PATH)
        rows["t"], rows["p"], rows["quat_xyzw"] = own.t, own.p, own.quat_xyzw
        rows["actual_p"], rows["actual_quat_xyzw"] = actual.p, actual.quat_xyzw
        rows["error"] = errors
        self.path.add(rows)


class _Shifted:
    """Errors after delay and alignment.

    Attributes:
        errors: Without lag, [m].
        angles: Without lag, [rad].
        aligned: After the alignment, [m].
    """

    def __init__(
        self, track: LimbTrack, tau: float | None, alignment: Alignment
    ) -> None:
        self.errors, self.reached = NumberColumn(), NumberColumn()
        self.angles, self.aligned = NumberColumn(), NumberColumn()
        self.path = Thinned(_TIMED)
        for block in list_blocks(track.target):
            if tau is not None:
                self._add(track, block[is_inside(block.t, track.spans, after=tau)], tau)
            if len(track.target) > 2:  # fewer poses can be laid over any others
                begin, end = float(block.t[0]), float(block.t[-1])
                near = take_around(track.measured, begin, end)
                moved = alignment.move(interpolate(near, block.t).p)
                self.aligned.append(np.linalg.norm(block.p - moved, axis=1))
        is_known = track.reach is not None and len(self.errors)
        share = 100.0 * len(self.reached) / max(len(self.errors), 1)
        self.share_percent = share if is_known else None

    def _add(self, track: LimbTrack, kept: Trajectory, tau: float) -> None:
        if not len(kept):
            return
        begin, end = float(kept.t[0]), float(kept.t[-1])
        near = take_around(track.measured, begin, end + tau)
        shifted = interpolate(near, kept.t + tau)
        errors = measure_position_errors(kept, shifted)
        self.errors.append(errors)
        self.angles.append(measure_angles(kept.quat_xyzw, shifted.quat_xyzw))
        if track.reach is not None:
            self.reached.append(errors[is_outside(kept.t, track.short, after=tau)])
        rows = np.zeros(len(kept), _TIMED)
        rows["t"], rows["error"] = kept.t, errors
        self.path.add(rows)


def _note_worse(track: LimbTrack, ate: Json) -> list[str]:
    raw, shifted = ate["raw"]["median"], ate["lag_compensated"]["median"]
    if shifted is None or shifted <= raw:
        return []
    return [
        f"limb '{track.limb}': without lag the median is larger than as it was "
        f"({shifted:.3g} against {raw:.3g} mm): the delay is that of targets which "
        "were reached; a robot that stood off its target is brought no nearer by it"
    ]


def _note_track(track: LimbTrack) -> list[str]:
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


def _describe_colours(counts: npt.NDArray[np.int64]) -> Json:
    total = max(int(counts.sum()), 1)
    return {
        name: float(100.0 * n / total) for name, n in zip(BINS, counts, strict=True)
    }
