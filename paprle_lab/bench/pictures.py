"""Plots of scores; only this module imports matplotlib."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from paprle_lab.bench.scores import OURS, SCORES
from paprle_lab.evaluation.reporting.plots import DPI, INK, STYLE

Json = dict[str, Any]

_DRAWN = (
    "raw_rmse_mm",
    "shifted_rmse_mm",
    "reached_percent",
    "lag_ms",
    "held_s",
    "recovery_s",
)
_BESIDE = (
    "raw_rmse_mm",
    "shifted_rmse_mm",
    "reached_percent",
    "ripple",
    "violations",
    "min_clearance_mm",
)
_SIGNED = {"min_clearance_mm"}  # below zero bodies overlap
_SHORT = {"reached_percent": "targets reached [% of the time]"}
_DARK = 0.65  # chosen: of the scale; what is beyond it is labelled in white
_COLOURS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#a855f7", "#0891b2")


def draw_scores(scores: Json) -> Iterator[tuple[str, str, bytes]]:
    """Yield title, caption and PNG of each plot."""
    worlds = dict.fromkeys(entry["world"] for entry in scores["board"])
    networks = list(dict.fromkeys(one["network"] for one in scores["board"]))
    with mpl.rc_context(STYLE):
        for world in worlds:
            here = [one for one in scores["board"] if one["world"] == world]
            board = [one for one in here if one["system"] == OURS]
            yield (
                f"Robots over networks, world {world}",
                "Of all motions and seeds; a missing bar: nothing to measure.",
                _draw_bars(board, "network", "robot", _DRAWN),
            )
            if len(here) > len(board):
                yield (
                    f"Systems beside each other, world {world}, network {networks[0]}",
                    "The same targets, limits and oracle; a missing bar: nothing to "
                    "measure, or none.",
                    _draw_bars(
                        [one for one in here if one["network"] == networks[0]],
                        *("robot", "system", _BESIDE),
                    ),
                )
            sessions = [
                one
                for one in scores["sessions"]
                if one["world"] == world and one["system"] == OURS
            ]
            yield (
                f"Each motion on each robot, world {world}",
                "Error without lag, RMSE [mm], the median of the seeds.",
                _draw_map(sessions),
            )


def _draw_bars(
    board: Sequence[Json], along: str, beside: str, drawn: Sequence[str]
) -> bytes:
    ticks = list(dict.fromkeys(one[along] for one in board))
    series = list(dict.fromkeys(one[beside] for one in board))
    figure = Figure(figsize=(10.5, 5.2), layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    width = 0.8 / len(series)
    found = {(one[beside], one[along]): one for one in board}
    for ax, name in zip(axes, drawn, strict=True):
        for k, own in enumerate(series):
            values = [found.get((own, tick), {}).get(name) for tick in ticks]
            heights = [np.nan if value is None else value for value in values]
            places = np.arange(len(ticks)) + (k - (len(series) - 1) / 2) * width
            colour = _COLOURS[k % len(_COLOURS)]
            ax.bar(places, heights, width * 0.92, color=colour, label=own)
        ax.set_xticks(range(len(ticks)), ticks)
        ax.set_xlim(-0.5, len(ticks) - 0.5)
        ax.set_title(_SHORT.get(name, SCORES[name].title))
        ax.grid(visible=False, axis="x")
        if name not in _SIGNED:
            ax.set_ylim(bottom=0.0)
    figure.legend(
        *axes[0].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=len(series),
    )
    return _to_png(figure)


def _draw_map(sessions: Sequence[Json]) -> bytes:
    motions = list(dict.fromkeys(one["motion"] for one in sessions))
    columns = list(dict.fromkeys((one["robot"], one["network"]) for one in sessions))
    values = np.full((len(motions), len(columns)), np.nan)
    for i, motion in enumerate(motions):
        for k, column in enumerate(columns):
            known = [
                one["shifted_rmse_mm"]
                for one in sessions
                if one["motion"] == motion
                and (one["robot"], one["network"]) == column
                and one["shifted_rmse_mm"] is not None
            ]
            values[i, k] = np.median(known) if known else np.nan
    figure = Figure(figsize=(10.5, 1.6 + 0.42 * len(motions)), layout="constrained")
    ax = figure.subplots()
    ax.grid(visible=False)
    norm = PowerNorm(0.4, vmin=0.0, vmax=max(np.nanmax(values, initial=0.0), 1e-6))
    ax.imshow(values, cmap="YlOrRd", aspect="auto", norm=norm)
    ax.set_yticks(range(len(motions)), motions)
    names = [f"{robot}\n{network}" for robot, network in columns]
    ax.set_xticks(range(len(columns)), names, fontsize=7.5)
    for (i, k), value in np.ndenumerate(values):
        text = "–" if np.isnan(value) else f"{value:.2f}"
        is_dark = not np.isnan(value) and norm(value) > _DARK
        colour = "white" if is_dark else INK
        ax.text(k, i, text, ha="center", va="center", fontsize=8, color=colour)
    return _to_png(figure)


def _to_png(figure: Figure) -> bytes:
    FigureCanvasAgg(figure)
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=DPI, metadata={"Software": None})
    return stream.getvalue()
