"""Capsules in URDF, as a cylinder and two balls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from paprle.contracts.types import Vec
from paprle.robot.tree import Primitive

_ROUNDING = 1e-5  # [m] chosen: of the six digits that are written


def join_capsules(bodies: Sequence[Primitive]) -> list[Primitive]:
    """Return bodies with cylinders and their end balls as capsules."""
    found: list[Primitive] = []
    k = 0
    while k < len(bodies):
        is_capsule = bodies[k].shape == "cylinder" and _is_capsule(bodies[k : k + 3])
        body = bodies[k]
        found.append(replace(body, shape="capsule") if is_capsule else body)
        k += 3 if is_capsule else 1
    return found


def list_ends(body: Primitive) -> list[Vec]:
    """Return the end centres of a cylinder or capsule, (3,), [m]."""
    T, half = body.T_link_body, 0.5 * body.size[1]
    return [T.translation + side * half * T.rotation[:, 2] for side in (-1.0, 1.0)]


def _is_capsule(bodies: Sequence[Primitive]) -> bool:
    if [body.shape for body in bodies] != ["cylinder", "sphere", "sphere"]:
        return False
    cylinder, *balls = bodies
    return all(
        abs(ball.size[0] - cylinder.size[0]) < _ROUNDING
        and np.abs(ball.T_link_body.translation - end).max() < _ROUNDING
        for ball, end in zip(balls, list_ends(cylinder), strict=True)
    )
