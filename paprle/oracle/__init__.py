"""Independent judge of a command sequence: did it keep the motion invariants?

It looks at nothing but the numbers that were sent. It shares no code, no formula and
no import with the gate: speed and acceleration are backward differences of commands in
command time (one nominal period ``h`` a sample), and viability is asked directly, by
adding up what a full brake from each command would still travel. NumPy and the
standard library only.

A finding is a bound plus a tolerance: the relative slack that the invariant itself
grants (1e-9) and the rounding that a float64 position of that size brings along.
A difference that touches a sample that is not finite is not judged: M1 has it already.
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
    Finding,
    History,
    Limits,
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
    "Limits",
    "OracleStream",
    "Verdict",
    "Violation",
    "check_commands",
]

BLOCK = 8192  # chosen: a block of a 7-joint arm stays inside the cache
SHOWN = 8  # chosen: findings kept for each invariant


def check_commands(
    q_cmd: npt.ArrayLike,
    limits: Limits,
    *,
    t_ns: npt.ArrayLike | None = None,
    armed_at: Sequence[int] | None = None,
    q_start: npt.ArrayLike | None = None,
) -> Verdict:
    """Judge a whole command sequence.

    Before the first sample the robot stood at ``q_start``, or at the first sample when
    that is not given. Starting outside the position limits widens them to the start;
    from there only inward motion is allowed.

    Args:
        q_cmd: Commands, shape (N, n), [rad] or [m].
        limits: What they are held to.
        t_ns: When each was sent, shape (N,), [ns]; T1 is judged when given.
        armed_at: Samples at which the sequence starts anew at rest, because the gate
            was armed there; sample 0 is one anyway.
        q_start: Last command before the first sample, shape (n,), or the last two,
            oldest first, shape (2, n), when the sequence starts in motion.

    Returns:
        The verdict.

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
    """The same judge of a sequence without armings in between, in pieces.

    Attributes:
        n_samples: Number of commands judged.
        counts: Number of samples in violation, by invariant judged.
        violations: The first few findings of each invariant.
    """

    def __init__(self, limits: Limits, q_start: npt.ArrayLike | None = None) -> None:
        self.n_samples = 0
        self.counts = dict.fromkeys(filter(limits.knows, INVARIANTS), 0)
        self.violations: list[Violation] = []
        self._limits = limits
        self._history: History | None = None
        self._last_ns: npt.NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        if q_start is not None:
            self._history = begin_history(q_start, limits)

    def add(self, q_cmd: npt.ArrayLike, dq_max: Vec, t_ns: npt.ArrayLike) -> None:
        """Judge the next commands.

        Args:
            q_cmd: Commands, shape (N, n), [rad] or [m].
            dq_max: Velocity limits of each, shape (N, n).
            t_ns: When each was sent, shape (N,), [ns].
        """
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
    """The same judge, one command at a time."""

    def __init__(self, limits: Limits, q_start: npt.ArrayLike | None = None) -> None:
        self.limits = limits
        self._history: History | None = None
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
        """Judge the next command.

        Args:
            q_cmd: Command, shape (n,).
            t_ns: When it was sent, [ns]; T1 is judged when given.
            dq_max: Velocity limits of this sample; ``limits.dq_max`` when absent.

        Returns:
            Keys of ``INVARIANTS`` that this command broke; empty when all is well.
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


def _shaped(q_cmd: npt.ArrayLike, limits: Limits, t_ns: Any) -> tuple[Vec, Vec, Any]:
    """Return commands and V, both (N, n), and stamps, (N,), or raise."""
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
    """Yield (begin, end) of the stretches between armings."""
    cuts = sorted({0, n, *(int(k) for k in armed_at if 0 < k < n)})
    yield from zip(cuts[:-1], cuts[1:], strict=True)


def _note(
    key: str,
    finding: Finding,
    offset: int,
    counts: dict[str, int],
    shown: list[Violation],
) -> None:
    """Add a block's findings to the tally."""
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
