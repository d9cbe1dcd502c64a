"""Measured effort: what the follower's drives push against, as a second signal.

tau = −gain · deadband(tau_follower − tau_0)

A stiff servo in contact shows almost no position error; its effort does. tau_0 follows
the effort slowly while the follower moves freely (its weight and friction) and stands
still in contact, or it would learn the contact away. What is not measured is not
rendered, and is never taken for zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Gt, Unit, doc

from paprle.contracts.feedback_settings import LawSettings
from paprle.contracts.plugins import FeedbackInput, FeedbackLaw, PluginSpec, Stiffness
from paprle.contracts.settings import STRICT
from paprle.contracts.types import Vec

PLUGIN = PluginSpec(
    summary="The measured efforts of the follower's drives.",
    config="feedback.effort:EffortConfig",
    factory="feedback.effort:Effort",
    verified="simulator",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class EffortConfig(LawSettings):
    """How much of it."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    gain: Annotated[
        float, Ge(0), Unit("1"), doc("Leader torque over follower effort.")
    ] = 0.002
    deadband: Annotated[
        float, Ge(0), Unit("N·m"), doc("Effort that is not rendered: friction, noise.")
    ] = 0.3
    adapt_time: Annotated[
        float, Gt(0), Unit("s"), doc("Time in which free effort is forgotten.")
    ] = 0.5
    drive_stiffness: Annotated[
        float,
        Ge(0),
        Unit("N·m/rad"),
        doc("Of the follower's drives; with the gain it is the law's stiffness (F2)."),
    ] = 60.0


class Effort(FeedbackLaw["Vec | None"]):
    """The law; it remembers the effort of free motion."""

    config: EffortConfig

    def initial(self) -> Vec | None:
        """Return that nothing was measured yet."""

    def compute(
        self, inputs: FeedbackInput, state: Vec | None
    ) -> tuple[Vec, Vec | None]:
        """Return the torques of all joints with a measured effort."""
        c, effort = self.config, inputs.tau_follower
        if state is None:
            state = np.full(effort.size, np.nan)
        free = np.where(np.isnan(state), effort, state)
        share = inputs.is_free * (1.0 - math.exp(-inputs.dt / c.adapt_time))
        free = np.where(np.isnan(effort), free, free + share * (effort - free))
        met = effort - free
        tau = -c.gain * np.sign(met) * np.maximum(np.abs(met) - c.deadband, 0.0)
        tau[np.isnan(tau)] = 0.0
        return tau, free

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """In contact, effort grows with the command's way as drives are stiff."""
        is_measured = np.isfinite(inputs.tau_follower).astype(np.float64)
        drives = self.config.drive_stiffness * inputs.gain_squared * is_measured
        K = self.config.gain * np.diag(drives)
        return Stiffness(np.zeros_like(K), K)
