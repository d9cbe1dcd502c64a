"""Tables of a study: CSV, and Parquet with pyarrow.

* ``answers``: per answer; ``counted`` reverses reversed items.
* ``scores``: per participant, condition and scale.
* ``sessions``: per session, with errors and latencies.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.errors import MissingDependency, RecordingError
from paprle_lab.evaluation.reporting.files import write_text
from paprle_lab.study.answer_log import Book
from paprle_lab.study.plan import PREFERENCE, Step, Study, find_questionnaire
from paprle_lab.study.scales import Questionnaire, compute_alpha
from paprle_lab.trials.labels import Trial, write_index
from paprle_lab.trials.measure import measure_trial

Row = dict[str, Any]
Tables = dict[str, list[Row]]
_FIGURES = {
    "rmse_mm": ("ate_mm", "rmse"),
    "median_mm": ("ate_mm", "median"),
    "p95_mm": ("ate_mm", "p95"),
    "latency_p50_ms": ("latency_ms", "median"),
    "latency_p95_ms": ("latency_ms", "p95"),
}


def make_tables(study: Study) -> Tables:
    """Return the tables so far.

    Raises:
        RecordingError: If a file is damaged.
    """
    tables: Tables = {"answers": [], "scores": [], "sessions": []}
    for participant in study.orders:
        book = Book(study, participant)
        for step in study.list_steps(participant):
            found = book.read(step)
            if found is None:
                continue
            head = _make_head(study, participant, step)
            try:
                if step.task:
                    tables["sessions"].append(_measure(study, head, step, found))
                else:
                    _add_answers(study, head, step, found["answers"], tables)
            except (KeyError, TypeError, ValueError, AttributeError) as err:
                raise RecordingError(
                    f"{book.find(step)}: expected a step of the plan, got {err!r}"
                ) from err
    return tables


def _make_head(study: Study, participant: str, step: Step) -> Row:
    order = study.orders[participant]
    position = order.index(step.condition) + 1 if step.condition else None
    return {
        "participant": participant,
        "condition": step.condition or None,
        "position": position,
    }


def _add_answers(
    study: Study, head: Row, step: Step, answers: Mapping[str, Any], tables: Tables
) -> None:
    if step.asks == PREFERENCE:
        chosen = answers[PREFERENCE]
        row = {"questionnaire": PREFERENCE, "item": chosen, "answer": 1.0}
        if chosen is not None:
            tables["answers"].append({**head, **row, "counted": 1.0})
        return
    asked = find_questionnaire(study.plan, step.asks)
    for item in asked.items:
        value = answers[item]
        is_number = not isinstance(value, bool)
        if value is not None and not (is_number and asked.accepts(value)):
            raise ValueError(f"{item}: {value!r}")
        tables["answers"].append(
            {
                **head,
                "questionnaire": asked.name,
                "item": item,
                "answer": value,
                "counted": None if value is None else asked.turn(item, value),
            }
        )
    tables["scores"] += [
        {**head, "questionnaire": asked.name, "scale": scale, "score": score}
        for scale, score in asked.score(answers).items()
    ]


def _measure(study: Study, head: Row, step: Step, found: Row) -> Row:
    path = study.folder / found["episode"]
    row = {
        **head,
        "task": step.task,
        "repetition": step.repetition,
        "exit_code": int(found["exit_code"]),
        "episode": found["episode"],
        "seconds": None,
        **dict.fromkeys(_FIGURES),
    }
    try:
        figures = measure_trial(_make_trial(head, step, path)).figures
    except RecordingError:
        return row  # nothing was done while ENGAGED: the row says so by its gaps
    measured = {name: figures[a][b] for name, (a, b) in _FIGURES.items()}
    return {**row, "seconds": figures["seconds"], **measured}


def _make_trial(head: Row, step: Step, path: Path) -> Trial:
    return Trial(
        path=path,
        user=head["participant"],
        task=step.task,
        mode=step.condition,
        trial=str(step.repetition),
    )


def export(study: Study, out: Path) -> tuple[Tables, list[Path]]:
    """Return the tables and their written files.

    Raises:
        RecordingError: If a file of the study is damaged.
        ConfigError: If writing fails.
        MissingDependency: Without pyarrow; the CSV files are written.
    """
    tables = make_tables(study)
    written = []
    for name, rows in tables.items():
        path = out / f"{name}.csv"
        write_text(path, _make_csv(rows))
        written.append(path)
    trials = [
        Trial(
            path=study.folder / row["episode"],
            user=row["participant"],
            task=row["task"],
            mode=row["condition"],
            trial=str(row["repetition"]),
        )
        for row in tables["sessions"]
    ]
    written.append(write_index(out, trials))
    return tables, [*written, *_write_parquet(tables, out)]


def _make_csv(rows: Sequence[Row]) -> str:
    text = io.StringIO()
    lines = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    lines.writeheader()
    lines.writerows(
        {key: "NA" if value is None else value for key, value in row.items()}
        for row in rows
    )
    return text.getvalue()


def _write_parquet(tables: Tables, out: Path) -> list[Path]:
    try:
        import pyarrow as arrow  # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - an extra
    except ImportError as err:
        raise MissingDependency(
            "study export: expected pyarrow for Parquet, got none; the CSV files are "
            "written; pip install 'paprle[data]'"
        ) from err
    written = []
    for name, rows in tables.items():
        path = out / f"{name}.parquet"
        parquet.write_table(arrow.Table.from_pylist(rows), path)
        written.append(path)
    return written


def describe(study: Study, tables: Tables) -> list[str]:
    """Return mean, deviation and α of each score."""
    lines = []
    keys = dict.fromkeys(
        (row["questionnaire"], row["scale"]) for row in tables["scores"]
    )
    for name, scale in keys:
        asked = find_questionnaire(study.plan, name)
        own = [r for r in tables["scores"] if (r["questionnaire"], r["scale"]) ==
               (name, scale)]  # fmt: skip
        items = asked.scales.get(scale, tuple(asked.items))
        alpha = find_alpha(tables["answers"], asked, items)
        told = "" if math.isnan(alpha) else f"; Cronbach's α {alpha:.2f}"
        for condition in dict.fromkeys(row["condition"] for row in own):
            values = [r["score"] for r in own if r["condition"] == condition]
            there = [value for value in values if value is not None]
            lines.append(f"{scale} {condition or 'of the study'}: {_tell(there)}{told}")
    chosen = [r["item"] for r in tables["answers"] if r["questionnaire"] == PREFERENCE]
    lines += [f"preferred {name}: {chosen.count(name)}" for name in sorted({*chosen})]
    return lines


def _tell(values: Sequence[float]) -> str:
    if not values:
        return "no answers"
    deviation = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{deviation} (n = {len(values)})"


def find_alpha(
    answers: Sequence[Row], asked: Questionnaire, items: Sequence[str]
) -> float:
    """Return Cronbach's α of complete answers; NaN if undefined."""
    asked_of: dict[tuple[Any, Any], dict[str, float]] = {}
    for row in answers:
        if row["questionnaire"] == asked.name and row["counted"] is not None:
            who = row["participant"], row["condition"]
            asked_of.setdefault(who, {})[row["item"]] = row["counted"]
    whole = [
        [own[item] for item in items]
        for own in asked_of.values()
        if set(items) <= set(own)
    ]
    participants = {who for (who, _), own in asked_of.items() if set(items) <= set(own)}
    return compute_alpha(whole) if len(participants) > 1 else math.nan
