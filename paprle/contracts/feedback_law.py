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

    The follower is mapped to the leader's joints, or to its eef's axes, linear first,
    in the follower's metres. Joint vectors have shape (m,) and are in [rad], [rad/s]
    and [N·m]; displacements have shape (6,). Unknown values are NaN.

    Attributes:
        q: Leader joints, arm and then gripper.
        q_gate: Positions sent by the gate.
        q_model: Free positions: the gate's behind the identified lag.
        gain_squared: Σ gain² over the driven joints: the share of stiffness felt.
        dx_gate: From the requested eef pose to the gate's.
        dx_follower: From the gate's eef pose to the follower's.
        dx_model: From the free eef pose to the follower's.
        scale: Translation of the follower over the leader's.
        J: Body Jacobian of the leader's eef, or the robot's (``retarget.through``),
            shape (6, n_arm); None without a URDF.
        gravity_gradient: Derivative by q, shape (m, m), [N·m/rad]; at load only.
        damping: Damping of the leader, measured or guessed, [N·m·s/rad].
        viscous: Viscous friction, [N·m·s/rad].
        q_min: Lowest positions allowed on both sides.
        clearance: Smallest clearance of the gate, [m]; +inf when unknown.
        is_free: Driven joints move as modelled, unrestrained by the gate: alike for an
            arm's joints, separate for a gripper.
        held: Confidence of contact, −1 (blocks motion down) … 1 (up), by joint.
        held_by_gate: Confidence that the gate holds back a command, 0 … 1.
        held_limb: Confidence of contact of the limb's arm, 0 … 1.
        drives: Stiffness of the drives, as measured, or at most, [N·m/rad].
        dt: Time since the last call, [s].
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
    """Worst-case stiffness of a law, shape (m, m), [N·m/rad].

    Attributes:
        local: Against fixed references.
        delayed: Against the follower, measured or modelled, whose lag delays the
            spring.
    """

    local: Vec
    delayed: Vec


class FeedbackLaw(ABC, Generic[State]):
    """Pure law of the leader's torques; its only memory is the state that it returns.

    Attributes:
        needs_follower: It renders the follower, hence only while the leader drives,
            with its energy monitored. Others render the leader itself.
        is_in_contact: It is stiff only in contact, so F2 counts the hand and the dry
            friction (``paprle.haptics.stability.contact_stability``).
        velocity_lag: Time constant of its velocity filter, [s].
        dry_share: Share of the dry friction that it cancels.
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
        """Return leader torques, shape (m,), [N·m], finite, and the next state."""

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """Return an upper bound of −∂tau/∂q in a posture.

        The core refuses sums beyond the leader's damping (F2). Only ``q``, ``n_arm``,
        ``gain_squared``, ``scale``, ``J`` and ``gravity_gradient`` are given.
        """
        zero = np.zeros((inputs.q.size, inputs.q.size))
        return Stiffness(zero, zero)

    def damping(self, inputs: FeedbackInput) -> Vec:
        """Return the added damping, shape (m,), [N·m·s/rad]; negative cancels friction.

        The loop's delay and ``velocity_lag`` apply to it.
        """
        return np.zeros(inputs.q.size)
