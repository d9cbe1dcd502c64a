"""Settings of devices of axes."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Gt, Le, Unit, doc

from paprle.contracts.axes import AxisSpeeds
from paprle.contracts.settings.base import settings
from paprle.contracts.settings.sound import SoundSettings


@settings
class AxisSettings(SoundSettings):
    """Speeds at full deflection: part of the config of sticks, caps and keys."""

    speed: Annotated[
        float, Gt(0), Le(1), Unit("m/s"), doc("Translation at full deflection.")
    ] = 0.2  # chosen: a stick is finer than a key, so that its end may be quicker
    turn_speed: Annotated[
        float, Gt(0), Le(3), Unit("rad/s"), doc("Rotation at full deflection.")
    ] = 1.0  # chosen: the same
    gripper_speed: Annotated[
        float, Gt(0), Le(10), Unit("1/s"), doc("Gripper openings a second.")
    ] = 1.0  # chosen: a full stroke a second

    @property
    def axis_speeds(self) -> AxisSpeeds:
        """Speeds of a limb at full deflection."""
        return AxisSpeeds(self.speed, self.turn_speed, self.gripper_speed)
