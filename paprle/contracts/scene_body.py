"""Bodies around a robot, for display."""

from __future__ import annotations

from typing import NamedTuple


class SceneBody(NamedTuple):
    """A body around the robot.

    Attributes:
        size: As ``SceneBodySettings.size``, [m].
        pose: T_world_body as xyz + quat_xyzw, in the robot's root.
        moves: It is an object, placed by the session.
    """

    name: str
    shape: str
    size: tuple[float, ...]
    pose: tuple[float, ...]
    moves: bool = False
