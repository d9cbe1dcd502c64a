"""Robots from URDF and settings."""

from paprle.robot.chain import Limb
from paprle.robot.model import RobotModel

__all__ = ["Limb", "RobotModel"]
