"""Tables of trials by user, task and mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from paprle.contracts.types import Vec
from paprle_lab.evaluation.itv import report_itv
from paprle_lab.trials.labels import Trial
from paprle_lab.trials.measure import TrialResult

Json = dict[str, Any]
BY: dict[str, Callable[[Trial], str]] = {
    "user": lambda one: one.user,
    "task": lambda one: one.task,
    "mode": lambda one: one.mode,
}
PUBLISHED = ("H1", "H2", "H3", *(f"robot_{k}" for k in range(1, 6)))
"""ARBot's logs of one motion: a human's trials, and the robot's replays of one."""
SOURCE = "github.com/cake-lab/arbot-website, static/dataset, commit 9ea788c"
CLOSED = 0.05  # chosen: a path whose ends are nearer than this share of it is closed


def group(
    results: Sequence[TrialResult], key: Callable[[Trial], Any]
) -> dict[Any, list[TrialResult]]:
    """Return trials grouped and sorted by a key."""
    groups: dict[Any, list[TrialResult]] = {}
    for result in results:
        groups.setdefault(key(result.trial), []).append(result)
    return dict(sorted(groups.items()))


def make_tables(results: Sequence[TrialResult]) -> dict[str, list[Json]]:
    """Return tables by label of human trials."""
    human = [one for one in results if one.trial.kind == "human"]
    tables = {}
    for name, key in BY.items():
        groups = group(human, key)
        if any(groups):
            tables[name] = [
                {name: label or "–", **describe(own)} for label, own in groups.items()
            ]
    return tables


def describe(results: Sequence[TrialResult]) -> Json:
    """Return the common figures of trials."""
    errors = np.concatenate([one.errors for one in results])
    latencies = np.concatenate([one.latencies for one in results])
    rmse = np.array([one.figures["ate_mm"]["rmse"] for one in results])
    return {
        "n_trials": len(results),
        "rmse_mm": float(rmse.mean()),
        "rmse_sd_mm": float(rmse.std(ddof=1)) if len(rmse) > 1 else None,
        "median_mm": 1e3 * float(np.median(errors)),
        "p95_mm": 1e3 * float(np.percentile(errors, 95)),
        "latency_p50_ms": _rank(latencies, 50),
        "latency_p95_ms": _rank(latencies, 95),
    }


def _rank(latencies: Vec, share: float) -> float | None:
    return 1e3 * float(np.percentile(latencies, share)) if len(latencies) else None


def list_itv(results: Sequence[TrialResult]) -> list[Json]:
    """Return the variability of repetitions."""
    found = []
    for (kind, user, task, mode), own in group(results, lambda x: x.group).items():
        paths = [(one.t, one.actual) for one in own]
        if len(paths) < 2:
            continue
        entry: Json = {"kind": kind, "user": user, "task": task, "mode": mode}
        entry |= report_itv(paths)
        if all(_is_closed(p) for _, p in paths):
            cyclic = report_itv(paths, is_cyclic=True)
            entry["cyclic_arc_length_mm"] = cyclic["arc_length_mm"]
        found.append(entry)
    return found


def list_gaps(trials: Sequence[Trial]) -> list[str]:
    """Return incomparable repetitions and missing published logs."""
    told = []
    groups: dict[tuple[str, ...], list[Trial]] = {}
    for one in trials:
        groups.setdefault(one.group, []).append(one)
    for own in groups.values():
        if len(own) == 1:
            told.append(f"no variability of '{own[0].name}': it is one trial alone")
    names = {one.path.stem for one in trials}
    missing = [name for name in PUBLISHED if name not in names]
    if missing and names <= {*PUBLISHED}:
        told.append(
            f"of the eight logs that ARBot published, not here: {', '.join(missing)}; "
            f"they stand at {SOURCE}; its figures, 27.69 and 3.91 mm, are those of all "
            "eight"
        )
    return told


def _is_closed(p: Vec) -> bool:
    length = sum(float(np.linalg.norm(b - a)) for a, b in pairwise(p))
    return float(np.linalg.norm(p[-1] - p[0])) < CLOSED * length


def average_itv(itvs: Sequence[Json]) -> list[Json]:
    """Return means over users, by mode and kind."""
    rows = []
    for mode, kind in sorted({(one["mode"], one["kind"]) for one in itvs}):
        own = [one for one in itvs if (one["mode"], one["kind"]) == (mode, kind)]
        if len(own) > 1:
            row: Json = {"mode": mode, "kind": kind, "n_groups": len(own)}
            for key in ("arc_length_mm", "normalised_time_mm"):
                row[key] = float(np.mean([one[key] for one in own]))
            rows.append(row)
    return rows
