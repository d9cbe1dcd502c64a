"""Requests of an operator at a page or another observer."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from paprle.contracts.types import Actions, Vec


class Hands(NamedTuple):
    """Newest targets of the limbs set at a page; NaN: none.

    Attributes:
        stamp_ns: Of sending, monotonic, [ns].
        n_presses: A change means that the dead-man was released.
        poses: T_base_hand by robot limb, xyz + quat_xyzw, (m, 7).
        openings: (m,), 0 … 1.
        axes: Deflections of x, y, z, roll, pitch, yaw, gripper, (m, 7).
        joints: As ``RobotInfo.joint_names``, (n,).
    """

    stamp_ns: int
    is_held: bool
    n_presses: int
    poses: Vec
    openings: Vec
    axes: Vec
    joints: Vec


class Wishes(NamedTuple):
    """Requests of the operator so far.

    Attributes:
        held: Robot limbs that follow no leader.
        placed: T_world_object, xyz + quat_xyzw, (7,), [m].
        is_watched: Somebody has a page open, which speaks by itself.
    """

    actions: Actions = Actions()
    task: str = ""
    n_tasks: int = 0
    note: str = ""
    n_notes: int = 0
    held: frozenset[int] = frozenset()
    placed: Mapping[str, Vec] = MappingProxyType({})
    hands: Hands | None = None
    key: str = ""
    is_watched: bool = False
