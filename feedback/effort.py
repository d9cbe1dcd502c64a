"""Force on the follower from its drives' efforts.

tau = −gain · deadband(tau_follower − tau_0)

A stiff servo in contact shows almost no position error; its effort does. tau_0, weight
and friction, follows the effort slowly, only while the joint moves and neither its
position (``held``) nor a rapid growth of the effort shows contact. A standing joint
learns nothing, so a steady press stays felt.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Ge, Gt, Unit, doc

from paprle.contracts.plugins import FeedbackInput, FeedbackLaw, PluginSpec, Stiffness
from paprle.contracts.settings.base import settings
from paprle.contracts.settings.feedback import LawSettings
from paprle.contracts.types import Vec

_MOVES = 0.05  # [rad/s] chosen: in slower motion friction looks like contact
_SMOOTH = 0.02  # [s] chosen: four measurements of a gate of 200 Hz
_STEEP = 0.05  # chosen: of the drives' stiffness; an arm's weight changes less by angle
_QUICK = 2.0  # [N·m/s] chosen: an arm that swings changes its weight more slowly
_WAITS = 0.3  # [s] chosen: an effort that jumped is not free for so long

PLUGIN = PluginSpec(
    summary="The measured efforts of the follower's drives.",
    config="paprle.feedback.effort:EffortConfig",
    factory="paprle.feedback.effort:Effort",
    verified="simulator",
)


@settings
class EffortConfig(LawSettings):
    """Gain and deadband of the effort."""

    gain: Annotated[
        float, Ge(0), Unit("1"), doc("Leader torque over follower effort.")
    ] = 0.002
    deadband: Annotated[
        float, Ge(0), Unit("N·m"), doc("Effort that is not rendered: friction, noise.")
    ] = 0.3
    adapt_time: Annotated[
        float, Gt(0), Unit("s"), doc("Time in which free effort is forgotten.")
    ] = 0.5


class Memory(NamedTuple):
    """State of the law, each of shape (m,).

    Attributes:
        free: Effort of free motion, [N·m]; NaN: not measured yet.
        effort: Last measured effort, [N·m].
        q: Last follower position, [rad].
        speed: Filtered follower speed, [rad/s].
        rate: Filtered growth of the effort, [N·m/s].
        calm: Time since the effort last jumped, [s].
    """

    free: Vec
    effort: Vec
    q: Vec
    speed: Vec
    rate: Vec
    calm: Vec


class Effort(FeedbackLaw["Memory | None"]):
    """Effort law with the memory of free motion."""

    config: EffortConfig
    is_in_contact = True

    def initial(self) -> Memory | None:
        """Return None: nothing was measured yet."""

    def compute(
        self, inputs: FeedbackInput, state: Memory | None
    ) -> tuple[Vec, Memory]:
        """Return the torques of joints with a measured effort."""
        c, now, dt = self.config, inputs.tau_follower, inputs.dt
        if state is None:
            none, nil = np.full(now.size, np.nan), np.zeros(now.size)
            state = Memory(none, none, none, nil, nil, nil + _WAITS)
        free = np.where(np.isnan(state.free), now, state.free)
        effort = np.where(np.isnan(now), state.effort, now)
        q = np.where(np.isnan(inputs.q_follower), state.q, inputs.q_follower)
        speed = _filter(state.speed, q - state.q, dt)
        rate = _filter(state.rate, effort - state.effort, dt)
        met = now - free
        jumps = np.abs(met) > c.deadband
        jumps &= np.abs(rate) > np.maximum(
            _QUICK, _STEEP * inputs.drives * np.abs(inputs.dq)
        )
        calm = np.where(jumps, 0.0, state.calm + dt)
        learns = inputs.is_free & (inputs.held == 0.0) & (np.abs(speed) > _MOVES)
        share = (learns & (calm >= _WAITS)) * (1.0 - math.exp(-dt / c.adapt_time))
        free = np.where(np.isnan(now), free, free + share * (now - free))
        met = now - free
        tau = -c.gain * np.sign(met) * np.maximum(np.abs(met) - c.deadband, 0.0)
        tau[np.isnan(tau)] = 0.0
        return tau, Memory(free, effort, q, speed, rate, calm)

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """Return the drives' stiffness times the gain."""
        is_measured = np.isfinite(inputs.tau_follower).astype(np.float64)
        K = self.config.gain * np.diag(inputs.drives * is_measured)
        return Stiffness(np.zeros_like(K), K)


def _filter(before: Vec, change: Vec, dt: float) -> Vec:
    known = np.nan_to_num(change)
    return np.asarray(before + (known - before * dt) / (dt + _SMOOTH))
