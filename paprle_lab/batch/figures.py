"""Table row of a recording, independent of time and host."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from paprle.contracts.types import SessionState
from paprle_lab.evaluation.episode import EpisodeResult
from paprle_lab.evaluation.metrics import SpanFinder, Spans
from paprle_lab.evaluation.store import Table, cut

Json = dict[str, Any]

_NS = 1e-9  # [s]


def _at(*path: str) -> Callable[[Json], Any]:
    def look(entry: Json) -> Any:
        found: Any = entry
        for key in path:
            found = found.get(key) if isinstance(found, Mapping) else None
        return found

    return look


_KINDS = ("raw", "lag_compensated", "within_limits")
_NAMES = {"raw": "raw", "lag_compensated": "shifted", "within_limits": "reached"}
_LATENCIES = ("capture_to_command", "command_age", "command_to_motion")

NUMBERS: Mapping[str, Callable[[Json], Any]] = {
    "duration_s": _at("duration_s"),
    "engaged_s": _at("engaged_s"),
    **{
        f"{_NAMES[kind]}_{figure}_mm": _at("ate_mm", kind, figure)
        for kind in _KINDS
        for figure in ("mean", "median", "p95", "max", "rmse")
    },
    "shift_ms": _at("ate_mm", "lag_compensated", "tau_ms"),
    **{
        f"{_NAMES[kind]}_rmse_deg": _at("orientation_deg", kind, "rmse")
        for kind in _KINDS[:2]
    },
    "rpe_rmse_mm": _at("rpe", "translation_mm", "rmse"),
    "reached_percent": _at("reach", "reached_percent"),
    "lag_ms": _at("lag_ms"),
    **{
        f"{name}_{rank}_ms": _at("latency_ms", name, rank)
        for name in _LATENCIES
        for rank in ("p50", "p99")
    },
    "ripple": lambda entry: _find_worst(entry, "ripple"),
    "sign_changes_per_s": lambda entry: _find_worst(entry, "sign_changes_per_s"),
    "min_clearance_mm": _at("gate", "min_clearance_mm"),
}
"""Columns of the table that are numbers, and where each is in the entry of a report."""
COUNTS: Mapping[str, Callable[[Json], Any]] = {
    "violations": _at("gate", "violations"),
    "interventions": _at("gate", "interventions"),
}
"""Columns of whole numbers, likewise."""
TEXTS: Mapping[str, Callable[[Json], Any]] = {
    "end_reason": _at("end_reason"),
    "worst_limb": _at("worst_limb"),
}
"""Columns of text, likewise."""
HOLDS = ("n_holds", "held_s", "longest_hold_s", "recovery_s")
"""Columns of the time in which the robot was to be led, and was not."""


def make_row(measured: EpisodeResult) -> Json:
    """Return the table row of an episode."""
    entry = measured.entry
    looks = {**NUMBERS, **COUNTS, **TEXTS}
    row: Json = {name: look(entry) for name, look in looks.items()}
    row |= dict.fromkeys(HOLDS) | {"commands": None}
    if measured.ticks is not None and measured.gate is not None:
        short = [limb.reach.short for limb in measured.limbs if limb.reach]
        row |= measure_holds(measured.ticks, measured.origin_ns, short)
        row["commands"] = hash_commands(measured.gate)
    return row


def measure_holds(ticks: Table, origin_ns: int, short: Sequence[Spans]) -> Json:
    """Return ``n_holds``, ``held_s``, ``longest_hold_s`` and median ``recovery_s``.

    A *hold* is a stretch without a leader for any limb; a *recovery* lasts from its
    begin until all targets are reached again. None without holds. ``short``: stretches
    of targets not reached by limb.
    """
    driven = SpanFinder()
    for where in cut(len(ticks)):
        rows = ticks[where]
        t = (rows["stamp_ns"] - origin_ns) * _NS
        is_driven = (rows["driver"] >= 0).any(axis=1)
        driven.add(t, is_driven & (rows["state"] == SessionState.ENGAGED))
    spans = driven.finish()
    holds = np.stack([spans[:-1, 1], spans[1:, 0]], axis=1)
    lasted = holds[:, 1] - holds[:, 0]
    recovered = [_find_recovery(hold, short) for hold in holds]
    return {
        "n_holds": len(holds),
        "held_s": float(lasted.sum()),
        "longest_hold_s": float(lasted.max(initial=0.0)),
        "recovery_s": statistics.median(recovered) if recovered else None,
    }


def _find_recovery(hold: Any, short: Sequence[Spans]) -> float:
    end = float(hold[1])
    for spans in short:
        for begin, until in spans:
            if begin <= end < until:
                end = float(until)
    return end - float(hold[0])


def hash_commands(gate: Table) -> str:
    """Return the SHA-256 of all commands and times."""
    digest = hashlib.sha256()
    for where in cut(len(gate)):
        rows = gate[where]
        for name in ("stamp_ns", "q_cmd"):
            digest.update(np.ascontiguousarray(rows[name]).tobytes())
    return digest.hexdigest()


def _find_worst(entry: Json, figure: str) -> float | None:
    found = [one[figure] for one in entry["smoothness"].values()]
    return max((one for one in found if one is not None), default=None)
