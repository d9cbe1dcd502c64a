"""Variability of repeated episodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paprle.contracts.types import Vec
from paprle_lab.evaluation.episode import EpisodeResult
from paprle_lab.evaluation.itv import report_itv

Json = dict[str, Any]

CLOSED = 0.05  # chosen: a path whose ends are nearer than this share of it is closed


def compare(measured: Sequence[EpisodeResult]) -> list[Json | None]:
    """Return each episode's variability among its repetitions."""
    groups: dict[str, list[int]] = {}
    for row, result in enumerate(measured):
        if result.key and not result.entry["is_discarded"]:
            groups.setdefault(result.key, []).append(row)
    found: list[Json | None] = [None] * len(measured)
    for rows in groups.values():
        itv = _compare_group([measured[row] for row in rows])
        for row in rows:
            found[row] = itv
    return found


def _compare_group(measured: Sequence[EpisodeResult]) -> Json | None:
    trials: dict[str, list[tuple[Vec, Vec]]] = {}
    for result in measured:
        for limb in result.limbs:
            if len(limb.actual) > 1:
                trials.setdefault(limb.name, []).append((limb.actual.t, limb.actual.p))
    reports: dict[str, Json] = {}
    for name, paths in trials.items():
        if len(paths) < 2:
            continue
        reports[name] = dict(report_itv(paths))
        if all(_is_closed(p) for _, p in paths):
            reports[name]["cyclic"] = report_itv(paths, is_cyclic=True)
    if not reports:
        return None
    worst = max(reports, key=lambda name: float(reports[name]["arc_length_mm"]))
    entry = measured[0].entry
    return {
        "of": f"{entry.get('leader')} → {entry.get('follower')}",
        "limb": worst,
        **reports[worst],
        "limbs": reports,
    }


def _is_closed(p: Vec) -> bool:
    length = float(np.linalg.norm(np.diff(p, axis=0), axis=1).sum())
    return float(np.linalg.norm(p[-1] - p[0])) < CLOSED * length
