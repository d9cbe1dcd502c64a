"""Compensation of measured friction (``paprle identify``).

tau = viscous_share · b · dq + coulomb_share · c · tanh(v / dq_0)

The viscous term takes damping (F2 counts it): cancelling half of b barely decays, 70 %
diverges. The dry term is stable at any delay, as it gives less than the gears take; so
v is filtered: an encoder's count is 0.6 rad/s at 400 Hz. The rest of the dry friction
counts in contact (``dry_share``).
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.plugins import FeedbackInput, FeedbackLaw, PluginSpec
from paprle.contracts.settings.base import settings
from paprle.contracts.settings.feedback import LawSettings
from paprle.contracts.types import Vec

PLUGIN = PluginSpec(
    summary="The leader helps its own gears along.",
    config="paprle.feedback.friction:FrictionConfig",
    factory="paprle.feedback.friction:Friction",
    verified="simulator",
)


@settings
class FrictionConfig(LawSettings):
    """Shares of viscous and dry friction to cancel."""

    viscous_share: Annotated[
        float, Ge(0), Le(0.5), Unit("1"), doc("Share of viscous friction cancelled.")
    ] = 0.0
    coulomb_share: Annotated[
        float, Ge(0), Le(0.8), Unit("1"), doc("Share of dry friction cancelled.")
    ] = 0.5
    dq_0: Annotated[
        float, Gt(0), Unit("rad/s"), doc("Speed at which dry friction is full.")
    ] = 0.3
    lag: Annotated[
        float, Ge(0), Unit("s"), doc("Time constant of the filter of v.")
    ] = 0.02


class Friction(FeedbackLaw["Vec | float"]):
    """Friction law; its memory is v, shape (m,), [rad/s], or 0."""

    config: FrictionConfig
    needs_follower = False

    def __init__(self, config: FrictionConfig) -> None:
        super().__init__(config)
        self.dry_share = config.coulomb_share

    def initial(self) -> float:
        """Return a filter at rest."""
        return 0.0

    def compute(
        self, inputs: FeedbackInput, state: Vec | float
    ) -> tuple[Vec, Vec | float]:
        """Return torques in the direction of motion."""
        c, dq = self.config, inputs.dq
        v = dq + (state - dq) * (c.lag / (c.lag + inputs.dt))
        tau = c.viscous_share * inputs.viscous * dq
        tau += c.coulomb_share * inputs.coulomb * np.tanh(v / c.dq_0)
        tau[np.isnan(tau)] = 0.0
        return tau, v

    def damping(self, inputs: FeedbackInput) -> Vec:
        """Return the cancelled viscous friction, negative."""
        lost = self.config.viscous_share * inputs.viscous
        return -np.nan_to_num(lost)
