"""The parts of a session that need no model of the robot: light, so roles start soon.

A role that moves nothing (a leader without motors, the recorder, the observer) imports
no compiled kernels and reads no URDF: the session tells it what the robot is.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from paprle.config import Resolved
from paprle.config.laws import list_named
from paprle.contracts.plugin_settings import FollowerSettings
from paprle.contracts.plugins import Advisor, Camera, Clock, Leader, Observer
from paprle.contracts.types import RobotInfo
from paprle.plugins import find_plugin, list_names, load_factory
from paprle.recording.header import robot_from_dict, robot_to_dict

RING_BYTES = 16 * 2**20  # chosen: 15 s of a 29-joint robot at 500 Hz
EVENT_ROOM = 2**16  # chosen: hundreds of events; a slow recorder loses ticks first


def make_payload(resolved: Resolved, robot: RobotInfo) -> dict[str, Any]:
    """Return what every role of a session is given, as JSON values."""
    return {"config": resolved.to_dict(), "robot": robot_to_dict(robot)}


def read_payload(payload: Mapping[str, Any]) -> tuple[Resolved, RobotInfo]:
    """Return the config and the robot of ``make_payload``."""
    return Resolved.from_dict(payload["config"]), robot_from_dict(payload["robot"])


def make_leader(resolved: Resolved, clock: Clock = time.monotonic_ns) -> Leader:
    """Construct the leader of the config, closed."""
    spec = find_plugin("leader", resolved.leader_type)
    leader: Leader = load_factory(spec)(resolved.leader, clock)
    return leader


def list_objects(resolved: Resolved) -> tuple[str, ...]:
    """Return the names of the objects whose poses the follower may tell."""
    env = resolved.env
    return env.objects if isinstance(env, FollowerSettings) else ()


def make_advisor(
    resolved: Resolved, robot: RobotInfo, name: str, clock: Clock = time.monotonic_ns
) -> Advisor:
    """Construct an advisor of the config, closed."""
    config = list_named(resolved.advisors)[name]
    cameras = {
        camera: make_camera(resolved, camera, clock).info
        for camera in list_named(resolved.cameras)
    }
    factory = load_factory(find_plugin("advisor", config.type))
    made: Advisor = factory(config, robot, cameras, clock)
    return made


def make_camera(
    resolved: Resolved, name: str, clock: Clock = time.monotonic_ns
) -> Camera:
    """Construct a camera of the config, closed."""
    config = list_named(resolved.cameras)[name]
    made: Camera = load_factory(find_plugin("camera", config.type))(config, clock)
    return made


def list_observers(resolved: Resolved) -> dict[str, Any]:
    """Return the configs of the observers that are asked for, by name."""
    configs = {
        name: getattr(resolved.observers, name, None) for name in list_names("observer")
    }
    return {name: config for name, config in configs.items() if config is not None}


def make_observers(
    resolved: Resolved, robot: RobotInfo, clock: Clock = time.monotonic_ns
) -> list[Observer]:
    """Construct the observers that are asked for, closed."""
    made: list[Observer] = []
    for name, config in list_observers(resolved).items():
        factory = load_factory(find_plugin("observer", name))
        made.append(factory(config, robot, clock))
    return made
