"""Requests of an operator at an observer that has controls: a page in a browser."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from paprle.contracts.types import Actions, Vec


class Hands(NamedTuple):
    """Targets of the limbs set at a page; the newest wins.

    Attributes:
        stamp_ns: When the page sent them, monotonic, [ns].
        is_held: The dead-man is held.
        n_presses: Its presses so far: another one means that it was released.
        poses: T_base_hand by limb of the robot as xyz + quat_xyzw, shape (m, 7); NaN:
            this limb has no target.
        openings: Of the grippers, shape (m,), 0 … 1; NaN: not given.
        axes: Deflections of x, y, z, roll, pitch, yaw, gripper, shape (m, 7).
        joints: Positions as ``RobotInfo.joint_names``, shape (n,); NaN: not given.
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
        actions: How often each action was asked for.
        task: Of the next episode.
        n_tasks: How often a task was given.
        note: On the open episode, else on the last one.
        n_notes: How often a note was given.
        held: Places of the robot's limbs that are to follow no leader.
        placed: Where objects are, by name: T_world_object as xyz + quat_xyzw, shape
            (7,), [m]; none of those that were not placed, or taken away.
        hands: Targets of the limbs; None: not given.
        key: A page's token, by which earlier visitors find it again.
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
