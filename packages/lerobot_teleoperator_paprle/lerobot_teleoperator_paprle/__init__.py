"""PAPRLE leaders as LeRobot teleoperators."""

from lerobot_teleoperator_paprle.config_paprle import PaprleTeleoperatorConfig
from lerobot_teleoperator_paprle.paprle import PaprleTeleoperator

__all__ = ["PaprleTeleoperator", "PaprleTeleoperatorConfig"]
