"""Figures 3 to 6 of ARBot's paper, for a set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure

from paprle.contracts.types import Vec
from paprle_lab.evaluation.metrics import BLUE_MM, RED_MM
from paprle_lab.evaluation.reporting.plots import (
    AMBER,
    BLUE,
    DPI,
    FAINT,
    GREEN,
    MAX_POINTS,
    RED,
    SMALLEST_MM,
    STYLE,
    VIOLET,
    to_png,
)
from paprle_lab.trials.measure import TrialResult
from paprle_lab.trials.tables import Json, group, list_itv

Drawn = tuple[str, str, bytes]
COLOURS = (BLUE, AMBER, GREEN, VIOLET, RED)
MOST_COLUMNS = 6  # chosen: more pictures in a row cannot be read
MOST_PAIRS = 4  # chosen: of repetitions and replays; the tables have all of them


def draw_set(results: Sequence[TrialResult]) -> Iterator[Drawn]:
    """Yield title, caption and PNG of each plot."""
    with mpl.rc_context(STYLE):
        human = [one for one in results if one.trial.kind == "human"]
        yield from _draw_distributions(human)
        if human:
            yield (
                "Errors along the paths",
                f"Each trial's measured path seen square to its best plane: blue below "
                f"{BLUE_MM:g} mm of its target, red from {RED_MM:g} mm on. A row a "
                "mode, a column a task; all users in one picture.",
                _draw_maps(human),
            )
        yield from _draw_repetitions(results)


def _draw_distributions(human: Sequence[TrialResult]) -> Iterator[Drawn]:
    modes = group(human, lambda one: one.mode)
    errors = {k: np.concatenate([x.errors for x in v]) for k, v in modes.items()}
    if errors:
        yield (
            "Distribution of tracking errors",
            "Share of samples with at most that distance between target and robot.",
            _draw_cdf(errors, "position error [mm]"),
        )
    waits = {k: np.concatenate([x.latencies for x in v]) for k, v in modes.items()}
    waits = {k: v for k, v in waits.items() if len(v)}
    if waits:
        yield (
            "Distribution of latencies",
            "From the capture of a target to the command that was made of it. At 30 Hz "
            "it is the age of a target in a quicker loop, no delay until motion.",
            _draw_cdf(waits, "capture to command [ms]"),
        )


def _draw_cdf(values: dict[str, Vec], label: str) -> bytes:
    figure = Figure(figsize=(11.0, 3.4), layout="constrained", dpi=DPI)
    axes = figure.add_subplot()
    most = 0.0
    for (mode, own), colour in zip(values.items(), COLOURS * len(values), strict=False):
        shares = np.linspace(0.0, 100.0, 1001)
        ranks = 1e3 * np.percentile(own, shares)
        p50, p95 = 1e3 * np.percentile(own, [50, 95])
        told = f"{mode or 'all'}: median {p50:.1f}, P95 {p95:.1f}"
        axes.plot(ranks, shares, color=colour, lw=1.6, label=told)
        axes.plot([p50, p95], [50, 95], "o", color=colour, ms=4)
        most = max(most, float(np.percentile(1e3 * own, 99)))
    axes.set(xlabel=label, ylabel="samples [%]", ylim=(0, 101))
    axes.set_xlim(0, max(1.1 * most, SMALLEST_MM))
    axes.legend(loc="lower right")
    return to_png(figure)


def _draw_maps(human: Sequence[TrialResult]) -> bytes:
    modes = list(group(human, lambda one: one.mode))
    tasks = list(group(human, lambda one: one.task))[:MOST_COLUMNS]
    size = (11.0, 0.9 + len(modes) * min(3.6, 11.0 / len(tasks)))
    figure = Figure(figsize=size, layout="constrained", dpi=DPI)
    grid = figure.subplots(len(modes), len(tasks), squeeze=False)
    lines = None
    for axes, (mode, task) in zip(
        grid.flat, ((m, t) for m in modes for t in tasks), strict=True
    ):
        own = [x for x in human if (x.trial.mode, x.trial.task) == (mode, task)]
        axes.set_title(" ".join(filter(None, (task, mode))) or "all", fontsize=10)
        axes.set_axis_off()
        axes.set_aspect("equal", adjustable="datalim")
        plane = _find_plane(own)
        for one in own:
            lines = _add_path(axes, one, plane)
        axes.margins(0.05)
    if lines is not None:
        bar = figure.colorbar(lines, ax=grid, shrink=0.8, extend="both")
        bar.set_label("position error [mm]")
    return to_png(figure)


def _find_plane(results: Sequence[TrialResult]) -> Vec:
    """Return the two widest axes of paths, shape (2, 3)."""
    if not results:
        return np.eye(2, 3)
    p = np.concatenate([one.actual - one.actual.mean(axis=0) for one in results])
    plane: Vec = np.linalg.eigh(p.T @ p)[1].T[:0:-1]
    # eigenvectors have no sign: each points along its largest component
    signs = np.sign(plane[np.arange(2), np.abs(plane).argmax(axis=1)])
    turned: Vec = plane * signs[:, None]
    return turned


def _add_path(axes: Any, one: TrialResult, plane: Vec) -> Any:
    step = max(1, len(one.actual) // MAX_POINTS)
    flat = 1e3 * (one.actual @ plane.T)[::step]
    target = 1e3 * (one.target @ plane.T)[::step]
    axes.plot(*target.T, color=FAINT, lw=0.6, zorder=1)
    errors = 1e3 * one.errors[::step]
    colours = LinearSegmentedColormap.from_list("error", [BLUE, VIOLET, RED])
    lines = LineCollection(
        np.stack([flat[:-1], flat[1:]], axis=1),  # type: ignore[arg-type]
        cmap=colours,
        norm=Normalize(BLUE_MM, RED_MM, clip=True),
        linewidths=1.6,
    )
    lines.set_array(np.maximum(errors[:-1], errors[1:]))
    axes.add_collection(lines)
    return lines


def _draw_repetitions(results: Sequence[TrialResult]) -> Iterator[Drawn]:
    itvs = {(x["kind"], x["user"], x["task"], x["mode"]): x for x in list_itv(results)}
    groups = {k: v for k, v in group(results, lambda x: x.group).items() if k in itvs}
    humans = [key for key in groups if key[0] == "human"]
    robots = [key for key in groups if key[0] == "robot"]
    pairs = [(key, _find_replays(key, robots)) for key in humans]
    paired = {robot for _, robot in pairs}
    alone = [(None, key) for key in robots if key not in paired]
    for human, robot in [*pairs, *alone][:MOST_PAIRS]:
        shown = [key for key in (human, robot) if key is not None]
        title = " ".join(filter(None, shown[0][1:])) or shown[0][0]
        yield (
            f"Repeatability: {title}",
            "Executed paths, laid over each other as they were; ITV with waypoints by "
            "arc length and by normalised time.",
            _draw_pair([(groups[key], itvs[key]) for key in shown]),
        )


def _find_replays(
    human: tuple[str, str, str, str], robots: Sequence[tuple[str, str, str, str]]
) -> tuple[str, str, str, str] | None:
    same = ("robot", *human[1:])
    if same in robots:
        return same
    return robots[0] if len(robots) == 1 and not any(robots[0][1:]) else None


def _draw_pair(panels: Sequence[tuple[Sequence[TrialResult], Json]]) -> bytes:
    figure = Figure(figsize=(11.0, 5.0), layout="constrained", dpi=DPI)
    every = np.concatenate([one.actual for own, _ in panels for one in own])
    low, high = 1e3 * every.min(axis=0), 1e3 * every.max(axis=0)
    extent = np.maximum(high - low, max(0.3 * float((high - low).max()), 1e-3))
    for column, (own, itv) in enumerate(panels):
        axes: Any = figure.add_subplot(1, len(panels), column + 1, projection="3d")
        for one, colour in zip(own, COLOURS * len(own), strict=False):
            step = max(1, len(one.actual) // MAX_POINTS)
            axes.plot(*(1e3 * one.actual[::step]).T, color=colour, lw=1.1)
        begin, end = (low + high - extent) / 2, (low + high + extent) / 2
        axes.set(xlim=(begin[0], end[0]), ylim=(begin[1], end[1]))
        axes.set_zlim(begin[2], end[2])
        axes.set_box_aspect(tuple(extent))  # which scales an array in place
        axes.set(xlabel="x [mm]", ylabel="y [mm]", zlabel="z [mm]")
        axes.locator_params(nbins=4)
        who = "human trials" if itv["kind"] == "human" else "robot replays"
        axes.set_title(
            f"{itv['n_trials']} {who}: ITV {itv['arc_length_mm']:.2f} mm by arc "
            f"length,\n{itv['normalised_time_mm']:.2f} mm by time"
        )
    return to_png(figure)
