"""Piecewise cubic interpolation and smoothing; stamps are rising, (n,), [s].

References: de Boor, "A Practical Guide to Splines", 1978, chapters IV and XIV; Fritsch,
Butland, SIAM J. Sci. Stat. Comput. 5, 1984; Reinsch, Numerische Mathematik 10, 1967.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paprle.contracts.types import Vec


class CubicCurve:
    """A piecewise cubic function of time, with values in rows."""

    def __init__(self, t: Vec, values: Vec, slopes: Vec) -> None:
        h = np.diff(t).reshape(-1, *[1] * (values.ndim - 1))
        chord = np.diff(values, axis=0) / h
        bend = (slopes[:-1] + slopes[1:] - 2.0 * chord) / h
        self._t = t
        self._coefficients = (
            values[:-1],
            slopes[:-1],
            (chord - slopes[:-1]) / h - bend,
            bend / h,
        )

    def __call__(self, t: float | Vec) -> Vec:
        """Return the rows at times [s], extrapolated at both ends."""
        i = np.clip(self._t.searchsorted(t, side="right") - 1, 0, len(self._t) - 2)
        a, b, c, d = (own[i] for own in self._coefficients)
        dt = np.asarray(t - self._t[i])
        dt = dt.reshape(dt.shape + (1,) * (a.ndim - dt.ndim))
        return np.asarray(a + dt * (b + dt * (c + dt * d)))


def interpolate(t: Vec, values: Vec) -> CubicCurve:
    """Return the not-a-knot cubic spline of rows, (n, k) or (n,), n ≥ 2.

    Its acceleration is continuous; 2 rows give a line, 3 a parabola.
    """
    rows, shape = values.reshape(len(t), -1), values.shape
    h = np.diff(t)
    chord = np.diff(rows, axis=0) / h[:, None]
    if len(t) == 2:
        return CubicCurve(t, values, np.repeat(chord, 2, axis=0).reshape(shape))
    if len(t) == 3:
        bend = (chord[1] - chord[0]) / (t[2] - t[0])
        slopes = chord[0] + np.outer([-h[0], h[0], h[0] + 2.0 * h[1]], bend)
        return CubicCurve(t, values, slopes.reshape(shape))
    first, last = t[2] - t[0], t[-1] - t[-3]
    right = np.empty_like(rows)
    right[1:-1] = 3.0 * (h[1:, None] * chord[:-1] + h[:-1, None] * chord[1:])
    right[0] = (h[0] + 2.0 * first) * h[1] * chord[0] + h[0] ** 2 * chord[1]
    right[0] /= first
    right[-1] = (h[-1] + 2.0 * last) * h[-2] * chord[-1] + h[-1] ** 2 * chord[-2]
    right[-1] /= last
    diagonal = np.concatenate(([h[1]], 2.0 * (h[:-1] + h[1:]), [h[-2]]))
    upper = np.concatenate(([first], h[:-1]))
    lower = np.concatenate((h[1:], [last]))
    slopes = _solve_tridiagonal(lower, diagonal, upper, right)
    return CubicCurve(t, values, slopes.reshape(shape))


def interpolate_monotonically(t: Vec, values: Vec) -> CubicCurve:
    """Return a monotone interpolant of continuous velocity, n ≥ 2."""
    h = np.diff(t).reshape(-1, *[1] * (values.ndim - 1))
    chord = np.diff(values, axis=0) / h
    if len(t) == 2:
        return CubicCurve(t, values, np.repeat(chord, 2, axis=0))
    near, far = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
    is_turn = np.sign(chord[:-1]) * np.sign(chord[1:]) <= 0.0
    before, after = (np.where(is_turn, 1.0, part) for part in (chord[:-1], chord[1:]))
    # the weighted harmonic mean of both chords
    mean = (near + far) / (near / before + far / after)
    slopes = np.zeros_like(values)
    slopes[1:-1] = np.where(is_turn, 0.0, mean)
    slopes[0] = _slope_at_end(h[0], h[1], chord[0], chord[1])
    slopes[-1] = _slope_at_end(h[-1], h[-2], chord[-1], chord[-2])
    return CubicCurve(t, values, slopes)


def make_smoother(t: Vec, lam: float) -> Callable[[Vec], CubicCurve]:
    """Return a function that fits smoothing splines to rows, (n, k), n ≥ 4.

    It minimises Σ (y_i − f(t_i))² + λ ∫ f″(t)² dt, λ in [s³]: a natural cubic spline
    with f″ = γ at the stamps, (R + λ QᵀQ) γ = Qᵀy and f = y − λ Q γ.
    """
    h = np.diff(t)
    a, c = 1.0 / h[:-1], 1.0 / h[1:]  # a column of Q: a, −a − c, c
    b = -a - c
    diagonal = (h[:-1] + h[1:]) / 3.0 + lam * (a * a + b * b + c * c)
    first = h[1:-1] / 6.0 + lam * (b[:-1] * a[1:] + c[:-1] * b[1:])
    second = lam * c[:-2] * a[2:]
    solve = _factor_pentadiagonal(diagonal, first, second)

    def fit(values: Vec) -> CubicCurve:
        chord = np.diff(values, axis=0) / h[:, None]
        gamma = np.zeros_like(values)
        gamma[1:-1] = solve(np.diff(chord, axis=0))
        Q_gamma = np.zeros_like(values)
        Q_gamma[:-2] += a[:, None] * gamma[1:-1]
        Q_gamma[1:-1] += b[:, None] * gamma[1:-1]
        Q_gamma[2:] += c[:, None] * gamma[1:-1]
        smooth = values - lam * Q_gamma
        chord = np.diff(smooth, axis=0) / h[:, None]
        slopes = np.empty_like(values)
        slopes[:-1] = chord - h[:, None] * (2.0 * gamma[:-1] + gamma[1:]) / 6.0
        slopes[-1] = chord[-1] + h[-1] * gamma[-2] / 6.0
        return CubicCurve(t, smooth, slopes)

    return fit


def _slope_at_end(h: Vec, h_next: Vec, chord: Vec, chord_next: Vec) -> Vec:
    slope = ((2.0 * h + h_next) * chord - h * chord_next) / (h + h_next)
    is_turn = np.sign(chord) != np.sign(chord_next)
    is_steep = is_turn & (np.abs(slope) > 3.0 * np.abs(chord))
    bounded = np.where(is_steep, 3.0 * chord, slope)
    return np.where(np.sign(slope) != np.sign(chord), 0.0, bounded)


def _solve_tridiagonal(lower: Vec, diagonal: Vec, upper: Vec, right: Vec) -> Vec:
    """Solve without pivots, which this diagonal allows."""
    x = right.copy()
    shares, pivots = [0.0], [float(diagonal[0])]
    steps = zip(lower.tolist(), diagonal[1:].tolist(), upper.tolist(), strict=True)
    for below, on, above in steps:
        shares.append(below / pivots[-1])
        pivots.append(on - shares[-1] * above)
    for i in range(1, len(x)):
        x[i] -= shares[i] * x[i - 1]
    x /= np.array(pivots)[:, None]
    follows = (upper / pivots[:-1]).tolist()
    for i in range(len(x) - 2, -1, -1):
        x[i] -= follows[i] * x[i + 1]
    return x


def _factor_pentadiagonal(
    diagonal: Vec, first: Vec, second: Vec
) -> Callable[[Vec], Vec]:
    # one place more before, and two after, of zeros: the loops need no special rows
    near, far, pivots = [0.0], [0.0], [1.0, float(diagonal[0])]
    bands = zip(diagonal[1:].tolist(), first.tolist(), [0.0, *second], strict=True)
    for on, one, two in bands:
        between = one - two * near[-1]
        far.append(two / pivots[-2])
        near.append(between / pivots[-1])
        pivots.append(on - near[-1] * between - far[-1] * two)
    near, far = [*near, 0.0, 0.0], [*far, 0.0, 0.0]
    weights = 1.0 / np.array(pivots[1:])[:, None]

    def solve(right: Vec) -> Vec:
        n = len(right)
        x = np.zeros((n + 4, right.shape[1]))
        x[2:-2] = right
        for i in range(n):
            x[i + 2] -= near[i] * x[i + 1] + far[i] * x[i]
        x[2:-2] *= weights
        for i in range(n - 1, -1, -1):
            x[i + 2] -= near[i + 1] * x[i + 3] + far[i + 2] * x[i + 4]
        return x[2:-2]

    return solve
