"""HTML page of a benchmark."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape
from typing import Any

from paprle_lab.bench.scores import KEYS, SCORES
from paprle_lab.evaluation.reporting.page import POLICY, STYLE, ReportPicture

Json = dict[str, Any]

_MORE = """
table { font-size: 13px; } th { vertical-align: bottom; }
body { max-width: 1320px; } td, th { padding: 4px 7px; }
"""


def render_bench(scores: Json, pictures: Iterable[ReportPicture]) -> str:
    """Return the HTML of scores and titled pictures."""
    title = f"Benchmark {scores['bench']['name']}"
    versions = ", ".join(f"{k} {v}" for k, v in scores["versions"].items() if v)
    machine = ", ".join(f"{v}" for v in scores["machine"].values() if v)
    seeds = ", ".join(map(str, scores["seeds"]))
    facts = (
        f"{len(scores['sessions'])} sessions; seeds {seeds}; {machine} cores; "
        f"{versions}; manifest {scores['bench']['sha256'][:12]}"
    )
    facts += "".join(
        f"; {name}: {', '.join(f'{k} {v}' for k, v in own.items())}"
        for name, own in scores["systems"].items()
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}{_MORE}</style></head><body>"
        f'<h1>{escape(title)}</h1><p class="sub">{escape(facts)}</p>'
        f"{_render_board(scores)}"
        f"{''.join(_render_picture(*one) for one in pictures)}"
        f"{_render_motions(scores)}"
        "<footer>Medians of all motions and seeds of a row; violations and time in "
        "holds are sums, clearance is the least, p99 the largest. A session is driven "
        "on a virtual clock: the same versions give the same scores. Recovery: from "
        "the begin of a hold until the leader drives again and its targets are "
        "reached.</footer></body></html>\n"
    )


def _render_board(scores: Json) -> str:
    heads = [*KEYS, "ended well", *(score.title for score in SCORES.values())]
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    rows = []
    for entry in scores["board"]:
        ended = f"{entry['ended_well']} of {entry['sessions']}"
        cells = [*(str(entry[key]) for key in KEYS), ended]
        cells += [_say(entry[name]) for name in SCORES]
        told = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f"<tr>{told}</tr>")
    return f'<div class="card"><table><tr>{head}</tr>{"".join(rows)}</table></div>'


def _render_picture(title: str, caption: str, png: bytes) -> str:
    data = base64.b64encode(png).decode()
    return (
        f'<div class="card"><h3>{escape(title)}</h3><p class="sub">{escape(caption)}'
        f'</p><img alt="{escape(title)}" src="data:image/png;base64,{data}"></div>'
    )


def _render_motions(scores: Json) -> str:
    rows = "".join(
        f"<tr><td>{escape(one['name'])}</td><td>{escape(one['source'])}</td>"
        f"<td>{escape(one['sha256'] or '')}</td></tr>"
        for one in scores["bench"]["motions"]
    )
    head = "<tr><th>motion</th><th>published at</th><th>SHA-256</th></tr>"
    return f'<div class="card"><h3>Motions</h3><table>{head}{rows}</table></div>'


def _say(value: float | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.4g}"
