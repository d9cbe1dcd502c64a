"""Distance of two bodies with flat faces or edges, compiled.

A simplex moves to the origin until its plane separates the cores up to ``TOLERANCE``
(Gilbert, Johnson, Keerthi 1988; Wolfe 1976).
"""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.robot.arrays import Bodies
from paprle.robot.bodies.shapes import (
    BALL,
    BOX,
    CAPSULE,
    TINY,
    Core,
    Triple,
    across,
    between_axes,
    cross,
    find_core,
    half_width,
    support,
)

TOLERANCE = 1e-8  # [m] chosen: far below any model's error, far above rounding
# An error e of a distance d turns the normal by √(2 e/d), so that its ends are √(2 e d)
# off: coming nearer along it, bodies with round rims would miss by that much sideways.
_MISS = 1e-12  # [m²] measured: of e d; 1e-11 missed touching by 1e-7 m in 2e4 pairs
_MAX_ITERATIONS = 64  # chosen: more than any of 1e6 random pairs took
_SQUARE = 1e-9  # chosen: sine below which an axis is square to the line between two
_FLAT = 1e-24  # [m²] chosen: two points of a simplex nearer than 1e-12 m are one

# Columns of a simplex: a point of the difference, the point of a, weight, new weight.
_A, _WEIGHT, _NEW = 3, 6, 7


@inlined
def measure_cores(bodies: Bodies, a: int, b: int, R: Vec, p: Vec, out: Vec) -> float:
    """Return the distance of two bodies, as ``measure_pair``."""
    s, t, x, y, z = between_axes(bodies, a, b, R, p)
    apart = math.sqrt(x * x + y * y + z * z)
    n = across(R, a, b) if apart <= TINY else (x / apart, y / apart, z / apart)
    distance = apart - bodies.capsule[a] - bodies.capsule[b]
    if (
        distance > 0.0
        and _is_round_there(bodies, a, R, n)
        and _is_round_there(bodies, b, R, n)
    ):
        for i in range(3):
            out[6 + i] = n[i]
            out[i] = p[a, i] + s * R[a, i, 2] + bodies.capsule[a] * n[i]
            out[3 + i] = p[b, i] + t * R[b, i, 2] - bodies.capsule[b] * n[i]
        return float(distance)
    # By value: references to arrays would be counted at each call.
    core_a, core_b = find_core(bodies, a, R, p), find_core(bodies, b, R, p)
    distance, n, on_a, on_b = _separate(core_a, core_b, n)
    if distance <= 0.0:
        distance, n, on_a, on_b = _overlap(core_a, core_b, n, on_a)
    for i in range(3):
        out[6 + i] = n[i]
        out[i] = on_a[i] + bodies.size[a, BALL] * n[i]
        out[3 + i] = on_b[i] - bodies.size[b, BALL] * n[i]
    return float(distance - bodies.size[a, BALL] - bodies.size[b, BALL])


@inlined
def _is_round_there(bodies: Bodies, i: int, R: Vec, n: Triple) -> bool:
    sine = R[i, 0, 2] * n[0] + R[i, 1, 2] * n[1] + R[i, 2, 2] * n[2]
    is_capsule = bodies.kind[i] == CAPSULE
    return bool(is_capsule or (bodies.kind[i] != BOX and abs(sine) <= _SQUARE))


@compiled
def _separate(a: Core, b: Core, n: Triple) -> tuple[float, Triple, Triple, Triple]:
    """Return distance [m], ≤ 0 in contact, normal and nearest points."""
    s = np.empty((4, 8))
    k, best, norm = 0, -math.inf, math.inf
    x, y, z = -n[0], -n[1], -n[2]
    length = 1.0
    for _ in range(_MAX_ITERATIONS):
        back = (x / length, y / length, z / length)
        on_b = support(b, back)
        ahead = (-back[0], -back[1], -back[2])
        on_a = support(a, ahead)
        lower = 0.0
        for i in range(3):
            s[k, _A + i] = on_a[i]
            s[k, i] = on_a[i] - on_b[i]
            lower -= ahead[i] * s[k, i]
        if lower > best:
            best, n = lower, ahead
        if norm - best <= min(TOLERANCE, _MISS / norm):
            break
        k = _shrink(s, k)
        x, y, z = _mix(s, k, 0)
        length = math.sqrt(x * x + y * y + z * z)
        if length <= TINY or length >= norm or k > 3:
            break
        norm = length
    on_a = _mix(s, k, _A)
    on_b = (on_a[0] - x, on_a[1] - y, on_a[2] - z)
    return best if length > TINY else min(best, 0.0), n, on_a, on_b


@inlined
def _mix(s: Vec, k: int, column: int) -> tuple[float, float, float]:
    x, y, z = 0.0, 0.0, 0.0
    for i in range(k):
        x += s[i, _WEIGHT] * s[i, column]
        y += s[i, _WEIGHT] * s[i, column + 1]
        z += s[i, _WEIGHT] * s[i, column + 2]
    return x, y, z


@inlined
def _shrink(s: Vec, k: int) -> int:
    # Points that do not bear it are dropped (a minor cycle of Wolfe's).
    s[k, _WEIGHT] = 0.0 if k else 1.0
    k += 1
    while k > 1:
        _find_flat_nearest(s, k)
        step, leaves = 1.0, -1
        for i in range(k):
            if s[i, _NEW] <= 0.0:
                share = s[i, _WEIGHT] / max(s[i, _WEIGHT] - s[i, _NEW], _FLAT)
                if leaves < 0 or share < step:
                    step, leaves = share, i
        for i in range(k):
            s[i, _WEIGHT] += step * (s[i, _NEW] - s[i, _WEIGHT])
        if leaves < 0:
            return k
        k -= 1
        for j in range(_NEW):
            s[leaves, j] = s[k, j]
    s[0, _WEIGHT] = 1.0
    return k


@inlined
def _find_flat_nearest(s: Vec, k: int) -> None:
    # With e the edges from point 0 it solves (eᵀe) y = -eᵀ w₀ by LDLᵀ.
    g11, r1 = _dot_edges(s, 1, 1), _dot_origin(s, 1)
    g11 = max(g11, _FLAT)
    y1, y2, y3 = r1 / g11, 0.0, 0.0
    if k > 2:
        g12 = _dot_edges(s, 1, 2)
        l21 = g12 / g11
        d2 = max(_dot_edges(s, 2, 2) - l21 * g12, _FLAT)
        r2 = _dot_origin(s, 2) - l21 * r1
        y2 = r2 / d2
        if k > 3:
            g13 = _dot_edges(s, 1, 3)
            l31 = g13 / g11
            t = _dot_edges(s, 2, 3) - l21 * g13
            l32 = t / d2
            d3 = max(_dot_edges(s, 3, 3) - l31 * g13 - l32 * t, _FLAT)
            y3 = (_dot_origin(s, 3) - l31 * r1 - l32 * r2) / d3
            y2 -= l32 * y3
            y1 -= l31 * y3
        y1 -= l21 * y2
    s[0, _NEW], s[1, _NEW] = 1.0 - y1 - y2 - y3, y1
    if k > 2:
        s[2, _NEW] = y2
    if k > 3:
        s[3, _NEW] = y3


@inlined
def _dot_edges(s: Vec, i: int, j: int) -> float:
    return float(
        (s[i, 0] - s[0, 0]) * (s[j, 0] - s[0, 0])
        + (s[i, 1] - s[0, 1]) * (s[j, 1] - s[0, 1])
        + (s[i, 2] - s[0, 2]) * (s[j, 2] - s[0, 2])
    )


@inlined
def _dot_origin(s: Vec, i: int) -> float:
    return float(
        (s[0, 0] - s[i, 0]) * s[0, 0]
        + (s[0, 1] - s[i, 1]) * s[0, 1]
        + (s[0, 2] - s[i, 2]) * s[0, 2]
    )


@compiled
def _overlap(
    a: Core, b: Core, n: Triple, common: Triple
) -> tuple[float, Triple, Triple, Triple]:
    # The nearest points are a common one of both, moved to the faces along the normal.
    # It tries a guess n, then what separates boxes: their axes and the cross products
    # of those, then the line between the centres and its parts across either body's z,
    # in which round sides leave.
    c = (b[0][0] - a[0][0], b[0][1] - a[0][1], b[0][2] - a[0][2])
    best, n = _part(a, b, n, -math.inf, n)
    best, n = _part(a, b, c, best, n)
    for u in a[1:4]:
        best, n = _part(a, b, u, best, n)
    for w in b[1:4]:
        best, n = _part(a, b, w, best, n)
        for u in a[1:4]:
            best, n = _part(a, b, cross(u, w), best, n)
    best, n = _part(a, b, cross(a[3], cross(c, a[3])), best, n)
    best, n = _part(a, b, cross(b[3], cross(c, b[3])), best, n)
    on_a = _move_to(support(a, n), common, n)
    on_b = _move_to(support(b, (-n[0], -n[1], -n[2])), common, n)
    return min(best, 0.0), n, on_a, on_b


@inlined
def _move_to(plane: Triple, point: Triple, n: Triple) -> Triple:
    x, y, z = plane[0] - point[0], plane[1] - point[1], plane[2] - point[2]
    height = n[0] * x + n[1] * y + n[2] * z
    return (
        point[0] + height * n[0],
        point[1] + height * n[1],
        point[2] + height * n[2],
    )


@compiled
def _part(a: Core, b: Core, u: Triple, best: float, n: Triple) -> tuple[float, Triple]:
    norm = math.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    if norm <= TINY:
        return best, n
    x, y, z = u[0] / norm, u[1] / norm, u[2] / norm
    along = x * (b[0][0] - a[0][0]) + y * (b[0][1] - a[0][1]) + z * (b[0][2] - a[0][2])
    if along < 0.0:
        x, y, z = -x, -y, -z
    apart = abs(along) - half_width(a, (x, y, z)) - half_width(b, (x, y, z))
    return (apart, (x, y, z)) if apart > best else (best, n)
