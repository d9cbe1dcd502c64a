"""Requests of an operator at a browser page or another observer with controls."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from paprle.contracts.types import Actions, Vec


class Hands(NamedTuple):
    """Newest targets of the limbs set at a page.

    Attributes:
        stamp_ns: Monotonic time of sending, [ns].
        n_presses: Presses of the dead-man; a change means that it was released.
        poses: T_base_hand by robot limb as xyz + quat_xyzw, shape (m, 7); NaN: no
            target.
        openings: Gripper openings, shape (m,), 0 … 1; NaN: none.
        axes: Deflections of x, y, z, roll, pitch, yaw, gripper, shape (m, 7).
        joints: Positions as ``RobotInfo.joint_names``, shape (n,); NaN: none.
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
        note: Note on the open or else last episode.
        held: Indices of robot limbs that follow no leader.
        placed: T_world_object of placed objects, as xyz + quat_xyzw, shape (7,), [m].
        key: A page's token, which identifies returning visitors.
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
