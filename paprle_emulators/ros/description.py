"""A robot's YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

_PLACE = Path(__file__).resolve().parents[2]
_PACKED = _PLACE / "paprle/data"
_WORKSPACE = _PACKED if _PACKED.is_dir() else _PLACE  # installed, or a checkout


@dataclass(frozen=True)
class Description:
    """A robot's joints and topics.

    Attributes:
        start: In ROS's units.
        scale: Position in ROS over position in the URDF.
    """

    joints: tuple[str, ...]
    start: Mapping[str, float]
    commands: Mapping[str, tuple[str, tuple[str, ...]]]
    states: tuple[str, ...]
    running: str
    urdf_path: Path
    urdf_of: Mapping[str, str]
    scale: Mapping[str, float]
    grippers: tuple[str, ...]
    eef_links: tuple[str, ...]
    begins: str = "measured"


def load_description(robot: str, env: str, namespace: str = "") -> Description:
    """Return a robot of ``configs/follower`` in an env of ``configs/env``.

    Raises:
        ValueError: If unknown, or not in that env.
    """
    path = Path(robot)
    if path.suffix != ".yaml":
        path = _WORKSPACE / f"configs/follower/{robot}.yaml"
    if not path.is_file():
        known = sorted(p.stem for p in (_WORKSPACE / "configs/follower").glob("*.yaml"))
        raise ValueError(
            f"robot: expected one of {', '.join(known)} or a file, got '{robot}'"
        )
    tree = _read(path)
    base = _read(_WORKSPACE / f"configs/env/{env}.yaml")
    envs = tree.get("envs") or {}
    parts = [envs.get(str(base.get("type", env))), envs.get(env)]
    settings = base
    for part in filter(None, parts):
        commands = {**settings.get("commands", {}), **part.get("commands", {})}
        settings = {**settings, **part, "commands": commands}
    if not settings.get("commands"):
        raise ValueError(f"{path.name}: expected commands in envs.{env}, got none")
    tree["urdf"] = _find_urdf(str(tree.get("urdf", "")), path)
    return _describe(tree, settings, namespace)


def _find_urdf(name: str, yaml_path: Path) -> Path:
    places = (_WORKSPACE / name, yaml_path.parent / name)
    return next((place for place in places if place.is_file()), places[0])


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tree if isinstance(tree, dict) else {}


def _describe(
    tree: dict[str, Any], settings: dict[str, Any], namespace: str
) -> Description:
    homes, limbs = _find_homes(tree)
    names = settings.get("joint_names") or {}
    scales = settings.get("joint_scale") or {}
    prefix = settings.get("joint_prefix", "")
    namespace = namespace or settings.get("namespace", "")

    def to_ros(joint: str) -> str:
        return str(names.get(joint, prefix + joint))

    urdf_of = {to_ros(name): name for name in homes}
    commands = {}
    for label, command in settings["commands"].items():
        if command is None:
            continue
        joints = command.get("joints") or limbs[label]
        urdf_of |= {to_ros(joint): joint for joint in joints}
        kind = str(command.get("kind", "trajectory"))
        commands[namespace + command["topic"]] = kind, tuple(map(to_ros, joints))
    scale = {name: float(scales.get(joint, 1.0)) for name, joint in urdf_of.items()}
    start = {
        name: homes.get(joint, 0.0) * scale[name] for name, joint in urdf_of.items()
    }
    running = str(settings.get("running_topic") or "")
    return Description(
        joints=tuple(start),
        start=start,
        commands=commands,
        states=tuple(
            namespace + topic for topic in settings.get("states") or ["/joint_states"]
        ),
        running=running and namespace + running,
        urdf_path=tree["urdf"],
        urdf_of=urdf_of,
        scale=scale,
        grippers=tuple(
            limb["gripper"]["joint"]
            for limb in tree["limbs"].values()
            if limb.get("gripper")
        ),
        eef_links=tuple(limb["eef_link"] for limb in tree["limbs"].values()),
    )


def _find_homes(tree: dict[str, Any]) -> tuple[dict[str, float], dict[str, list[str]]]:
    homes: dict[str, float] = {}
    limbs: dict[str, list[str]] = {}
    for name, limb in (tree.get("limbs") or {}).items():
        joints = list(limb["joints"])
        limbs[name] = joints
        homes |= dict(zip(joints, limb.get("home") or [0.0] * len(joints), strict=True))
        if gripper := limb.get("gripper"):
            limbs[f"{name}_gripper"] = [gripper["joint"]]
            homes[gripper["joint"]] = float(gripper["closed"])
    return homes | (tree.get("hold") or {}), limbs
