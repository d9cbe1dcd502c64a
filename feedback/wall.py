"""Walls at joint limits and at the gate's clearances.

Limits: tau = k_limit · depth, where an arm's joint is nearer its limit than ``margin``.
Clearance: tau = k_near · share · (q_gate − q), and at the eef where the pose drives;
share grows from 0 at ``onset`` to 1 once the gate keeps clear.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Unit, doc

from paprle.contracts.plugins import FeedbackInput, FeedbackLaw, PluginSpec, Stiffness
from paprle.contracts.settings.base import settings
from paprle.contracts.settings.feedback import LawSettings
from paprle.contracts.types import Vec

PLUGIN = PluginSpec(
    summary="Joint limits and collisions of the follower push the leader back.",
    config="paprle.feedback.wall:WallConfig",
    factory="paprle.feedback.wall:Wall",
    verified="simulator",
)


@settings
class WallConfig(LawSettings):
    """Stiffness and range of the walls."""

    k_limit: Annotated[
        float, Ge(0), Unit("N·m/rad"), doc("Stiffness of joint limits.")
    ] = 0.6
    margin: Annotated[float, Ge(0), Unit("rad"), doc("Felt so far before a limit.")] = (
        0.15
    )
    k_near: Annotated[
        float, Ge(0), Unit("N·m/rad"), doc("Towards the gate's joints, near a body.")
    ] = 0.3
    k_near_lin: Annotated[
        float, Ge(0), Unit("N/m"), doc("Towards the gate's eef, near a body.")
    ] = 3.0
    onset: Annotated[
        float, Gt(0), Unit("m"), doc("Clearance below which a body is felt.")
    ] = 0.04


class Wall(FeedbackLaw[None]):
    """Wall law without memory."""

    config: WallConfig

    def initial(self) -> None:
        """Return nothing."""

    def compute(self, inputs: FeedbackInput, state: None) -> tuple[Vec, None]:  # noqa: ARG002 - no memory
        """Return the torques of joints in a wall."""
        c, q = self.config, inputs.q
        tau = np.maximum(inputs.q_min + c.margin - q, 0.0)
        tau -= np.maximum(q - (inputs.q_max - c.margin), 0.0)
        tau *= c.k_limit
        tau[inputs.n_arm :] = 0.0  # a gripper rests at its ends
        share = 1.0 if inputs.is_near else max(0.0, 1.0 - inputs.clearance / c.onset)
        if share > 0.0:
            tau += self._push(inputs, min(share, 1.0))
        return tau, None

    def _push(self, inputs: FeedbackInput, share: float) -> Vec:
        tau = self.config.k_near * share * (inputs.q_gate - inputs.q)
        tau[np.isnan(tau)] = 0.0
        tau[inputs.n_arm :] = 0.0
        if inputs.J is not None and not np.isnan(inputs.dx_gate[0]):
            force = self.config.k_near_lin * share * inputs.scale * inputs.dx_gate[:3]
            tau[: inputs.n_arm] += inputs.J[:3].T @ force
        return tau

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """Return all walls' stiffness, the worst case."""
        c, n = self.config, inputs.n_arm
        is_driven = np.isfinite(inputs.q_gate)
        is_driven[n:] = False
        is_bounded = np.isfinite(inputs.q_min) | np.isfinite(inputs.q_max)
        is_bounded[n:] = False
        K = np.diag(c.k_limit * is_bounded + c.k_near * is_driven)
        if inputs.J is not None and not np.isnan(inputs.dx_gate[0]):
            J = inputs.scale * inputs.J[:3]
            K[:n, :n] += c.k_near_lin * J.T @ J
        return Stiffness(K, np.zeros_like(K))
