"""Interface of a limb's rule.

Rules are pure: no I/O, no clock, no memory but the returned state.
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
    """Inputs of a rule.

    Attributes:
        limb: Place of its limb among the robot's.
        source: Place of the leader's limb in the sample.
        q_cmd: The command, shape (n,), [rad].
        T_base_eef: All eefs at the command, shape (m, 4, 4).
        T_base_reached: Those at the last q_des.
        placed: T_world_object by name, xyz + quat_xyzw, shape (7,).
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
    """Target of a limb by its rule; an empty one holds.

    Attributes:
        T_base_eef: Shape (4, 4).
        q: The limb's joints, shape (n_l,), [rad]; NaN holds one.
        opening: Of the gripper, 0 … 1; NaN: the leader's own.
    """

    T_base_eef: Vec | None = None
    q: Vec | None = None
    opening: float = float("nan")


class LimbRule(ABC, Generic[State]):
    """Rule that drives one limb.

    Attributes:
        begins_at_command: A motionless leader asks for the command; else the robot has
            to align first.
    """

    begins_at_command: ClassVar[bool]
    carry_back: ClassVar[Literal["joints", "pose", "none"]] = "none"

    @abstractmethod
    def begin(self, inputs: RuleInputs) -> State:
        """Return the state of a limb that engages."""

    @abstractmethod
    def apply(self, inputs: RuleInputs, state: State) -> tuple[LimbTarget, State]:
        """Return target and next state."""
