"""Map between a gripper's joint and motor."""

from __future__ import annotations

from dataclasses import dataclass

from paprle.contracts.types import GripperInfo
from paprle.hardware.damiao.models import ArmModel


@dataclass(frozen=True, slots=True)
class Grip:
    """Motor angle = offset + ratio · position.

    Attributes:
        offset: [rad].
        ratio: [rad/m].
    """

    offset: float
    ratio: float

    @classmethod
    def of(cls, gripper: GripperInfo, model: ArmModel) -> Grip:
        """Return the map of the range's ends."""
        ratio = (model.grip_open - model.grip_closed) / (gripper.open - gripper.closed)
        return cls(model.grip_closed - ratio * gripper.closed, ratio)

    def to_motor(self, position: float) -> float:
        """Return the motor angle [rad] of a position [m]."""
        return self.offset + self.ratio * position

    def to_joint(self, angle: float) -> float:
        """Return the position [m] of a motor angle [rad]."""
        return (angle - self.offset) / self.ratio
