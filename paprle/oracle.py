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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

INVARIANTS: Mapping[str, str] = {
    "M1": "finite",
    "M2": "position",
    "M3": "velocity",
    "M4": "acceleration",
    "M5": "jerk",
    "V1": "viability",
    "T1": "spacing",
}
"""What is judged: the identifier in docs/SAFETY.md and its everyday name."""

RELATIVE = 1e-9  # spec: M3 to M5 of docs/SAFETY.md, relative to V
ABSOLUTE = 1e-9  # [rad] chosen: far below any encoder, far above rounding
SPACING = 0.8  # spec: T1 of docs/SAFETY.md, share of h
STAMP_NS = 1  # [ns] chosen: stamps are rounded to whole nanoseconds
BLOCK = 8192  # chosen: a block of a 7-joint arm stays inside the cache
SHOWN = 8  # chosen: findings kept for each invariant


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a command sequence is held to.

    Attributes:
        q_min: Lower position limits, shape (n,), [rad] or [m]; -inf: none.
        q_max: Upper position limits, shape (n,); +inf: none.
        dq_max: Velocity limits V, shape (n,), or one row a sample, shape (N, n).
        ddq_max: Acceleration limits A, shape (n,).
        h: Nominal period of a command, [s].
        dddq_max: Jerk limits J, shape (n,); None: jerk is not judged.
        joint_names: Names for messages; indices are used when empty.

    Raises:
        ValueError: If shapes differ or a number is no limit.
    """

    q_min: Vec
    q_max: Vec
    dq_max: Vec
    ddq_max: Vec
    h: float
    dddq_max: Vec | None = None
    joint_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        vectors = ["q_min", "q_max", "dq_max", "ddq_max"]
        for name in vectors + ["dddq_max"] * (self.dddq_max is not None):
            array = np.array(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, array)
            if array.shape[-1:] != self.q_min.shape or np.isnan(array).any():
                message = f"limits: expected {name} of {self.q_min.shape}, no NaN"
                raise ValueError(f"{message}, got {array.shape}")
        if not (np.isfinite(self.h) and self.h > 0):
            raise ValueError(f"limits: expected a period h > 0, got {self.h}")
        if not ((self.ddq_max > 0).all() and (self.dq_max >= 0).all()):
            raise ValueError("limits: expected ddq_max > 0 and dq_max >= 0")
        if self.dddq_max is not None and not (self.dddq_max > 0).all():
            raise ValueError("limits: expected dddq_max > 0")
        if not (self.q_min <= self.q_max).all():
            raise ValueError("limits: expected q_min <= q_max for every joint")

    @property
    def n_turning(self) -> int:
        """Periods that J leaves for turning the acceleration from A to −A."""
        if self.dddq_max is None:
            return 1
        turning = 2 * self.ddq_max / (self.dddq_max * self.h)
        return max(1, int(np.ceil(turning.max() * (1 - RELATIVE))))


@dataclass(frozen=True, slots=True)
class Violation:
    """One command that broke one invariant.

    Attributes:
        invariant: Key of ``INVARIANTS``.
        index: Index of the sample.
        joint: Index of the joint; -1 when it concerns all.
        value: What was found: position, velocity, acceleration, where a full brake
            would end (V1), or time since the last command (T1).
        limit: What was allowed.
    """

    invariant: str
    index: int
    joint: int
    value: float
    limit: float


@dataclass(frozen=True)
class Verdict:
    """What the judge found.

    Attributes:
        n_samples: Number of commands judged.
        counts: Number of samples in violation, by invariant judged; T1
            is judged only when there are stamps, M5 when there is J.
        violations: The first few findings of each invariant, in order of samples.
        joint_names: Names for the text.
    """

    n_samples: int
    counts: Mapping[str, int]
    violations: tuple[Violation, ...] = ()
    joint_names: tuple[str, ...] = field(default=(), repr=False)

    @property
    def is_ok(self) -> bool:
        """True when no invariant was broken."""
        return self.n_violations == 0

    @property
    def n_violations(self) -> int:
        """Number of (sample, invariant) pairs in violation."""
        return sum(self.counts.values())

    def __str__(self) -> str:
        if self.is_ok:
            return f"ok: {self.n_samples} commands keep {', '.join(self.counts)}"
        broken = [
            f"{key} {INVARIANTS[key]}: {count}"
            for key, count in self.counts.items()
            if count
        ]
        head = f"VIOLATED in {self.n_samples} commands: {'; '.join(broken)}"
        return "\n".join([head, *(self._line(item) for item in self.violations)])

    def _line(self, found: Violation) -> str:
        if found.joint < 0:
            joint = ""
        elif self.joint_names:
            joint = f" joint '{self.joint_names[found.joint]}'"
        else:
            joint = f" joint {found.joint}"
        name = f"{found.invariant} {INVARIANTS[found.invariant]}"
        return (
            f"  sample {found.index}{joint}: {name} "
            f"{found.value:.12g}, limit {found.limit:.12g}"
        )


class _History(NamedTuple):
    """What the judge remembers between samples; NaN where it cannot know."""

    c: Vec  # last command
    v: Vec  # its velocity
    a: Vec  # its acceleration
    allowed: Vec  # speeds of the last periods, shape (n_turning, n)
    lowest: Vec  # of all commands so far
    highest: Vec


class _Finding(NamedTuple):
    """Values, allowed values and where they disagree; all of shape (N, n)."""

    value: Vec
    limit: Vec
    bad: Mask


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
    is_known = {"T1": stamps is not None, "M5": limits.dddq_max is not None}
    judged = [key for key in INVARIANTS if is_known.get(key, True)]
    counts = dict.fromkeys(judged, 0)
    shown: list[Violation] = []
    for begin, end in _segments(len(c), armed_at or ()):
        start = c[begin] if begin or q_start is None else q_start
        history = _first_history(start, limits)
        for low in range(begin, end, BLOCK):
            block = slice(low, min(low + BLOCK, end))
            findings, history = _judge(c[block], V[block], history, limits)
            for key, finding in findings.items():
                _note(key, finding, low, counts, shown)
    if stamps is not None:
        _note("T1", _judge_spacing(stamps, limits.h), 1, counts, shown)
    shown.sort(key=lambda found: found.index)
    return Verdict(len(c), counts, tuple(shown), limits.joint_names)


class OracleStream:
    """The same judge, one command at a time."""

    def __init__(self, limits: Limits, q_start: npt.ArrayLike | None = None) -> None:
        self.limits = limits
        self._history: _History | None = None
        self._t_ns: int | None = None
        if q_start is not None:
            self._history = _first_history(q_start, limits)

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
            self._history = _first_history(c[0], self.limits)
        findings, self._history = _judge(c, V, self._history, self.limits)
        broken = [key for key, finding in findings.items() if finding.bad.any()]
        if t_ns is not None:
            if self._t_ns is not None:
                stamps = np.array([self._t_ns, t_ns], dtype=np.int64)
                if _judge_spacing(stamps, self.limits.h).bad.any():
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
        raise ValueError(f"dq_max: expected {len(c)} rows, one a sample, got {got}")
    stamps = None if t_ns is None else np.asarray(t_ns, dtype=np.int64)
    if stamps is not None and stamps.shape != (len(c),):
        raise ValueError(f"t_ns: expected shape ({len(c)},), got {stamps.shape}")
    return c, np.broadcast_to(limits.dq_max, c.shape), stamps


def _segments(n: int, armed_at: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (begin, end) of the stretches between armings."""
    cuts = sorted({0, n, *(int(k) for k in armed_at if 0 < k < n)})
    yield from zip(cuts[:-1], cuts[1:], strict=True)


def _first_history(start: npt.ArrayLike, limits: Limits) -> _History:
    """Return the memory before the first sample, from one or two past commands."""
    past = np.atleast_2d(np.array(start, dtype=np.float64))
    past[~np.isfinite(past)] = np.nan
    v = (past[-1] - past[0]) / limits.h
    a = np.where(v == 0, 0.0, np.nan)  # what was before a start in motion is not known
    slowest = np.abs(np.broadcast_to(v, (limits.n_turning, len(v))))
    return _History(past[-1], v, a, slowest, past[-1], past[-1])


def _judge(
    c: Vec, V: Vec, past: _History, limits: Limits
) -> tuple[dict[str, _Finding], _History]:
    """Judge commands of shape (N, n) that follow ``past``."""
    is_finite = np.isfinite(c)
    all_finite = bool(is_finite.all())
    known = c if all_finite else np.where(is_finite, c, np.nan)
    c_prev = np.concatenate([past.c[None], known[:-1]])
    with np.errstate(over="ignore", invalid="ignore"):
        v = (known - c_prev) / limits.h
        v_prev = np.concatenate([past.v[None], v[:-1]])
        rounding = np.finfo(float).eps * np.maximum(np.abs(known), np.abs(c_prev))
        lowest = np.fmin.accumulate(np.concatenate([past.lowest[None], known]))
        highest = np.fmax.accumulate(np.concatenate([past.highest[None], known]))
        lower = np.fmin(limits.q_min, highest[:-1])
        upper = np.fmax(limits.q_max, lowest[:-1])
        allowed = _find_allowed(V, v_prev, past, limits)
        a = (v - v_prev) / limits.h
        findings = {
            "M1": _Finding(c, np.full_like(c, np.inf), ~is_finite),
            "M2": _judge_position(known, lower, upper),
            "M3": _judge_velocity(v, allowed, limits, rounding),
            "M4": _judge_acceleration(a, V, limits, rounding),
            "V1": _judge_viability(known, v, lower, upper, limits),
        }
        if limits.dddq_max is not None:
            findings["M5"] = _judge_jerk(
                np.diff(a, axis=0, prepend=past.a[None]) / limits.h,
                limits.dddq_max,
                2 * RELATIVE * V / limits.h**2 + 4 * rounding / limits.h**3,
            )
    kept = allowed[-limits.n_turning :]
    return findings, _History(known[-1], v[-1], a[-1], kept, lowest[-1], highest[-1])


def _judge_position(c: Vec, lower: Vec, upper: Vec) -> _Finding:
    """M2, within limits that a start outside has widened."""
    above = c > upper + ABSOLUTE
    bad = above | (c < lower - ABSOLUTE)
    return _Finding(c, np.where(above, upper, lower), bad)


def _find_allowed(V: Vec, v_prev: Vec, past: _History, limits: Limits) -> Vec:
    """Return the speeds of M3: V, or braking down to it at A after V was lowered.

    Where the jerk is limited, braking takes a while to begin. How long is bounded by
    the time in which J turns the acceleration around, so what counts is what a limiter
    without J might have had at any time since.

    Args:
        V: Velocity limits, shape (N, n), [rad/s].
        v_prev: Velocities of the samples before, shape (N, n), [rad/s].
        past: Gives what was allowed before.
        limits: Gives A, J and h.

    Returns:
        Those of the last periods, then those of these samples, shape
        (n_turning + N, n), [rad/s].
    """
    change = limits.ddq_max * limits.h
    if limits.dddq_max is None:
        return np.concatenate([past.allowed, np.fmax(V, np.abs(v_prev) - change)])
    speeds = np.concatenate([past.allowed, V])
    passed = np.arange(len(speeds))[:, None] * change
    return np.fmax.accumulate(speeds + passed) - passed


def _judge_velocity(v: Vec, allowed: Vec, limits: Limits, rounding: Vec) -> _Finding:
    """M3: at most what is allowed, or was while the acceleration turned.

    Args:
        v: Velocities, shape (N, n), [rad/s].
        allowed: Speeds of the last periods, and of these, shape (n_turning + N, n).
        limits: Gives h.
        rounding: Of the commands, shape (N, n), [rad].

    Returns:
        The finding.
    """
    n_before = len(allowed) - len(v)
    if limits.dddq_max is None:
        limit = allowed[n_before:]
    else:
        windows = np.lib.stride_tricks.sliding_window_view(allowed, n_before, axis=0)
        limit = windows.max(axis=-1)[1:]
    bad = np.abs(v) > limit * (1 + RELATIVE) + rounding / limits.h
    return _Finding(v, limit, bad)


def _judge_acceleration(a: Vec, V: Vec, limits: Limits, rounding: Vec) -> _Finding:
    """M4: the difference of two velocities."""
    slack = RELATIVE * V / limits.h + 2 * rounding / limits.h**2
    return _Finding(
        a,
        np.broadcast_to(limits.ddq_max, a.shape),
        np.abs(a) > limits.ddq_max + slack,
    )


def _judge_jerk(jerk: Vec, dddq_max: Vec, slack: Vec) -> _Finding:
    """M5: the difference of two accelerations."""
    limit = np.broadcast_to(dddq_max, jerk.shape)
    return _Finding(jerk, limit, np.abs(jerk) > limit + slack)


def _judge_viability(
    c: Vec, v: Vec, lower: Vec, upper: Vec, limits: Limits
) -> _Finding:
    """V1: a full brake from here, starting with the next command, ends in time.

    The brake sends speeds s - g, s - 2g, … with s = abs(v), g = A h, as long as they
    are positive: those are the first m = floor(s / g) of them. Summed, each for one
    period, they travel h (m s - g m (m + 1) / 2).

    Returns:
        Where the brake ends, and the bound ahead.
    """
    g = limits.ddq_max * limits.h
    speed = np.abs(v)
    m = np.floor(speed / g)
    rest = c + np.sign(v) * limits.h * (m * speed - g * m * (m + 1) / 2)
    bound = np.where(v > 0, upper, lower)
    beyond = np.where(v > 0, rest - upper, lower - rest)
    return _Finding(rest, bound, (m >= 1) & (beyond > ABSOLUTE))


def _judge_spacing(t_ns: npt.NDArray[np.int64], h: float) -> _Finding:
    """T1, for samples 1 … N-1; shape (N-1, 1)."""
    spacing_ns = np.diff(t_ns)[:, None]
    bad = spacing_ns < SPACING * h * 1e9 - STAMP_NS
    return _Finding(spacing_ns * 1e-9, np.full(bad.shape, SPACING * h), bad)


def _note(
    key: str,
    finding: _Finding,
    offset: int,
    counts: dict[str, int],
    shown: list[Violation],
) -> None:
    """Add a block's findings to the tally."""
    if not finding.bad.any():
        return
    room = max(SHOWN - counts[key], 0)
    for row, column in np.argwhere(finding.bad)[:room]:
        value, limit = finding.value[row, column], finding.limit[row, column]
        joint = -1 if key == "T1" else int(column)
        shown.append(
            Violation(key, offset + int(row), joint, float(value), float(limit))
        )
    counts[key] += int(finding.bad.any(axis=1).sum())
