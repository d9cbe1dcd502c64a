"""Colours and distances of near bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import viser

from paprle.contracts.proximity import Near
from paprle.observers.view.drawing import palette
from paprle.observers.view.drawing.bodies import Color

_KEPT_FROM = 0.9  # chosen: a distance jitters by a tenth of what is shown
_N_LINES = 3  # chosen: more numbers than these nobody reads
_THICKNESS = 0.004  # [m] chosen: as a trail's


class Nearness:
    """Colours and lines of near links."""

    def __init__(
        self,
        server: viser.ViserServer,
        shapes: Mapping[str, Sequence[tuple[viser.MeshHandle, Color]]],
    ) -> None:
        self._shapes = shapes
        self._colours: dict[str, Color] = {}
        segment = np.zeros((1, 2, 3), dtype=np.float32)
        self._lines = [
            server.scene.add_line_segments(
                f"/near/{k}/line",
                segment,
                palette.KEPT,
                thickness=_THICKNESS,
                visible=False,
            )
            for k in range(_N_LINES)
        ]
        self._labels = [
            server.scene.add_label(
                f"/near/{k}/label", "", anchor="bottom-center", visible=False
            )
            for k in range(_N_LINES)
        ]

    def show(self, near: Sequence[Near]) -> None:
        """Draw near bodies, the nearest first."""
        self._paint(near)
        for k, (line, label) in enumerate(zip(self._lines, self._labels, strict=True)):
            line.visible = label.visible = k < len(near)
            if k < len(near):
                one = near[k]
                line.points = one.points[None].astype(np.float32)
                label.position = one.points.mean(axis=0)
                label.text = f"{1e3 * one.distance:.0f} mm"

    def _paint(self, near: Sequence[Near]) -> None:
        shares = {link: one.share for one in reversed(near) for link in one.links}
        for link in {*shares, *self._colours} & self._shapes.keys():
            colour = choose(shares[link]) if link in shares else None
            if colour == self._colours.get(link):
                continue
            for shape, own in self._shapes[link]:
                shape.color = own if colour is None else colour
            if colour is None:
                del self._colours[link]
            else:
                self._colours[link] = colour


def choose(share: float) -> Color:
    """Return the colour of a nearness, 0 … 1; two steps, as the legend has them."""
    return palette.KEPT if share >= _KEPT_FROM else palette.NEAR
