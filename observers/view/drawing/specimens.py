"""Tiny shapes of the kinds that the scene shows once the robot is driven.

A browser compiles a kind's shaders when it first draws it. Without a graphics card
that stalls the page, and its dead-man, for up to 0.2 s; here it happens at loading.
"""

from __future__ import annotations

import numpy as np
import viser

from paprle.contracts.types import Vec
from paprle.observers.view.drawing import palette

_SIZE = 1e-5  # [m] chosen: far below a pixel
_ROOT = "/specimens"


def add_specimens(server: viser.ViserServer, place: Vec) -> None:
    """Add the specimens at a seen world place (3,), [m]."""
    scene = server.scene
    scene.add_frame(_ROOT, show_axes=False, position=place)
    scene.add_frame(f"{_ROOT}/axes", axes_length=_SIZE, axes_radius=_SIZE / 20)
    segment = np.array([[[0, 0, 0], [_SIZE, 0, 0]]], dtype=np.float32)
    scene.add_line_segments(f"{_ROOT}/line", segment, palette.TRAIL, thickness=_SIZE)
    scene.add_arrows(
        f"{_ROOT}/arrow",
        segment,
        palette.FORCE,
        shaft_radius=_SIZE,
        head_radius=_SIZE,
        head_length=_SIZE,
    )
    scene.add_mesh_simple(
        f"{_ROOT}/ghost",
        _SIZE * np.eye(3, dtype=np.float32),
        np.array([[0, 1, 2]], dtype=np.uint32),
        color=palette.GHOST,
        opacity=palette.GHOST_OPACITY,
        flat_shading=False,
        cast_shadow=False,
        receive_shadow=False,
    )
    scene.add_label(f"{_ROOT}/label", ".", font_screen_scale=0.01)
