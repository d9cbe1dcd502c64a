"""Conversion of units to SI and quaternions."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from paprle.contracts.types import Vec
from paprle.leaders.offline.config import UnitSettings
from paprle.leaders.offline.track import Rows

TIME: Mapping[str, float] = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
LENGTH: Mapping[str, float] = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}
ANGLE: Mapping[str, float] = {
    "rad": 1.0,
    "deg": math.pi / 180,
    "°": math.pi / 180,
}
_KNOWN = {*TIME, *LENGTH, *ANGLE, ""}
_BRACKETS = re.compile(r"\s*[\[(]([^\])]*)[\])]$")


def split_unit(name: str) -> tuple[str, str]:
    """Return a column's name and bracketed unit."""
    found = _BRACKETS.search(name)
    if found is None or found[1].strip() not in _KNOWN:
        return name, ""
    return name[: found.start()], found[1].strip()


def is_unit(word: str) -> bool:
    """Return whether a word is a unit, or ``-``."""
    return word.strip("[]()").strip() in {*_KNOWN, "-", "1"}


def scale_rows(rows: Rows, units: UnitSettings) -> Rows:
    """Return rows in this project's units."""
    return replace(
        rows,
        t=rows.t * TIME[units.time or "s"],
        p=None if rows.p is None else rows.p * LENGTH[units.length or "m"],
        q=None if rows.q is None else rows.q * ANGLE[units.angle or "rad"],
    )


def compute_quat_xyzw(angles: Vec, order: str) -> Vec:
    """Return unit quaternions, (n, 4), of Euler angles, (n, 3), [rad].

    Rz(γ)·Ry(β)·Rx(α) for ``xyz_extrinsic``, Rx(α)·Ry(β)·Rz(γ) for ``xyz_intrinsic``;
    angles are in the axes' order.
    """
    axes, _, frame = order.partition("_")
    turns = [_turn(angles[:, i], axis) for i, axis in enumerate(axes)]
    first, second, third = turns if frame == "intrinsic" else turns[::-1]
    return _multiply(_multiply(first, second), third)


def _turn(angle: Vec, axis: str) -> Vec:
    quat_xyzw = np.zeros((len(angle), 4))
    quat_xyzw[:, "xyz".index(axis)] = np.sin(angle / 2)
    quat_xyzw[:, 3] = np.cos(angle / 2)
    return quat_xyzw


def _multiply(a: Vec, b: Vec) -> Vec:
    av, aw, bv, bw = a[:, :3], a[:, 3:], b[:, :3], b[:, 3:]
    vector = aw * bv + bw * av + np.cross(av, bv)
    scalar = aw * bw - np.sum(av * bv, axis=1, keepdims=True)
    return np.hstack([vector, scalar])
