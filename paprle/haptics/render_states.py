"""States of a feedback step, decided from five facts; no torque is computed here.

=============  =====================================================================
``SILENT``     Nothing fresh may be rendered to: limp, and everything starts anew.
``FIRST``      Nothing was rendered before: limp, until it is known how it moves.
``STALLED``    The step before was too long ago: starts anew, as ``FIRST``.
``STANDING``   There is no newer sample of the leader: the torque stands.
``OVERSPEED``  The leader is too fast: it is damped, and nothing else (F4).
``RENDERING``  The laws are evaluated; who drives is another question, limb by limb.
=============  =====================================================================
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


class Situation(NamedTuple):
    """Facts about a step before anything is rendered.

    Attributes:
        is_accepted: Sample, session and leader are fresh and may be rendered to.
        was_silent: The step before was silent, or there was none.
        since_step_ns: Time since the step before, [ns].
        since_sample_ns: Time from the sample of the step before to this one, [ns].
        speed: Of the fastest joint, [rad/s]; NaN counts as too fast.
    """

    is_accepted: bool
    was_silent: bool
    since_step_ns: int
    since_sample_ns: int
    speed: float


class Bounds(NamedTuple):
    """Bounds between the states.

    Attributes:
        stale_ns: Longest time between two steps, [ns].
        overspeed: Largest speed, [rad/s].
    """

    stale_ns: int
    overspeed: float


_RULES: tuple[tuple[RenderState, Callable[[Situation, Bounds], bool]], ...] = (
    (RenderState.SILENT, lambda now, _: not now.is_accepted),
    (RenderState.FIRST, lambda now, _: now.was_silent),
    (RenderState.STALLED, lambda now, most: now.since_step_ns > most.stale_ns),
    (RenderState.STANDING, lambda now, _: now.since_sample_ns <= 0),
    (RenderState.OVERSPEED, lambda now, most: not now.speed <= most.overspeed),
    (RenderState.RENDERING, lambda *_: True),
)
"""The first rule that holds says what to do."""


def find_render_state(now: Situation, bounds: Bounds) -> RenderState:
    """Return what the step does."""
    return next(state for state, holds in _RULES if holds(now, bounds))
