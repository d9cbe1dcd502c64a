"""HTML page of a report."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from itertools import chain, islice
from typing import Any

from paprle.contracts.film import mark_moment
from paprle_lab.evaluation.far import describe_far
from paprle_lab.evaluation.reporting.comparison import render_comparison
from paprle_lab.evaluation.reporting.reach_text import list_advice, name_cause
from paprle_lab.evaluation.reporting.report_text import (
    describe_episode,
    describe_itv,
    format_number,
    list_facts,
)
from paprle_lab.evaluation.reporting.verdict import judge_run

Json = dict[str, Any]
ReportPicture = tuple[str, str, bytes]
_JPEG = b"\xff\xd8"  # spec: ITU-T T.81, a JPEG begins so

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1f2933; background: #f5f7fa;
  max-width: 1160px; margin: 0 auto; padding: 24px; }
h1 { font-size: 26px; margin: 8px 0 4px; } h2 { font-size: 21px; margin: 36px 0 4px; }
h3 { font-size: 16px; margin: 0 0 2px; }
.sub { color: #616e7c; margin: 0 0 12px; overflow-wrap: anywhere; }
.say { font-size: 17px; background: #fff; border-left: 4px solid #2563eb;
  padding: 12px 16px; border-radius: 0 8px 8px 0; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(138px, 1fr));
  gap: 12px; margin: 16px 0; }
.tile { background: #fff; border-radius: 10px; padding: 12px 14px;
  border-top: 3px solid #cbd2d9; }
.tile b { display: block; font-size: 22px; line-height: 1.25; }
.tile span { color: #616e7c; font-size: 13px; display: block; }
.verdict { font-size: 18px; background: #fff; border-left: 8px solid #64748b;
  padding: 12px 16px; border-radius: 0 8px 8px 0; }
.verdict p { margin: 2px 0; } .verdict p:first-child { font-weight: 700; }
.verdict.good { border-left-color: #059669; }
.verdict.fair { border-left-color: #d97706; }
.verdict.bad { border-left-color: #dc2626; }
@page { margin: 12mm; }
@media print { body { background: #fff; max-width: none; padding: 0; font-size: 11px; }
  h1 { font-size: 18px; } h2 { font-size: 15px; margin: 6px 0 2px; }
  section > :not(.kept), footer, .say { display: none; }
  section { break-inside: avoid; }
  .card + section, section + section { break-before: page; }
  .tiles { grid-template-columns: repeat(4, 1fr); gap: 6px; margin: 8px 0; }
  .tile { padding: 4px 8px; } .tile b { font-size: 16px; }
  .tile span { font-size: 10px; } .verdict { font-size: 13px; padding: 6px 10px; }
  .card { padding: 6px 10px; margin: 8px 0; }
  .card img { max-height: 100mm; object-fit: contain; } code { font-size: 9px; }
  .card, .tile, .verdict { border: 1px solid #cbd2d9; } }
.good { border-top-color: #059669; } .bad { border-top-color: #dc2626; }
.bad b { color: #dc2626; }
.next { border-left: 4px solid #059669; }
.next ul { margin: 6px 0; padding-left: 20px; }
.card { background: #fff; border-radius: 10px; padding: 14px 16px; margin: 14px 0;
  overflow-x: auto; }
.card img { width: 100%; height: auto; display: block; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 4px 10px; border-bottom: 1px solid #e4e7eb; }
th:first-child, td:first-child { text-align: left; }
th { color: #616e7c; font-weight: 600; font-size: 13px; }
ul.notes { background: #fffbeb; border-radius: 10px; padding: 12px 16px 12px 36px; }
pre { white-space: pre-wrap; font-size: 13px; margin: 0; }
footer { color: #616e7c; font-size: 13px; margin-top: 32px; }
"""
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
FOOTER = (
    "The target is the retargeted pose before inverse kinematics, filters and gate, at "
    "the tick that used it; the robot's pose is the forward kinematics of its measured "
    "joints. A target is reached when the IK comes within 1 mm and 0.01 rad of it and "
    "the gate sends what the IK asks for; causes may overlap. Lag-compensated errors "
    "take one shift τ for all axes and the whole episode, found where targets were "
    "reached and told only where it agrees with the correlation of the two motions; "
    "aligned ones take the best rotation and translation, no scale. Capture to command "
    "includes the look-ahead that the leader declares. Command age: of the set-point, "
    "when the gate writes. Command to motion: by correlation of q_cmd and q_meas, by "
    "joint."
)


def render_page(
    entries: Sequence[Json],
    pictures: Sequence[Iterable[ReportPicture]],
    title: str,
    moments: Sequence[Sequence[ReportPicture]] = (),
) -> str:
    """Return the self-contained HTML of a report.

    Args:
        entries: Figures by episode.
        pictures: Plots by episode.
        title: Of the page.
        moments: Pictures of the moments by episode.
    """
    parts = [
        _render_episode(entry, drawn, told)
        for entry, drawn, told in zip(
            entries, pictures, moments or [()] * len(entries), strict=True
        )
    ]
    itv = describe_itv(entries)
    intro = "".join(f'<p class="say">{escape(line)}</p>' for line in itv.splitlines())
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f"<h1>{escape(title)}</h1>{intro}{render_comparison(entries)}{''.join(parts)}"
        f"<footer>{escape(FOOTER)}</footer></body></html>\n"
    )


def _render_episode(
    entry: Json,
    pictures: Iterable[ReportPicture],
    moments: Sequence[ReportPicture],
) -> str:
    drawn = chain(moments, pictures)
    on_paper = next(drawn, None)
    facts = ", ".join(list_facts(entry))
    notes = "".join(f"<li>{escape(str(note))}</li>" for note in entry["notes"])
    return "".join(
        [
            f'<section><h2 class="kept">{escape(str(entry["episode"]))}</h2>',
            f'<p class="sub">{escape(facts)}</p>',
            _render_verdict(entry),
            f'<p class="say">{escape(describe_episode(entry))}</p>',
            _render_tiles(entry),
            _render_advice(entry),
            _render_moments(entry.get("moments", ())),
            "" if on_paper is None else render_picture(*on_paper, kind="card kept"),
            *(render_picture(*one) for one in islice(drawn, max(len(moments) - 1, 0))),
            f'<ul class="notes">{notes}</ul>' if notes else "",
            _render_reach(entry),
            _render_table(entry),
            _render_far(entry),
            _render_smoothness(entry),
            *(render_picture(*picture) for picture in drawn),
            _render_oracle(entry),
            "</section>",
        ]
    )


def _render_verdict(entry: Json) -> str:
    grade, sentences = judge_run(entry)
    lines = "".join(f"<p>{escape(line)}</p>" for line in sentences)
    return f'<div class="verdict {grade} kept" role="note">{lines}</div>'


def _render_moments(moments: Sequence[Json]) -> str:
    if not moments:
        return ""
    rows = "".join(
        f"<tr><td>{escape(one['text'])}</td><td>{one['t_s']:.1f}</td>"
        f"<td>{mark_moment(one['recording'], one['view_s'])}"
        f"<code>{escape(one['command'])}</code></td></tr>"
        for one in moments
    )
    return (
        '<div class="card kept"><h3>Moments to look at</h3><table><tr><th></th>'
        f"<th>at [s]</th><th>shown by</th></tr>{rows}</table></div>"
    )


def _render_advice(entry: Json) -> str:
    lines = "".join(f"<li>{escape(line)}</li>" for line in list_advice(entry))
    return f'<div class="card next"><h3>What to try next</h3><ul>{lines}</ul></div>'


def _render_reach(entry: Json) -> str:
    rows = []
    for name, limb in entry["limbs"].items():
        reach = limb["reach"]
        if reach is None:
            continue
        reached = f"{reach['reached_percent']:.2f}"
        rows.append(
            f"<tr><th>{escape(name)}</th><th>of the time [%]</th><th>seconds</th>"
            "<th>longest [s]</th><th>farthest off [mm]</th></tr>"
            f"<tr><td>reached its target</td><td>{reached}</td><td></td><td></td>"
            "<td></td></tr>"
        )
        rows += [_render_cause(one) for one in reach["short"]]
        if not reach["counts_rotation"]:
            rows.append(
                "<tr><td>judged by position: with these joints or settings the "
                "orientation gets what is left</td></tr>"
            )
    if not rows:
        return ""
    return (
        '<div class="card"><h3>Whether targets were reached, and what kept the robot '
        f"from them</h3><table>{''.join(rows)}</table></div>"
    )


def _render_cause(one: Json) -> str:
    cells = (
        name_cause(one),
        f"{one['percent']:.2f}",
        f"{one['seconds']:.2f}",
        f"{one['longest_s']:.2f}",
        f"{one['farthest_mm']:.1f}",
    )
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _render_tiles(entry: Json) -> str:
    ate, latency = entry["ate_mm"], entry["latency_ms"]
    compensated = ate["lag_compensated"]
    captured, violations = latency["capture_to_command"], entry["gate"]["violations"]
    on_time = entry["tick"]["on_time_percent"]
    tau = format_number(compensated.get("tau_ms"), "ms")
    verdict = "" if violations is None else "bad" if violations else "good"
    punctual = "" if on_time is None else "good" if on_time >= 99.0 else "bad"
    tiles = [
        ("", compensated["median"], "mm", f"median error after a shift of τ = {tau}"),
        ("", ate["raw"]["median"], "mm", "median error as it was"),
        (
            "",
            None if entry["reach"] is None else entry["reach"]["reached_percent"],
            "%",
            "of the time the target was reached",
        ),
        ("", entry["lag_ms"], "ms", "lag of the robot behind its target"),
        (
            "",
            captured["p50"],
            "ms",
            f"capture to command; p99 {format_number(captured['p99'], 'ms')}, "
            f"look-ahead {format_number(entry['look_ahead_ms'], 'ms')} included",
        ),
        (verdict, violations, "", "violations of motion limits, by the oracle"),
        (punctual, on_time, "%", "of the ticks finished in time"),
    ]
    return '<div class="tiles kept">' + "".join(map(_render_tile, tiles)) + "</div>"


def _render_tile(tile: tuple[str, float | None, str, str]) -> str:
    kind, value, unit, text = tile
    number = escape(format_number(value, unit))
    return f'<div class="tile {kind}"><b>{number}</b><span>{escape(text)}</span></div>'


def _render_table(entry: Json) -> str:
    head = "<tr><th>{}</th><th>median</th><th>p95</th><th>max</th><th>RMSE</th></tr>"
    rows = []
    for name, limb in entry["limbs"].items():
        tau = format_number(limb["ate_mm"]["lag_compensated"]["tau_ms"], "ms")
        lines = [
            ("position [mm], raw", limb["ate_mm"]["raw"]),
            (f"position [mm], τ = {tau}", limb["ate_mm"]["lag_compensated"]),
            ("position [mm], aligned", limb["ate_mm"]["aligned"]),
            ("relative over 1 s [mm]", limb["rpe"]["translation_mm"]),
            ("orientation [°], raw", limb["orientation_deg"]["raw"]),
            (f"orientation [°], τ = {tau}", limb["orientation_deg"]["lag_compensated"]),
        ]
        worst = " (worst limb)" if name == entry["worst_limb"] else ""
        rows.append(head.format(escape(name + worst)))
        rows += [_render_row(text, figures) for text, figures in lines]
    latency = entry["latency_ms"]
    rows.append("<tr><th>latency [ms]</th><th>p50</th><th>p99</th><th></th><th></th>")
    for key, text in (
        ("capture_to_command", "capture to command, look-ahead included"),
        ("command_age", "command age at actuation"),
        ("command_to_motion", "command to motion"),
    ):
        rows.append(
            f"<tr><td>{text}</td><td>{format_number(latency[key]['p50'])}</td>"
            f"<td>{format_number(latency[key]['p99'])}</td><td></td><td></td></tr>"
        )
    return f'<div class="card"><table>{"".join(rows)}</table></div>'


def _render_row(text: str, figures: Json) -> str:
    cells = "".join(
        f"<td>{format_number(figures[key])}</td>"
        for key in ("median", "p95", "max", "rmse")
    )
    return f"<tr><td>{escape(text)}</td>{cells}</tr>"


def _render_far(entry: Json) -> str:
    far = entry["far"]
    if far is None:
        return ""
    said = "".join(f"<li>{escape(line)}</li>" for line in describe_far(far))
    return (
        '<div class="card"><h3>Over the link</h3><p class="sub">As measured where the '
        f"operator is, at {far['n']} instants; of {far['missing']} more this host was "
        "not told. Confirmed is the robot as its last words have it, predicted as it "
        f"is by now. Nothing is left out for being late.</p><ul>{said}</ul></div>"
    )


def _render_smoothness(entry: Json) -> str:
    if not entry["smoothness"]:
        return ""
    head = (
        "<tr><th>joint</th><th>ripple</th><th>sign changes [/s]</th><th>at V [%]</th>"
        "<th>at A [%]</th><th>at J [%]</th></tr>"
    )
    rows = [
        f"<tr><td>{escape(name)}</td>"
        + "".join(f"<td>{format_number(value)}</td>" for value in joint.values())
        + "</tr>"
        for name, joint in entry["smoothness"].items()
    ]
    return (
        '<div class="card"><h3>How smooth the commands were</h3><p class="sub">Ripple: '
        "rms of the commanded acceleration over that of its part below 10 Hz; 1 is a "
        f"hand's own motion.</p><table>{head}{''.join(rows)}</table></div>"
    )


def render_picture(title: str, caption: str, picture: bytes, kind: str = "card") -> str:
    """Return the HTML of a PNG or JPEG."""
    data = base64.b64encode(picture).decode("ascii")
    form = "jpeg" if picture.startswith(_JPEG) else "png"
    return (
        f'<div class="{kind}"><h3>{escape(title)}</h3>'
        f'<p class="sub">{escape(caption)}</p>'
        f'<img alt="{escape(title)}" src="data:image/{form};base64,{data}"></div>'
    )


def _render_oracle(entry: Json) -> str:
    oracle = entry["gate"].get("oracle")
    if not oracle:
        return ""
    return (
        '<div class="card"><h3>Verdict of the oracle on q_cmd</h3>'
        f"<pre>{escape(oracle)}</pre></div>"
    )
