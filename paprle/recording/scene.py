"""Collision bodies of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from paprle.contracts.settings.core import SceneBodySettings
from paprle.contracts.types import RobotInfo
from paprle.recording.robot import read_recorded_urdf
from paprle.robot.bodies.collision import CollisionModel
from paprle.robot.bodies.scene import make_scene


class RecordedEpisode(Protocol):
    """Episode or stored recording."""

    @property
    def robot_info(self) -> RobotInfo: ...  # noqa: D102
    @property
    def urdf(self) -> str: ...  # noqa: D102
    @property
    def config(self) -> Mapping[str, Any]: ...  # noqa: D102


def make_collision_model(episode: RecordedEpisode) -> CollisionModel:
    """Return the bodies of an episode's robot and scene.

    Raises:
        ConfigError: If the recorded URDF cannot be read.
    """
    ignored = (episode.config.get("follower") or {}).get("ignore_collisions", ())
    urdf = read_recorded_urdf(episode.robot_info, episode.urdf)
    return CollisionModel(
        urdf,
        episode.robot_info,
        tuple((a, b) for a, b in ignored),
        make_scene(read_scene(episode), urdf.links),
    )


def read_scene(episode: RecordedEpisode) -> dict[str, SceneBodySettings]:
    """Return the gate's scene bodies by name."""
    gate: Mapping[str, Any] = episode.config.get("gate") or {}
    scene = gate.get("scene", {})
    return {name: SceneBodySettings(**body) for name, body in scene.items()}
