"""States of a feedback step.

=============  ==================================================
``SILENT``     Inputs are not fresh: limp, restart.
``FIRST``      Nothing was rendered before: limp, motion unknown.
``STALLED``    The step before was too long ago: as ``FIRST``.
``STANDING``   No newer sample: the torque stands.
``OVERSPEED``  The leader is too fast: damping alone (F4).
``RENDERING``  Laws are evaluated.
=============  ==================================================
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple


class RenderState(Enum):
    """State of a feedback step."""

    SILENT = auto()
    FIRST = auto()
    STALLED = auto()
    STANDING = auto()
    OVERSPEED = auto()
    RENDERING = auto()


class RenderSituation(NamedTuple):
    """Facts about a step; ``speed`` of the fastest joint, [rad/s]; NaN: too fast."""

    is_accepted: bool
    was_silent: bool
    since_step_ns: int
    since_sample_ns: int
    speed: float


class Bounds(NamedTuple):
    """Longest step, [ns], and largest speed, [rad/s]."""

    stale_ns: int
    overspeed: float


_RULES: tuple[tuple[RenderState, Callable[[RenderSituation, Bounds], bool]], ...] = (
    (RenderState.SILENT, lambda now, _: not now.is_accepted),
    (RenderState.FIRST, lambda now, _: now.was_silent),
    (RenderState.STALLED, lambda now, most: now.since_step_ns > most.stale_ns),
    (RenderState.STANDING, lambda now, _: now.since_sample_ns <= 0),
    (RenderState.OVERSPEED, lambda now, most: not now.speed <= most.overspeed),
    (RenderState.RENDERING, lambda *_: True),
)
"""The first rule that holds says what to do."""


def find_render_state(now: RenderSituation, bounds: Bounds) -> RenderState:
    """Return the state of a step."""
    return next(state for state, holds in _RULES if holds(now, bounds))
