"""Plots of an episode; only this module imports matplotlib."""

from __future__ import annotations

import gc
import io
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from mpl_toolkits.mplot3d import art3d  # type: ignore[import-untyped]

from paprle.contracts.types import Vec
from paprle.gate.reasons import Reason
from paprle_lab.evaluation.episode import EpisodeResult
from paprle_lab.evaluation.limb import LimbResult
from paprle_lab.evaluation.metrics import Spans
from paprle_lab.evaluation.reporting.reach_text import WORDS
from paprle_lab.evaluation.reporting.report_text import format_number
from paprle_lab.evaluation.reporting.stills import (
    choose_stills,
    draw_stills,
    draws_rods,
)
from paprle_lab.evaluation.store import Table, Thinned, cut

INK, FAINT, GRID_COLOUR = "#1f2933", "#9aa5b1", "#e4e7eb"
BLUE, VIOLET, RED = "#2563eb", "#a855f7", "#dc2626"
AMBER, GREEN = "#d97706", "#059669"
DPI = 130  # chosen: crisp on a dense screen at the page's width
MAX_POINTS = 4000  # chosen: more cannot be told apart in a plot of 1400 pixels
LEAST_RED_MM = 0.01  # [mm] chosen: with less in all of a motion, all of it is blue
SMALLEST_MM = 1e-4  # chosen: logarithmic axes begin here
MAX_LINES = 12  # chosen: more joints than this are drawn without a legend
STYLE = {
    "agg.path.chunksize": 200,  # a long line at once takes 40 MB to draw
    "axes.axisbelow": True,
    "axes.edgecolor": FAINT,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "font.size": 9.5,
    "grid.color": GRID_COLOUR,
    "legend.frameon": False,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def draw_episode(result: EpisodeResult) -> Iterator[tuple[str, str, bytes]]:
    """Yield title, caption and PNG of each plot."""
    with mpl.rc_context(STYLE):
        for limb in result.limbs:
            if len(limb.target) > 1:
                red = find_red(limb.errors)
                yield from _draw_robot(limb, result)
                yield (
                    f"Path of {limb.name}",
                    "The measured path, coloured by its distance from the target at "
                    f"the same instant: blue is none, red {red:g} mm and more, which "
                    "is at most 1 % of this motion. Grey: the target.",
                    draw_path(limb, result.engaged),
                )
                yield (
                    f"Error of {limb.name} over time",
                    "Distance from the raw target, as it was and after the one time "
                    "shift τ. Below: why targets were not reached, and when the gate "
                    "acted.",
                    draw_errors(limb, result),
                )
                yield (
                    f"Distribution of the error of {limb.name}",
                    "Share of samples with at most that error.",
                    draw_distribution(limb),
                )
        if result.gate is not None and result.h and len(result.gate) > 3:
            yield (
                "Joints against their limits",
                "Speed and acceleration of the commands, as shares of the recorded "
                "limits. The oracle judges every sample.",
                draw_joints(result),
            )
        if result.ticks is not None and len(result.ticks) > 1:
            yield (
                "Time a tick took",
                "Session and gate: how long each tick computed and how late it woke.",
                draw_timing(result),
            )


def find_red(errors: Vec) -> float:
    """Return the rounded 99th percentile as red, [mm]."""
    most = max(float(np.percentile(errors, 99)) * 1e3, LEAST_RED_MM)
    power = 10.0 ** np.floor(np.log10(most))
    digit = next(
        step
        for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10)
        if most <= step * power * (1 + 1e-9)
    )
    return float(f"{digit * power:.3g}")


def make_colours(errors: Vec) -> tuple[Any, Any]:
    """Return colour map and norm of errors, [mm]."""
    colours = LinearSegmentedColormap.from_list("error", [BLUE, VIOLET, RED])
    return colours, Normalize(0.0, find_red(errors), clip=True)


def _draw_robot(
    limb: LimbResult, result: EpisodeResult
) -> Iterator[tuple[str, str, bytes]]:
    if result.urdf is None or result.gate is None or result.robot is None:
        return
    postures = Thinned([("meas_ns", "i8"), ("q_meas", "f8", len(result.robot.home))])
    for where in cut(len(result.gate)):
        postures.add(result.gate[where][["meas_ns", "q_meas"]])
    t_meas = (postures.rows["meas_ns"] - result.origin_ns) * 1e-9
    stills = choose_stills(limb, t_meas, postures.rows["q_meas"])
    if not stills:
        return
    figure = Figure(figsize=(11.0, 2.6), dpi=DPI)
    robot = (result.urdf, result.robot)
    draw_stills(figure, stills, robot, limb, make_colours(limb.errors))
    rods = (
        " Links of which the recorded URDF knows no body but a mesh are drawn as rods."
        if draws_rods(result.urdf)
        else ""
    )
    yield (
        f"The robot along the path of {limb.name}",
        "As measured, with the path up to each instant in the colours of the picture "
        f"below. Grey line: the target; cross: where it was.{rods}",
        to_png(figure),
    )


def draw_path(limb: LimbResult, spans: Spans) -> bytes:
    """Draw the path in plane and space, coloured by error."""
    figure = _make_figure(11.0, 5.2)
    t, target, actual, errors = _thin(
        limb.target.t, limb.target.p, limb.actual.p, limb.errors
    )
    target, actual = _split(t, target, spans)[1] * 1e3, actual * 1e3
    is_joined = np.diff(_count_stretch(t, spans)) == 0
    colours = np.maximum(errors[:-1], errors[1:])[is_joined] * 1e3
    centre = actual.mean(axis=0)
    plane = np.linalg.svd(actual - centre, full_matrices=False)[2][:2]
    flat = figure.add_subplot(1, 2, 1)
    scale = make_colours(limb.errors)
    _add_coloured(flat, _cut((actual - centre) @ plane.T)[is_joined], colours, scale)
    flat.plot(*((target - centre) @ plane.T).T, color=FAINT, lw=0.8, zorder=1)
    flat.set_aspect("equal", adjustable="datalim")
    flat.margins(0.05)
    flat.set(title="Seen square to its best plane", xlabel="[mm]", ylabel="[mm]")
    space = figure.add_subplot(1, 2, 2, projection="3d")
    space.computed_zorder = False
    space.plot(*target.T, color=FAINT, lw=0.8, zorder=1)
    lines = _add_coloured(space, _cut(actual)[is_joined], colours, scale)
    low, high = actual.min(axis=0), actual.max(axis=0)
    extent = np.maximum(high - low, max(0.35 * (high - low).max(), 1e-6))
    middle = (low + high) / 2
    space.auto_scale_xyz(*(middle + np.outer([-0.5, 0.5], extent)).T)
    space.set_box_aspect(extent)
    space.set(xlabel="x [mm]", ylabel="y [mm]", zlabel="z [mm]")
    space.set_title("In space, base frame")
    space.locator_params(nbins=4)
    bar = figure.colorbar(lines, ax=[flat, space], shrink=0.75, pad=0.06, extend="max")
    bar.set_label("position error [mm]")
    return to_png(figure)


def draw_errors(limb: LimbResult, result: EpisodeResult) -> bytes:
    """Draw errors over time, with the gate's activity."""
    activity = _find_causes(limb) | _find_activity(result)
    height = 3.2 + 0.22 * len(activity)
    figure = _make_figure(11.0, height)
    axes = figure.add_subplot()
    _shade(axes, result.engaged)
    t, raw = _thin(limb.target.t, limb.errors * 1e3)
    axes.plot(*_split(t, raw, result.engaged), color=AMBER, lw=1.0, label="raw")
    if limb.tau is not None:
        t, shifted = _thin(limb.t_shifted, limb.errors_shifted * 1e3)
        label = f"lag-compensated, τ = {limb.tau * 1e3:.1f} ms"
        axes.plot(*_split(t, shifted, result.engaged), color=BLUE, lw=1.2, label=label)
    top = max(float(limb.errors.max()) * 1e3, 1e-3)
    for row, (name, t) in enumerate(activity.items()):
        y = -top * (0.08 + 0.09 * row)
        axes.plot(t, np.full(len(t), y), "|", color=RED, ms=6, mew=0.8)
        axes.annotate(
            name,
            (1.0, y),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            color=RED,
        )
    axes.axhline(0.0, color=FAINT, lw=0.8)
    axes.set_ylim(-top * (0.06 + 0.09 * len(activity)), top * 1.08)
    axes.set_yticks([y for y in axes.get_yticks() if 0.0 <= y <= top * 1.08])
    axes.set(xlabel="time [s]", ylabel="position error [mm]")
    _put_legend_above(axes)
    return to_png(figure)


def draw_distribution(limb: LimbResult) -> bytes:
    """Draw the cumulative distribution of errors."""
    figure = _make_figure(11.0, 3.2)
    axes = figure.add_subplot()
    for errors, name, colour, key in (
        (limb.errors, "raw", AMBER, "raw"),
        (limb.errors_shifted, "lag-compensated", BLUE, "lag_compensated"),
    ):
        if not len(errors):
            continue
        ordered = np.maximum(np.sort(errors) * 1e3, SMALLEST_MM)
        share = 100.0 * np.arange(1, len(ordered) + 1) / len(ordered)
        found = [limb.figures["ate_mm"][key][of] for of in ("median", "p95")]
        told = [format_number(value, "mm") for value in found]
        label = f"{name}: median {told[0]}, p95 {told[1]}"
        axes.plot(*_thin(ordered, share), color=colour, lw=1.6, label=label)
        axes.plot(np.maximum(found, SMALLEST_MM), [50, 95], "o", color=colour, ms=4)
    axes.set(xlabel="position error [mm]", ylabel="samples [%]", ylim=(0, 101))
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    _put_legend_above(axes)
    return to_png(figure)


def draw_joints(result: EpisodeResult) -> bytes:
    """Draw speeds and accelerations of q_cmd over limits."""
    t_thin, speed_thin, most = _measure_shares(result)
    names = result.robot.joint_names if result.robot else ()
    figure = _make_figure(11.0, max(3.6, 0.28 * len(names) + 1.2))
    over_time, peaks = figure.subplots(1, 2, width_ratios=(2, 1))
    _shade(over_time, result.engaged)
    for joint, name in enumerate(names):
        over_time.plot(t_thin, 100 * speed_thin[:, joint], lw=0.9, label=name)
    over_time.axhline(100, color=RED, lw=1, ls="--")
    over_time.axhline(-100, color=RED, lw=1, ls="--")
    over_time.set(title="Speed", xlabel="time [s]", ylabel="share of V [%]")
    over_time.set_ylim(-115, 150)
    if len(names) <= MAX_LINES:
        over_time.legend(fontsize=7.5, ncols=6, loc="upper left")
    rows = np.arange(len(names))
    for values, colour, shift, label in (
        (most[0], BLUE, -0.2, "speed / V"),
        (most[1], GREEN, 0.2, "acceleration / A"),
    ):
        peaks.barh(rows + shift, 100 * values, 0.36, color=colour, label=label)
    peaks.axvline(100, color=RED, lw=1, ls="--")
    peaks.set_yticks(rows, names, fontsize=8)
    peaks.invert_yaxis()
    peaks.set(title="Peaks", xlabel="share of the limit [%]")
    peaks.set_xlim(0, max(112.0, peaks.get_xlim()[1]))
    peaks.legend(fontsize=7.5, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    return to_png(figure)


def draw_timing(result: EpisodeResult) -> bytes:
    """Draw histograms of compute time and lateness."""
    figure = _make_figure(11.0, 3.0)
    panels = figure.subplots(1, 2)
    for axes, name, rows in zip(
        panels, ("Session", "Gate"), (result.ticks, result.gate), strict=True
    ):
        axes.set(title=name, xlabel="time [ms]", ylabel="ticks")
        if rows is None or not len(rows):
            continue
        names = ("compute_ns", "late_ns")
        most = [max(rows[at][key].max() for at in cut(len(rows))) for key in names]
        top = max(1e-6 * float(max(most)), 1e-3)
        edges = np.linspace(0.0, top, 80)
        took, late = (_count_times(rows, key, edges) for key in names)
        left = edges[:-1]
        axes.hist(left, edges, weights=took, color=BLUE, alpha=0.8, label="compute")
        axes.hist(left, edges, weights=late, color=AMBER, alpha=0.6, label="late by")
        if result.h and name == "Gate" and result.h * 1e3 < 3 * top:
            axes.axvline(result.h * 1e3, color=RED, lw=1, ls="--", label="period")
        axes.set_yscale("log")
        axes.set_ylim(bottom=0.7)
        axes.legend()
    return to_png(figure)


def _make_figure(width: float, height: float) -> Any:
    return Figure(figsize=(width, height), layout="constrained", dpi=DPI)


def _put_legend_above(axes: Any) -> None:
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)


def to_png(figure: Any) -> bytes:
    """Return a figure as PNG, and close it."""
    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_png(buffer, metadata={"Software": None})
    figure.clear()
    gc.collect()  # artists know each other: else all figures of a page stay
    return buffer.getvalue()


def _cut(points: Vec) -> Vec:
    """Return the pieces (N - 1, 2, k) of a polyline (N, k)."""
    return np.stack([points[:-1], points[1:]], axis=1)


def _add_coloured(
    axes: Any, pieces: Vec, errors_mm: Vec, scale: tuple[Any, Any]
) -> Any:
    is_flat = pieces.shape[2] == 2
    kind: Any = LineCollection if is_flat else art3d.Line3DCollection
    colours, norm = scale
    lines = kind(pieces, cmap=colours, norm=norm, linewidths=2.0, capstyle="round")
    lines.set_array(errors_mm)
    (axes.add_collection if is_flat else axes.add_collection3d)(lines)
    return lines


def _thin(*arrays: Vec) -> tuple[Vec, ...]:
    step = max(1, -(-len(arrays[0]) // MAX_POINTS))
    return tuple(array[::step] for array in arrays)


def _count_stretch(t: Vec, spans: Spans) -> npt.NDArray[np.intp]:
    return np.asarray(np.searchsorted(spans[:, 0], t, side="right"))


def _split(t: Vec, values: Vec, spans: Spans) -> tuple[Vec, Vec]:
    cuts = np.flatnonzero(np.diff(_count_stretch(t, spans))) + 1
    return np.insert(t, cuts, np.nan), np.insert(values, cuts, np.nan, axis=0)


def _shade(axes: Any, spans: Spans) -> None:
    for begin, end in spans:
        axes.axvspan(begin, end, color=BLUE, alpha=0.05, lw=0)


def _find_causes(limb: LimbResult) -> dict[str, Vec]:
    if limb.reach is None:
        return {}
    causes: dict[str, Vec] = {}
    for (kind, joint), cause in limb.reach.joints.items():
        name = f"{joint} at its limit" if kind == "bound" and joint else WORDS[kind]
        times = np.union1d(causes.get(name, np.zeros(0)), cause.t)
        causes[name] = _thin(times)[0]
    return causes


def _find_activity(result: EpisodeResult) -> dict[str, Vec]:
    acted = {reason: Thinned(np.float64) for reason in Reason}
    for where in cut(len(result.gate) if result.gate is not None else 0):
        rows = result.gate[where]  # type: ignore[index]  # there are rows
        words = rows["reasons"].astype(np.uint64)
        t = (rows["stamp_ns"] - result.origin_ns) * 1e-9
        for reason, times in acted.items():
            times.add(t[(words >> np.uint64(reason) & np.uint64(1)).astype(bool)])
    return {
        f"gate: {reason.name.lower()}": _thin(times.rows)[0]
        for reason, times in acted.items()
        if len(times.rows)
    }


def _count_times(rows: Table, name: str, edges_ms: Vec) -> npt.NDArray[np.intp]:
    counts = [
        np.histogram(rows[where][name] * 1e-6, edges_ms)[0] for where in cut(len(rows))
    ]
    return np.asarray(np.sum(counts, axis=0))


def _measure_shares(result: EpisodeResult) -> tuple[Vec, Vec, tuple[Vec, Vec]]:
    # Both are speed and acceleration.
    gate, robot, h = result.gate, result.robot, result.h
    if gate is None or robot is None or h is None:
        return np.zeros(0), np.zeros((0, 0)), (np.zeros(0), np.zeros(0))
    n = len(robot.joint_names)
    kept = Thinned([("t", "f8"), ("speed", "f8", (n,))])
    most = np.full((2, n), np.nan)
    for where in cut(len(gate)):
        rows = gate[max(where.start - 2, 0) : where.stop]
        k = rows["k"].astype(np.int64)
        v = np.diff(rows["q_cmd"], axis=0) / h
        v[np.diff(k) != 1] = np.nan
        v[rows["state"][:-1] == 0] = np.nan  # what a disarmed gate notes is not sent
        a = np.diff(v, axis=0) / h / robot.ddq_max
        v = v[1:] / np.maximum(robot.dq_max, 1e-12)
        own = np.zeros(len(v), [("t", "f8"), ("speed", "f8", (n,))])
        own["t"] = (rows["stamp_ns"][2:] - result.origin_ns) * 1e-9
        own["speed"] = v
        kept.add(own)
        for row, values in enumerate((v, a)):
            if len(values):
                largest = np.fmax.reduce(np.abs(values), axis=0)
                most[row] = np.fmax(most[row], largest)
    t, speed = _thin(kept.rows["t"], kept.rows["speed"])
    return t, speed, (most[0], most[1])
