"""Compiled kernels of the viewpoint.

Two segments are nearest inside both or at an end; clamping both line parameters
independently is wrong in a third of all pairs.
"""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled
from paprle.contracts.types import Vec

_TINY = 1e-12  # chosen: rounding of a squared length, relative
_LEAST = 1e-9  # [m] chosen: the direction of a shorter vector says nothing


@compiled
def find_nearest(a: Vec, b: Vec, c: Vec, d: Vec, places: Vec) -> float:
    """Return the distance of the segments a b and c d, [m].

    Ends are (3,), [m]; b may equal a. ``places`` receives the nearest points, 0 at the
    begin … 1 at the end, (2,).
    """
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    X, Y, Z = d[0] - c[0], d[1] - c[1], d[2] - c[2]
    p, q, r = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    dd, ee, de = x * x + y * y + z * z, X * X + Y * Y + Z * Z, x * X + y * Y + z * Z
    dw, ew, ww = p * x + q * y + r * z, p * X + q * Y + r * Z, p * p + q * q + r * r
    best = math.inf
    area = dd * ee - de * de
    if area > _TINY * dd * ee:
        s, u = (dw * ee - ew * de) / area, (dw * de - ew * dd) / area
        if 0.0 <= s <= 1.0 and 0.0 <= u <= 1.0:
            best = _square(s, u, dd, ee, de, dw, ew, ww)
            places[0], places[1] = s, u
    for end in range(4):
        if end < 2:  # of the one
            s = float(end)
            u = _clip((s * de - ew) / ee) if ee > 0.0 else 0.0
        else:
            u = float(end - 2)
            s = _clip((dw + u * de) / dd) if dd > 0.0 else 0.0
        square = _square(s, u, dd, ee, de, dw, ew, ww)
        if square < best:
            best = square
            places[0], places[1] = s, u
    s, u = places[0], places[1]
    p, q, r = p + u * X - s * x, q + u * Y - s * y, r + u * Z - s * z
    return math.sqrt(p * p + q * q + r * r)


@compiled
def cost_place(  # noqa: PLR0913, PLR0917 - arrays, not a call of ours
    g: Vec,
    target: Vec,
    distance: float,
    obstacles: Vec,
    shell: Vec,
    wishes: Vec,
    slope: Vec,
) -> float:
    """Return the cost of a camera position.

    Args:
        g: Position, (3,), [m].
        target: (3,), [m].
        distance: Requested, [m].
        obstacles: Begin, end and radius, (n, 7), [m].
        shell: Centre, inner and outer radius, [m], weight, [1/m²], (6,).
        wishes: Weight, n, s, r, c, power of occlusion, height, distance, (3, 6).
        slope: Output: gradient, (3,).
    """
    slope[:] = 0.0
    value = 0.0
    places = np.empty(2)
    for i in range(len(obstacles)):
        begin, end = obstacles[i, 0:3], obstacles[i, 3:6]
        d = find_nearest(g, target, begin, end, places)
        chi = max(d - obstacles[i, 6], 0.0)
        value += wishes[0, 0] * compute_loss(wishes[0], chi)
        if chi > 0.0:
            push = (
                wishes[0, 0]
                * compute_loss_slope(wishes[0], chi)
                * (1.0 - places[0])
                / d
            )
            for k in range(3):
                on_sight = g[k] + places[0] * (target[k] - g[k])
                slope[k] += push * (
                    on_sight - begin[k] - places[1] * (end[k] - begin[k])
                )
    value += wishes[1, 0] * compute_loss(wishes[1], g[2])
    slope[2] += wishes[1, 0] * compute_loss_slope(wishes[1], g[2])
    far = max(_measure(g, target), _LEAST)
    value += wishes[2, 0] * compute_loss(wishes[2], far - distance)
    pull = wishes[2, 0] * compute_loss_slope(wishes[2], far - distance) / far
    away = max(_measure(g, shell), _LEAST)
    beyond = away - min(max(away, shell[3]), shell[4])
    value += shell[5] * beyond * beyond
    back = 2.0 * shell[5] * beyond / away
    for k in range(3):
        slope[k] += pull * (g[k] - target[k]) + back * (g[k] - shell[k])
    return float(value)


@compiled
def compute_loss(wish: Vec, chi: float) -> float:
    """Return the loss f(χ) of a wish: weight, n, s, r, c, power, (6,)."""
    x = chi - wish[2]
    notch = math.exp(-(x * x) / (2.0 * wish[4] * wish[4]))
    return float((1.0 - 2.0 * wish[1]) * notch + wish[3] * x ** wish[5])


@compiled
def compute_curvature(wish: Vec, chi: float) -> float:
    """Return the parabola's curvature, (df/dχ) / (χ − s)."""
    x = chi - wish[2]
    notch = math.exp(-(x * x) / (2.0 * wish[4] * wish[4]))
    bend = (2.0 * wish[1] - 1.0) * notch / (wish[4] * wish[4])
    return float(bend + wish[5] * wish[3] * x ** (wish[5] - 2.0))


@compiled
def compute_loss_slope(wish: Vec, chi: float) -> float:
    """Return df/dχ of a wish."""
    return float((chi - wish[2]) * compute_curvature(wish, chi))


@compiled
def _square(  # noqa: PLR0913, PLR0917 - six products, summed up
    s: float, u: float, dd: float, ee: float, de: float, dw: float, ew: float, ww: float
) -> float:
    return s * s * dd + u * u * ee + ww - 2.0 * (s * u * de + s * dw - u * ew)


@compiled
def _clip(share: float) -> float:
    return min(max(share, 0.0), 1.0)


@compiled
def _measure(a: Vec, b: Vec) -> float:
    x, y, z = a[0] - b[0], a[1] - b[1], a[2] - b[2]
    return math.sqrt(x * x + y * y + z * z)


@compiled
def find_closest(ours: Vec, others: Vec, places: Vec) -> float:
    """Return the least distance of two sets of segments, [m].

    Negative for an overlap; inf without bodies.

    Args:
        ours: Begin, end and radius, (n, 7), [m].
        others: (m, 7), [m].
        places: Output: both indices, and positions 0 … 1 along them, (4,).
    """
    least = math.inf
    at = np.empty(2)
    for i in range(len(ours)):
        for j in range(len(others)):
            d = find_nearest(ours[i, 0:3], ours[i, 3:6], others[j], others[j, 3:6], at)
            d -= ours[i, 6] + others[j, 6]
            if d < least:
                least = d
                places[0], places[1] = float(i), float(j)
                places[2], places[3] = at[0], at[1]
    return least
