"""Smoothness of commands by joint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from paprle.contracts.types import GateState, RobotInfo, Vec
from paprle_lab.evaluation.store import Table, cut

Json = dict[str, Any]

SLOW = 10.0  # [Hz] chosen: quicker than any motion of a hand
EDGE = 1.0  # [s] chosen: longer than braking and catching up take
SHORTEST = 1.0  # [s] chosen: of what is left; a shorter spectrum says nothing
NOISE = 1e-6  # [rad/s²] chosen: rounding has no sign
STANDING = 1e-3  # [rad] chosen: a joint that moves less has no ripple
AT_LIMIT = 0.98  # chosen: of a limit
LONGEST = (
    30_000  # [periods] chosen: a minute at 500 Hz; a spectrum of more takes memory
)


def measure_smoothness(gate: Table, robot: RobotInfo, h: float | None) -> Json:
    """Return the smoothness of each joint's commands; h: gate period, [s].

    ``ripple`` is the rms of the acceleration over that below 10 Hz.
    """
    if h is None:
        return {}
    n = len(robot.joint_names)
    shares = [_Share(order, limit, h) for order, limit in _list_limits(robot)]
    ripple, is_empty = _Ripple(n, h), True
    for q in _find_runs(gate):
        is_empty = False
        ripple.add(q)
        for share in shares:
            share.add(q)
    if is_empty:
        return {}
    keys = ("at_v_percent", "at_a_percent", "at_j_percent")
    found = ripple.find(), ripple.find_flips()
    percent = [100.0 * share.find() for share in shares]
    return {
        name: {
            "ripple": _known(found[0][j]),
            "sign_changes_per_s": _known(found[1][j]),
            **{key: _known(row[j]) for key, row in zip(keys, percent, strict=True)},
        }
        for j, name in enumerate(robot.joint_names)
    }


def _list_limits(robot: RobotInfo) -> list[tuple[int, Vec]]:
    none = np.full(len(robot.joint_names), np.nan)
    dddq_max = none if robot.dddq_max is None else robot.dddq_max
    return [(1, robot.dq_max), (2, robot.ddq_max), (3, dddq_max)]


def find_worst(joints: Json, key: str) -> tuple[str, float] | None:
    """Return joint and value of a key's largest value."""
    known = {n: row[key] for n, row in joints.items() if row[key] is not None}
    if not known:
        return None
    name = max(known, key=lambda joint: known[joint])
    return name, float(known[name])


def _find_runs(gate: Table) -> Iterator[Vec]:
    """Yield q_cmd of ENGAGED runs of at most ``LONGEST`` periods, (k, n), [rad]."""
    # A stretch longer than ``LONGEST`` comes in several.
    run: list[Vec] = []
    n_rows, next_k = 0, -1
    for where in cut(len(gate)):
        rows = gate[where]
        k = rows["k"].astype(np.int64)
        is_on = rows["state"] == GateState.ENGAGED
        breaks = np.flatnonzero((np.diff(k) != 1) | (np.diff(is_on.astype(int)) != 0))
        for part in np.split(np.arange(len(rows)), breaks + 1):
            goes_on = is_on[part[0]] and k[part[0]] == next_k and n_rows < LONGEST
            if run and not goes_on:
                yield np.concatenate(run)
                run, n_rows = [], 0
            next_k = -1
            if is_on[part[0]]:
                run.append(rows["q_cmd"][part])
                n_rows, next_k = n_rows + len(part), int(k[part[-1]]) + 1
    if run:
        yield np.concatenate(run)


class _Share:
    def __init__(self, order: int, limit: Vec, h: float) -> None:
        self._order, self._limit, self._h = order, limit, h
        self._at, self._n = np.zeros(len(limit)), 0

    def add(self, q: Vec) -> None:
        found = np.abs(np.diff(q, self._order, axis=0)) / self._h**self._order
        self._at += (found > AT_LIMIT * self._limit).sum(axis=0)
        self._n += len(found)

    def find(self) -> Vec:
        """Return shares, shape (n,); NaN without a limit."""
        return np.where(np.isnan(self._limit), np.nan, self._at / max(self._n, 1))


class _Ripple:
    """RMS acceleration over its part below ``SLOW``."""

    def __init__(self, n: int, h: float) -> None:
        self._h, self._seconds = h, 0.0
        self._whole, self._slow, self._flips = np.zeros((3, n))
        self._moves = np.zeros(n, dtype=np.bool_)

    def add(self, q: Vec) -> None:
        h, n_edge = self._h, round(EDGE / self._h)
        a = np.diff(q, 2, axis=0)[n_edge:-n_edge] / h**2
        if len(a) * h < SHORTEST:
            return
        spectrum = np.fft.rfft(a, axis=0)
        spectrum[np.fft.rfftfreq(len(a), h) >= SLOW] = 0.0
        self._whole += (a**2).sum(axis=0)
        self._slow += (np.fft.irfft(spectrum, len(a), axis=0) ** 2).sum(axis=0)
        sign = np.sign(np.where(np.abs(a) < NOISE, 0.0, a))
        self._flips += (sign[1:] * sign[:-1] < 0.0).sum(axis=0)
        self._moves |= np.ptp(q, axis=0) > STANDING
        self._seconds += len(a) * h

    def find(self) -> Vec:
        """Return the ripple, shape (n,); NaN: unknown."""
        is_known = self._moves & (self._slow > 0.0)
        ratio = self._whole / np.where(is_known, self._slow, np.nan)
        return np.asarray(np.sqrt(ratio), dtype=np.float64)

    def find_flips(self) -> Vec:
        """Return sign changes of the acceleration, shape (n,), [1/s]."""
        is_known = self._moves & (self._slow > 0.0)
        return np.where(is_known, self._flips / max(self._seconds, self._h), np.nan)


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
