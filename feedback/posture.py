"""Null-space spring of a redundant leader to its base pose.

    tau = k N (q_base − q),   N = I − Jᵀ (J Jᵀ + λ² I)⁻¹ J

on rows of J in units of ``length`` (FACTR, Liu et al. 2025, Eq. 3). N is symmetric and
between 0 and I, so the spring is no stiffer than k. Silent with six joints or fewer.
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
    summary="The elbow of an arm of seven joints stays where the arm rests.",
    config="paprle.feedback.posture:PostureConfig",
    factory="paprle.feedback.posture:Posture",
    verified="simulator",
)


@settings
class PostureConfig(LawSettings):
    """Stiffness, and the weights of the hand's pose."""

    stiffness: Annotated[
        float, Ge(0), Unit("N·m/rad"), doc("Towards the base pose, hand still.")
    ] = 0.1
    damping: Annotated[
        float, Gt(0), Unit("1"), doc("λ: near a singularity more is left free.")
    ] = 0.05
    length: Annotated[
        float, Gt(0), Unit("m"), doc("So many metres weigh as 1 rad.")
    ] = 0.2


class Posture(FeedbackLaw[None]):
    """Posture law without memory."""

    config: PostureConfig
    needs_follower = False

    def __init__(self, config: PostureConfig) -> None:
        super().__init__(config)
        self._rows = np.array([1.0 / config.length] * 3 + [1.0] * 3)[:, None]

    def initial(self) -> None:
        """Return nothing."""

    def compute(self, inputs: FeedbackInput, state: None) -> tuple[Vec, None]:  # noqa: ARG002 - no memory
        """Return torques that move the elbow, not the hand."""
        n, tau = inputs.n_arm, np.zeros(inputs.q.size)
        away = inputs.q_base[:n] - inputs.q[:n]
        if self._is_redundant(inputs) and not np.isnan(away).any():
            tau[:n] = self.config.stiffness * (self._find_free(inputs) @ away)
        return tau, None

    def _is_redundant(self, inputs: FeedbackInput) -> bool:
        return inputs.J is not None and inputs.n_arm > len(self._rows)

    def _find_free(self, inputs: FeedbackInput) -> Vec:
        J = np.empty((6, 0)) if inputs.J is None else self._rows * inputs.J
        gram = J @ J.T + self.config.damping**2 * np.eye(6)
        free: Vec = np.eye(inputs.n_arm) - J.T @ np.linalg.solve(gram, J)
        return free

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """Return the stiffness in the null space."""
        n, m = inputs.n_arm, inputs.q.size
        K = np.zeros((m, m))
        if self._is_redundant(inputs) and not np.isnan(inputs.q_base[:n]).any():
            K[:n, :n] = self.config.stiffness * self._find_free(inputs)
        return Stiffness(K, np.zeros_like(K))
