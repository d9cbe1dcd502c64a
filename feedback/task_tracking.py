"""Tracking between different structures: springs at the leader's eef.

``transpose``: tau = Jᵀ S K dx with S = diag(s, s, s, 1, 1, 1), a spring between the
follower and its command by virtual work: finite at any scale s and posture, passive.

``inverse``: tau = k J† S⁻¹ dx, a spring in the leader's joints (PAPRLE Eq. 9–11 with
the scale undone, which the paper omits). J† = Jᵀ (J Jᵀ + λ² I)⁻¹ on rows in units of
``length`` never exceeds 1 / 2λ.

dx points from the leader's side to the follower's. Silent where joint drives joint.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Unit, doc

from paprle.contracts.plugins import FeedbackInput, FeedbackLaw, PluginSpec, Stiffness
from paprle.contracts.settings.base import settings
from paprle.contracts.settings.feedback import LawSettings
from paprle.contracts.types import Vec

PLUGIN = PluginSpec(
    summary="Springs at the leader's hand, for arms of another structure.",
    config="paprle.feedback.task_tracking:TaskTrackingConfig",
    factory="paprle.feedback.task_tracking:TaskTracking",
    verified="simulator",
)


@settings
class TaskTrackingConfig(LawSettings):
    """Stiffness at the eef or in the leader's joints."""

    method: Annotated[
        Literal["transpose", "inverse"],
        doc("transpose: springs at the eef; inverse: springs in the joints."),
    ] = "transpose"
    k_gate_lin: Annotated[
        float, Ge(0), Unit("N/m"), doc("transpose, towards what the gate sent.")
    ] = 3.0
    k_gate_rot: Annotated[
        float, Ge(0), Unit("N·m/rad"), doc("transpose, towards what the gate sent.")
    ] = 0.075
    k_follower_lin: Annotated[
        float, Ge(0), Unit("N/m"), doc("transpose, of what the follower met.")
    ] = 0.0  # chosen: `contact` renders it, without the follower's lag in its loop
    k_follower_rot: Annotated[
        float, Ge(0), Unit("N·m/rad"), doc("transpose, of what the follower met.")
    ] = 0.0
    k_gate: Annotated[
        float, Ge(0), Unit("N·m/rad"), doc("inverse, towards what the gate sent.")
    ] = 0.3
    k_follower: Annotated[
        float, Ge(0), Unit("N·m/rad"), doc("inverse, of what the follower met.")
    ] = 0.0
    damping: Annotated[float, Gt(0), Unit("1"), doc("inverse: λ.")] = 0.1
    length: Annotated[
        float, Gt(0), Unit("m"), doc("inverse: so many metres weigh as 1 rad.")
    ] = 0.2
    is_compensated: Annotated[
        bool, doc("Take the follower's own lag out; without it free motion drags.")
    ] = True


class TaskTracking(FeedbackLaw[None]):
    """Task tracking law without memory."""

    config: TaskTrackingConfig

    def __init__(self, config: TaskTrackingConfig) -> None:
        super().__init__(config)
        c = config
        self._gate = np.array([c.k_gate_lin] * 3 + [c.k_gate_rot] * 3)
        self._follower = np.array([c.k_follower_lin] * 3 + [c.k_follower_rot] * 3)
        self._rows = np.array([1.0 / c.length] * 3 + [1.0] * 3)

    def initial(self) -> None:
        """Return nothing."""

    def compute(self, inputs: FeedbackInput, state: None) -> tuple[Vec, None]:  # noqa: ARG002 - no memory
        """Return the torques of the arm's joints."""
        c, tau = self.config, np.zeros(inputs.q.size)
        met = inputs.dx_follower
        if c.is_compensated:
            met = inputs.held_limb * inputs.dx_model
        if inputs.J is None or np.isnan(inputs.dx_gate[0]) or np.isnan(met[0]):
            return tau, None
        if c.method == "transpose":
            wrench = self._gate * inputs.dx_gate + self._follower * met
            wrench[:3] *= inputs.scale
            tau[: inputs.n_arm] = inputs.J.T @ wrench
        else:
            dx = c.k_gate * inputs.dx_gate + c.k_follower * met
            dx[:3] *= 1.0 / inputs.scale if inputs.scale > 0.0 else 0.0
            tau[: inputs.n_arm] = self._inverse(inputs) @ dx
        return tau, None

    def _inverse(self, inputs: FeedbackInput) -> Vec:
        rows = self._rows.copy()
        if inputs.scale == 0.0:
            rows[:3] = 0.0
        J = np.empty((6, 0)) if inputs.J is None else rows[:, None] * inputs.J
        damped = J @ J.T + self.config.damping**2 * np.eye(6)
        J_inverse: Vec = np.linalg.solve(damped, J).T * rows
        return J_inverse

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """Return the stiffness Jᵀ S K S J, or k J† J."""
        n, m, c = inputs.n_arm, inputs.q.size, self.config
        local, delayed = np.zeros((2, m, m))
        if inputs.J is None or np.isnan(inputs.dx_gate[0]):
            return Stiffness(local, delayed)
        if c.method == "transpose":
            J = np.array([inputs.scale] * 3 + [1.0] * 3)[:, None] * inputs.J
            local[:n, :n] = J.T @ (self._gate[:, None] * J)
            delayed[:n, :n] = J.T @ (self._follower[:, None] * J)
        else:
            projection = self._inverse(inputs) @ inputs.J
            local[:n, :n] = c.k_gate * projection
            delayed[:n, :n] = c.k_follower * projection
        return Stiffness(local, delayed)
