"""Compensation of the leader's weight, by its URDF: tau = share · g(q).

g comes from the recursive Newton-Euler algorithm.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Le, Unit, doc

from paprle.contracts.plugins import FeedbackInput, FeedbackLaw, PluginSpec, Stiffness
from paprle.contracts.settings.base import settings
from paprle.contracts.settings.feedback import LawSettings
from paprle.contracts.types import Vec

PLUGIN = PluginSpec(
    summary="The leader carries its own weight.",
    config="paprle.feedback.gravity:GravityConfig",
    factory="paprle.feedback.gravity:Gravity",
    verified="simulator",
)


@settings
class GravityConfig(LawSettings):
    """Share of the weight that is carried."""

    share: Annotated[
        float, Ge(0), Le(1), Unit("1"), doc("Share of the weight that is carried.")
    ] = 0.8


class Gravity(FeedbackLaw[None]):
    """Gravity law without memory."""

    config: GravityConfig
    needs_follower = False

    def initial(self) -> None:
        """Return nothing."""

    def compute(self, inputs: FeedbackInput, state: None) -> tuple[Vec, None]:  # noqa: ARG002 - no memory
        """Return the torques that carry the weight."""
        return self.config.share * inputs.gravity, None

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """Return −share ∂g/∂q, negative where the arm hangs."""
        K = np.zeros((inputs.q.size, inputs.q.size))
        if inputs.gravity_gradient is not None:
            K = -self.config.share * inputs.gravity_gradient
        return Stiffness(K, np.zeros_like(K))
