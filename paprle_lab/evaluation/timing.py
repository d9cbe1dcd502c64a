"""Punctuality and interventions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import GateState, RobotInfo, Vec
from paprle.gate.gate import compute_command_limits
from paprle.gate.reasons import Reason
from paprle.gate.smoothing import count_periods
from paprle.oracle import (
    INVARIANTS,
    MOST_TURNING,
    CommandJudge,
    JudgedLimits,
    Verdict,
    Violation,
)
from paprle_lab.evaluation.store import NumberColumn, Rows, Table, cut

Json = dict[str, Any]

US = 1e-3  # ns → µs
_SHOWN = 20  # chosen: findings told of an episode


def measure_ticks(rows: Table, period: float | None) -> Json:
    """Return the punctuality of a loop of a period, [s].

    ``on_time_percent`` counts ticks finished before the next deadline, ``lost`` those
    not recorded.
    """
    names = ("rate_hz", "on_time_percent", "p50_us", "p99_us", "late_p99_us")
    n = len(rows)
    if not n:
        return {**dict.fromkeys(names), "n": 0, "overruns": 0, "lost": 0}
    took_us, late_us, n_on_time = NumberColumn(), NumberColumn(), 0
    for where in cut(n):
        took, late = rows[where]["compute_ns"] * US, rows[where]["late_ns"] * US
        took_us.append(took)
        late_us.append(late)
        if period is not None:
            n_on_time += int((took + late <= period * 1e6).sum())
    first, last = rows[:1][0], rows[n - 1 : n][0]
    elapsed = float(last["stamp_ns"] - first["stamp_ns"]) * 1e-9
    steps = int(last["k"]) - int(first["k"])
    return {
        "rate_hz": steps / elapsed if elapsed > 0 else None,
        "on_time_percent": None if period is None else 100.0 * n_on_time / n,
        "p50_us": took_us.percentile(50),
        "p99_us": took_us.percentile(99),
        "late_p99_us": late_us.percentile(99),
        "n": n,
        "overruns": int(last["n_overruns"]) - int(first["n_overruns"]),
        "lost": max(steps + 1 - n, 0),
    }


def count_interventions(gate: Table) -> dict[str, int]:
    """Return interventions by reason; consecutive ticks count once."""
    counts = {reason.name: 0 for reason in Reason}
    last = np.zeros(1, dtype=np.uint64)
    for where in cut(len(gate)):
        words = np.concatenate([last, gate[where]["reasons"].astype(np.uint64)])
        onsets, last = words[1:] & ~words[:-1], words[-1:]
        for reason in Reason:
            bits = onsets >> np.uint64(reason) & np.uint64(1)
            counts[reason.name] += int(bits.sum())
    return {name: count for name, count in counts.items() if count}


def make_limits(
    robot: RobotInfo, h: float, gate: Mapping[str, Any] | None = None
) -> JudgedLimits:
    """Return the robot's limits less the gate's margin; h: gate period, [s]."""
    margin = float((gate or {}).get("position_margin", 0.0))
    settings = GateSettings(position_margin=margin)
    q_min, q_max = compute_command_limits(robot, settings)
    # of a file whose period is none of ours, jerk is not judged
    has_jerk = count_periods(robot, h) <= MOST_TURNING
    unjudged = {} if has_jerk else {"dddq_max": None}
    return JudgedLimits.of(robot, h, q_min=q_min, q_max=q_max, **unjudged)


def judge(gate: Table, limits: JudgedLimits) -> Verdict:
    """Return the oracle's verdict on q_cmd; indices are rows of ``gate``.

    Each run of consecutive ticks is judged by itself: from rest when the gate is armed,
    else with its first two commands as history. Commands begin at rest after DISARMED
    or a stall.
    """
    n, counts = 0, dict.fromkeys(INVARIANTS, 0)
    shown: list[Violation] = []
    for begin, skip, pieces in list_runs(gate):
        judged = _judge_run(pieces, skip, limits)
        n += judged.n_samples
        for key, count in judged.counts.items():
            counts[key] += count
        found = sorted(judged.violations, key=lambda violation: violation.index)
        shown += [
            Violation(v.invariant, v.index + begin + skip, v.joint, v.value, v.limit)
            for v in found
        ][: _SHOWN - len(shown)]
    return Verdict(n, counts, tuple(shown), limits.joint_names)


def _judge_run(pieces: Iterator[Rows], skip: int, limits: JudgedLimits) -> CommandJudge:
    first = next(pieces)
    judged = CommandJudge(limits, first["q_cmd"][:skip] if skip else None)
    _add_to(judged, first[skip:], limits)
    for rows in pieces:
        _add_to(judged, rows, limits)
    return judged


def _add_to(judged: CommandJudge, rows: Rows, limits: JudgedLimits) -> None:
    dq_max: Vec = rows["speed_scale"][:, None] * limits.dq_max
    judged.add(rows["q_cmd"], dq_max, rows["stamp_ns"])


class _Piece(NamedTuple):
    """Rows of a run within a block."""

    begin: int
    skip: int
    rows: Rows


def list_runs(gate: Table) -> Iterator[tuple[int, int, Iterator[Rows]]]:
    """Yield each run's first row, history length and pieces."""
    pieces = _list_pieces(gate)
    for (begin, skip), group in groupby(
        pieces, lambda piece: (piece.begin, piece.skip)
    ):
        head, rows = [], (piece.rows for piece in group)
        n_rows = 0
        for part in rows:
            head.append(part)
            n_rows += len(part)
            if n_rows > skip:
                yield begin, skip, _chain(np.concatenate(head), rows)
                break


def _chain(first: Rows, rest: Iterator[Rows]) -> Iterator[Rows]:
    yield first
    yield from rest


def _list_pieces(gate: Table) -> Iterator[_Piece]:
    begin, skip = 0, 0
    for where in cut(len(gate)):
        low = max(where.start - 1, 0)  # the row before tells whether a run goes on
        rows = gate[low : where.stop]
        own = where.start - low
        is_sent = (rows["state"] != GateState.DISARMED) & ~find_stalled(rows)
        is_next = np.append([False], np.diff(rows["k"].astype(np.int64)) == 1)
        goes_on = is_next & np.append([False], is_sent[:-1])
        edges = np.flatnonzero(~goes_on | ~is_sent)
        edges = np.concatenate([[own], edges[edges > own], [len(rows)]])
        for at, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            if not is_sent[at]:
                continue
            if not goes_on[at]:
                begin, skip = low + at, 0 if is_next[at] else 2
            yield _Piece(begin, skip, rows[at:end])


def find_stalled(rows: Rows) -> npt.NDArray[np.bool_]:
    """Return periods after which commands begin at rest, shape (N,) (K2)."""
    found: npt.NDArray[np.bool_] = rows["reasons"] >> np.uint64(Reason.STALLED) & 1 > 0
    return found


def find_period(gate: Table, recorded: float | None) -> float | None:
    """Return the gate's period [s], recorded or estimated."""
    if recorded is not None and recorded > 0:
        return float(recorded)
    if len(gate) < 3:
        return None
    steps = NumberColumn()
    for where in cut(len(gate)):
        rows = gate[slice(max(where.start - 1, 0), where.stop)]
        is_next = np.diff(rows["k"].astype(np.int64)) == 1
        steps.append(np.diff(rows["stamp_ns"])[is_next].astype(np.float64))
    if not len(steps) or steps.percentile(50) <= 0:
        return None
    return 1.0 / max(round(1e9 / steps.percentile(50)), 1)
