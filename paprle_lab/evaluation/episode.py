"""Measurement of one episode."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.errors import PaprleError
from paprle.contracts.types import RobotInfo, Vec
from paprle.recording.gaps import list_gaps
from paprle.recording.reader import Episode
from paprle.recording.robot import make_limbs, read_recorded_urdf
from paprle.robot.tree import Urdf
from paprle_lab.evaluation.bodies.active_pairs import find_kept
from paprle_lab.evaluation.bodies.clearance import judge_clearance
from paprle_lab.evaluation.far import FarErrors
from paprle_lab.evaluation.latency import (
    LAG_MAX,
    LAG_MIN,
    find_joint_lags,
    list_captures,
    list_windows,
    measure_command_age,
)
from paprle_lab.evaluation.limb import LimbResult, measure_limb
from paprle_lab.evaluation.metrics import Spans, is_inside, spread
from paprle_lab.evaluation.reporting.report_text import describe_clearance
from paprle_lab.evaluation.smoothness import measure_smoothness
from paprle_lab.evaluation.store import NumberColumn, Rows, Table, cut, find_row
from paprle_lab.evaluation.stored import StoredEpisode
from paprle_lab.evaluation.timing import (
    count_interventions,
    find_period,
    judge,
    make_limits,
    measure_ticks,
)
from paprle_lab.evaluation.tracking import describe_tracking, judge_tracking
from paprle_lab.evaluation.tracks import (
    find_engaged,
    find_origin_ns,
    make_tracks,
    store_new_samples,
)

Json = dict[str, Any]

MS = 1e3
HEADLINE = (
    "ate_mm",
    "reach",
    "rpe",
    "orientation_deg",
    "lag_ms",
    "colours",
    "n_samples",
)


_LONGEST_DELAY = 1.0  # [s] chosen: no leader is reconstructed from less
Recording = Episode | StoredEpisode
CLOCKS = 1.0  # [s] spec: safety.md A1: a measurement is no farther from its command


@dataclass(frozen=True, kw_only=True)
class EpisodeResult:
    """Measurements of one episode.

    Attributes:
        key: Shared by repetitions; may be empty.
        h: Period of the gate, [s].
    """

    name: str
    entry: Json
    key: str = ""
    limbs: Sequence[LimbResult] = ()
    engaged: Spans = field(default_factory=lambda: np.zeros((0, 2)))
    origin_ns: int = 0
    ticks: Table | None = None
    gate: Table | None = None
    robot: RobotInfo | None = None
    urdf: Urdf | None = None
    h: float | None = None


def measure_episode(path: Path) -> EpisodeResult:
    """Measure a file's episode; ``error`` states a failure."""
    try:
        episode = StoredEpisode(path)
    except PaprleError as err:
        entry = make_blank(path) | {"error": str(err), "notes": [str(err)]}
        return EpisodeResult(name=path.stem, entry=entry)
    return measure_source(episode)


def measure_source(episode: Recording) -> EpisodeResult:
    """Measure a loaded episode."""
    robot = episode.robot_info
    origin_ns = find_origin_ns(episode)
    engaged = find_engaged(episode, origin_ns)
    notes = [episode.note] if episode.note else []
    notes += [f"not recorded: {gap}" for gap in list_gaps(episode.manifest or {})]
    urdf = None
    try:
        chains = make_limbs(robot, episode.urdf).values()
        urdf = read_recorded_urdf(robot, episode.urdf)
        tracks = make_tracks(episode, chains, origin_ns, engaged)
    except PaprleError as err:
        tracks = []
        notes.append(f"no poses, the recorded URDF cannot be used: {err}")
    limbs = [measure_limb(track) for track in tracks]
    h = find_period(episode.gate, episode.header.get("gate_period"))
    if not len(episode.ticks):
        notes.append("the recording holds no session tick")
    elif not len(engaged):
        notes.append("the session was never ENGAGED, so there is nothing to compare")
    notes += [note for limb in limbs for note in limb.notes]
    notes += list_posture_notes(episode.events)
    entry = make_blank(episode.path)
    entry |= _describe(episode, engaged)
    entry |= pick_worst(limbs)
    entry["limbs"] = {limb.name: limb.figures for limb in limbs}
    entry["latency_ms"] = _measure_latency(episode, engaged, origin_ns)
    settings = episode.config.get("gate") or {}
    entry["gate"] = _measure_gate(episode.gate, robot, h, settings, notes)
    entry["smoothness"] = measure_smoothness(episode.gate, robot, h)
    _add_clearance(entry["gate"], episode, notes)
    if len(engaged) and tracks:
        entry["tracking"] = describe_tracking(judge_tracking(episode))
    entry["tick"] = measure_ticks(episode.ticks, _find_tick_period(episode.config))
    entry["far"] = _find_far(episode).measure()
    entry["notes"] = notes
    return EpisodeResult(
        name=episode.path.stem,
        entry=entry,
        key=_make_key(episode.header, episode.config),
        limbs=limbs,
        engaged=engaged,
        origin_ns=origin_ns,
        ticks=episode.ticks,
        gate=episode.gate,
        robot=robot,
        urdf=urdf,
        h=h,
    )


def list_posture_notes(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return notes on failed or helpful postures."""
    notes = dict[str, None]()
    for event in events:
        limb, kind = event.get("limb"), event.get("event")
        reached = event.get("reached")
        if kind == "posture" and isinstance(reached, float) and reached < 1.0:
            notes[
                f"'{limb}' did not reach {1.0 - reached:.1%} of its path from "
                f"{event.get('of')} starting posture(s) that were tried beforehand"
            ] = None
        if kind == "stuck_in_reach":
            notes[
                f"'{limb}' was stuck ({event.get('cause')}) though another posture "
                "reached its target"
            ] = None
    return list(notes)


def make_blank(path: Path) -> Json:
    """Return an entry with null values."""
    figures = dict.fromkeys(("mean", "median", "p95", "max", "rmse"))
    kinds = ("raw", "lag_compensated", "within_limits", "aligned")
    latencies = ("capture_to_command", "command_age", "command_to_motion")
    ticks = ("rate_hz", "on_time_percent", "p50_us", "p99_us")
    return {
        "episode": path.stem,
        "path": str(path),
        "error": None,
        "is_complete": False,
        "is_discarded": False,
        "end_reason": None,
        "ate_mm": {kind: dict(figures) for kind in kinds},
        "reach": None,
        "tracking": None,
        "lag_ms": None,
        "look_ahead_ms": None,
        "latency_ms": {kind: {"p50": None, "p99": None} for kind in latencies},
        "gate": {"violations": None, "interventions": None},
        "smoothness": {},
        "tick": dict.fromkeys(ticks),
        "limbs": {},
        "worst_limb": None,
        "far": None,
        "itv": None,
        "notes": [],
    }


def _find_far(episode: Recording) -> FarErrors:
    if isinstance(episode, StoredEpisode):
        return episode.far
    far = FarErrors()
    for event in episode.events:
        far.take(event)
    return far


def _describe(episode: Recording, engaged: Spans) -> Json:
    header = episode.header
    ticks = episode.ticks
    duration = 0.0
    if len(ticks):
        first, last = (
            int(ticks[k : k + 1]["stamp_ns"][0]) for k in (0, len(ticks) - 1)
        )
        duration = (last - first) * 1e-9
    return {
        **{key: header.get(key) for key in ("leader", "follower", "env")},
        "robot": episode.robot_info.name,
        "is_complete": episode.is_complete,
        "is_discarded": bool((episode.manifest or {}).get("discarded")),
        "end_reason": episode.end_reason,
        "duration_s": duration,
        "engaged_s": float((engaged[:, 1] - engaged[:, 0]).sum()),
        "look_ahead_ms": _find_look_ahead(header) * MS,
    }


def pick_worst(limbs: Sequence[LimbResult]) -> Json:
    """Return the figures of the limb with the largest raw RMSE."""
    if not limbs:
        return {}

    def badness(limb: LimbResult) -> float:
        rmse = limb.figures["ate_mm"]["raw"]["rmse"]
        return -1.0 if rmse is None else float(rmse)

    worst = max(limbs, key=badness)
    return {
        "worst_limb": worst.name,
        **{key: worst.figures[key] for key in HEADLINE},
    }


def _make_key(header: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    leader = {"leader": header.get("leader"), **(config.get("leader") or {})}
    robot = (header.get("robot") or {}).get("name")
    return json.dumps([header.get("follower"), robot, leader], sort_keys=True)


def _find_look_ahead(header: Mapping[str, Any]) -> float:
    return float(header.get("leader_info", {}).get("look_ahead", 0.0))


def _is_from_arrival(header: Mapping[str, Any]) -> bool:
    info = header.get("leader_info", {})
    every = [info, *info.get("parts", {}).values()]
    return any(one.get("is_stamped_on_arrival", False) for one in every)


def _find_reconstruction(events: Iterable[Mapping[str, Any]]) -> float:
    told = [e.get("delay") for e in events if e.get("event") == "reconstruction"]
    delays = [float(d) for d in told if isinstance(d, int | float)]
    return max((d for d in delays if 0.0 <= d <= _LONGEST_DELAY), default=0.0)


def _find_tick_period(config: Mapping[str, Any]) -> float | None:
    rate = (config.get("session") or {}).get("rate")
    return 1.0 / rate if isinstance(rate, int | float) and rate > 0 else None


def _measure_latency(episode: Recording, engaged: Spans, origin_ns: int) -> Json:
    samples, gate = store_new_samples(episode.ticks), episode.gate
    look_ahead = _find_look_ahead(episode.header)
    reconstruction = _find_reconstruction(episode.events)
    captured, ages = NumberColumn(), NumberColumn()
    for latencies in list_captures(samples, gate):
        captured.append(latencies + look_ahead + reconstruction)
    for where in cut(len(gate)):
        rows = gate[where]
        is_on = is_inside((rows["stamp_ns"] - origin_ns) * 1e-9, engaged)
        wrote_ns, setpoint_ns = rows["stamp_ns"][is_on], rows["setpoint_ns"][is_on]
        ages.append(measure_command_age(wrote_ns, setpoint_ns))
    names = episode.robot_info.joint_names
    lags = _find_lags(gate, engaged, origin_ns, len(names))
    return {
        "capture_to_command": {
            **spread(captured, MS),
            "n": len(captured),
            "includes_look_ahead_ms": look_ahead * MS,
            "includes_reconstruction_ms": reconstruction * MS,
            "is_from_arrival": _is_from_arrival(episode.header),
        },
        "command_age": spread(ages, MS),
        "command_to_motion": {
            **spread(np.concatenate([np.zeros(0), *lags]), MS),
            "by_joint": {
                name: float(np.median(lag)) * MS if len(lag) else None
                for name, lag in zip(names, lags, strict=True)
            },
        },
    }


def _find_lags(gate: Table, engaged: Spans, origin_ns: int, n: int) -> list[Vec]:
    found: list[list[Vec]] = [[] for _ in range(n)]
    for begin, end in list_windows(engaged):
        near = _take_between(
            gate, begin + LAG_MIN - CLOCKS, end + LAG_MAX + CLOCKS, origin_ns
        )
        t_wrote = (near["stamp_ns"] - origin_ns) * 1e-9
        t_meas, fresh = np.unique(
            (near["meas_ns"] - origin_ns) * 1e-9, return_index=True
        )
        window = np.array([[begin, end]])
        command, motion = (t_wrote, near["q_cmd"]), (t_meas, near["q_meas"][fresh])
        for own, lags in zip(
            found, find_joint_lags(command, motion, window), strict=True
        ):
            own.append(lags)
    return [np.concatenate([np.zeros(0), *own]) for own in found]


def _take_between(gate: Table, begin: float, end: float, origin_ns: int) -> Rows:
    at = [find_row(gate, "stamp_ns", origin_ns + t * 1e9) for t in (begin, end)]
    return gate[slice(*at)]


def _measure_gate(
    gate: Table,
    robot: RobotInfo,
    h: float | None,
    settings: Mapping[str, Any],
    notes: list[str],
) -> Json:
    reasons = count_interventions(gate)
    figures: Json = {
        "violations": None,
        "interventions": sum(reasons.values()),
        "interventions_by_reason": reasons,
        **{f"gate_{key}": value for key, value in measure_ticks(gate, h).items()},
    }
    if h is None:
        notes.append("the gate's period is not known, so q_cmd was not judged")
        return figures
    verdict = judge(gate, make_limits(robot, h, settings))
    return figures | {
        "violations": verdict.n_violations,
        "violations_by_invariant": dict(verdict.counts),
        "oracle": str(verdict),
        "period_s": h,
    }


def _add_clearance(figures: Json, episode: Recording, notes: list[str]) -> None:
    figures |= {"min_clearance_mm": None, "nearest_pair": None, "kept": []}
    try:
        found = judge_clearance(episode)
    except PaprleError as err:
        notes.append(f"no clearance, the recorded URDF cannot be used: {err}")
        return
    if found is None or figures["violations"] is None:
        return
    figures["min_clearance_mm"] = found.nearest * MS
    figures["nearest_pair"], figures["kept"] = list(found.pair), find_kept(episode)
    figures["violations"] += found.n_violations
    figures["violations_by_invariant"]["C1"] = found.n_violations
    figures["oracle"] += f"\nclearance C1 {describe_clearance(figures)}"
