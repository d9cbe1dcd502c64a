"""Plots of a scored set; only this module imports matplotlib."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from paprle_lab.evaluation.reporting.plots import (
    AMBER,
    BLUE,
    DPI,
    FAINT,
    GREEN,
    MAX_LINES,
    MAX_POINTS,
    RED,
    STYLE,
    to_png,
)
from paprle_lab.scoring.points import RULES
from paprle_lab.scoring.scoring import ScoredEpisode, ScoredSet
from paprle_lab.scoring.series import EpisodeSeries
from paprle_lab.scoring.spool import Spool

Drawn = tuple[str, str, bytes]

_MOST = 6  # chosen: of the worst episodes; all are in the table
_NAMED = 40  # chosen: episodes whose names fit below bars
_GOOD, _FAIR = 80.0, 50.0  # chosen: colours of scores


def draw_set(scored: ScoredSet, spool: Spool) -> Iterator[Drawn]:
    """Yield title, caption and PNG of each plot."""
    with mpl.rc_context(STYLE):
        yield (
            f"Scores of {scored.name}",
            "By rank. Red dots: episodes with a fault.",
            _draw_scores(scored),
        )
        yield (
            f"Costs by measure of {scored.name}",
            "Share of its weight that a measure takes from an episode, by rank: white "
            "is none, red all of it; grey is unknown.",
            _draw_costs(scored),
        )
        worst = [one for one in reversed(scored.episodes) if one.points.reasons]
        for one in worst[:_MOST]:
            yield (
                f"{one.name}: {one.points.score:.0f}",
                "; ".join(one.points.reasons),
                _draw_motion(spool.load(one.number)),
            )


def _draw_scores(scored: ScoredSet) -> bytes:
    points = np.array([one.points.score for one in scored.episodes])
    figure = Figure(figsize=(11, 3.2), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    colours = np.where(points >= _GOOD, GREEN, np.where(points >= _FAIR, AMBER, RED))
    axes.bar(np.arange(len(points)), points, color=colours.tolist(), width=0.8)
    faulty = [k for k, one in enumerate(scored.episodes) if one.faults]
    axes.plot(faulty, np.full(len(faulty), 104.0), "o", color=RED, ms=5)
    axes.set_ylim(0, 108)
    axes.set_ylabel("score")
    _name_episodes(axes, scored.episodes)
    return to_png(figure)


def _draw_costs(scored: ScoredSet) -> bytes:
    costs = np.full((len(RULES), len(scored.episodes)), np.nan)
    for k, one in enumerate(scored.episodes):
        for row, rule in enumerate(RULES):
            value = getattr(one.measures, rule.key)
            if value is not None:
                costs[row, k] = rule.find_cost(value) / rule.weight
    figure = Figure(figsize=(11, 3.4), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    axes.set_facecolor(FAINT)
    axes.grid(visible=False)
    axes.imshow(costs, aspect="auto", cmap="Reds", vmin=0, vmax=1)
    axes.set_yticks(range(len(RULES)), [f"{rule.key} [{rule.unit}]" for rule in RULES])
    _name_episodes(axes, scored.episodes)
    return to_png(figure)


def _name_episodes(axes: mpl.axes.Axes, episodes: list[ScoredEpisode]) -> None:
    if len(episodes) <= _NAMED:
        names = [one.name for one in episodes]
        axes.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize=7)
    else:
        axes.set_xlabel("rank")


def _draw_motion(series: EpisodeSeries) -> bytes:
    figure = Figure(figsize=(11, 3.2), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    step = max(1, len(series.t) // MAX_POINTS)
    for name, style in (("action", "--"), ("state", "-")):
        if name not in series.tracks:
            continue
        track = series.tracks[name]
        spans = np.ptp(track.values, axis=0)
        for k in range(min(len(track.names), MAX_LINES)):
            shown = track.values[::step, k] - track.values[:, k].min()
            shown = shown / (spans[k] or 1.0) * 0.9 + k
            colour = BLUE if name == "action" else GREEN
            axes.plot(series.t[::step], shown, style, color=colour, lw=0.8)
    names = next((one.names for one in series.tracks.values()), ())[:MAX_LINES]
    axes.set_yticks(np.arange(len(names)) + 0.45, names)
    axes.set_xlabel("time [s]; dashed blue: action, green: state, each over its range")
    return to_png(figure)
