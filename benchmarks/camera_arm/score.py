"""Score of the paper's study (C16): 16 sub-tasks and two scales.

    python -m benchmarks.camera_arm.score STUDY.csv

Columns: ``participant,condition``, 0 or 1 for ``bottles1 … bottles6``, ``legos1 …
legos4``, ``pills1 … pills6``, and 1 … 7 for ``ease1 … ease3`` and ``fluency1,
fluency2``.

References:
    Rakita, Mutlu, Gleicher, HRI 2018, section 5.2. Cronbach, "Coefficient alpha and the
    internal structure of tests", 1951.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from paprle_lab.study.scales import compute_alpha

TASKS = {"bottles": 6, "legos": 4, "pills": 6}
SCALES = {"ease": 3, "fluency": 2}
_POINTS = 7


def list_items(groups):
    """Return column names of tasks or scales."""
    return [f"{name}{k + 1}" for name, n in groups.items() for k in range(n)]


def read_study(path):
    """Return rows; report all mistakes at once."""
    columns = [*list_items(TASKS), *list_items(SCALES)]
    rows, problems = [], []
    with Path(path).open(newline="") as file:
        reader = csv.DictReader(file)
        asked = {"participant", "condition", *columns}
        missing = asked - set(reader.fieldnames or ())
        if missing:
            raise ValueError(f"{path}: expected columns {', '.join(sorted(missing))}")
        for line, row in enumerate(reader, 2):
            made = {"condition": row["condition"], "participant": row["participant"]}
            for column in columns:
                is_task = column.rstrip("0123456789") in TASKS
                allowed = (
                    ("0", "1") if is_task else [str(k + 1) for k in range(_POINTS)]
                )
                if row[column] not in allowed:
                    problems.append(
                        f"{path}:{line}: expected {column} of {allowed[0]} … "
                        f"{allowed[-1]}, got '{row[column]}'"
                    )
                else:
                    made[column] = int(row[column])
            rows.append(made)
    if problems:
        raise ValueError("\n".join(problems))
    return rows


def score(rows):
    """Return scores, scales' means and α, by condition."""
    found = {}
    for name in dict.fromkeys(row["condition"] for row in rows):
        own = [row for row in rows if row["condition"] == name]
        tasks = np.array([[row[item] for item in list_items(TASKS)] for row in own])
        entry = {"n": len(own), "score": float(tasks.sum(axis=1).mean())}
        for scale, n in SCALES.items():
            items = np.array(
                [[row[f"{scale}{k + 1}"] for k in range(n)] for row in own]
            )
            entry[scale] = float(items.mean())
            entry[f"{scale}_alpha"] = compute_alpha(items)
        found[name] = entry
    return found


def main(words):
    """Print a line for each condition."""
    heads = f"{'of 16':>8}{'ease':>7}{'α':>7}{'fluency':>9}{'α':>7}"
    print(f"{'condition':<20}{'n':>4}{heads}")
    for name, e in score(read_study(words[0])).items():
        print(
            f"{name:<20}{e['n']:4d}{e['score']:8.2f}{e['ease']:7.2f}"
            f"{e['ease_alpha']:7.2f}{e['fluency']:9.2f}{e['fluency_alpha']:7.2f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
