"""Stub."""

from __future__ import annotations

import math

from paprle.robot_urdf import Urdf
from paprle.types import RobotInfo, Vec


class CollisionModel:
    def __init__(
        self, urdf: Urdf, info: RobotInfo, ignored: tuple[tuple[str, str], ...]
    ) -> None:
        self.info = info

    def find_collision(self, q: Vec) -> tuple[str, str] | None:
        return None

    def min_clearance(self, q: Vec) -> float:
        return math.inf
