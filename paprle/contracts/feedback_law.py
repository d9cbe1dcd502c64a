"""The contract of a feedback law: what it is given, and what it owes."""

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
    """Everything a feedback law may look at, for one leader limb, at one instant.

    The follower is carried back to the leader: in the leader's own joints where joint
    drives joint, and as displacements of the leader's eef where its pose drives. What
    has no counterpart, or was not measured, is NaN and never zero. Displacements are
    linear first, in the axes of the leader's eef, in the follower's metres.

    Attributes:
        q: The leader's joints, arm and then gripper, shape (m,), [rad].
        dq: Their velocities, shape (m,), [rad/s].
        n_arm: How many of them are the arm's.
        q_gate: What the gate sent, shape (m,), [rad].
        q_follower: Where the follower is, shape (m,), [rad].
        q_model: Where it would be if nothing touched it: the gate's command behind the
            follower's identified lag, shape (m,), [rad].
        tau_follower: Its measured efforts, shape (m,), [N·m].
        gain_squared: Σ gain² over the follower's joints that a joint drives: so much of
            their stiffness is felt, shape (m,).
        dx_gate: From where the leader asks its eef to be to what the gate sent, (6,).
        dx_follower: From what the gate sent to where the follower is, (6,).
        dx_model: From where it would be if nothing touched it to where it is, (6,).
        scale: Of translations, follower over leader.
        J: Body Jacobian of the leader's eef, or of the robot's that stands for it
            (``retarget.through``), shape (6, n_arm); None without a URDF.
        gravity: Torques that hold the leader's own weight, shape (m,), [N·m].
        gravity_gradient: Their derivative by q, shape (m, m), [N·m/rad]; given at load
            alone, where stability is judged.
        damping: The leader's own damping as measured, or a guess, (m,), [N·m·s/rad].
        viscous: Its viscous friction, NaN where not measured, (m,), [N·m·s/rad].
        coulomb: Its dry friction, shape (m,), [N·m].
        q_base: Where the leader rests, shape (m,), [rad].
        q_min: Lowest positions that neither side forbids, shape (m,), [rad].
        q_max: Highest ones, shape (m,).
        clearance: Smallest clearance the gate saw, [m]; +inf when it knows of none.
        is_near: The gate keeps the follower clear of something.
        is_free: What the joint drives moves as the model says, and the gate holds
            nothing back: the same for all joints of an arm, and a gripper's own, (m,).
        held: How sure it is that something holds back what the joint drives, from −1
            (from moving down) to 1 (from moving up); 0 where nothing stands for the
            joint, shape (m,).
        held_by_gate: How sure it is that the gate holds a joint's command back, 0 … 1,
            shape (m,).
        held_limb: The same of all that the limb's arm drives, 0 … 1.
        drives: How stiff the follower's drives are in series with a joint, as measured,
            or at most, shape (m,), [N·m/rad].
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
    """Worst-case fall of a law's torque with the leader's position.

    Attributes:
        local: Against references that stand still, shape (m, m), [N·m/rad].
        delayed: Against the measured or modelled follower, whose lag is a delay of the
            spring as well, shape (m, m), [N·m/rad].
    """

    local: Vec
    delayed: Vec


class FeedbackLaw(ABC, Generic[State]):
    """A pure law from what both sides do to what the operator feels.

    It is constructed from its validated config, which extends ``LawSettings``. No I/O,
    no thread, no clock: its memory is the state that it returns.

    Attributes:
        needs_follower: It renders the follower, so it is silent unless the leader
            drives, and its energy is watched. Others render the leader itself.
        is_in_contact: It is stiff only while something holds the follower, so that a
            hand presses: F2 then counts the hand and the gears' dry friction
            (``paprle.haptics.stability.contact_stability``).
        velocity_lag: Time constant with which it filters the velocity that it damps,
            [s].
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
        """Return the state before the first call."""

    @abstractmethod
    def compute(self, inputs: FeedbackInput, state: State) -> tuple[Vec, State]:
        """Return leader torques, shape (m,), [N·m], finite, and the next state."""

    def stiffness(self, inputs: FeedbackInput) -> Stiffness:
        """Return its stiffness in a posture; no less than −∂tau/∂q may ever be.

        The core adds up those of all laws over the leader's workspace and refuses what
        the leader's damping cannot hold (F2). Of the inputs, ``q``, ``n_arm``,
        ``gain_squared``, ``scale``, ``J`` and ``gravity_gradient`` say something here,
        and NaN elsewhere says that it is never given.
        """
        zero = np.zeros((inputs.q.size, inputs.q.size))
        return Stiffness(zero, zero)

    def damping(self, inputs: FeedbackInput) -> Vec:
        """Return what it adds to the leader's damping, shape (m,), [N·m·s/rad].

        Negative where it cancels friction. What is added is counted as late as the loop
        is, and behind ``velocity_lag``.
        """
        return np.zeros(inputs.q.size)
