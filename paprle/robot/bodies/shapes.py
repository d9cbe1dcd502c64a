"""Support points and widths of bodies, each a sum of box, disc and ball."""

from __future__ import annotations

import math

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.robot.arrays import Bodies

Triple = tuple[float, float, float]
Core = tuple[Triple, Triple, Triple, Triple, Triple, float]
"""Centre, axes, half extents, radius of the disc."""

SPHERE, CAPSULE, BOX, CYLINDER, HALF_SPACE = range(5)
"""Kinds of bodies; the order is that in which ``measure_pair`` takes two of them."""

DISC, BALL = 3, 4
"""Columns of ``Bodies.size`` behind the half extents."""

TINY = 1e-10  # [m] or sine, chosen: below it there is no direction


@inlined
def between_axes(
    bodies: Bodies, a: int, b: int, R: Vec, p: Vec
) -> tuple[float, float, float, float, float]:
    """Return the nearest places on two z lines and the vector between, [m]."""
    c = (p[b, 0] - p[a, 0], p[b, 1] - p[a, 1], p[b, 2] - p[a, 2])
    u = (R[a, 0, 2], R[a, 1, 2], R[a, 2, 2])
    w = (R[b, 0, 2], R[b, 1, 2], R[b, 2, 2])
    half_a, half_b = bodies.size[a, 2], bodies.size[b, 2]
    uw = u[0] * w[0] + u[1] * w[1] + u[2] * w[2]
    cu = c[0] * u[0] + c[1] * u[1] + c[2] * u[2]
    cw = c[0] * w[0] + c[1] * w[1] + c[2] * w[2]
    # By cross products: 1 - uw² has lost everything where lines are nearly parallel.
    x, y, z = cross(u, w)
    sine2 = x * x + y * y + z * z
    s = 0.0
    if sine2 > TINY * TINY:
        cx, cy, cz = cross(c, w)
        s = min(max((cx * x + cy * y + cz * z) / sine2, -half_a), half_a)
    t = min(max(s * uw - cw, -half_b), half_b)
    s = min(max(cu + t * uw, -half_a), half_a)
    return (
        s,
        t,
        c[0] + t * w[0] - s * u[0],
        c[1] + t * w[1] - s * u[1],
        c[2] + t * w[2] - s * u[2],
    )


@compiled
def cross(u: Triple, w: Triple) -> Triple:
    """Return u x w."""
    return (
        u[1] * w[2] - u[2] * w[1],
        u[2] * w[0] - u[0] * w[2],
        u[0] * w[1] - u[1] * w[0],
    )


@inlined
def across(R: Vec, a: int, b: int) -> Triple:
    """Return a unit vector square to the axes of two bodies."""
    u = (R[a, 0, 2], R[a, 1, 2], R[a, 2, 2])
    x, y, z = cross(u, (R[b, 0, 2], R[b, 1, 2], R[b, 2, 2]))
    norm = math.sqrt(x * x + y * y + z * z)
    if norm <= TINY:
        return R[a, 0, 0], R[a, 1, 0], R[a, 2, 0]
    return x / norm, y / norm, z / norm


@inlined
def find_core(bodies: Bodies, i: int, R: Vec, p: Vec) -> Core:
    """Return a body's core by value, for ``support``."""
    size = bodies.size
    return (
        (p[i, 0], p[i, 1], p[i, 2]),
        (R[i, 0, 0], R[i, 1, 0], R[i, 2, 0]),
        (R[i, 0, 1], R[i, 1, 1], R[i, 2, 1]),
        (R[i, 0, 2], R[i, 1, 2], R[i, 2, 2]),
        (size[i, 0], size[i, 1], size[i, 2]),
        size[i, DISC],
    )


@inlined
def support(core: Core, n: Triple) -> Triple:
    """Return a core's farthest point along n."""
    p, x, y, z, half, disc = core
    u = x[0] * n[0] + x[1] * n[1] + x[2] * n[2]
    v = y[0] * n[0] + y[1] * n[1] + y[2] * n[2]
    w = z[0] * n[0] + z[1] * n[1] + z[2] * n[2]
    w = math.copysign(half[2], w)
    if disc > 0.0:
        rho = math.sqrt(u * u + v * v)
        scale = disc / rho if rho > 0.0 else 0.0
        u, v = u * scale, v * scale
    else:
        u, v = math.copysign(half[0], u), math.copysign(half[1], v)
    return (
        p[0] + x[0] * u + y[0] * v + z[0] * w,
        p[1] + x[1] * u + y[1] * v + z[1] * w,
        p[2] + x[2] * u + y[2] * v + z[2] * w,
    )


@inlined
def half_width(core: Core, n: Triple) -> float:
    """Return a core's half extent along a unit vector, [m]."""
    _, x, y, z, half, disc = core
    u = x[0] * n[0] + x[1] * n[1] + x[2] * n[2]
    v = y[0] * n[0] + y[1] * n[1] + y[2] * n[2]
    w = z[0] * n[0] + z[1] * n[1] + z[2] * n[2]
    width = half[0] * abs(u) + half[1] * abs(v) + half[2] * abs(w)
    return width + disc * math.sqrt(u * u + v * v)
