"""The operator's start and end signals by the grippers; pure.

Start (P5): all open, then closed for 3 s with still arms. End (P6): the same near the
reset pose, moving or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from paprle.contracts.types import Vec

CLOSED = 0.8
"""Closure beyond which a gripper is held closed. spec: requirements.md P5, P6."""

HOLD_NS = 3_000_000_000
"""Time for which the signal is held, [ns]. spec: requirements.md P5, P6."""

_STILL = 0.01  # [rad] spec: requirements.md P5, in each 10 ms
_STILL_NS = 10_000_000  # spec: requirements.md P5


@dataclass(frozen=True, slots=True)
class Hold:
    """State of a signal, held since ``since_ns``, [ns], if at all."""

    has_opened: bool = False
    since_ns: int | None = None
    arms: tuple[Vec, ...] = ()
    arms_ns: int = 0


def step_start(
    hold: Hold, openings: Sequence[float], arms: Sequence[Vec], now_ns: int
) -> tuple[Hold, bool]:
    """Return the next state, and whether the operator asks to start."""
    hold, is_still = _watch(hold, arms, now_ns)
    return _hold(hold, openings, is_still, now_ns)


def step_end(
    hold: Hold,
    openings: Sequence[float],
    distances: Sequence[float],
    box: float,
    now_ns: int,
) -> tuple[Hold, bool]:
    """Return the next state, and whether the operator asks to end.

    ``distances`` to the reset pose, [rad], have to be within ``box``.
    """
    is_near = all(distance <= box for distance in distances)
    return _hold(hold, openings, is_near, now_ns)


def _hold(
    hold: Hold, openings: Sequence[float], is_right: bool, now_ns: int
) -> tuple[Hold, bool]:
    closures = [1.0 - opening for opening in openings]
    if closures and all(closure < CLOSED for closure in closures):
        return replace(hold, has_opened=True, since_ns=None), False
    is_held = bool(closures) and all(closure > CLOSED for closure in closures)
    if not (hold.has_opened and is_held and is_right):
        return replace(hold, since_ns=None), False
    since_ns = now_ns if hold.since_ns is None else hold.since_ns
    return replace(hold, since_ns=since_ns), now_ns - since_ns >= HOLD_NS


def _watch(hold: Hold, arms: Sequence[Vec], now_ns: int) -> tuple[Hold, bool]:
    """Record the arms every 10 ms; return whether they are still."""
    passed_ns = now_ns - hold.arms_ns
    is_same = len(arms) == len(hold.arms)
    if is_same and passed_ns < _STILL_NS:
        return hold, True
    allowed = _STILL * passed_ns / _STILL_NS
    is_still = is_same and all(
        float(np.linalg.norm(now - before)) <= allowed
        for now, before in zip(arms, hold.arms, strict=True)
    )
    return replace(hold, arms=tuple(arms), arms_ns=now_ns), is_still
