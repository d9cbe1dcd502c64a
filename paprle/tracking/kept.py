"""Bodies that the gate keeps apart."""

from __future__ import annotations

from collections.abc import Callable

from paprle.contracts.types import Vec
from paprle.robot.bodies.collision import CollisionModel


def make_namer(
    bodies: CollisionModel, between_links: float, to_scene: float
) -> Callable[[Vec, Vec], str]:
    """Return a function that names the tightest pair; clearances are [m]."""
    kept = bodies.find_kept(between_links, to_scene)

    def name(q_cmd: Vec, q_des: Vec) -> str:
        tightest = bodies.find_tightest(q_cmd, q_des, kept)
        return "" if tightest < 0 else bodies.describe_pair(tightest)

    return name
