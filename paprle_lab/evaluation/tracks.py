"""Target and robot poses of a recorded episode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from paprle.contracts.types import RobotInfo, SessionState, Vec
from paprle.gate.smoothing import compute_delay
from paprle.recording.robot import compute_poses
from paprle.robot.chain import Limb
from paprle_lab.evaluation.causes import LimbReach
from paprle_lab.evaluation.metrics import SpanFinder, Spans, is_inside, subtract_spans
from paprle_lab.evaluation.poses import Cleaner, Dropped, Poses, Stamps, StoredPoses
from paprle_lab.evaluation.reach import RecordedLimb, find_reach
from paprle_lab.evaluation.store import NumberColumn, Rows, Store, Table, cut
from paprle_lab.evaluation.timing import find_period

_HOLE = 0.05  # [s] chosen: as in a data set; shorter, lost records are interpolated
_ONE_CLOCK_NS = 1e9  # spec: safety.md A1: stamps farther off are another clock's


class EpisodeData(Protocol):
    """Data of an episode, in memory or stored.

    Attributes:
        ticks: Fields of ``Layout.tick``.
        gate: Fields of ``Layout.gate``.
        urdf: Text.
    """

    @property
    def ticks(self) -> Table: ...  # noqa: D102
    @property
    def gate(self) -> Table: ...  # noqa: D102
    @property
    def robot_info(self) -> RobotInfo: ...  # noqa: D102
    @property
    def urdf(self) -> str: ...  # noqa: D102
    @property
    def header(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def config(self) -> Mapping[str, Any]: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class LimbTrack:
    """One limb while ENGAGED.

    Attributes:
        target: Newest sample retargeted, before filter, reconstruction, IK and gate, at
            its capture time.
        spans: Stretches ENGAGED and measured.
        is_from_joints: The target is FK of a leader's joints.
    """

    limb: str
    target: Poses
    measured: Poses
    spans: Spans
    dropped: Dropped
    is_from_joints: bool = False
    reach: LimbReach | None = None

    @property
    def short(self) -> Spans:
        """Stretches of targets not reached."""
        return np.zeros((0, 2)) if self.reach is None else self.reach.short


def find_origin_ns(source: EpisodeData) -> int:
    """Return the stamp of t = 0, the first tick."""
    for rows in (source.ticks, source.gate):
        if len(rows):
            return int(rows[:1]["stamp_ns"][0])
    return 0


def find_engaged(source: EpisodeData, origin_ns: int) -> Spans:
    """Return stretches of ENGAGED without missing ticks."""
    finder = SpanFinder()
    for where in cut(len(source.ticks)):
        ticks = source.ticks[where]
        t = (ticks["stamp_ns"] - origin_ns) * 1e-9
        finder.add(t, ticks["state"] == SessionState.ENGAGED)
    engaged = finder.finish()
    for table in (source.ticks, source.gate):
        engaged = subtract_spans(engaged, _find_holes(table, origin_ns))
    return engaged


def _find_holes(table: Table, origin_ns: int) -> Spans:
    holes = [np.zeros((0, 2))]
    for where in cut(len(table)):
        rows = table[max(where.start - 1, 0) : where.stop]
        t = (rows["stamp_ns"] - origin_ns) * 1e-9
        before = np.diff(rows["k"].astype(np.int64)) > 1
        is_long = before & (np.diff(t) > _HOLE)
        holes.append(np.stack([t[:-1][is_long], t[1:][is_long]], axis=1))
    return np.concatenate(holes)


def store_new_samples(ticks: Table) -> Store:
    """Store ENGAGED ticks with a new leader sample."""
    samples, last = Store(ticks.dtype), -1
    for where in cut(len(ticks)):
        rows = ticks[where]
        seq = rows["sample"]["seq"].astype(np.int64)
        is_new = rows["has_sample"] & (np.diff(seq, prepend=last) != 0)
        last = int(seq[-1])
        samples.append(rows[is_new & (rows["state"] == SessionState.ENGAGED)])
    return samples


def make_tracks(
    source: EpisodeData, limbs: Iterable[Limb], origin_ns: int, engaged: Spans
) -> list[LimbTrack]:
    """Return the tracks of limbs in the robot's order."""
    h = find_period(source.gate, source.header.get("gate_period"))
    delay = 0.0 if h is None else compute_delay(source.robot_info, h)
    samples = store_new_samples(source.ticks)
    tracks = []
    for row, limb in enumerate(limbs):
        stamps = _choose_stamps(samples, row)
        measured, _ = _keep_poses(
            _list_postures(limb, source.gate, "meas_ns", "q_meas"), origin_ns
        )
        commanded, _ = _keep_poses(
            _list_postures(
                limb, source.gate, "stamp_ns", "q_cmd", (engaged, origin_ns)
            ),
            origin_ns,
        )
        is_from_joints = not _has_targets(samples, row)
        spans = _cover(engaged, measured)
        asked = (
            (stamps(rows), _find_target(limb, rows, row, is_from_joints=is_from_joints))
            for rows in map(samples.__getitem__, cut(len(samples)))
        )
        target, dropped = _keep_poses(asked, origin_ns, spans)
        recorded = RecordedLimb(
            samples, source.gate, stamps, origin_ns, commanded, measured, delay
        )
        track = LimbTrack(
            limb=limb.name,
            target=target,
            measured=measured,
            spans=spans,
            dropped=dropped,
            is_from_joints=is_from_joints,
            reach=find_reach(limb, recorded, spans, source.robot_info, source.config),
        )
        tracks.append(track)
    return tracks


def _choose_stamps(samples: Table, row: int) -> Callable[[Rows], Stamps]:
    """Return a function for capture stamps, or arrival on another clock."""
    # Ticks have the arrival times instead where the leader has another clock.

    def find_captures(rows: Rows) -> Stamps:
        driver = rows["driver"][:, row]
        own = rows["sample"]["limb_ns"][np.arange(len(rows)), np.maximum(driver, 0)]
        return np.where(driver >= 0, own, rows["sample"]["stamp_ns"])

    apart = NumberColumn()
    for where in cut(len(samples)):
        rows = samples[where]
        apart.append(np.abs(rows["stamp_ns"] - find_captures(rows)))
    if len(apart) and apart.percentile(50) < _ONE_CLOCK_NS:
        return find_captures
    return lambda rows: np.asarray(rows["stamp_ns"])


def _keep_poses(
    rows: Iterable[tuple[Stamps, Vec]], origin_ns: int, spans: Spans | None = None
) -> tuple[StoredPoses, Dropped]:
    cleaner, kept = Cleaner(origin_ns), StoredPoses()
    for stamps, poses in rows:
        path = cleaner.clean(stamps, poses)
        kept.append(path if spans is None else path[is_inside(path.t, spans)])
    return kept, cleaner.dropped


def _list_postures(
    limb: Limb,
    gate: Table,
    stamp: str,
    q: str,
    within: tuple[Spans, int] | None = None,
) -> Iterator[tuple[Stamps, Vec]]:
    for where in cut(len(gate)):
        rows = gate[where]
        if within is not None:
            spans, origin_ns = within
            rows = rows[is_inside((rows["stamp_ns"] - origin_ns) * 1e-9, spans)]
        yield rows[stamp], compute_poses(limb, limb.take(rows[q].T).T)


def _has_targets(samples: Table, row: int) -> bool:
    return any(
        np.isfinite(samples[where]["target"][:, row]).any()
        for where in cut(len(samples))
    )


def _find_target(limb: Limb, rows: Rows, row: int, *, is_from_joints: bool) -> Vec:
    if is_from_joints:
        return compute_poses(limb, limb.take(rows["q_des"].T).T)
    given = rows["given"][:, row]
    is_given = np.isfinite(given).all(axis=1, keepdims=True)
    return np.where(is_given, given, rows["target"][:, row])


def _cover(engaged: Spans, measured: Poses) -> Spans:
    if not len(measured):
        return engaged[:0]
    spans: Spans = np.clip(
        engaged, measured[:1].t[0], measured[len(measured) - 1 :].t[0]
    )
    return spans[spans[:, 1] >= spans[:, 0]]
