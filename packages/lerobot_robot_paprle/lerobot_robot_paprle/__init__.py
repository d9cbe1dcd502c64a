"""PAPRLE sessions as LeRobot robots."""

from lerobot_robot_paprle.config_paprle import PaprleRobotConfig
from lerobot_robot_paprle.paprle import PaprleRobot

__all__ = ["PaprleRobot", "PaprleRobotConfig"]
