"""Joint springs to the gate and to a held follower.

tau = k_gate (q_gate − q) + k_follower (q_follower − q_model)

PAPRLE Eq. 8 with the opposite sign; as printed it drives both sides apart. q_model is
the command behind the follower's lag, identified in free motion alone (``safety.md``,
lag-compensated feedback). Each spring is on by the certainty that gate or follower is
held. Silent where the leader's pose drives.
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
    summary="Springs from the leader's joints to the gate's and to the follower's.",
    config="paprle.feedback.tracking:TrackingConfig",
    factory="paprle.feedback.tracking:Tracking",
    verified="simulator",
)


@settings
class TrackingConfig(LawSettings):
    """Stiffness in the leader's joints."""

    k_gate: Annotated[
        float, Ge(0), Unit("N·m/rad"), doc("Stiffness towards what the gate sent.")
    ] = 0.3
    k_follower: Annotated[
        float, Ge(0), Unit("N·m/rad"), doc("What the follower met; beside `contact`.")
    ] = 0.0  # chosen: with the follower's lag in its loop it has little to add
    is_compensated: Annotated[
        bool, doc("Take delays and lag out; without it free motion drags.")
    ] = True


class Tracking(FeedbackLaw[None]):
    """Tracking law without memory."""

    config: TrackingConfig

    def initial(self) -> None:
        """Return nothing."""

    def compute(self, inputs: FeedbackInput, state: None) -> tuple[Vec, None]:  # noqa: ARG002 - no memory
        """Return the torques of the arm's joints."""
        c = self.config
        if c.is_compensated:
            tau = c.k_gate * inputs.held_by_gate * (inputs.q_gate - inputs.q)
            met = np.abs(inputs.held) * (inputs.q_follower - inputs.q_model)
        else:
            tau = c.k_gate * (inputs.q_gate - inputs.q)
            met = inputs.q_follower - inputs.q_gate
        tau += c.k_follower * met
        tau[inputs.n_arm :] = 0.0
        tau[np.isnan(tau)] = 0.0
        return tau, None

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """Return both springs' stiffness on the arm's joints."""
        is_driven = np.isfinite(inputs.q_gate)
        is_driven[inputs.n_arm :] = False
        springs = np.diag(is_driven.astype(np.float64))
        return Stiffness(self.config.k_gate * springs, self.config.k_follower * springs)
