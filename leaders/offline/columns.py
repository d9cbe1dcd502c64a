"""Which columns of a table make up a limb, found by their names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from leaders.offline.config import OfflineConfig
from paprle.contracts.errors import ConfigError

_STAMPS = ("capture_timestamp", "timestamp", "time", "t")
_OPENINGS = ("opening", "gripper")
ARBOT = tuple(f"target_pos_{a}" for a in "xyz") + tuple(
    f"target_orient_{a}" for a in "xyzw"
)
_POSES = (
    ARBOT,
    ("x", "y", "z", "qx", "qy", "qz", "qw"),
    ("tx", "ty", "tz", "qx", "qy", "qz", "qw"),
)
_POSE_NAMES = {name for pose in _POSES for name in pose}
TUM = ("t", *_POSES[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which columns of a table make up one limb.

    Attributes:
        stamp: Index of the stamp; None where the period is configured.
        pose: Indices of x, y, z, qx, qy, qz, qw; empty for joints.
        joints: Indices of the joints; empty for poses.
        joint_names: Their names.
        opening: Index of the gripper opening, if there is one.
        is_absolute: Poses are meant in the follower's base as they are.
    """

    stamp: int | None
    pose: tuple[int, ...] = ()
    joints: tuple[int, ...] = ()
    joint_names: tuple[str, ...] = ()
    opening: int | None = None
    is_absolute: bool = False

    def used(self) -> tuple[int, ...]:
        """Return the indices of all these columns."""
        single = tuple(i for i in (self.stamp, self.opening) if i is not None)
        return single + self.pose + self.joints


def find_columns(
    path: Path, header: tuple[str, ...], prefix: str, config: OfflineConfig
) -> Columns:
    """Find the columns of a limb.

    Args:
        path: The file, for messages.
        header: Names of all columns.
        prefix: Name of the limb that its columns begin with; empty for all columns.
        config: The leader's config.

    Returns:
        The columns.

    Raises:
        ConfigError: If stamps, poses or joints are missing.
    """
    index = {_strip(name, prefix).lower(): i for i, name in _of(header, prefix)}
    shared = {name.lower(): i for i, name in enumerate(header)}
    stamp = next(
        (own[name] for own in (index, shared) for name in _STAMPS if name in own), None
    )
    if stamp is None and config.dt is None:
        raise ConfigError(
            f"{path}: expected a column of stamps named {' or '.join(_STAMPS)}, got "
            f"{shown(header)}; name it so, or set leader.dt"
        )
    opening = next((index[name] for name in _OPENINGS if name in index), None)
    pose = next((p for p in _POSES if not config.joints and set(p) <= set(index)), None)
    if pose is not None:
        return Columns(
            stamp=stamp,
            pose=tuple(index[name] for name in pose),
            opening=opening,
            is_absolute=pose is ARBOT,
        )
    joints = _joints(path, header, prefix, config, {stamp, opening})
    return Columns(
        stamp=stamp,
        joints=joints,
        joint_names=tuple(header[i] for i in joints),
        opening=opening,
    )


def _joints(
    path: Path,
    header: tuple[str, ...],
    prefix: str,
    config: OfflineConfig,
    others: set[int | None],
) -> tuple[int, ...]:
    """Return the columns that are joints: those configured, else all that are left."""
    own = [i for i, name in _of(header, prefix) if i not in others and name]
    if not config.joints:
        half = [
            header[i] for i in own if _strip(header[i], prefix).lower() in _POSE_NAMES
        ]
        if half or not own:
            raise ConfigError(
                f"{path}: expected a pose ({', '.join(ARBOT)}; or x … qw) or joints"
                f"{f' of limb {prefix!r}' if prefix else ''}, got {shown(header)}; "
                "rename the columns, or name the joints with leader.joints"
            )
        return tuple(own)
    missing = [name for name in config.joints if name not in header]
    if missing:
        raise ConfigError(
            f"{path}: expected columns {missing} of leader.joints, got {shown(header)}"
        )
    return tuple(i for i in map(header.index, config.joints) if i in own)


def _of(header: tuple[str, ...], prefix: str) -> Iterable[tuple[int, str]]:
    """Return the columns of a limb."""
    return (
        (i, n) for i, n in enumerate(header) if not prefix or _strip(n, prefix) != n
    )


def _strip(name: str, prefix: str) -> str:
    """Return the name without the limb and the separator it begins with."""
    if prefix and name.startswith(prefix) and name[len(prefix) :][:1] in {*"_./"}:
        return name[len(prefix) + 1 :]
    return name


def shown(header: tuple[str, ...]) -> str:
    """Return the header for a message, at most 200 characters of it."""
    return "'" + ", ".join(header)[:200] + "'"
