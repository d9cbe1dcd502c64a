"""A robot: URDF and settings in; one joint vector, limbs, limits and bodies out."""

from paprle.robot.chain import Limb
from paprle.robot.model import RobotModel

__all__ = ["Limb", "RobotModel"]
