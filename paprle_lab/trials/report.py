"""Report of a set: JSON, HTML, and TSV so that ``H*.csv`` matches only logs."""

from __future__ import annotations

import csv
import importlib
import io
import json
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

from paprle.contracts.errors import MissingDependency
from paprle.contracts.kit.work import UNSEEN, Work
from paprle_lab.evaluation.reporting.files import write_text
from paprle_lab.evaluation.reporting.page import POLICY, STYLE, render_picture
from paprle_lab.evaluation.reporting.report_text import format_number
from paprle_lab.trials.labels import LABELS, Trial
from paprle_lab.trials.measure import TrialResult, measure_trial
from paprle_lab.trials.tables import Json, average_itv, list_gaps, list_itv, make_tables

_HEADS = {
    "n_trials": "trials",
    "n_groups": "groups",
    "rmse_mm": "rms error [mm]",
    "rmse_sd_mm": "± over trials",
    "median_mm": "median [mm]",
    "p95_mm": "P95 [mm]",
    "latency_p50_ms": "latency P50 [ms]",
    "latency_p95_ms": "P95 [ms]",
    "arc_length_mm": "ITV by arc length [mm]",
    "normalised_time_mm": "by normalised time [mm]",
    "cyclic_arc_length_mm": "turned to one start [mm]",
}
_FOOTER = (
    "Errors are distances of target and robot as they were logged, lag included; "
    "latencies are from capture to command. ITV: per-axis sample deviation over trials "
    "at 2000 waypoints of the executed paths, norm over axes, mean over waypoints "
    "(ARBot, section 4.1.3); its published figures are those by arc length."
)


def evaluate_set(
    trials: Sequence[Trial], work: Work = UNSEEN
) -> tuple[Json, list[TrialResult]]:
    """Return a set's figures, and the measured trials.

    Raises:
        RecordingError: If a trial cannot be read.
    """
    results = []
    for k, trial in enumerate(trials):
        work.count(k, len(trials), "trials")
        results.append(measure_trial(trial))
    work.note("comparing the trials")
    itvs = list_itv(results)
    figures: Json = {
        "trials": [_tell_trial(one) for one in results],
        "tables": make_tables(results),
        "itv": itvs,
        "itv_means": average_itv(itvs),
        "gaps": list_gaps(trials),
    }
    return figures, results


def _tell_trial(one: TrialResult) -> Json:
    labels = {key: getattr(one.trial, key) for key in LABELS}
    entry: Json = {"path": str(one.trial.path), **labels, **one.figures}
    if one.quality is not None:
        entry["rate_hz"] = one.quality.rate_hz
        entry["duplicates"] = one.quality.duplicates
        entry["longest_gap_s"] = one.quality.longest_gap_s
    return entry


def write_set(figures: Json, results: Sequence[TrialResult], page: Path) -> None:
    """Write JSON, table and page.

    Raises:
        MissingDependency: Without matplotlib; JSON and table are written.
        ConfigError: If writing fails.
    """
    text = json.dumps(figures, indent=2, allow_nan=False)
    write_text(page.with_suffix(".json"), text + "\n")
    write_text(page.with_suffix(".tsv"), make_table(figures["trials"]))
    try:
        drawing = importlib.import_module("paprle_lab.trials.figures")
    except ImportError as err:
        raise MissingDependency(
            "the report's page: expected matplotlib for its plots, got none; "
            "pip install 'paprle[report]'"
        ) from err
    write_text(page, _render(figures, drawing.draw_set(results)))


def make_table(trials: Sequence[Json]) -> str:
    """Return a TSV row per trial: labels, then figures."""
    flat = [dict(_flatten(one)) for one in trials]
    heads = list(dict.fromkeys(key for row in flat for key in row))
    text = io.StringIO()
    rows = csv.DictWriter(text, heads, restval="", delimiter="\t", lineterminator="\n")
    rows.writeheader()
    rows.writerows(flat)
    return text.getvalue()


def _flatten(entry: Json, before: str = "") -> Iterable[tuple[str, Any]]:
    for key, value in entry.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{before}{key}.")
        elif isinstance(value, list):
            yield from ((f"{before}{key}.{k}", one) for k, one in enumerate(value))
        else:
            yield f"{before}{key}", "" if value is None else value


def describe_set(figures: Json) -> str:
    """Return a set's tables as text."""
    n_robot = sum(one["kind"] == "robot" for one in figures["trials"])
    n_human = len(figures["trials"]) - n_robot
    parts = [f"{n_human} human trials, {n_robot} replays by a robot"]
    parts += [_lay_out(table) for table in _list_tables(figures)]
    parts += figures["gaps"]
    return "\n\n".join(parts)


def _list_tables(figures: Json) -> list[list[Json]]:
    itvs = [{"trials of": _name_group(one), **one} for one in figures["itv"]]
    means = [
        {"means of": f"{one['mode'] or 'all'}, {one['kind']}", **one}
        for one in figures["itv_means"]
    ]
    hidden = {"kind", "user", "task", "mode", "is_cyclic"}
    rest = [
        [{k: v for k, v in row.items() if k not in hidden} for row in table]
        for table in (itvs, means)
    ]
    return [table for table in (*figures["tables"].values(), *rest) if table]


def _name_group(one: Json) -> str:
    words = filter(None, (one["user"], one["task"], one["mode"]))
    who = "" if one["kind"] == "human" else "robot"
    return " ".join(filter(None, (*words, who))) or "human"


def _tell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}" if abs(value) >= 0.01 or value == 0.0 else f"{value:.1e}"
    return format_number(value) if value is None else str(value)


def _fill(table: Sequence[Json]) -> list[list[str]]:
    heads = list(dict.fromkeys(key for row in table for key in row))
    told = [[_HEADS.get(key, key) for key in heads]]
    return told + [[_tell(row.get(key)) for key in heads] for row in table]


def _lay_out(table: Sequence[Json]) -> str:
    rows = _fill(table)
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _render(figures: Json, pictures: Iterable[tuple[str, str, bytes]]) -> str:
    title = f"{len(figures['trials'])} trials"
    tables = "".join(
        f'<div class="card"><table>{_render_rows(_fill(table))}</table></div>'
        for table in _list_tables(figures)
    )
    shown = "".join(render_picture(*picture) for picture in pictures)
    gaps = "".join(f'<p class="sub">{escape(gap)}</p>' for gap in figures["gaps"])
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head><body>"
        f"<h1>{title}</h1>{gaps}{tables}{shown}<footer>{escape(_FOOTER)}</footer>"
        "</body></html>\n"
    )


def _render_rows(rows: Sequence[Sequence[str]]) -> str:
    head, *rest = rows
    cells = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    lines = [
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rest
    ]
    return f"<tr>{cells}</tr>{''.join(lines)}"
