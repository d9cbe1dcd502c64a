"""Distance of two bodies with flat faces or edges, by iteration; compiled.

The cores of two bodies (all of them but their balls) are apart by the distance of the
origin from the set of differences of their points. A simplex in that set is moved
toward the origin until the plane it found keeps the cores apart by as much as its own
distance, but for ``TOLERANCE``. What is returned is the distance of that plane's two
sides: it is never above the true distance, converged or not.

References:
    Gilbert, Johnson, Keerthi, "A fast procedure for computing the distance between
    complex objects in three-dimensional space", 1988; the step within a simplex is
    that of Wolfe, "Finding the nearest point in a polytope", 1976.
"""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled
from paprle.robot.bodies import Bodies
from paprle.robot.shapes import (
    BALL,
    BOX,
    TINY,
    across,
    between_axes,
    cross,
    half_width,
    inlined,
    support,
)
from paprle.types import Vec

TOLERANCE = 1e-8  # [m] chosen: far below any model's error, far above rounding
_MAX_ITERATIONS = 64  # chosen: more than any of 1e6 random pairs took
_SQUARE = 1e-9  # chosen: sine below which an axis is square to the line between two
_FLAT = 1e-24  # [m²] chosen: two points of a simplex nearer than 1e-12 m are one

# Columns of a simplex: a point of the difference, the point of a, weight, new weight.
_A, _WEIGHT, _NEW = 3, 6, 7
_BEST = 3  # where the least overlap stands in ``out`` while normals are tried


@compiled
def measure_cores(bodies: Bodies, a: int, b: int, R: Vec, p: Vec, out: Vec) -> float:
    """Measure two bodies; the arguments are those of ``measure_pair``."""
    s, t, x, y, z = between_axes(bodies, a, b, R, p)
    apart = math.sqrt(x * x + y * y + z * z)
    if apart <= TINY:
        x, y, z = across(R, a, b)
    else:
        x, y, z = x / apart, y / apart, z / apart
    out[6], out[7], out[8] = x, y, z
    touching = bodies.capsule[a] + bodies.capsule[b]
    if apart > touching and _is_side_by_side(bodies, a, b, R, out):
        for i in range(3):
            out[i] = p[a, i] + s * R[a, i, 2] + bodies.capsule[a] * out[6 + i]
            out[3 + i] = p[b, i] + t * R[b, i, 2] - bodies.capsule[b] * out[6 + i]
        return float(apart - touching)
    distance = _separate(bodies, a, b, R, p, out)
    if distance <= 0.0:
        distance = _overlap(bodies, a, b, R, p, out)
    for i in range(3):
        out[i] += bodies.size[a, BALL] * out[6 + i]
        out[3 + i] -= bodies.size[b, BALL] * out[6 + i]
    return float(distance - bodies.size[a, BALL] - bodies.size[b, BALL])


@inlined
def _is_side_by_side(bodies: Bodies, a: int, b: int, R: Vec, out: Vec) -> bool:
    """Tell whether round sides face each other: their capsules then are exact."""
    for i in (a, b):
        sine = R[i, 0, 2] * out[6] + R[i, 1, 2] * out[7] + R[i, 2, 2] * out[8]
        if bodies.kind[i] == BOX or abs(sine) > _SQUARE:
            return False
    return True


@compiled
def _separate(bodies: Bodies, a: int, b: int, R: Vec, p: Vec, out: Vec) -> float:
    """Return how far cores are apart, 0 or less where they touch.

    Args:
        bodies: The bodies.
        a: Index of one.
        b: Index of the other.
        R: Rotations of all bodies.
        p: Centres of all bodies.
        out: Holds a first guess of the normal; takes points and normal.
    """
    s = np.empty((4, 8))
    k, best, norm = 0, -math.inf, math.inf
    x, y, z = -out[6], -out[7], -out[8]
    length = 1.0
    for _ in range(_MAX_ITERATIONS):
        back = (x / length, y / length, z / length)
        on_b = support(bodies, b, R, p, back)
        n = (-back[0], -back[1], -back[2])
        on_a = support(bodies, a, R, p, n)
        lower = 0.0
        for i in range(3):
            s[k, _A + i] = on_a[i]
            s[k, i] = on_a[i] - on_b[i]
            lower -= n[i] * s[k, i]
        if lower > best:
            best = lower
            out[6], out[7], out[8] = n
        if norm - best <= TOLERANCE:
            break
        k = _shrink(s, k)
        x, y, z = _mix(s, k, 0)
        length = math.sqrt(x * x + y * y + z * z)
        if length <= TINY or length >= norm or k > 3:
            break
        norm = length
    out[0], out[1], out[2] = _mix(s, k, _A)
    out[3], out[4], out[5] = out[0] - x, out[1] - y, out[2] - z
    return best if length > TINY else min(best, 0.0)


@inlined
def _mix(s: Vec, k: int, column: int) -> tuple[float, float, float]:
    """Return the weighted mean of the simplex' first k points."""
    x, y, z = 0.0, 0.0, 0.0
    for i in range(k):
        x += s[i, _WEIGHT] * s[i, column]
        y += s[i, _WEIGHT] * s[i, column + 1]
        z += s[i, _WEIGHT] * s[i, column + 2]
    return x, y, z


@inlined
def _shrink(s: Vec, k: int) -> int:
    """Move the weights of k points and a fresh one to the point nearest the origin.

    Points that do not bear it are dropped (a minor cycle of Wolfe's).

    Returns:
        How many points are left, in the first rows.
    """
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
    """Write weights of the origin's nearest point in the flat of k = 2 … 4 points.

    With e the edges from point 0 it solves (eᵀe) y = -eᵀ w₀ by LDLᵀ.
    """
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
def _overlap(bodies: Bodies, a: int, b: int, R: Vec, p: Vec, out: Vec) -> float:
    """Return by how much overlapping cores must move to part, as 0 or less.

    It tries the normal in ``out``, then what separates boxes: their axes and the cross
    products of those, then the line between the centres and its parts across either
    body's z, in which round sides leave.
    """
    pair = (a, b)
    c = (p[b, 0] - p[a, 0], p[b, 1] - p[a, 1], p[b, 2] - p[a, 2])
    first = (out[6], out[7], out[8])
    out[_BEST] = -math.inf
    _part(bodies, pair, R, p, first, out)
    for i in range(4):
        u = c if i == 3 else (R[a, 0, i], R[a, 1, i], R[a, 2, i])
        _part(bodies, pair, R, p, u, out)
        for j in range(3):
            w = (R[b, 0, j], R[b, 1, j], R[b, 2, j])
            _part(bodies, pair, R, p, cross(u, w), out)
            if i == 3:
                _part(bodies, pair, R, p, w, out)
    for i in pair:
        z = (R[i, 0, 2], R[i, 1, 2], R[i, 2, 2])
        _part(bodies, pair, R, p, cross(z, cross(c, z)), out)
    best: float = out[_BEST]
    point = support(bodies, a, R, p, (out[6], out[7], out[8]))
    for i in range(3):
        out[i] = point[i]
        out[3 + i] = out[i] + best * out[6 + i]
    return best


@compiled
def _part(
    bodies: Bodies,
    pair: tuple[int, int],
    R: Vec,
    p: Vec,
    n: tuple[float, float, float],
    out: Vec,
) -> None:
    """Try to part two cores along a vector; it is the normal if none was better."""
    norm = math.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
    if norm <= TINY:
        return
    a, b = pair
    n = (n[0] / norm, n[1] / norm, n[2] / norm)
    along = 0.0
    for i in range(3):
        along += n[i] * (p[b, i] - p[a, i])
    apart = abs(along) + bodies.size[a, BALL] + bodies.size[b, BALL]
    apart -= half_width(bodies, a, R, n) + half_width(bodies, b, R, n)
    if apart > out[_BEST]:
        out[_BEST] = apart
        for i in range(3):
            out[6 + i] = math.copysign(1.0, along) * n[i]
