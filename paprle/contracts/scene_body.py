"""Bodies around a robot, for display."""

from __future__ import annotations

from typing import NamedTuple


class SceneBody(NamedTuple):
    """A body around the robot.

    Attributes:
        size: As ``SceneBodySettings.size``, [m].
        pose: In the robot's root, xyz + quat_xyzw.
        moves: Placed by the session.
    """

    name: str
    shape: str
    size: tuple[float, ...]
    pose: tuple[float, ...]
    moves: bool = False
