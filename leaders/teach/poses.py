"""YAML file of kept poses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pinocchio as pin
import yaml  # type: ignore[import-untyped]
from annotated_types import Ge, Le
from pydantic import TypeAdapter, ValidationError

_LAX: Mapping[str, Any] = {"extra": "forbid", "allow_inf_nan": False}  # 1 is 1.0
_MAX_BYTES = 1 << 20  # chosen: a thousand poses of two arms
_HEAD = """\
# Poses of {robot}, kept with paprle (leaders/teach). They are passed in this order.
# q: joint positions, [rad] or [m]: what leader.emits=joints follows.
# xyz, rpy: the eef in the limb's base, [m] and [rad], turns about x, y, z that stand
# still: what leader.emits=pose follows. opening: of the gripper, 0 closed … 1 open.
# wait: how long to stand there, [s].
robot: {robot}
poses:
"""


@dataclass(frozen=True, kw_only=True)
class LimbPose:
    """Pose of a limb.

    Attributes:
        q: By joint, [rad] or [m].
        xyz: The eef in the limb's base, [m].
        rpy: ``rpy_xyz_extrinsic``, [rad].
        opening: 0 … 1, or None.
    """

    __pydantic_config__: ClassVar[Mapping[str, Any]] = _LAX

    q: dict[str, float]
    xyz: tuple[float, float, float]
    rpy: tuple[float, float, float]
    opening: Annotated[float, Ge(0), Le(1)] | None = None

    @property
    def T_base_eef(self) -> pin.SE3:
        """The pose of the eef."""
        return pin.SE3(pin.rpy.rpyToMatrix(*self.rpy), np.array(self.xyz))


@dataclass(frozen=True, kw_only=True)
class TaughtPose:
    """One pose of all limbs; ``wait`` is in [s]."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = _LAX

    name: str
    limbs: dict[str, LimbPose]
    wait: Annotated[float, Ge(0), Le(3600)] = 0.0


@dataclass(frozen=True, kw_only=True)
class _File:
    __pydantic_config__: ClassVar[Mapping[str, Any]] = _LAX

    robot: str
    poses: list[TaughtPose]


_READER: TypeAdapter[_File] = TypeAdapter(_File)


def read_poses(path: Path, robot: str) -> list[TaughtPose]:
    """Return the named robot's poses of a file, if any.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is invalid, or of another robot.
    """
    if not path.exists():
        return []
    return _parse(path, path.read_text(encoding="utf-8"), robot)


def keep_pose(path: Path, robot: str, pose: TaughtPose) -> int:
    """Append a pose to a file atomically.

    Returns:
        The new number of poses.

    Raises:
        OSError: If it cannot be written.
        ValueError: If the file is invalid, or continues after its poses.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    before = _parse(path, text, robot) if text.strip() else []
    text = text if text.strip() else _HEAD.format(robot=robot)
    whole = text.rstrip("\n") + "\n" + _describe(pose)
    try:
        n = len(_parse(path, whole, robot))
    except ValueError:
        n = 0
    if n != len(before) + 1:
        raise ValueError(f"{path}: expected 'poses' as the last key, and '  - ' before")
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(whole, encoding="utf-8")
    beside.replace(path)
    return n


def make_limb_pose(
    q: dict[str, float], T_base_eef: pin.SE3, opening: float | None
) -> LimbPose:
    """Return a limb's pose; q is in [rad] or [m]."""
    x, y, z = T_base_eef.translation.tolist()
    a, b, c = pin.rpy.matrixToRpy(T_base_eef.rotation).tolist()
    return LimbPose(q=q, xyz=(x, y, z), rpy=(a, b, c), opening=opening)


def _parse(path: Path, text: str, robot: str) -> list[TaughtPose]:
    if len(text) > _MAX_BYTES:
        raise ValueError(f"{path}: expected {_MAX_BYTES} bytes at most, got more")
    try:
        if any(isinstance(one, yaml.AliasEvent) for one in yaml.parse(text)):
            raise ValueError(f"{path}: expected plain YAML, got an alias")
        data = yaml.safe_load(text)
        if isinstance(data, dict) and data.get("poses", ()) is None:
            data["poses"] = []  # a list whose entries were all deleted
        file = _READER.validate_python(data)
    except yaml.YAMLError as err:
        raise ValueError(f"{path}: expected YAML, got {err}") from err
    except ValidationError as err:
        first = err.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise ValueError(f"{path}: {where}: {first['msg']}") from err
    if file.robot != robot:
        raise ValueError(f"{path}: expected poses of {robot}, got {file.robot}")
    return file.poses


def _describe(pose: TaughtPose) -> str:
    lines = [f"  - name: {pose.name}", f"    wait: {pose.wait:g}", "    limbs:"]
    for limb, one in pose.limbs.items():
        joints = ", ".join(f"{name}: {value:.6f}" for name, value in one.q.items())
        lines += [f"      {limb}:", f"        q: {{{joints}}}"]
        for key, values in (("xyz", one.xyz), ("rpy", one.rpy)):
            numbers = ", ".join(f"{value:.6f}" for value in values)
            lines.append(f"        {key}: [{numbers}]")
        if one.opening is not None:
            lines.append(f"        opening: {one.opening:.6f}")
    return "\n".join(lines) + "\n"
