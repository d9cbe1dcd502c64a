"""Active damping of a leader in contact: tau = −b share v.

b is the leader's own damping, measured or guessed, v its velocity behind a first order
of time constant ``lag``. It adds b at low frequencies and takes at most b / 12 at high
ones; F2 counts both (``paprle.haptics.stability.check``).

It acts while something holds the follower or its gate, or a limit is near.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
from annotated_types import Ge, Gt, Unit, doc

from paprle.contracts.plugins import FeedbackInput, FeedbackLaw, PluginSpec
from paprle.contracts.settings.base import settings
from paprle.contracts.settings.feedback import LawSettings
from paprle.contracts.types import Vec

_IN, _OUT = 0.02, 0.3  # [s] chosen: there before a spring is, gone unnoticed

PLUGIN = PluginSpec(
    summary="In contact, the leader is damped, so that springs may be stiffer.",
    config="paprle.feedback.damping:DampingConfig",
    factory="paprle.feedback.damping:Damping",
    verified="simulator",
)


@settings
class DampingConfig(LawSettings):
    """Amount of damping, and the filter of its velocity."""

    share: Annotated[
        float, Ge(0), Unit("1"), doc("Of the leader's own damping, added in contact.")
    ] = 1.0
    lag: Annotated[
        float, Gt(0), Unit("s"), doc("Time constant of the velocity's filter.")
    ] = 0.05
    margin: Annotated[
        float, Ge(0), Unit("rad"), doc("A limit so near counts as contact.")
    ] = 0.15


class Memory(NamedTuple):
    """State of the law, each of shape (m,) or 0 at first.

    Attributes:
        velocity: Filtered velocity, [rad/s].
        share: Active share of the damping, 0 … 1.
    """

    velocity: Vec | float
    share: Vec | float


class Damping(FeedbackLaw[Memory]):
    """Damping law with the memory of its filter."""

    config: DampingConfig

    def __init__(self, config: DampingConfig) -> None:
        super().__init__(config)
        self.velocity_lag = config.lag

    def initial(self) -> Memory:
        """Return a filter at rest."""
        return Memory(0.0, 0.0)

    def compute(self, inputs: FeedbackInput, state: Memory) -> tuple[Vec, Memory]:
        """Return torques against the motion."""
        c, dt = self.config, inputs.dt
        step = np.where(self._is_on(inputs), dt / _IN, -dt / _OUT)
        share = np.minimum(np.maximum(state.share + step, 0.0), 1.0)
        # exact for a filter of what is held over dt
        velocity = inputs.dq + (state.velocity - inputs.dq) * math.exp(-dt / c.lag)
        tau = -(share * c.share) * inputs.damping * velocity
        return tau, Memory(velocity, share)

    def _is_on(self, inputs: FeedbackInput) -> npt.NDArray[np.bool_]:
        is_on, arm = ~inputs.is_free, slice(inputs.n_arm)
        is_on[arm] = inputs.held_limb > 0.0 or bool(inputs.held_by_gate[arm].any())
        q, margin = inputs.q[arm], self.config.margin
        is_low, is_high = q < inputs.q_min[arm] + margin, q > inputs.q_max[arm] - margin
        is_on[arm] |= inputs.is_near or bool((is_low | is_high).any())
        return is_on

    def damping(self, inputs: FeedbackInput) -> Vec:
        """Return the added damping at rest."""
        return self.config.share * inputs.damping
