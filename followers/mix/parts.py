"""Arms as followers of their own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.errors import DeviceError, PaprleError
from paprle.contracts.plugins import Clock, Follower
from paprle.contracts.robot_info import JOINT_VECTORS
from paprle.contracts.types import LimbInfo, RobotInfo, Vec, readonly
from paprle.plugins import find_missing_packages, find_plugin, load_factory

_ENV_KEY = re.compile(r"(?<![\w.])env\.(?=[a-z])")
_LIMIT_KEY = re.compile(r"(?<![\w.])follower\.limits\.(\w+)\.(?=\w)")
_LIMB_KEY = re.compile(r"(?<![\w.])follower\.limbs\.(?:\w+|<name>)")
_ADDRESSES = ("host", "port", "channel")
"""Settings that are where an arm is reached."""


@dataclass(frozen=True)
class Part:
    """One arm; ``ids`` are its joints in the robot, in its order."""

    limb: str
    ids: tuple[int, ...]
    plugin: str
    follower: Follower

    @property
    def own_limb(self) -> str:
        """Limb name in the arm's own robot."""
        return self.follower.robot.limbs[0].name

    def name(self, text: str) -> str:
        """Return its follower's text with this robot's names."""
        text = text.removeprefix(f"{self.own_limb}: ").removeprefix(f"{self.limb}: ")
        text = _ENV_KEY.sub(f"env.{self.limb}.", text)
        text = _LIMIT_KEY.sub(rf"follower.limits.\1.{self.limb}_", text)
        return f"{self.limb}: {_LIMB_KEY.sub(f'follower.limbs.{self.limb}', text)}"

    def name_all(self, texts: Iterable[str]) -> list[str]:
        """Return ``name`` of each."""
        return [self.name(text) for text in texts]

    def preflight(self) -> list[str]:
        """Return missing packages and obstacles to opening."""
        missing = find_missing_packages("follower", self.plugin)
        return self.name_all([*missing, *self.follower.preflight()])


def make_parts(
    configs: Mapping[str, Any], robot: RobotInfo, clock: Clock
) -> tuple[list[Part], list[str]]:
    """Return the limbs' closed followers, and mismatches."""
    limbs = [limb.name for limb in robot.limbs]
    problems = [
        f"env.{name}: expected an arm of each limb of '{robot.name}' "
        f"({', '.join(limbs)}), got {', '.join(configs) or 'none'}; write "
        f"env.{name}='{{robot: …, env: …}}'"
        for name in limbs
        if name not in configs
    ]
    problems += [
        f"env.{name}: expected a limb of '{robot.name}' ({', '.join(limbs)}), got none "
        "of that name"
        for name in configs
        if name not in limbs
    ]
    owners = {joint: find_owner(joint, limbs) for joint in robot.joint_names}
    lost = [joint for joint, limb in owners.items() if not limb]
    if lost:
        problems.append(
            f"env 'mix': expected joints named after their limb ({limbs[0]}_…), got "
            f"{', '.join(lost)}; paprle new-robot FOLLOWER@LIMB … writes such a robot"
        )
    if problems:
        return [], problems
    parts = []
    for name, config in configs.items():
        try:
            own = take_robot(robot, name, config)
            factory = load_factory(find_plugin("follower", config.type))
            ids = [k for k, joint in enumerate(owners) if owners[joint] == name]
            parts.append(
                Part(name, tuple(ids), config.type, factory(config, own, clock))
            )
        except PaprleError as err:
            problems.append(f"{name}: {err}")
    return parts, [*problems, *_find_shared(configs)]


def find_owner(name: str, limbs: Iterable[str]) -> str:
    """Return the limb that prefixes a name, or ""."""
    fitting = [limb for limb in limbs if name.startswith(f"{limb}_")]
    return max(fitting, key=len, default="")


def take_robot(robot: RobotInfo, limb: str, config: Any) -> RobotInfo:
    """Return one arm as its own follower's YAML describes it.

    Limits and home are the robot's; names lose the limb prefix.

    Raises:
        DeviceError: If it has links or joints of another limb.
    """
    limbs = [one.name for one in robot.limbs]
    is_own = {name: find_owner(name, limbs) == limb for name in robot.joint_names}
    keep = np.array(list(is_own.values()))
    info = next(one for one in robot.limbs if one.name == limb)
    cut = len(limb) + 1
    vectors: dict[str, Any] = {
        row.name: _take(getattr(robot, row.name), keep) for row in JOINT_VECTORS
    }
    return replace(
        robot,
        name=config.robot,
        urdf_path=Path(config.urdf),
        joint_names=tuple(name[cut:] for name, own in is_own.items() if own),
        **vectors,
        limbs=(_rename(info, config.limb, limbs),),
        mimics=tuple(
            replace(one, joint=one.joint[cut:], source=one.source[cut:])
            for one in robot.mimics
            if find_owner(one.source, limbs) == limb
        ),
        ignored=tuple(
            (a[cut:], b[cut:])
            for a, b in robot.ignored
            if find_owner(a, limbs) == find_owner(b, limbs) == limb
        ),
        sliding=tuple(name[cut:] for name in robot.sliding if is_own[name]),
    )


def _take(values: Vec | None, keep: Vec) -> Vec | None:
    return None if values is None else readonly(values[keep])


def _rename(info: LimbInfo, own: str, limbs: list[str]) -> LimbInfo:
    gripper = info.gripper
    names = [info.base_link, info.eef_link, *info.joint_names]
    names += [] if gripper is None else [gripper.joint]
    others = [name for name in names if find_owner(name, limbs) != info.name]
    if others:
        raise DeviceError(
            f"env 'mix': expected links and joints named after their limb "
            f"({info.name}_…), got {', '.join(others)}; paprle new-robot FOLLOWER@LIMB "
            "… writes such a robot"
        )
    cut = len(info.name) + 1
    return LimbInfo(
        name=own,
        base_link=info.base_link[cut:],
        eef_link=info.eef_link[cut:],
        joint_names=tuple(name[cut:] for name in info.joint_names),
        gripper=gripper and replace(gripper, joint=gripper.joint[cut:]),
    )


def _find_shared(configs: Mapping[str, Any]) -> Iterator[str]:
    seen: dict[tuple[str, str, str], str] = {}
    for limb, config in configs.items():
        for key in _ADDRESSES:
            address = getattr(config, key, "")
            if not isinstance(address, str) or not address:
                continue
            bus = config.type if key == "host" else ""  # a host may have many ports
            other = seen.setdefault((bus, key, address), limb)
            if other != limb:
                yield (
                    f"env.{limb}.{key}: expected an address of its own, got "
                    f"'{address}', which is that of env.{other}.{key}"
                )
