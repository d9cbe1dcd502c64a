"""Invariants and limits of commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

ABSOLUTE = 1e-9  # [rad] chosen: far below any encoder, far above rounding
SPACING = 0.8  # spec: T1 of docs/SAFETY.md, share of h
STAMP_NS = 1  # [ns] chosen: stamps are rounded to whole nanoseconds


INVARIANTS: Mapping[str, str] = {
    "M1": "finite",
    "M2": "position",
    "M3": "velocity",
    "M4": "acceleration",
    "M5": "jerk",
    "V1": "viability",
    "T1": "spacing",
}
"""Invariants: the identifier in docs/SAFETY.md and its everyday name."""

OPTIONAL: Mapping[str, str] = {"M5": "dddq_max"}
"""Limits without which an invariant is not judged."""

MOST_TURNING = 10_000  # chosen: a second at 10 kHz; so many rows are remembered
RELATIVE = 1e-9  # spec: M3 to M5 of docs/SAFETY.md, relative to V


@dataclass(frozen=True, kw_only=True)
class JudgedLimits:
    """Limits of a command sequence.

    Attributes:
        q_min: (n,), [rad] or [m]; -inf: none.
        q_max: (n,); +inf: none.
        dq_max: V, (n,) or (N, n).
        ddq_max: A, (n,).
        h: Nominal period, [s].
        dddq_max: J, (n,); None: not judged.

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

    @classmethod
    def of(cls, robot: Any, h: float, **others: Any) -> JudgedLimits:
        """Return a ``RobotInfo``'s limits at period ``h`` [s], with overrides."""
        shared = [part.name for part in fields(cls) if part.name != "h"]
        own = {name: getattr(robot, name) for name in shared if name not in others}
        return cls(h=h, **own, **others)

    def knows(self, invariant: str) -> bool:
        """Return whether an invariant's limits are given."""
        name = OPTIONAL.get(invariant)
        return name is None or getattr(self, name) is not None

    def __post_init__(self) -> None:
        optional = [name for key, name in OPTIONAL.items() if self.knows(key)]
        for name in ["q_min", "q_max", "dq_max", "ddq_max", *optional]:
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
        if not self.count_turning() <= MOST_TURNING:
            raise ValueError(
                f"limits: expected A to turn around within {MOST_TURNING} periods of J"
            )
        if not (self.q_min <= self.q_max).all():
            raise ValueError("limits: expected q_min <= q_max for every joint")

    def count_turning(self) -> float:
        """Return the periods to turn A to −A within J; may be infinite."""
        if self.dddq_max is None:
            return 1.0
        with np.errstate(divide="ignore", over="ignore"):
            turning = 2 * self.ddq_max / (self.dddq_max * self.h)
        return float(np.ceil(turning.max(initial=0.0) * (1 - RELATIVE)))

    @property
    def n_turning(self) -> int:
        """Whole periods to turn A to −A, at least 1."""
        return max(1, int(self.count_turning()))


class JudgeHistory(NamedTuple):
    """Past of the judge; NaN where unknown."""

    c: Vec  # last command
    v: Vec  # its velocity
    a: Vec  # its acceleration
    allowed: Vec  # speeds of the last periods, shape (n_turning, n)
    lowest: Vec  # of all commands so far
    highest: Vec


class InvariantCheck(NamedTuple):
    """Values, limits and violations, (N, n)."""

    value: Vec
    limit: Vec
    bad: Mask


def begin_history(start: npt.ArrayLike, limits: JudgedLimits) -> JudgeHistory:
    """Return the history of one or two commands."""
    past = np.atleast_2d(np.array(start, dtype=np.float64))
    past[~np.isfinite(past)] = np.nan
    v = (past[-1] - past[0]) / limits.h
    # of two commands it is not known whether they are a turn in motion
    a = np.full_like(v, 0.0 if len(past) == 1 else np.nan)
    slowest = np.abs(np.broadcast_to(v, (limits.n_turning, len(v))))
    return JudgeHistory(past[-1], v, a, slowest, past[-1], past[-1])


def judge(
    c: Vec, V: Vec, past: JudgeHistory, limits: JudgedLimits
) -> tuple[dict[str, InvariantCheck], JudgeHistory]:
    """Judge commands, (N, n), that follow ``past``."""
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
            "M1": InvariantCheck(c, np.full_like(c, np.inf), ~is_finite),
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
    return findings, JudgeHistory(
        known[-1], v[-1], a[-1], kept, lowest[-1], highest[-1]
    )


def _judge_position(c: Vec, lower: Vec, upper: Vec) -> InvariantCheck:
    above = c > upper + ABSOLUTE
    bad = above | (c < lower - ABSOLUTE)
    return InvariantCheck(c, np.where(above, upper, lower), bad)


def _find_allowed(V: Vec, v_prev: Vec, past: JudgeHistory, limits: JudgedLimits) -> Vec:
    """Return M3's speeds, (n_turning + N, n): V, or braking to it at A."""
    # Where the jerk is limited, braking takes a while to begin. How long is bounded by
    # the time in which J turns the acceleration around, so what counts is what a
    # limiter without J might have had at any time since.
    change = limits.ddq_max * limits.h
    if limits.dddq_max is None:
        return np.concatenate([past.allowed, np.fmax(V, np.abs(v_prev) - change)])
    speeds = np.concatenate([past.allowed, V])
    passed = np.arange(len(speeds))[:, None] * change
    return np.fmax.accumulate(speeds + passed) - passed


def _judge_velocity(
    v: Vec, allowed: Vec, limits: JudgedLimits, rounding: Vec
) -> InvariantCheck:
    n_before = len(allowed) - len(v)
    if limits.dddq_max is None:
        limit = allowed[n_before:]
    else:
        windows = np.lib.stride_tricks.sliding_window_view(allowed, n_before, axis=0)
        limit = windows.max(axis=-1)[1:]
    bad = np.abs(v) > limit * (1 + RELATIVE) + rounding / limits.h
    return InvariantCheck(v, limit, bad)


def _judge_acceleration(
    a: Vec, V: Vec, limits: JudgedLimits, rounding: Vec
) -> InvariantCheck:
    slack = RELATIVE * V / limits.h + 2 * rounding / limits.h**2
    return InvariantCheck(
        a,
        np.broadcast_to(limits.ddq_max, a.shape),
        np.abs(a) > limits.ddq_max + slack,
    )


def _judge_jerk(jerk: Vec, dddq_max: Vec, slack: Vec) -> InvariantCheck:
    limit = np.broadcast_to(dddq_max, jerk.shape)
    return InvariantCheck(jerk, limit, np.abs(jerk) > limit + slack)


def _judge_viability(
    c: Vec, v: Vec, lower: Vec, upper: Vec, limits: JudgedLimits
) -> InvariantCheck:
    # The brake sends speeds s - g, s - 2g, … with s = abs(v), g = A h, as long as they
    # are positive: those are the first m = floor(s / g) of them. Summed, each for one
    # period, they travel h (m s - g m (m + 1) / 2).
    g = limits.ddq_max * limits.h
    speed = np.abs(v)
    m = np.floor(speed / g)
    rest = c + np.sign(v) * limits.h * (m * speed - g * m * (m + 1) / 2)
    bound = np.where(v > 0, upper, lower)
    beyond = np.where(v > 0, rest - upper, lower - rest)
    return InvariantCheck(rest, bound, (m >= 1) & (beyond > ABSOLUTE))


def judge_spacing(t_ns: npt.NDArray[np.int64], h: float) -> InvariantCheck:
    """Judge T1 of samples 1 … N-1, (N-1, 1)."""
    spacing_ns = np.diff(t_ns)[:, None]
    bad = spacing_ns < SPACING * h * 1e9 - STAMP_NS
    return InvariantCheck(spacing_ns * 1e-9, np.full(bad.shape, SPACING * h), bad)
