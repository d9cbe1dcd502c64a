"""Factories of parts without robot model, kernel or URDF."""

from __future__ import annotations

import json
import select
import sys
import time
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from paprle.config import Resolved
from paprle.config.laws import list_named
from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.leader_group import ALONE, merge_leaders
from paprle.contracts.plugins import Advisor, Camera, Clock, Leader, Observer
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.contracts.types import LeaderInfo, RobotInfo
from paprle.ipc.process import Role
from paprle.plugins import find_plugin, list_names, load_config_class, load_factory
from paprle.recording.header import robot_from_dict, robot_to_dict

RING_BYTES = 16 * 2**20  # chosen: 15 s of a 29-joint robot at 500 Hz
_VIEW = "view"
EVENT_ROOM = 2**16  # chosen: hundreds of events; a slow recorder loses ticks first


def make_payload(resolved: Resolved, robot: RobotInfo) -> dict[str, Any]:
    """Return every role's payload as JSON values."""
    return {"config": resolved.to_dict(), "robot": robot_to_dict(robot)}


def read_payload(payload: Mapping[str, Any]) -> tuple[Resolved, RobotInfo]:
    """Return config and robot of a payload."""
    return Resolved.from_dict(payload["config"]), robot_from_dict(payload["robot"])


def wait_for_others(role: Role) -> dict[str, Any] | None:
    """Return the awaited ready reports; None if the session gave up."""
    told, _, _ = select.select([sys.stdin, role.fds["session_alive"]], [], [])
    line = sys.stdin.readline() if sys.stdin in told else ""
    said: dict[str, Any] | None = json.loads(line) if line else None
    return said


def make_leader(
    resolved: Resolved,
    clock: Clock = time.monotonic_ns,
    name: str = ALONE,
    robot: RobotInfo | None = None,
) -> Leader:
    """Construct one leader, closed."""
    choice = resolved.only_leader if name == ALONE else resolved.leaders[name]
    spec = find_plugin("leader", choice.type)
    leader: Leader = load_factory(spec)(choice.config, clock)
    if robot is not None:
        leader.meet(robot)
    link = resolved.link
    if link.emulate is None or link.peer is not None:
        return leader
    from paprle.link.emulate import EmulatedLeader  # noqa: PLC0415 - of trials alone

    return EmulatedLeader(leader, link, clock)


def make_leaders(
    resolved: Resolved,
    clock: Clock = time.monotonic_ns,
    robot: RobotInfo | None = None,
) -> dict[str, Leader]:
    """Construct all leaders by name, closed."""
    names = resolved.leaders
    return {name: make_leader(resolved, clock, name, robot) for name in names}


def make_leader_info(resolved: Resolved, robot: RobotInfo) -> LeaderInfo:
    """Return the combined info of all leaders."""
    made = make_leaders(resolved, robot=robot).items()
    return merge_leaders({name: leader.info for name, leader in made})


def list_objects(resolved: Resolved) -> tuple[str, ...]:
    """Return the objects that the follower may report."""
    env = resolved.env
    return env.objects if isinstance(env, FollowerSettings) else ()


def list_placed(resolved: Resolved) -> tuple[str, ...]:
    """Return the objects that an operator may place."""
    return resolved.session.objects


def make_advisor(
    resolved: Resolved, robot: RobotInfo, name: str, clock: Clock = time.monotonic_ns
) -> Advisor:
    """Construct an advisor, closed."""
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
    """Construct a camera, closed."""
    config = list_named(resolved.cameras)[name]
    made: Camera = load_factory(find_plugin("camera", config.type))(config, clock)
    return made


def list_observers(resolved: Resolved) -> dict[str, Any]:
    """Return the configs of requested observers by name."""
    configs = {
        name: getattr(resolved.observers, name, None) for name in list_names("observer")
    }
    return {name: config for name, config in configs.items() if config is not None}


def list_controls(resolved: Resolved) -> list[str]:
    """Return the observers with controls."""
    return [
        name
        for name in list_observers(resolved)
        if load_factory(find_plugin("observer", name)).has_controls
    ]


def is_moved_at_page(resolved: Resolved) -> bool:
    """Return whether a leader's hands come from a page."""
    return any(
        load_factory(find_plugin("leader", one.type)).is_at_page
        for one in resolved.leaders.values()
    )


def add_view(resolved: Resolved, *, is_asked: bool = False) -> Resolved:
    """Return the config, with a page if needed.

    A terminal, a leader moved at the page, or ``is_asked`` need one.

    Raises:
        ConfigError: If a leader is moved at a page that is off.
    """
    is_seen = is_asked or (sys.stdin is not None and sys.stdin.isatty())
    is_moved = is_moved_at_page(resolved)
    there = {f.name for f in fields(resolved.observers)}
    is_wanted = resolved.session.view and (is_seen or is_moved)
    if is_moved and not resolved.session.view and not list_controls(resolved):
        raise ConfigError(
            f"leader '{resolved.leader_name}': expected a page to be moved at, got "
            "session.view=false; leave that out, or serve one: observers.view={}"
        )
    if not is_wanted or _VIEW not in there or _VIEW in list_observers(resolved):
        return resolved
    page = load_config_class(find_plugin("observer", _VIEW))()
    return replace(resolved, observers=replace(resolved.observers, **{_VIEW: page}))


def sees(observer: type[Observer]) -> bool:
    """Return whether an observer wants images."""
    return observer.show is not Observer.show


def make_observer(
    resolved: Resolved, robot: RobotInfo, name: str, clock: Clock = time.monotonic_ns
) -> Observer:
    """Construct an observer, closed."""
    factory = load_factory(find_plugin("observer", name))
    made: Observer = factory(list_observers(resolved)[name], robot, clock)
    return made
