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
    in the follower's metres. Unknown values are NaN.

    Attributes:
        q: Leader joints, arm and then gripper, shape (m,), [rad].
        dq: Velocities, shape (m,), [rad/s].
        n_arm: Number of arm joints.
        q_gate: Positions sent by the gate, shape (m,), [rad].
        q_follower: Follower positions, shape (m,), [rad].
        q_model: Free positions: the gate's behind the identified lag, shape (m,),
            [rad].
        tau_follower: Measured efforts, shape (m,), [N·m].
        gain_squared: Σ gain² over the driven joints: the share of stiffness felt, (m,).
        dx_gate: From the requested eef pose to the gate's, (6,).
        dx_follower: From the gate's eef pose to the follower's, (6,).
        dx_model: From the free eef pose to the follower's, (6,).
        scale: Translation of the follower over the leader's.
        J: Body Jacobian of the leader's eef, or the robot's (``retarget.through``),
            shape (6, n_arm); None without a URDF.
        gravity: Gravity torques, shape (m,), [N·m].
        gravity_gradient: Derivative by q, shape (m, m), [N·m/rad]; at load only.
        damping: Damping of the leader, measured or guessed, (m,), [N·m·s/rad].
        viscous: Viscous friction, (m,), [N·m·s/rad].
        coulomb: Dry friction, shape (m,), [N·m].
        q_base: Rest positions, shape (m,), [rad].
        q_min: Lowest positions allowed on both sides, shape (m,), [rad].
        q_max: Highest ones, shape (m,).
        clearance: Smallest clearance of the gate, [m]; +inf when unknown.
        is_near: The gate keeps the follower clear of a body.
        is_free: The driven joints move as modelled, unrestrained by the gate: alike for
            an arm's joints, separate for a gripper, (m,).
        held: Confidence of contact, −1 (blocks motion down) … 1 (up), shape (m,).
        held_by_gate: Confidence that the gate holds back a command, 0 … 1, shape (m,).
        held_limb: Confidence of contact of the limb's arm, 0 … 1.
        drives: Drive stiffness in series with a joint, as measured, or at most, shape
            (m,), [N·m/rad].
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
    """Worst-case stiffness of a law.

    Attributes:
        local: Against fixed references, shape (m, m), [N·m/rad].
        delayed: Against the measured or modelled follower, whose lag delays the spring,
            shape (m, m), [N·m/rad].
    """

    local: Vec
    delayed: Vec


class FeedbackLaw(ABC, Generic[State]):
    """Pure law of the leader's torques; its only memory is the state that it returns.

    Its config extends ``LawSettings``.

    Attributes:
        needs_follower: It renders the follower: silent unless the leader drives, with
            its energy monitored. Other laws render the leader itself.
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

        The core sums all laws over the workspace and refuses more than the leader's
        damping holds (F2). Only ``q``, ``n_arm``, ``gain_squared``, ``scale``, ``J``
        and ``gravity_gradient`` are given; NaN marks an input that never is.
        """
        zero = np.zeros((inputs.q.size, inputs.q.size))
        return Stiffness(zero, zero)

    def damping(self, inputs: FeedbackInput) -> Vec:
        """Return the damping it adds to the leader's, shape (m,), [N·m·s/rad].

        Negative where it cancels friction. The loop's delay and ``velocity_lag`` apply
        to it.
        """
        return np.zeros(inputs.q.size)
