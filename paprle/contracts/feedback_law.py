"""Contract of a feedback law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec

State = TypeVar("State")


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackInput:
    """Inputs of a feedback law for one leader limb at one instant.

    The follower is mapped to the leader's joints or eef axes, linear first, in follower
    metres. Joint vectors are (m,), arm, then gripper, [rad], [rad/s], [N·m] and
    [N·m·s/rad]; displacements (6,); time [s]. NaN: unknown.

    Attributes:
        q_model: The gate's positions behind the identified lag.
        gain_squared: Σ gain² over driven joints.
        dx_gate: Requested pose to the gate's.
        dx_follower: Gate's pose to the follower's.
        dx_model: Free pose to the follower's.
        scale: Follower over leader translation.
        J: Body Jacobian of the leader's eef, or the robot's (``retarget.through``),
            (6, n_arm).
        gravity_gradient: By q, (m, m), [N·m/rad]; at load only.
        clearance: Of the gate, [m]; +inf: unknown.
        is_free: Moving as modelled, unrestrained by the gate.
        held: Contact, −1 (blocks motion down) … 1 (up).
        held_by_gate: Confidence, 0 … 1.
        held_limb: Confidence of arm contact, 0 … 1.
        drives: Stiffness, measured or at most, [N·m/rad].
    """

    q: Vec
    dq: Vec
    n_arm: int
    q_gate: Vec
    q_follower: Vec
    q_model: Vec
    tau_follower: Vec
    gain_squared: Vec
    dx_gate: Vec
    dx_follower: Vec
    dx_model: Vec
    scale: float
    J: Vec | None
    gravity: Vec
    gravity_gradient: Vec | None = None
    damping: Vec
    viscous: Vec
    coulomb: Vec
    q_base: Vec
    q_min: Vec
    q_max: Vec
    clearance: float
    is_near: bool
    is_free: npt.NDArray[np.bool_]
    held: Vec
    held_by_gate: Vec
    held_limb: float
    drives: Vec
    dt: float


class Stiffness(NamedTuple):
    """Worst-case stiffness of a law, (m, m), [N·m/rad].

    ``local`` is against fixed references, ``delayed`` against the lagging follower.
    """

    local: Vec
    delayed: Vec


class FeedbackLaw(ABC, Generic[State]):
    """Pure law of the leader's torques; its only memory is the state that it returns.

    Attributes:
        needs_follower: Active only while the leader drives, with energy monitored.
        is_in_contact: F2 counts the hand and dry friction
            (``paprle.haptics.stability.contact_stability``).
        velocity_lag: Of its velocity filter, [s].
        dry_share: Cancelled share of dry friction.
    """

    needs_follower: ClassVar[bool] = True
    is_in_contact: ClassVar[bool] = False
    velocity_lag: float = 0.0
    dry_share: float = 0.0

    def __init__(self, config: Any) -> None:
        self.config = config

    @abstractmethod
    def initial(self) -> State:
        """Return the initial state."""

    @abstractmethod
    def compute(self, inputs: FeedbackInput, state: State) -> tuple[Vec, State]:
        """Return finite leader torques, (m,), [N·m], and the next state."""

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """Return an upper bound of −∂tau/∂q in a posture.

        The core refuses sums beyond the leader's damping (F2). Only ``q``, ``n_arm``,
        ``gain_squared``, ``scale``, ``J`` and ``gravity_gradient`` are given.
        """
        zero = np.zeros((inputs.q.size, inputs.q.size))
        return Stiffness(zero, zero)

    def damping(self, inputs: FeedbackInput) -> Vec:
        """Return added damping, (m,), [N·m·s/rad]; negative cancels friction."""
        return np.zeros(inputs.q.size)
