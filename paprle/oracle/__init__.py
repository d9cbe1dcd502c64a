"""Independent judge of a command sequence by the motion invariants.

It shares no code with the gate: backward differences at period ``h`` and summed full
brakes, with relative slack 1e-9 and float64 rounding; M1 alone judges non-finite ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.oracle.invariants import (
    INVARIANTS,
    MOST_TURNING,
    InvariantCheck,
    JudgedLimits,
    JudgeHistory,
    Vec,
    begin_history,
    judge,
    judge_spacing,
)
from paprle.oracle.verdict import Verdict, Violation

__all__ = [
    "INVARIANTS",
    "MOST_TURNING",
    "CommandJudge",
    "JudgedLimits",
    "OracleStream",
    "Verdict",
    "Violation",
    "check_commands",
]

BLOCK = 8192  # chosen: a block of a 7-joint arm stays inside the cache
SHOWN = 8  # chosen: findings kept for each invariant


def check_commands(
    q_cmd: npt.ArrayLike,
    limits: JudgedLimits,
    *,
    t_ns: npt.ArrayLike | None = None,
    armed_at: Sequence[int] | None = None,
    q_start: npt.ArrayLike | None = None,
) -> Verdict:
    """Return the verdict on a whole command sequence.

    It starts at rest at ``q_start`` or the first sample. A start outside position
    limits widens them; then only inward motion is allowed.

    Args:
        q_cmd: (N, n), [rad] or [m].
        limits: Of the commands.
        t_ns: Stamps, (N,), [ns]; T1 needs them.
        armed_at: Samples at which the gate was armed, at rest; 0 is one.
        q_start: Last command, (n,), or last two, (2, n), for a start in motion.

    Raises:
        ValueError: If shapes do not fit.
    """
    c, V, stamps = _shaped(q_cmd, limits, t_ns)
    counts = dict.fromkeys(filter(limits.knows, INVARIANTS), 0)
    if stamps is None:
        del counts["T1"]
    shown: list[Violation] = []
    for begin, end in _segments(len(c), armed_at or ()):
        start = c[begin] if begin or q_start is None else q_start
        history = begin_history(start, limits)
        for low in range(begin, end, BLOCK):
            block = slice(low, min(low + BLOCK, end))
            findings, history = judge(c[block], V[block], history, limits)
            for key, finding in findings.items():
                _note(key, finding, low, counts, shown)
    if stamps is not None:
        _note("T1", judge_spacing(stamps, limits.h), 1, counts, shown)
    shown.sort(key=lambda found: found.index)
    return Verdict(len(c), counts, tuple(shown), limits.joint_names)


class CommandJudge:
    """Judge of consecutive pieces without armings."""

    def __init__(
        self, limits: JudgedLimits, q_start: npt.ArrayLike | None = None
    ) -> None:
        self.n_samples = 0
        self.counts = dict.fromkeys(filter(limits.knows, INVARIANTS), 0)
        self.violations: list[Violation] = []
        self._limits = limits
        self._history: JudgeHistory | None = None
        self._last_ns: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        if q_start is not None:
            self._history = begin_history(q_start, limits)

    def add(self, q_cmd: npt.ArrayLike, dq_max: Vec, t_ns: npt.ArrayLike) -> None:
        """Judge the next commands, (N, n), by V, (N, n), and stamps, (N,), [ns]."""
        limits = replace(self._limits, dq_max=dq_max)
        c, V, stamps = _shaped(q_cmd, limits, t_ns)
        if not len(c):
            return
        past = self._history or begin_history(c[0], limits)
        findings, self._history = judge(c, V, past, limits)
        for key, finding in findings.items():
            _note(key, finding, self.n_samples, self.counts, self.violations)
        stamps = np.concatenate([self._last_ns, stamps])
        first = self.n_samples + 1 - len(self._last_ns)
        spacing = judge_spacing(stamps, limits.h)
        _note("T1", spacing, first, self.counts, self.violations)
        self._last_ns = stamps[-1:]
        self.n_samples += len(c)


class OracleStream:
    """Judge of single commands."""

    def __init__(
        self, limits: JudgedLimits, q_start: npt.ArrayLike | None = None
    ) -> None:
        self.limits = limits
        self._history: JudgeHistory | None = None
        self._t_ns: int | None = None
        if q_start is not None:
            self._history = begin_history(q_start, limits)

    def step(
        self,
        q_cmd: npt.ArrayLike,
        *,
        t_ns: int | None = None,
        dq_max: npt.ArrayLike | None = None,
    ) -> tuple[str, ...]:
        """Return the ``INVARIANTS`` keys that the next command, (n,), broke.

        T1 needs ``t_ns``, [ns]; ``dq_max`` is by default ``limits.dq_max``.
        """
        c = np.asarray(q_cmd, dtype=np.float64)[None, :]
        V = np.atleast_2d(self.limits.dq_max if dq_max is None else dq_max)
        if self._history is None:
            self._history = begin_history(c[0], self.limits)
        findings, self._history = judge(c, V, self._history, self.limits)
        broken = [key for key, finding in findings.items() if finding.bad.any()]
        if t_ns is not None:
            if self._t_ns is not None:
                stamps = np.array([self._t_ns, t_ns], dtype=np.int64)
                if judge_spacing(stamps, self.limits.h).bad.any():
                    broken.append("T1")
            self._t_ns = t_ns
        return tuple(broken)


def _shaped(
    q_cmd: npt.ArrayLike, limits: JudgedLimits, t_ns: Any
) -> tuple[Vec, Vec, Any]:
    n = len(limits.q_min)
    c = np.asarray(q_cmd, dtype=np.float64)
    if c.ndim != 2 or c.shape[1] != n:
        raise ValueError(f"q_cmd: expected shape (N, {n}), got {c.shape}")
    if limits.dq_max.ndim == 2 and len(limits.dq_max) != len(c):
        got = len(limits.dq_max)
        raise ValueError(f"dq_max: expected {len(c)} rows, one per sample, got {got}")
    stamps = None if t_ns is None else np.asarray(t_ns, dtype=np.int64)
    if stamps is not None and stamps.shape != (len(c),):
        raise ValueError(f"t_ns: expected shape ({len(c)},), got {stamps.shape}")
    return c, np.broadcast_to(limits.dq_max, c.shape), stamps


def _segments(n: int, armed_at: Sequence[int]) -> Iterator[tuple[int, int]]:
    cuts = sorted({0, n, *(int(k) for k in armed_at if 0 < k < n)})
    yield from zip(cuts[:-1], cuts[1:], strict=True)


def _note(
    key: str,
    finding: InvariantCheck,
    offset: int,
    counts: dict[str, int],
    shown: list[Violation],
) -> None:
    if not finding.bad.any():
        return
    room = SHOWN - sum(found.invariant == key for found in shown)
    for row, column in np.argwhere(finding.bad)[:room]:
        value, limit = finding.value[row, column], finding.limit[row, column]
        joint = -1 if key == "T1" else int(column)
        shown.append(
            Violation(key, offset + int(row), joint, float(value), float(limit))
        )
    counts[key] += int(finding.bad.any(axis=1).sum())
