"""Notable moments of a run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paprle.contracts.types import GateState
from paprle_lab.evaluation.episode import EpisodeResult
from paprle_lab.evaluation.reporting.report_text import format_number
from paprle_lab.evaluation.store import Table, cut

_SHORTEST_HOLD = 0.05  # [s] chosen: shorter ones nobody notices
_BEFORE = 1.0  # [s] chosen: the viewer begins a little earlier


class ReportMoment(NamedTuple):
    """A moment; ``t`` since the report's t = 0, [s]."""

    t: float
    text: str


def find_moments(result: EpisodeResult) -> list[ReportMoment]:
    """Return largest error, nearest bodies and longest hold.

    Foreign logs have none: the viewer counts their time differently.
    """
    if result.ticks is None or not len(result.ticks):
        return []
    return sorted(_list_moments(result), key=lambda moment: moment.t)


def describe_moments(result: EpisodeResult) -> list[dict[str, Any]]:
    """Return moments as JSON, with their place in the viewer.

    Returns:
        ``t_s`` since the report's t = 0, ``text``, ``view_s`` on the viewer's time
        line, a little earlier, the ``recording`` and the ``command`` that shows it.
    """
    return [
        {
            "t_s": round(moment.t, 3),
            "text": moment.text,
            "view_s": find_view_time(result, moment),
            "recording": Path(result.entry["path"]).name,
            "command": name_command(result, moment),
        }
        for moment in find_moments(result)
    ]


def find_view_time(result: EpisodeResult, moment: ReportMoment) -> float:
    """Return the viewer's time shortly before a moment, [s]."""
    tables = [
        one for one in (result.ticks, result.gate) if one is not None and len(one)
    ]
    begin_ns = max(int(one[:1]["stamp_ns"][0]) for one in tables)
    t = moment.t - (begin_ns - result.origin_ns) * 1e-9 - _BEFORE
    return round(max(t, 0.0), 1)


def name_command(result: EpisodeResult, moment: ReportMoment) -> str:
    """Return the command to view a moment."""
    path = shlex.quote(str(result.entry["path"]))
    return f"paprle view {path} --at {find_view_time(result, moment):.1f}"


def _list_moments(result: EpisodeResult) -> Iterator[ReportMoment]:
    for limb in result.limbs:
        if limb.name == result.entry["worst_limb"] and len(limb.errors):
            k = int(np.argmax(limb.errors))
            far = format_number(1e3 * float(limb.errors[k]), "mm")
            yield ReportMoment(float(limb.target.t[k]), f"largest error, {far}")
    if result.gate is not None and len(result.gate):
        yield from _list_of_gate(result.gate, result.origin_ns)


def _list_of_gate(gate: Table, origin_ns: int) -> Iterator[ReportMoment]:
    nearest, near_ns = np.inf, 0
    holds = _Holds()
    for where in cut(len(gate)):
        rows = gate[where]
        k = int(np.argmin(rows["clearance"]))
        if rows["clearance"][k] < nearest:
            nearest, near_ns = float(rows["clearance"][k]), int(rows["stamp_ns"][k])
        holds.take(rows["stamp_ns"], rows["state"] == GateState.HOLD)
    if np.isfinite(nearest):
        told = f"nearest bodies, {format_number(1e3 * nearest, 'mm')} apart"
        yield ReportMoment((near_ns - origin_ns) * 1e-9, told)
    if holds.longest > _SHORTEST_HOLD:
        told = f"longest hold, {format_number(holds.longest, 's')}"
        yield ReportMoment((holds.longest_ns - origin_ns) * 1e-9, told)


class _Holds:
    """The longest stretch of a state; ``longest`` in [s], from ``longest_ns``."""

    def __init__(self) -> None:
        self.longest, self.longest_ns = 0.0, 0
        self._begin_ns: int | None = None

    def take(self, stamps_ns: np.ndarray, is_held: np.ndarray) -> None:
        before = self._begin_ns is not None
        for k in np.flatnonzero(np.diff(is_held, prepend=before)):
            self._change(int(stamps_ns[k]))
        if self._begin_ns is not None:
            self._measure(int(stamps_ns[-1]))

    def _change(self, now_ns: int) -> None:
        if self._begin_ns is None:
            self._begin_ns = now_ns
        else:
            self._measure(now_ns)
            self._begin_ns = None

    def _measure(self, now_ns: int) -> None:
        if (
            self._begin_ns is not None
            and (now_ns - self._begin_ns) * 1e-9 > self.longest
        ):
            self.longest, self.longest_ns = (
                (now_ns - self._begin_ns) * 1e-9,
                self._begin_ns,
            )
