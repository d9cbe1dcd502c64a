"""Spring to the base pose: tau = k (q_base − q).

PAPRLE Eq. 7 with the opposite sign; as printed it pushes away. The pose is
``feedback.base``, else the leader's rest pose.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Unit, doc

from paprle.contracts.plugins import FeedbackInput, FeedbackLaw, PluginSpec, Stiffness
from paprle.contracts.settings.base import settings
from paprle.contracts.settings.feedback import LawSettings
from paprle.contracts.types import Vec

PLUGIN = PluginSpec(
    summary="A weak spring to the leader's base pose.",
    config="paprle.feedback.bias:BiasConfig",
    factory="paprle.feedback.bias:Bias",
    verified="simulator",
)


@settings
class BiasConfig(LawSettings):
    """Stiffness of the pull to the base pose."""

    stiffness: Annotated[
        float, Ge(0), Unit("N·m/rad"), doc("Towards the base pose.")
    ] = 0.03


class Bias(FeedbackLaw[None]):
    """Bias law without memory."""

    config: BiasConfig
    needs_follower = False

    def initial(self) -> None:
        """Return nothing."""

    def compute(self, inputs: FeedbackInput, state: None) -> tuple[Vec, None]:  # noqa: ARG002 - no memory
        """Return the torques of joints with a base position."""
        tau = self.config.stiffness * (inputs.q_base - inputs.q)
        tau[np.isnan(tau)] = 0.0
        return tau, None

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """Return the stiffness where there is a base position."""
        K = np.diag(self.config.stiffness * np.isfinite(inputs.q_base))
        return Stiffness(K, np.zeros_like(K))
