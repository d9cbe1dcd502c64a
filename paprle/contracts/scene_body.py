"""Bodies that stand or lie around a robot, for those who show them."""

from __future__ import annotations

from typing import NamedTuple


class SceneBody(NamedTuple):
    """One body.

    Attributes:
        name: What it is called; of what moves, as ``SessionView.objects`` calls it.
        shape: ``box``, ``sphere``, ``cylinder``, ``capsule`` or ``ground``.
        size: As ``SceneBodySettings`` has it, [m].
        pose: T_world_body as xyz + quat_xyzw, where world is the robot's root.
        moves: It is an object: it is where the session says, or not there.
    """

    name: str
    shape: str
    size: tuple[float, ...]
    pose: tuple[float, ...]
    moves: bool = False
