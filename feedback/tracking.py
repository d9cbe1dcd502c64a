"""Joint tracking: a spring to what the gate sent, and one for what the follower met.

tau = k_gate (q_gate − q) + k_follower (q_follower − q_model)

PAPRLE Eq. 8, whose printed sign (q_leader − q_follower) drives the two apart. The first
term is felt where the gate holds the command back; the second where something holds
the follower back. q_model is the command behind the follower's own lag, identified in
free motion alone, so that contact stays what it is (``safety.md``, lag-compensated
feedback). Each spring is on as far as it is sure that something holds back the gate, or
the follower: in free motion, where only delays and what the lag is off would be left of
them, both are silent. Silent where the leader's pose drives: see
task_tracking. What the follower met is rendered by ``contact``; the second spring is
for whoever switches that off.
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
    """The law; it has no memory."""

    config: TrackingConfig

    def initial(self) -> None:
        """Return nothing."""

    def compute(self, inputs: FeedbackInput, state: None) -> tuple[Vec, None]:  # noqa: ARG002 - no memory
        """Return the torques of the arm's joints; the gripper has a law of its own."""
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
        """Both springs, on the arm's joints."""
        is_driven = np.isfinite(inputs.q_gate)
        is_driven[inputs.n_arm :] = False
        springs = np.diag(is_driven.astype(np.float64))
        return Stiffness(self.config.k_gate * springs, self.config.k_follower * springs)
