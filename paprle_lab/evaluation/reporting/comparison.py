"""Comparison of several runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any, Literal, NamedTuple

from paprle_lab.evaluation.reporting.report_text import format_number
from paprle_lab.evaluation.reporting.verdict import judge_run
from paprle_lab.evaluation.smoothness import find_worst

Json = dict[str, Any]
Better = Literal["lower", "higher", ""]

_MOST = 8  # chosen: columns of a page; more runs are a batch


class ComparedFigure(NamedTuple):
    """A row of a comparison."""

    name: str
    unit: str
    better: Better
    values: tuple[float | None, ...]

    @property
    def best(self) -> frozenset[int]:
        """Columns with the best value as shown; empty if all look the same."""
        known = [value for value in self.values if value is not None]
        if not self.better or len(known) < 2:
            return frozenset()
        shown = format_number(min(known) if self.better == "lower" else max(known))
        best = frozenset(
            k
            for k, value in enumerate(self.values)
            if value is not None and format_number(value) == shown
        )
        return best if len(best) < len(known) else frozenset()


def _read_reach(entry: Json) -> float | None:
    return None if entry["reach"] is None else entry["reach"]["reached_percent"]


def _read_ripple(entry: Json) -> float | None:
    worst = find_worst(entry["smoothness"], "ripple")
    return None if worst is None else worst[1]


_Read = Callable[[Json], float | None]
_FIGURES: tuple[tuple[str, str, Better, _Read], ...] = (
    ("driven", "s", "", lambda e: e.get("engaged_s")),
    ("target reached", "%", "higher", _read_reach),
    ("error, median", "mm", "lower", lambda e: e["ate_mm"]["raw"]["median"]),
    ("error, p95", "mm", "lower", lambda e: e["ate_mm"]["raw"]["p95"]),
    (
        "error without lag, median",
        "mm",
        "lower",
        lambda e: e["ate_mm"]["lag_compensated"]["median"],
    ),
    ("lag", "ms", "lower", lambda e: e["lag_ms"]),
    (
        "capture to command, p50",
        "ms",
        "lower",
        lambda e: e["latency_ms"]["capture_to_command"]["p50"],
    ),
    (
        "capture to command, p99",
        "ms",
        "lower",
        lambda e: e["latency_ms"]["capture_to_command"]["p99"],
    ),
    ("ticks in time", "%", "higher", lambda e: e["tick"]["on_time_percent"]),
    ("broken limits", "", "lower", lambda e: e["gate"]["violations"]),
    (
        "smallest clearance",
        "mm",
        "higher",
        lambda e: e["gate"].get("min_clearance_mm"),
    ),
    ("ripple of the worst joint", "", "lower", _read_ripple),
)


def compare_runs(entries: Sequence[Json]) -> list[ComparedFigure]:
    """Return the known figures of runs."""
    runs = _choose(entries)
    rows = [
        ComparedFigure(name, unit, better, tuple(read(entry) for entry in runs))
        for name, unit, better, read in _FIGURES
    ]
    return [row for row in rows if any(value is not None for value in row.values)]


def render_comparison(entries: Sequence[Json]) -> str:
    """Return a card with a column per run."""
    runs = _choose(entries)
    if len(runs) < 2:
        return ""
    heads = "".join(f"<th>{escape(str(run['episode']))}</th>" for run in runs)
    verdicts = "".join(f"<td>{escape(judge_run(run).grade)}</td>" for run in runs)
    rows = "".join(_render_row(row) for row in compare_runs(entries))
    left = len(entries) - len(runs)
    more = f" {left} more could not be read or found no place." if left else ""
    return (
        '<div class="card"><h3>Side by side</h3><p class="sub">The best figure of a '
        f"row is bold.{more}</p><table><tr><th></th>{heads}</tr>"
        f"<tr><td>verdict</td>{verdicts}</tr>{rows}</table></div>"
    )


def compare_in_text(entries: Sequence[Json]) -> str:
    """Return the comparison as aligned lines."""
    runs = _choose(entries)
    if len(runs) < 2:
        return ""
    lines = [["side by side", *(str(run["episode"]) for run in runs)]]
    lines.append(["verdict", *(judge_run(run).grade for run in runs)])
    lines += [
        [f"{row.name} [{row.unit}]" if row.unit else row.name, *_list_cells(row, "*")]
        for row in compare_runs(entries)
    ]
    widths = [max(len(line[k]) for line in lines) for k in range(len(runs) + 1)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def _choose(entries: Sequence[Json]) -> list[Json]:
    return [entry for entry in entries if not entry["error"]][:_MOST]


def _list_cells(row: ComparedFigure, mark: str) -> Iterator[str]:
    for k, value in enumerate(row.values):
        yield format_number(value) + (mark if k in row.best else "")


def _render_row(row: ComparedFigure) -> str:
    cells = "".join(
        f"<td><b>{format_number(value)}</b></td>"
        if k in row.best
        else f"<td>{format_number(value)}</td>"
        for k, value in enumerate(row.values)
    )
    name = f"{row.name} [{row.unit}]" if row.unit else row.name
    return f"<tr><td>{escape(name)}</td>{cells}</tr>"
