"""Errors between hand, robot and picture (T1, T2, T18)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from paprle.contracts.far_leader import FAR
from paprle.contracts.types import Vec
from paprle_lab.evaluation.store import NumberColumn

Json = dict[str, Any]

_ERRORS = (
    "hand_to_robot",
    "hand_to_confirmed_picture",
    "confirmed_picture_to_robot",
    "hand_to_predicted_picture",
    "predicted_picture_to_robot",
)
_LATENCY = "latency"
_BY_VELOCITY = ("hand_to_picture_by_velocity", "picture_by_velocity_to_robot")
_COLUMNS = (*_ERRORS, _LATENCY, *_BY_VELOCITY)
_MOST = 1 << 63  # spec: stamps have 63 bits
_FIRST = 2  # a stamp and a hand before
_N_OLD = _FIRST + len(_ERRORS) + 1  # of recordings without a picture by velocity
_N_VALUES = _FIRST + len(_COLUMNS)


PICTURES = {
    "hold": "confirmed_picture_to_robot",
    "velocity": "picture_by_velocity_to_robot",
}
"""Pictures that the predicted one is compared with, by how they go on."""


class FarErrors:
    """Errors accumulated from events."""

    def __init__(self) -> None:
        self._columns = {name: NumberColumn() for name in _COLUMNS}
        self._nearer = {way: [0, 0] for way in PICTURES}
        self._first: Mapping[str, Any] = {}
        self._last: Mapping[str, Any] | None = None

    def take(self, event: Mapping[str, Any]) -> None:
        """Add an event."""
        if event.get("event") != FAR:
            return
        self._first = self._first or event
        self._last = event
        told = event.get("rows")
        rows = [_read_row(row) for row in told] if isinstance(told, list) else []
        known = [row for row in rows if row is not None]
        table = np.array(known, dtype=np.float64).reshape(-1, _N_VALUES)[:, _FIRST:]
        for column, values in zip(self._columns.values(), table.T, strict=True):
            column.append(values[np.isfinite(values)])
        self._compare(table)

    def measure(self) -> Json | None:
        """Return errors [mm], motion to motion [ms] and losses; None if not remote.

        ``n`` counts measured instants, ``missing`` those not received.
        """
        if self._last is None:
            return None
        first, last = self._first, self._last
        latency = self._columns[_LATENCY]
        return {
            "n": len(self._columns[_ERRORS[0]]),
            "missing": _subtract(last.get("missing"), first.get("missing")),
            "errors_mm": {
                name: _spread(one, 95)
                for name, one in self._columns.items()
                if name != _LATENCY
            },
            "predicted_is_nearer_percent": {
                way: 100.0 * won / n if n else None
                for way, (won, n) in self._nearer.items()
            },
            "motion_to_motion_ms": _spread(latency, 99),
            "streams": _read_streams(last.get("streams"), first.get("streams")),
        }

    def _compare(self, table: Vec) -> None:
        ours = table[:, _COLUMNS.index("predicted_picture_to_robot")]
        for way, counts in self._nearer.items():
            other = table[:, _COLUMNS.index(PICTURES[way])]
            is_known = np.isfinite(ours) & np.isfinite(other)
            counts[0] += int((ours[is_known] < other[is_known]).sum())
            counts[1] += int(is_known.sum())


def describe_far(far: Json) -> list[str]:
    """Return errors and losses as lines."""
    errors = far["errors_mm"]
    lines = [
        f"{name.replace('_', ' ')} {_say(errors[name], 'p95', 'mm')}"
        for name in _ERRORS
        if errors[name]["p50"] is not None
    ]
    late = _say(far["motion_to_motion_ms"], "p99", "ms")
    lost = ", ".join(
        f"{name} {one['lost']} of {one['sent']}" for name, one in far["streams"].items()
    )
    return [*lines, f"motion to motion {late}", f"lost: {lost or 'not known'}"]


def _say(figures: Json, high: str, unit: str) -> str:
    if figures["p50"] is None:
        return "not measured"
    return f"p50 {figures['p50']:.0f}, {high} {figures[high]:.0f} {unit}"


def _spread(values: NumberColumn, percent: int) -> Json:
    shares = 50, percent
    known = len(values) > 0
    return {f"p{k}": values.percentile(k) if known else None for k in shares}


def _read_row(row: Any) -> list[float] | None:
    if not isinstance(row, list) or len(row) not in (_N_OLD, _N_VALUES):
        return None
    if not all(isinstance(value, float | None) or _is_count(value) for value in row):
        return None
    found = [math.nan if value is None else float(value) for value in row]
    return found + [math.nan] * (_N_VALUES - len(row))


def _read_streams(last: Any, first: Any) -> dict[str, dict[str, int]]:
    if not isinstance(last, dict) or not isinstance(first, dict):
        return {}
    return {
        str(name): {
            key: _subtract(one.get(key), before.get(key)) for key in ("sent", "lost")
        }
        for name, one in last.items()
        if isinstance(one, dict) and isinstance(before := first.get(name), dict)
    }


def _subtract(last: Any, first: Any) -> int:
    """Return the increase; the whole count after a restart."""
    if not _is_count(last):
        return 0
    return int(last - first if _is_count(first) and first <= last else last)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value < _MOST
