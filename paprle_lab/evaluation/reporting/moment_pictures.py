"""Pictures of a run's moments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from paprle.contracts.types import Vec
from paprle_lab.evaluation.episode import EpisodeResult
from paprle_lab.evaluation.limb import LimbResult
from paprle_lab.evaluation.reporting.camera_strips import list_camera_strips
from paprle_lab.evaluation.reporting.moments import ReportMoment
from paprle_lab.evaluation.reporting.plots import DPI, STYLE, make_colours, to_png
from paprle_lab.evaluation.reporting.stills import Still, draw_stills
from paprle_lab.evaluation.store import Table, cut

_PANEL, _HEIGHT = 3.6, 3.0  # [in] chosen: three panels fill the page


def draw_moments(
    result: EpisodeResult, moments: Sequence[ReportMoment]
) -> Iterator[tuple[str, str, bytes]]:
    """Yield title, caption and picture of robot and cameras."""
    if not moments:
        return
    yield from _draw_robot(result, moments)
    at = [moment.t for moment in moments]
    yield from list_camera_strips(result, " at these moments", at)


def _draw_robot(
    result: EpisodeResult, moments: Sequence[ReportMoment]
) -> Iterator[tuple[str, str, bytes]]:
    limbs = [
        one
        for one in result.limbs
        if one.name == result.entry["worst_limb"] and len(one.target) > 1
    ]
    if result.urdf is None or result.gate is None or result.robot is None or not limbs:
        return
    at_ns = result.origin_ns + np.array([1e9 * one.t for one in moments])
    postures = find_postures(result.gate, at_ns.astype(np.int64))
    shown = [
        (_make_still(limbs[0], moment.t, q), moment.text)
        for moment, q in zip(moments, postures, strict=True)
        if np.isfinite(q).all()
    ]
    if not shown:
        return
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(_PANEL * len(shown), _HEIGHT), dpi=DPI)
        draw_stills(
            figure,
            [still for still, _ in shown],
            (result.urdf, result.robot),
            limbs[0],
            make_colours(limbs[0].errors),
            [f"{text}\nat {still.t:.1f} s" for still, text in shown],
        )
        yield (
            "The robot at these moments",
            f"As measured, with the path of {limbs[0].name} up to that moment. Grey "
            "line: the target; cross: its position.",
            to_png(figure),
        )


def find_postures(gate: Table, at_ns: npt.NDArray[np.int64]) -> list[Vec]:
    """Return the joints measured nearest to each instant, shape (n,)."""
    found: list[Vec] = [np.array([np.nan])] * len(at_ns)
    nearest = np.full(len(at_ns), np.inf)
    for where in cut(len(gate)):
        rows = gate[where]
        for k, instant in enumerate(at_ns):
            apart = np.abs(rows["meas_ns"] - instant)
            i = int(np.argmin(apart))
            if apart[i] < nearest[k]:
                nearest[k], found[k] = apart[i], np.array(rows["q_meas"][i])
    return found


def _make_still(limb: LimbResult, t: float, q: Vec) -> Still:
    row = int(np.clip(np.searchsorted(limb.actual.t, t), 0, len(limb.actual.t) - 1))
    return Still(t, q, row)
