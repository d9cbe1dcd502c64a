"""Tool centres and bases from touched points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import Vec

LEAST_TOUCHES = 4
"""Fewest touches of one point by a tool."""
LEAST_POINTS = 3
"""Points that both arms touch."""

_LEAST_TURN = 0.15  # chosen: 1 sigma of 9°; with less, an error counts seven-fold
_SPARE = 2  # chosen: touches that remain beyond the least when one is dropped
_FAR = 4.0  # chosen: times the spread of the others
_TOUCH = 1e-3  # [m] chosen: a person hits a point by a millimetre
_WORST = 5e-3  # [m] chosen: beyond it, something else was touched
_LEAST_SIDE = 0.05  # [m] chosen: 1 mm at such a side turns a base by 1°


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """A tool's centre.

    Attributes:
        p_eef_tool: In the eef, shape (3,), [m].
        p_base_point: The touched point in the base, shape (3,), [m].
        residuals: Distances of used touches from it, shape (n,), [m].
        sigma: Standard deviation, [m].
        dropped: Numbers of touches left out.
    """

    p_eef_tool: Vec
    p_base_point: Vec
    residuals: Vec
    sigma: float
    dropped: tuple[int, ...]


def find_tool(Ts_base_eef: Sequence[pin.SE3]) -> ToolResult:
    """Return the tool's centre from touches of one point in four postures or more.

    R p_eef_tool + p_base_eef = p_base_point in each, by least squares; with six touches
    one that disagrees is left out, with seven two, and so on.

    Raises:
        ConfigError: If the touches do not determine it, or do not agree.
    """
    used = list(range(len(Ts_base_eef)))
    dropped: list[int] = []
    while True:
        _check_touches([Ts_base_eef[k] for k in used])
        x, residuals, sigma = _solve_tool([Ts_base_eef[k] for k in used])
        if len(used) < LEAST_TOUCHES + _SPARE:
            break
        k = _find_bad_touch([Ts_base_eef[k] for k in used], residuals)
        if k is None:
            break
        dropped.append(used.pop(k))
    if residuals.max() > _WORST:
        raise ConfigError(
            f"calibrate tool: expected touches of one point, within {1e3 * _WORST:g} "
            f"mm, got {1e3 * residuals.max():.1f} mm; touch it again, and keep the "
            "point and the tool fixed"
        )
    return ToolResult(
        p_eef_tool=x[:3],
        p_base_point=x[3:],
        residuals=residuals,
        sigma=sigma,
        dropped=tuple(sorted(dropped)),
    )


def _solve_tool(Ts_base_eef: Sequence[pin.SE3]) -> tuple[Vec, Vec, float]:
    A = np.vstack([np.hstack([T.rotation, -np.eye(3)]) for T in Ts_base_eef])
    b = -np.concatenate([T.translation for T in Ts_base_eef])
    x: Vec = np.linalg.lstsq(A, b, rcond=None)[0]
    off = (A @ x - b).reshape(-1, 3)
    n_free = max(off.size - 6, 1)
    noise = max(_TOUCH**2 / 3.0, float((off**2).sum()) / n_free)
    covariance = noise * np.linalg.inv(A.T @ A)
    sigma = float(np.sqrt(np.trace(covariance[:3, :3])))
    return x, np.linalg.norm(off, axis=1), sigma


def _find_bad_touch(Ts_base_eef: Sequence[pin.SE3], residuals: Vec) -> int | None:
    if np.sqrt(np.mean(residuals**2)) < _TOUCH:
        return None
    n = len(Ts_base_eef)
    rms = []
    for k in range(n):
        _, others, _ = _solve_tool([Ts_base_eef[j] for j in range(n) if j != k])
        rms.append(max(float(np.sqrt(np.mean(others**2))), _TOUCH / _FAR))
    best = int(np.argmin(rms))
    return best if np.sqrt(np.mean(residuals**2)) > _FAR / 2.0 * rms[best] else None


def _check_touches(Ts_base_eef: Sequence[pin.SE3]) -> None:
    n = len(Ts_base_eef)
    if n < LEAST_TOUCHES:
        raise ConfigError(
            f"calibrate tool: expected {LEAST_TOUCHES} touches of one point or more, "
            f"got {n}; touch it again with the hand turned otherwise"
        )
    turns = np.array([T.rotation for T in Ts_base_eef])
    # a tool that points along an axis common to all turns stays open along it
    spread = np.eye(3) - turns.mean(axis=0).T @ turns.mean(axis=0)
    least = np.sqrt(max(float(np.linalg.eigvalsh(spread)[0]), 0.0))
    if least < _LEAST_TURN:
        raise ConfigError(
            "calibrate tool: expected touches turned about two axes, by "
            f"{np.rad2deg(_LEAST_TURN):.0f}° on average about each, got "
            f"{np.rad2deg(least):.1f}° about the weakest: along the common axis the "
            "tool's length stays open; tilt the hand to other sides, by 30° and more"
        )


@dataclass(frozen=True, kw_only=True)
class BaseResult:
    """The place of one arm's base in another's.

    Attributes:
        residuals: Distances of points between both arms, shape (n,), [m].
        sigma_place: Standard deviation of the place, [m].
        sigma_turn: Of the turn, [rad].
    """

    T_first_second: pin.SE3
    residuals: Vec
    sigma_place: float
    sigma_turn: float


def find_base_by_points(p_first: Vec, p_second: Vec) -> BaseResult:
    """Return the second base in the first, by common points (n, 3), [m], n ≥ 3.

    Raises:
        ConfigError: If they are too few, on one line, or do not agree.

    References:
        Umeyama, *Least-squares estimation of transformation parameters between two
        point patterns*, 1991, without the scale.
    """
    first, second = np.asarray(p_first, float), np.asarray(p_second, float)
    _check_points(first, second)
    middle_1, middle_2 = first.mean(axis=0), second.mean(axis=0)
    U, _, Vt = np.linalg.svd((first - middle_1).T @ (second - middle_2))
    turned = np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ Vt))])
    R = U @ turned @ Vt
    T = pin.SE3(R, middle_1 - R @ middle_2)
    off = first - (second @ R.T + T.translation)
    residuals: Vec = np.linalg.norm(off, axis=1)
    if residuals.max() > _WORST:
        raise ConfigError(
            "calibrate bases: expected both arms to have the same points, within "
            f"{1e3 * _WORST:g} mm, got {1e3 * residuals.max():.1f} mm at point "
            f"{int(np.argmax(residuals)) + 1}; touch them in the same order, with "
            "calibrated tools"
        )
    n_free = max(off.size - 6, 1)
    noise = max(2.0 * _TOUCH**2 / 3.0, float((off**2).sum()) / n_free)
    J = np.vstack([np.hstack([R, -R @ pin.skew(p)]) for p in second])
    covariance = noise * np.linalg.inv(J.T @ J)
    return BaseResult(
        T_first_second=T,
        residuals=residuals,
        sigma_place=float(np.sqrt(np.trace(covariance[:3, :3]))),
        sigma_turn=float(np.sqrt(np.trace(covariance[3:, 3:]))),
    )


def _check_points(first: Vec, second: Vec) -> None:
    if first.shape != second.shape or first.ndim != 2 or first.shape[1:] != (3,):
        raise ConfigError(
            "calibrate bases: expected the same number of points of both arms, got "
            f"{len(first)} and {len(second)}; touch each point with both"
        )
    if len(first) < LEAST_POINTS:
        raise ConfigError(
            f"calibrate bases: expected {LEAST_POINTS} points or more, got "
            f"{len(first)}; touch more points with both arms, not all on one line"
        )
    for points in (first, second):
        spreads = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        if spreads[1] < _LEAST_SIDE:
            raise ConfigError(
                "calibrate bases: expected points that span a triangle with sides of "
                f"{1e3 * _LEAST_SIDE:.0f} mm and more, got a line (spread "
                f"{1e3 * spreads[1]:.0f} mm beside it): the turn about it stays open; "
                "touch a point beside the line"
            )


def find_base_by_camera(T_first_cam: pin.SE3, T_second_cam: pin.SE3) -> pin.SE3:
    """Return the second base in the first, by a common camera."""
    return T_first_cam * T_second_cam.inverse()
