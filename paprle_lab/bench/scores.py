"""Scores of sessions and robots."""

from __future__ import annotations

import os
import platform
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from paprle_lab.batch.cells import find_versions
from paprle_lab.bench.manifest import Bench

Json = dict[str, Any]
VERSION = 2
"""Of the file of scores."""
OURS = "paprle"
"""The system whose rows say of none."""


class Score(NamedTuple):
    """A figure for comparison; ``gather`` combines several sessions."""

    title: str
    gather: Callable[[Sequence[float]], float]
    is_low_better: bool = True


SCORES: Mapping[str, Score] = {
    "raw_rmse_mm": Score("error as it was, RMSE [mm]", statistics.median),
    "shifted_rmse_mm": Score("error without lag, RMSE [mm]", statistics.median),
    "raw_rmse_deg": Score("orientation error, RMSE [°]", statistics.median),
    "reached_percent": Score(
        "time in which targets were reached [%]", statistics.median, is_low_better=False
    ),
    "ripple": Score("ripple of the worst joint [1]", statistics.median),
    "violations": Score("violations of limits, by the oracle", sum),
    "min_clearance_mm": Score("least clearance [mm]", min, is_low_better=False),
    "held_s": Score("time lost in holds [s]", sum),
    "recovery_s": Score("recovery from a hold [s]", statistics.median),
    "lag_ms": Score("lag [ms]", statistics.median),
    "capture_to_command_p50_ms": Score("capture to command [ms]", statistics.median),
    "capture_to_command_p99_ms": Score("the same, p99 [ms]", max),
    "command_to_motion_p50_ms": Score("command to motion [ms]", statistics.median),
}
"""Columns of the table that are scores."""
KEYS = ("robot", "world", "network", "system")


def make_scores(
    bench: Bench,
    rows: Sequence[Json],
    others: Mapping[str, Mapping[str, str]] | None = None,
) -> Json:
    """Return the reproducible scores of a benchmark."""
    manifest = bench.manifest
    rows = [{"system": OURS, **row} for row in rows]
    places = dict.fromkeys(tuple(row[key] for key in KEYS[:-1]) for row in rows)
    systems = dict.fromkeys(row["system"] for row in rows)
    groups: dict[tuple[Any, ...], list[Json]] = {
        (*place, system): [] for place, system in product(places, systems)
    }
    for row in rows:
        groups[tuple(row[key] for key in KEYS)].append(row)
    return {
        "format": VERSION,
        "bench": {
            "name": manifest.name,
            "sha256": bench.digest,
            "motions": [
                {"name": one.name, "sha256": one.sha256, "source": one.source}
                for one in manifest.motions
            ],
        },
        "versions": find_versions(),
        "systems": {name: dict(own) for name, own in (others or {}).items()},
        "machine": find_machine(),
        "seeds": list(bench.plan.seeds),
        "scores": {name: score.title for name, score in SCORES.items()},
        "board": [
            {**dict(zip(KEYS, key, strict=True)), **_gather(of_key)}
            for key, of_key in groups.items()
            if of_key
        ],
        "sessions": [_describe(row) for row in rows],
    }


def _gather(rows: Sequence[Json]) -> Json:
    entry: Json = {
        "sessions": len(rows),
        "ended_well": sum(row["exit_code"] == 0 for row in rows),
    }
    for name, score in SCORES.items():
        known = [row[name] for row in rows if row[name] is not None]
        entry[name] = score.gather(known) if known else None
    return entry


def _describe(row: Json) -> Json:
    named = {"motion": row["leader"], **{key: row[key] for key in KEYS}}
    ended = {key: row[key] for key in ("seed", "status", "exit_code", "end_reason")}
    return {
        **named,
        **ended,
        **{name: row[name] for name in SCORES},
        "commands": row["commands"],
    }


def find_machine() -> Json:
    """Return a description of this machine."""
    found = None
    info = Path("/proc/cpuinfo")
    if info.is_file():
        found = re.search(r"^model name\s*:\s*(.+)$", info.read_text(), re.M)
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processor": found[1] if found else platform.processor(),
        "cores": os.cpu_count(),
    }
