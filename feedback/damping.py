"""Active damping of a leader whose follower has met something: tau = −b share v.

b is so much of the leader's own damping as measured or guessed, and v its velocity
behind a first order of time constant ``lag``. Springs that answer late take damping
away (F2); this gives some of it back, so that they may be stiffer. It is late itself:
at low frequencies it adds b, at high ones it takes away, b / 12 at worst with the
values here; F2 counts both (``paprle.haptics.stability.check``).

Free motion feels free: the law is silent while nothing holds the follower or its gate
back and no limit is near, that is, where the springs have nothing to say. A gripper
that holds something is damped, and its arm is not.
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
    """State of the law.

    Attributes:
        velocity: The filtered one, shape (m,), [rad/s]; at first 0.
        share: Of the damping that is on, shape (m,).
    """

    velocity: Vec | float
    share: Vec | float


class Damping(FeedbackLaw[Memory]):
    """The law; its memory is the filter's, and how much is on."""

    config: DampingConfig

    def __init__(self, config: DampingConfig) -> None:
        super().__init__(config)
        self.velocity_lag = config.lag

    def initial(self) -> Memory:
        """Return a filter that has seen nothing."""
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
        """Return where it is: an arm all at once; at limits, a gripper is at rest."""
        is_on, arm = ~inputs.is_free, slice(inputs.n_arm)
        is_on[arm] = inputs.held_limb > 0.0 or bool(inputs.held_by_gate[arm].any())
        q, margin = inputs.q[arm], self.config.margin
        is_low, is_high = q < inputs.q_min[arm] + margin, q > inputs.q_max[arm] - margin
        is_on[arm] |= inputs.is_near or bool((is_low | is_high).any())
        return is_on

    def damping(self, inputs: FeedbackInput) -> Vec:
        """Return the damping that it adds, at rest, for ``velocity_lag``."""
        return self.config.share * inputs.damping
