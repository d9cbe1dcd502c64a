"""Bodies around a robot, for display."""

from __future__ import annotations

from typing import NamedTuple


class SceneBody(NamedTuple):
    """A body around the robot, or an object that ``moves``.

    Attributes:
        size: As ``SceneBodySettings.size``, [m].
        pose: In the robot's root, xyz + quat_xyzw.
    """

    name: str
    shape: str
    size: tuple[float, ...]
    pose: tuple[float, ...]
    moves: bool = False
