"""Signed distance of two convex bodies, with points and normal, compiled.

It is a separation along the normal, never above the true distance; inexact cases are
within ``TOLERANCE`` or, in overlap, the least over tried directions.

References:
    Gilbert, Johnson, Keerthi, "A fast procedure for computing the distance between
    complex objects in three-dimensional space", 1988; Wolfe, "Finding the nearest point
    in a polytope", 1976.
"""

from __future__ import annotations

import math

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.robot.arrays import Bodies
from paprle.robot.bodies.gjk import measure_cores
from paprle.robot.bodies.shapes import (
    BALL,
    BOX,
    CAPSULE,
    DISC,
    HALF_SPACE,
    SPHERE,
    TINY,
    across,
    between_axes,
    find_core,
    half_width,
    support,
)


@inlined
def measure_pair(bodies: Bodies, a: int, b: int, R: Vec, p: Vec, out: Vec) -> float:
    """Return the signed distance of two bodies, at most one a half-space, [m].

    ``out``, (9,), takes nearest points of a and b, [m], and the unit normal a to b.
    """
    is_turned = bodies.kind[a] > bodies.kind[b]
    if is_turned:
        a, b = b, a
    if bodies.kind[b] == HALF_SPACE:
        distance = _measure_above(bodies, a, b, R, p, out)
    elif bodies.kind[b] <= CAPSULE:
        distance = _measure_capsules(bodies, a, b, R, p, out)
    elif bodies.kind[a] == SPHERE:
        distance = _measure_ball(bodies, a, b, R, p, out)
    else:
        distance = measure_cores(bodies, a, b, R, p, out)
    if is_turned:
        for i in range(3):
            out[i], out[3 + i] = out[3 + i], out[i]
            out[6 + i] = -out[6 + i]
    return distance


@inlined
def bound_pair(bodies: Bodies, a: int, b: int, R: Vec, p: Vec) -> float:
    """Return a lower bound of two bodies' distance, [m]."""
    if bodies.kind[b] == HALF_SPACE:
        return _height(bodies, a, b, R, p)
    if bodies.kind[a] == HALF_SPACE:
        return _height(bodies, b, a, R, p)
    x, y, z = p[b, 0] - p[a, 0], p[b, 1] - p[a, 1], p[b, 2] - p[a, 2]
    extent = bodies.sphere[a] + bodies.sphere[b]
    far = math.sqrt(x * x + y * y + z * z) - extent
    if far > extent:
        return float(far)
    x, y, z = between_axes(bodies, a, b, R, p)[2:]
    near = math.sqrt(x * x + y * y + z * z) - bodies.capsule[a] - bodies.capsule[b]
    return float(max(far, near))


@inlined
def bound_along(bodies: Bodies, a: int, b: int, R: Vec, p: Vec, n: Vec) -> float:
    """Return the separation along a unit vector n from a to b, [m].

    It equals the distance along ``measure_pair``'s normal; -inf for a half-space.
    """
    if bodies.kind[a] == HALF_SPACE or bodies.kind[b] == HALF_SPACE:
        return -math.inf
    x, y, z = p[b, 0] - p[a, 0], p[b, 1] - p[a, 1], p[b, 2] - p[a, 2]
    way = (n[0], n[1], n[2])
    middle = way[0] * x + way[1] * y + way[2] * z
    width = half_width(find_core(bodies, a, R, p), way) + bodies.size[a, BALL]
    width += half_width(find_core(bodies, b, R, p), way) + bodies.size[b, BALL]
    return float(middle - width)


@inlined
def _height(bodies: Bodies, a: int, b: int, R: Vec, p: Vec) -> float:
    up = (R[b, 0, 2], R[b, 1, 2], R[b, 2, 2])
    x, y, z = p[a, 0] - p[b, 0], p[a, 1] - p[b, 1], p[a, 2] - p[b, 2]
    middle = up[0] * x + up[1] * y + up[2] * z
    width = half_width(find_core(bodies, a, R, p), up) + bodies.size[a, BALL]
    return float(middle - width)


@inlined
def _measure_above(bodies: Bodies, a: int, b: int, R: Vec, p: Vec, out: Vec) -> float:
    height = _height(bodies, a, b, R, p)
    down = (-R[b, 0, 2], -R[b, 1, 2], -R[b, 2, 2])
    point = support(find_core(bodies, a, R, p), down)
    for i in range(3):
        out[6 + i] = down[i]
        out[i] = point[i] + bodies.size[a, BALL] * down[i]
        out[3 + i] = out[i] + height * down[i]
    return height


@inlined
def _measure_capsules(
    bodies: Bodies, a: int, b: int, R: Vec, p: Vec, out: Vec
) -> float:
    s, t, x, y, z = between_axes(bodies, a, b, R, p)
    apart = math.sqrt(x * x + y * y + z * z)
    n = across(R, a, b) if apart <= TINY else (x / apart, y / apart, z / apart)
    for i in range(3):
        out[6 + i] = n[i]
        out[i] = p[a, i] + s * R[a, i, 2] + bodies.size[a, BALL] * n[i]
        out[3 + i] = p[b, i] + t * R[b, i, 2] - bodies.size[b, BALL] * n[i]
    return float(apart - bodies.size[a, BALL] - bodies.size[b, BALL])


@inlined
def _measure_ball(bodies: Bodies, a: int, b: int, R: Vec, p: Vec, out: Vec) -> float:
    x, y, z = p[a, 0] - p[b, 0], p[a, 1] - p[b, 1], p[a, 2] - p[b, 2]
    c = (
        R[b, 0, 0] * x + R[b, 1, 0] * y + R[b, 2, 0] * z,
        R[b, 0, 1] * x + R[b, 1, 1] * y + R[b, 2, 1] * z,
        R[b, 0, 2] * x + R[b, 1, 2] * y + R[b, 2, 2] * z,
    )
    distance, u, v, w = _leave_core(bodies, b, c)
    for i in range(3):
        out[6 + i] = -(R[b, i, 0] * u + R[b, i, 1] * v + R[b, i, 2] * w)
        out[i] = p[a, i] + bodies.size[a, BALL] * out[6 + i]
        out[3 + i] = p[a, i] + distance * out[6 + i]
    return float(distance - bodies.size[a, BALL])


@inlined
def _leave_core(
    bodies: Bodies, b: int, c: tuple[float, float, float]
) -> tuple[float, float, float, float]:
    size = bodies.size
    is_box = bodies.kind[b] == BOX
    rho = math.sqrt(c[0] * c[0] + c[1] * c[1])
    beyond = max(rho - size[b, DISC], 0.0) / rho if rho > TINY else 0.0
    x, y = c[0] * beyond, c[1] * beyond
    if is_box:
        x = c[0] - min(max(c[0], -size[b, 0]), size[b, 0])
        y = c[1] - min(max(c[1], -size[b, 1]), size[b, 1])
    z = c[2] - min(max(c[2], -size[b, 2]), size[b, 2])
    distance = math.sqrt(x * x + y * y + z * z)
    if distance > TINY:
        return distance, x / distance, y / distance, z / distance
    round_side = rho - size[b, DISC]
    if not is_box and round_side >= abs(c[2]) - size[b, 2]:
        # On the very axis every direction out of it is as good.
        x, y = (c[0] / rho, c[1] / rho) if rho > TINY else (1.0, 0.0)
        return round_side, x, y, 0.0
    half = (size[b, 0], size[b, 1], size[b, 2])
    return _find_face(c, half if is_box else (math.inf, math.inf, half[2]))


@compiled
def _find_face(
    c: tuple[float, float, float], half: tuple[float, float, float]
) -> tuple[float, float, float, float]:
    x, y, z = abs(c[0]) - half[0], abs(c[1]) - half[1], abs(c[2]) - half[2]
    if z >= x and z >= y:
        return z, 0.0, 0.0, math.copysign(1.0, c[2])
    if x >= y:
        return x, math.copysign(1.0, c[0]), 0.0, 0.0
    return y, 0.0, math.copysign(1.0, c[1]), 0.0
