"""Spring between the grippers: tau = k (q_follower − q) (P22).

It drags in free motion, and grows once the follower holds an object.
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
    summary="A spring from the leader's gripper to the follower's.",
    config="paprle.feedback.gripper:GripperConfig",
    factory="paprle.feedback.gripper:Gripper",
    verified="simulator",
)


@settings
class GripperConfig(LawSettings):
    """Stiffness at the leader's gripper joint."""

    stiffness: Annotated[
        float, Ge(0), Unit("N·m/rad"), doc("Towards the follower's gripper.")
    ] = 0.3


class Gripper(FeedbackLaw[None]):
    """Gripper law without memory."""

    config: GripperConfig

    def initial(self) -> None:
        """Return nothing."""

    def compute(self, inputs: FeedbackInput, state: None) -> tuple[Vec, None]:  # noqa: ARG002 - no memory
        """Return the torque of the gripper's joint."""
        tau, n = np.zeros(inputs.q.size), inputs.n_arm
        tau[n:] = self.config.stiffness * (inputs.q_follower[n:] - inputs.q[n:])
        tau[np.isnan(tau)] = 0.0
        return tau, None

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """Return the stiffness against the measured follower."""
        is_driven = np.isfinite(inputs.q_follower)
        is_driven[: inputs.n_arm] = False
        K = np.diag(self.config.stiffness * is_driven)
        return Stiffness(np.zeros_like(K), K)
