"""Wall where the follower is held, and a pulse at the first touch.

    tau = k share · (q_follower − q), where q is beyond what holds the follower, and
    tau = Jᵀ k share · d, with d from the leader's eef to the follower's along the way
          that it is held back, where the leader's pose drives.

A held follower stands still, so its lag is not in the spring's loop;
``paprle.haptics.stability.contact_stability`` bounds the stiffness, the energy observer
covers a released leader (F3). The pulse has a fixed size and length; independent of
position, it is stable at any gain and delay.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
from annotated_types import Ge, Le, Unit, doc

from paprle.contracts.plugins import FeedbackInput, FeedbackLaw, PluginSpec, Stiffness
from paprle.contracts.settings.base import settings
from paprle.contracts.settings.feedback import LawSettings
from paprle.contracts.types import Vec

Flags = npt.NDArray[np.bool_]

_SURE = 0.5  # chosen: of the share; a pulse follows the first measurement
_REST = 0.2  # [s] chosen: a contact that chatters gives one pulse
_LEAST = 1e-4  # [m] and [rad] chosen: a shorter way has no direction

PLUGIN = PluginSpec(
    summary="A wall where the follower is held, and a pulse at its first touch.",
    config="paprle.feedback.contact:ContactConfig",
    factory="paprle.feedback.contact:Contact",
    verified="simulator",
)


@settings
class ContactConfig(LawSettings):
    """Stiffness of the wall, and strength of the pulse."""

    stiffness: Annotated[
        float, Ge(0), Unit("N·m/rad"), doc("Of the wall, where joint drives joint.")
    ] = 2.85
    k_lin: Annotated[
        float, Ge(0), Unit("N/m"), doc("Of the wall, where the pose drives.")
    ] = 30.0
    k_rot: Annotated[float, Ge(0), Unit("N·m/rad"), doc("The same about the hand.")] = (
        0.3
    )
    pulse: Annotated[
        float, Ge(0), Le(0.2), Unit("N·m"), doc("Torque of the pulse at a joint.")
    ] = 0.06
    pulse_force: Annotated[
        float, Ge(0), Le(1), Unit("N"), doc("Force of the pulse at the hand.")
    ] = 0.3
    pulse_time: Annotated[
        float, Ge(0), Le(0.04), Unit("s"), doc("How long the pulse lasts.")
    ] = 0.03


class Memory(NamedTuple):
    """Ages by joint and, last, of the limb, shape (m + 1,).

    Attributes:
        since: Time since the last pulse began, [s].
        quiet: Time since anything was held, [s].
    """

    since: Vec
    quiet: Vec


class Contact(FeedbackLaw["Memory | None"]):
    """Contact law with the memory of its pulses."""

    config: ContactConfig
    is_in_contact = True

    def initial(self) -> Memory | None:
        """Return None: nothing was met yet."""

    def compute(
        self, inputs: FeedbackInput, state: Memory | None
    ) -> tuple[Vec, Memory]:
        """Return the torques of the arm's joints."""
        n = inputs.n_arm
        sure = np.append(np.abs(inputs.held[:n]), inputs.held_limb)
        before = state or Memory(np.full(n + 1, np.inf), np.full(n + 1, np.inf))
        is_new = (sure >= _SURE) & (before.quiet >= _REST)
        since = np.where(is_new, 0.0, before.since + inputs.dt)
        quiet = np.where(sure > 0.0, 0.0, before.quiet + inputs.dt)
        is_pulse = (since < self.config.pulse_time) & (sure > 0.0)
        tau = np.zeros(inputs.q.size)
        tau[:n] = self._push_joints(inputs, is_pulse[:n])
        if inputs.J is not None and not np.isnan(inputs.dx_gate[0]):
            wrench = self._push_hand(inputs, is_pulse=bool(is_pulse[n]))
            tau[:n] += inputs.J.T @ wrench
        return tau, Memory(since, quiet)

    def _push_joints(self, inputs: FeedbackInput, is_pulse: Flags) -> Vec:
        n, c = inputs.n_arm, self.config
        held = inputs.held[:n]
        side = np.sign(held)
        depth = np.maximum(side * (inputs.q[:n] - inputs.q_follower[:n]), 0.0)
        tau = -c.stiffness * held * depth - c.pulse * side * is_pulse
        tau[np.isnan(tau)] = 0.0
        return np.asarray(tau)

    def _push_hand(self, inputs: FeedbackInput, *, is_pulse: bool) -> Vec:
        c, wrench = self.config, np.zeros(6)
        back, met = inputs.dx_gate + inputs.dx_follower, inputs.dx_model
        parts = (
            (slice(0, 3), c.k_lin, inputs.scale, c.pulse_force),
            (slice(3, 6), c.k_rot, 1.0, 0.0),
        )
        for rows, stiffness, scale, pulse in parts:
            length = float(np.linalg.norm(met[rows]))
            if not length > _LEAST:
                continue
            way = met[rows] / length
            depth = max(0.0, float(way @ back[rows]))
            force = inputs.held_limb * stiffness * depth * scale + pulse * is_pulse
            wrench[rows] = force * way
        return wrench

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """Return the stiffness of both walls against a standing follower."""
        n, m, c = inputs.n_arm, inputs.q.size, self.config
        is_driven = np.isfinite(inputs.q_follower)
        is_driven[n:] = False
        K = np.diag(c.stiffness * is_driven)
        if inputs.J is not None and not np.isnan(inputs.dx_gate[0]):
            s = inputs.scale
            k = np.array([c.k_lin * s * s] * 3 + [c.k_rot] * 3)
            K[:n, :n] += inputs.J.T @ (k[:, None] * inputs.J)
        return Stiffness(K, np.zeros((m, m)))
