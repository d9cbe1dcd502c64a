"""Continuity of an episode's rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from paprle.contracts.kit.continuity import (
    HAND_SPEED,
    find_joint_jumps,
    find_joint_speeds,
    find_turn_jumps,
    unwrap,
)
from paprle.contracts.types import RobotInfo, Vec
from paprle.leaders.dataset.config import ColumnSettings
from paprle.leaders.dataset.limbs import LimbRows


def join_turns(
    t: Vec,
    rows: Mapping[str, LimbRows],
    limbs: Mapping[str, ColumnSettings],
    robot: RobotInfo | None,
) -> tuple[Mapping[str, LimbRows], tuple[str, ...]]:
    """Return rows without turns, and the unwrapped joints."""
    whole, told = dict(rows), []
    for limb, own in rows.items():
        if own.q is None:
            continue
        names = tuple(limbs[limb].joints)
        q, turns = unwrap(own.q, np.diff(t), find_joint_speeds(names, robot))
        whole[limb] = replace(own, q=q)
        told += [
            f"{n} steps of a turn unwrapped in joint '{name}'"
            for name, n in zip(names, turns.tolist(), strict=True)
            if n
        ]
    return whole, tuple(told)


def find_jump(
    t: Vec,
    rows: Mapping[str, LimbRows],
    limbs: Mapping[str, ColumnSettings],
    robot: RobotInfo | None,
) -> str:
    """Return the impossible steps' number and first, or ""."""
    dt = np.diff(t)
    for limb, own in rows.items():
        jumps = {}
        if own.q is not None:
            speeds = find_joint_speeds(tuple(limbs[limb].joints), robot)
            jumps["joints"] = find_joint_jumps(own.q, dt, speeds)
        if own.pose is not None:
            distance = np.linalg.norm(np.diff(own.pose[:, :3], axis=0), axis=1)
            jumps["position"] = distance > HAND_SPEED * dt
            jumps["orientation"] = find_turn_jumps(own.pose[:, 3:], dt)
        for what, mask in jumps.items():
            if mask.any():
                row = int(mask.argmax())
                return (
                    f"{int(mask.sum())} jumps in {what} of '{limb}' (the first after "
                    f"row {row}, {t[row]:.2f} s)"
                )
    return ""
