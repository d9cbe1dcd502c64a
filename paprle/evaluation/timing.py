"""How punctual session and gate were, and what the gate did about what it was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from paprle.contracts.settings import GateSettings
from paprle.contracts.types import GateState, RobotInfo, Vec
from paprle.evaluation.tracks import Rows
from paprle.gate.gate import compute_command_limits
from paprle.gate.reasons import Reason
from paprle.oracle import Limits, Verdict, Violation, check_commands

Json = dict[str, Any]

US = 1e-3  # ns → µs


def measure_ticks(rows: Rows, period: float | None) -> Json:
    """Measure the punctuality of a loop.

    Args:
        rows: Its ticks, with ``k``, ``stamp_ns``, ``compute_ns``, ``late_ns`` and
            ``n_overruns``.
        period: Its nominal period, [s]; on_time is not told without.

    Returns:
        ``rate_hz``; ``on_time_percent``: ticks finished before the next deadline;
        ``p50_us`` and ``p99_us`` of the time a tick took; ``late_p99_us`` of its
        wake-up; ``overruns`` and ``lost``: ticks that were not recorded.
    """
    names = ("rate_hz", "on_time_percent", "p50_us", "p99_us", "late_p99_us")
    if not len(rows):
        return {**dict.fromkeys(names), "n": 0, "overruns": 0, "lost": 0}
    took_us = rows["compute_ns"] * US
    late_us = rows["late_ns"] * US
    elapsed = float(rows["stamp_ns"][-1] - rows["stamp_ns"][0]) * 1e-9
    steps = int(rows["k"][-1]) - int(rows["k"][0])
    on_time = None
    if period is not None:
        on_time = float(100.0 * np.mean(took_us + late_us <= period * 1e6))
    return {
        "rate_hz": steps / elapsed if elapsed > 0 else None,
        "on_time_percent": on_time,
        "p50_us": float(np.percentile(took_us, 50)),
        "p99_us": float(np.percentile(took_us, 99)),
        "late_p99_us": float(np.percentile(late_us, 99)),
        "n": len(rows),
        "overruns": int(rows["n_overruns"][-1]) - int(rows["n_overruns"][0]),
        "lost": max(steps + 1 - len(rows), 0),
    }


def count_interventions(gate: Rows) -> dict[str, int]:
    """Count by reason how often it set in; ticks in a row are one intervention."""
    words = gate["reasons"].astype(np.uint64)
    onsets = words & ~np.concatenate([[np.uint64(0)], words[:-1]])
    counts = {
        reason.name: int((onsets >> np.uint64(reason) & np.uint64(1)).sum())
        for reason in Reason
    }
    return {name: count for name, count in counts.items() if count}


def make_limits(
    robot: RobotInfo, h: float, gate: Mapping[str, Any] | None = None
) -> Limits:
    """Return what commands were held to: the robot's limits less the gate's margin.

    Args:
        robot: The recorded robot.
        h: Period of the gate, [s].
        gate: The recorded settings of the gate; without them there is no margin.

    Returns:
        The limits.
    """
    margin = float((gate or {}).get("position_margin", 0.0))
    settings = GateSettings(position_margin=margin)
    q_min, q_max = compute_command_limits(robot, settings)
    return Limits(
        q_min=q_min,
        q_max=q_max,
        dq_max=robot.dq_max,
        ddq_max=robot.ddq_max,
        dddq_max=robot.dddq_max,
        h=h,
        joint_names=robot.joint_names,
    )


def judge(gate: Rows, limits: Limits) -> Verdict:
    """Let the oracle judge q_cmd of a recording.

    It judges each run of consecutive gate ticks by itself. A run that begins when the
    gate is armed begins at rest; one that begins in mid-recording is given its first
    two commands as history. Nothing is sent while DISARMED.

    Returns:
        One verdict for all runs; indices are rows of ``gate``.
    """
    verdicts = [
        (begin + skip, _judge_run(gate[begin:end], skip, limits))
        for begin, end, skip in find_runs(gate)
    ]
    counts: dict[str, int] = dict(_judge_run(gate[:0], 0, limits).counts)
    shown: list[Violation] = []
    for offset, verdict in verdicts:
        for key, count in verdict.counts.items():
            counts[key] += count
        shown += [
            Violation(v.invariant, v.index + offset, v.joint, v.value, v.limit)
            for v in verdict.violations
        ]
    n = sum(verdict.n_samples for _, verdict in verdicts)
    return Verdict(n, counts, tuple(shown[:20]), limits.joint_names)


def _judge_run(run: Rows, skip: int, limits: Limits) -> Verdict:
    q_cmd: Vec = run["q_cmd"]
    scale = run["speed_scale"][skip:, None]
    return check_commands(
        q_cmd[skip:],
        replace(limits, dq_max=scale * limits.dq_max),
        t_ns=run["stamp_ns"][skip:],
        q_start=q_cmd[:skip] if skip else None,
    )


def find_runs(gate: Rows) -> Sequence[tuple[int, int, int]]:
    """Return (begin, end, n history) of the runs that can be judged."""
    k, state = gate["k"].astype(np.int64), gate["state"]
    is_sent = state != GateState.DISARMED
    is_next = np.concatenate([[False], (np.diff(k) == 1) & is_sent[:-1]])
    begins = np.flatnonzero(is_sent & ~is_next)
    breaks = np.flatnonzero(~is_sent | ~is_next)
    ends = [int(min(breaks[breaks > b], default=len(gate))) for b in begins]
    runs = []
    for begin, end in zip(begins.tolist(), ends, strict=True):
        is_armed = begin > 0 and k[begin] - k[begin - 1] == 1
        skip = 0 if is_armed else 2
        if end - begin > skip:
            runs.append((begin, end, skip))
    return runs


def find_period(gate: Rows, recorded: float | None) -> float | None:
    """Return the gate's period: as recorded, or of the whole rate it kept, [s]."""
    if recorded is not None and recorded > 0:
        return float(recorded)
    if len(gate) < 3:
        return None
    steps = np.diff(gate["stamp_ns"])[np.diff(gate["k"].astype(np.int64)) == 1]
    if not len(steps) or np.median(steps) <= 0:
        return None
    return 1.0 / max(round(1e9 / float(np.median(steps))), 1)
