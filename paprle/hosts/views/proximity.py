"""Near bodies of a robot for viewers, measured in their process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from paprle.config import Resolved
from paprle.contracts.proximity import Near
from paprle.contracts.types import RobotInfo, Vec

if TYPE_CHECKING:
    from paprle.robot.bodies.collision import CollisionModel

_WORTH = 0.06  # [m] chosen: above what is kept; a hand's breadth
_SEEN = 0.05  # chosen: of that way; at home a pair has none of it but by rounding
_LEAST = 1e-3  # [m] chosen: of the way from home to what is kept


class NearBodies:
    """Finds near bodies; makes its model on first use."""

    def __init__(
        self,
        make_model: Callable[[], CollisionModel],
        kept: tuple[float, float],
        home: Vec,
    ) -> None:
        """Prepare; ``kept`` are clearances between links and to the scene, [m].

        ``home`` has shape (n,), [rad] or [m].
        """
        self._make_model, self._asked, self._home = make_model, kept, home
        self._model: CollisionModel | None = None
        self._kept = self._worth = np.zeros(0)

    def find(self, q: Vec) -> list[Near]:
        """Return the near pairs at q, shape (n,), nearest first.

        A pair near at home counts only if nearer than there.
        """
        model = self._model or self._make()
        clearances = model.clearances(q)
        shares = 1.0 - (clearances - self._kept) / self._worth
        near = [
            Near(
                model.pairs[k],
                float(clearances[k]),
                min(float(shares[k]), 1.0),
                model.find_nearest_points(k),
            )
            for k in map(int, np.flatnonzero(shares > _SEEN))
        ]
        return sorted(near, key=lambda one: -one.share)

    def _make(self) -> CollisionModel:
        self._model = model = self._make_model()
        self._kept = model.find_kept(*self._asked)
        at_home = model.clearances(self._home) - self._kept
        self._worth = np.clip(at_home, _LEAST, _WORTH)
        return model


def make_near_bodies(resolved: Resolved, robot: RobotInfo) -> NearBodies:
    """Return the finder for a session's robot and scene."""
    gate = resolved.gate

    def make_model() -> CollisionModel:
        # whoever never asks starts without the rooms of the robot
        from paprle.robot.bodies.collision import CollisionModel  # noqa: PLC0415
        from paprle.robot.bodies.scene import make_scene  # noqa: PLC0415
        from paprle.robot.urdf import read_urdf  # noqa: PLC0415

        urdf = read_urdf(robot.urdf_path)
        ignored = tuple(resolved.robot.ignore_collisions)
        scene = make_scene(gate.scene, urdf.links)
        return CollisionModel(urdf, robot, ignored, scene)

    kept = gate.clearance_self, gate.clearance_scene
    return NearBodies(make_model, kept, robot.home)
