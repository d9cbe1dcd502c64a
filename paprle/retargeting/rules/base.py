"""Interface of a limb's rule: from a leader's sample to the limb's target.

Rules are pure: no I/O, no clock, no memory but the state that they return.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Generic, Literal, NamedTuple, TypeVar

from paprle.contracts.session_view import Advice
from paprle.contracts.types import Vec
from paprle.ipc.records import SampleView

State = TypeVar("State")


class RuleInputs(NamedTuple):
    """Inputs of a rule, for its own limb.

    Attributes:
        limb: Place of the limb among the robot's.
        sample: The newest sample, of all leaders.
        source: Place of the leader's limb in it.
        q_cmd: The robot's command, shape (n,), [rad].
        T_base_eef: Poses of all eefs at the command, shape (m, 4, 4).
        T_base_reached: Those at the last q_des.
        advice: Advice by advisor.
        placed: T_world_object of placed objects by name, xyz + quat_xyzw, shape (7,).
    """

    limb: int
    sample: SampleView
    source: int
    q_cmd: Vec
    T_base_eef: Vec
    T_base_reached: Vec
    advice: Mapping[str, Advice]
    placed: Mapping[str, Vec]


class LimbTarget(NamedTuple):
    """Target of a limb by its rule; an empty one holds the limb.

    Attributes:
        T_base_eef: Pose of the eef in the limb's base, shape (4, 4).
        q: Positions of the limb's joints, shape (n_l,), [rad]; NaN holds one.
        opening: Gripper opening, 0 … 1; NaN: the leader's own.
    """

    T_base_eef: Vec | None = None
    q: Vec | None = None
    opening: float = float("nan")


class LimbRule(ABC, Generic[State]):
    """Rule by which one limb is driven.

    Attributes:
        begins_at_command: A motionless leader asks for the command at engagement; else
            the robot has to align first.
        carry_back: Feedback: joints, displacements of the eef, or nothing.
    """

    begins_at_command: ClassVar[bool]
    carry_back: ClassVar[Literal["joints", "pose", "none"]] = "none"

    @abstractmethod
    def begin(self, inputs: RuleInputs) -> State:
        """Return the state of a limb that engages now: its anchors."""

    @abstractmethod
    def apply(self, inputs: RuleInputs, state: State) -> tuple[LimbTarget, State]:
        """Return the target of the limb for the sample, and the next state."""
