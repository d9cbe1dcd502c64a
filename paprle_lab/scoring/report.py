"""Table, files and page of scores."""

from __future__ import annotations

import csv
import importlib
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from paprle.contracts.errors import MissingDependency
from paprle_lab.evaluation.reporting.files import write_text
from paprle_lab.evaluation.reporting.page import (
    POLICY,
    STYLE,
    ReportPicture,
    render_picture,
)
from paprle_lab.scoring.measures import Measures
from paprle_lab.scoring.points import RULES, list_unknown
from paprle_lab.scoring.scoring import ScoredEpisode, ScoredSet
from paprle_lab.scoring.spool import Spool

Json = dict[str, Any]

_FOOTER = (
    "The score is 100 times the product of what each fault and each known measure "
    "leaves; an unknown measure costs nothing. Bounds and weights: docs/datasets.md."
)


def list_lines(scored: ScoredSet) -> Iterator[str]:
    """Yield the table of a set, and its faults."""
    width = max(len(one.name) for one in scored.episodes)
    yield f"{scored.name}: {len(scored.episodes)} episodes, {scored.n_faults} faults"
    yield f"rank  {'episode'.ljust(width)}  score  reasons"
    for rank, one in enumerate(scored.episodes, 1):
        reasons = "; ".join(one.points.reasons) or "none"
        yield f"{rank:4}  {one.name.ljust(width)}  {one.points.score:5.0f}  {reasons}"
    for fault in scored.faults:
        yield f"fault of the set: {fault.kind}: {fault.text}"
    for one in scored.episodes:
        for fault in one.faults:
            yield f"fault: {one.name}: {fault.kind}: {fault.text}"
    for path, reason in scored.left_out:
        yield f"left out: {path}: {reason}"
    unknown = find_unknown(scored.episodes)
    if unknown:
        yield f"unknown in all episodes: {', '.join(unknown)}"


def find_unknown(episodes: Sequence[ScoredEpisode]) -> list[str]:
    """Return the measures that no episode knows."""
    every = [set(list_unknown(one.measures)) for one in episodes]
    return [key for key in Measures(0.0).to_dict() if all(key in one for one in every)]


def describe_set(scored: ScoredSet) -> Json:
    """Return JSON values of a set; null: unknown."""
    return {
        "set": scored.name,
        "kind": scored.kind,
        "faults": [fault._asdict() for fault in scored.faults],
        "left_out": [[str(path), reason] for path, reason in scored.left_out],
        "episodes": [
            {
                "rank": rank,
                "episode": one.name,
                "path": str(one.path),
                "task": one.task,
                "score": round(one.points.score, 2),
                "reasons": list(one.points.reasons),
                "faults": [{"kind": f.kind, "text": f.text} for f in one.faults],
                "measures": one.measures.to_dict(),
                "interventions": dict(one.interventions),
            }
            for rank, one in enumerate(scored.episodes, 1)
        ],
    }


def make_csv(sets: Iterable[ScoredSet]) -> str:
    """Return a row per episode; an unknown measure is an empty cell."""
    text = io.StringIO()
    keys = list(Measures(0.0).to_dict())
    heads = ["set", "rank", "episode", "task", "score", *keys, "faults", "reasons"]
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(heads)
    for scored in sets:
        for rank, one in enumerate(scored.episodes, 1):
            measured = one.measures.to_dict().values()
            rows.writerow(
                [
                    *(scored.name, rank, one.name, one.task),
                    f"{one.points.score:.2f}",
                    *("" if value is None else _show(value) for value in measured),
                    " ".join(fault.kind for fault in one.faults),
                    "; ".join(one.points.reasons),
                ]
            )
    return text.getvalue()


def _show(value: float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:.4g}"


def draw_set(scored: ScoredSet, spool: Spool) -> list[ReportPicture]:
    """Return the plots of a set.

    Raises:
        MissingDependency: Without matplotlib.
    """
    try:
        drawing = importlib.import_module("paprle_lab.scoring.plots")
    except ImportError as err:
        raise MissingDependency(
            "dataset score: expected matplotlib for its plots, got none; "
            "pip install 'paprle[report]'"
        ) from err
    return list(drawing.draw_set(scored, spool))


def write_scores(
    out: Path, sets: Sequence[ScoredSet], pictures: Sequence[Sequence[ReportPicture]]
) -> None:
    """Write ``scores.csv``, ``scores.json`` and ``scores.html``.

    Raises:
        ConfigError: If writing fails.
    """
    figures = [describe_set(scored) for scored in sets]
    text = json.dumps(figures, indent=2, allow_nan=False) + "\n"
    write_text(out / "scores.json", text)
    write_text(out / "scores.csv", make_csv(sets))
    write_text(out / "scores.html", render_page(sets, pictures))


def render_page(
    sets: Sequence[ScoredSet], pictures: Sequence[Sequence[ReportPicture]]
) -> str:
    """Return the self-contained HTML of scored sets."""
    title = f"Scores of {', '.join(scored.name for scored in sets)}"
    parts = [
        _render_set(scored, drawn) for scored, drawn in zip(sets, pictures, strict=True)
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}"
        "td:last-child, th:last-child { text-align: left; }"
        f"</style></head><body><h1>{escape(title)}</h1>{''.join(parts)}"
        f"<footer>{escape(_FOOTER)}</footer></body></html>\n"
    )


def _render_set(scored: ScoredSet, drawn: Sequence[ReportPicture]) -> str:
    faults = [f"the set: {fault.text}" for fault in scored.faults]
    faults += [
        f"{one.name}: {fault.text}" for one in scored.episodes for fault in one.faults
    ]
    notes = faults + [f"left out: {path.name}: {why}" for path, why in scored.left_out]
    listed = "".join(f"<li>{escape(text)}</li>" for text in notes)
    unknown = ", ".join(find_unknown(scored.episodes)) or "nothing"
    return "".join(
        [
            f"<section><h2>{escape(scored.name)}</h2>",
            f'<p class="sub">{len(scored.episodes)} episodes, {scored.n_faults} '
            f"faults; unknown in all of them: {escape(unknown)}</p>",
            f'<ul class="notes">{listed}</ul>' if notes else "",
            *(render_picture(*one) for one in drawn[:2]),
            _render_table(scored),
            *(render_picture(*one) for one in drawn[2:]),
            "</section>",
        ]
    )


def _render_table(scored: ScoredSet) -> str:
    keys = [rule.key for rule in RULES]
    heads = "".join(f"<th>{escape(f'{r.key} [{r.unit}]')}</th>" for r in RULES)
    rows = []
    for rank, one in enumerate(scored.episodes, 1):
        values = [getattr(one.measures, key) for key in keys]
        cells = "".join(f"<td>{'–' if v is None else _show(v)}</td>" for v in values)
        rows.append(
            f"<tr><td>{rank} {escape(one.name)}</td>"
            f"<td><b>{one.points.score:.0f}</b></td>{cells}"
            f"<td>{escape('; '.join(one.points.reasons))}</td></tr>"
        )
    return (
        f'<div class="card"><table><tr><th>episode</th><th>score</th>{heads}'
        f"<th>reasons</th></tr>{''.join(rows)}</table></div>"
    )
