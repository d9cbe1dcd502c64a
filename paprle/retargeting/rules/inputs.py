"""Kinds of axis numbers: speeds, presses, or places (AdaptiX, requirement X14)."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from paprle.contracts.types import Vec

InputKind = Literal["continuous", "discrete", "absolute"]

REST = 1e-3  # chosen: a stick at rest that is a little off its middle
_PRESSED = 0.5  # chosen: half way, as digital switches have it
_PRESS = 0.2  # [s] chosen: a press moves 20 mm at 0.1 m/s, or 6° at 0.5 rad/s
_SLIDER = 2.0  # [s] chosen: from its middle to its end a slider moves 0.2 m at 0.1 m/s
_PAID = 1e-9  # [s] chosen: rounding owes nothing


class Pushed(NamedTuple):
    """Motion that axes have asked for.

    Attributes:
        u: Their last numbers, shape (m,).
        owed: Remaining time at full deflection, shape (m,), [s].
    """

    u: Vec
    owed: Vec


def read_input(
    kind: InputKind, u: Vec, before: Pushed, dt: float
) -> tuple[Vec, Pushed]:
    """Return deflections, shape (m,) in [-1, 1], and the motion asked for.

    ``continuous`` numbers are deflections, a ``discrete`` one steps as it crosses a
    half, an ``absolute`` one moves as far as it changes; ``dt`` is in [s].
    """
    if kind == "continuous":
        return u, before._replace(u=u)
    if kind == "discrete":
        is_new = (np.abs(u) > _PRESSED) & (np.abs(before.u) <= _PRESSED)
        owed = before.owed + _PRESS * np.where(is_new, np.sign(u), 0.0)
    else:
        owed = before.owed + _SLIDER * (u - before.u)
    if dt <= 0.0:
        return np.zeros_like(u), Pushed(u, owed)
    deflection = np.clip(owed / dt, -1.0, 1.0)
    owed = owed - deflection * dt
    return deflection, Pushed(u, np.where(np.abs(owed) < _PAID, 0.0, owed))
