"""Pictures without a screen, by EGL or OSMesa.

PyOpenGL fixes its platform at import, so it is reloaded; a renderer belongs to its
thread.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]
Depth = npt.NDArray[np.float32]
Geoms = npt.NDArray[np.intp]

_PLATFORM = "PYOPENGL_PLATFORM"
_LOADER = "MUJOCO_GL"
_WAYS = ("egl", "osmesa")
_MAX_GEOMS = 2000  # chosen: ten times a humanoid
_FAILURES = (ImportError, OSError, RuntimeError, AttributeError)
INSTALL = "apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri, or libosmesa6"


class NoRendererError(OSError):
    """No EGL or OSMesa."""


class Offscreen:
    """Renderer of one model by ``egl`` or ``osmesa``."""

    def __init__(
        self, model: mujoco.MjModel, width: int, height: int, *, is_plain: bool = False
    ) -> None:
        """Make a renderer.

        Args:
            model: To draw.
            width: [px].
            height: [px].
            is_plain: Without shadows, reflections, smooth edges; five times as fast.

        Raises:
            NoRendererError: No EGL or OSMesa.
        """
        model.vis.global_.offwidth, model.vis.global_.offheight = width, height
        model.vis.quality.offsamples = 0 if is_plain else 4
        self._model = model
        self.way, self._context = _make_context(width, height)
        self._scene = mujoco.MjvScene(model, maxgeom=_MAX_GEOMS)
        if is_plain:
            for flag in (
                mujoco.mjtRndFlag.mjRND_SHADOW,
                mujoco.mjtRndFlag.mjRND_REFLECTION,
            ):
                self._scene.flags[flag] = 0
        font = mujoco.mjtFontScale.mjFONTSCALE_100
        with _told(self.way):
            self._renderer: Any = mujoco.MjrContext(model, font)
        self._renderer.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._renderer)
        self._view = mujoco.MjrRect(0, 0, width, height)
        self._option = mujoco.MjvOption()
        self._image = np.zeros((height, width, 3), dtype=np.uint8)
        self._depth = np.zeros((height, width), dtype=np.float32)

    def draw(self, data: mujoco.MjData, camera: mujoco.MjvCamera) -> Image:
        """Return a camera's view, shape (height, width, 3), rows from the top."""
        self._render(data, camera)
        mujoco.mjr_readPixels(self._image, None, self._view, self._renderer)
        return self._image[::-1]

    def draw_with_depth(
        self, data: mujoco.MjData, camera: mujoco.MjvCamera
    ) -> tuple[Image, Depth]:
        """Return the view and the depth along its axis, [m]."""
        self._render(data, camera)
        mujoco.mjr_readPixels(self._image, self._depth, self._view, self._renderer)
        extent = self._model.stat.extent
        near = self._model.vis.map.znear * extent
        far = self._model.vis.map.zfar * extent
        # a projection keeps d, 1 at near and 0 at far, with 1/z = d/near + (1 - d)/far
        z = 1.0 / (self._depth / near + (1.0 - self._depth) / far)
        return self._image[::-1], z[::-1]

    def draw_geoms(self, data: mujoco.MjData, camera: mujoco.MjvCamera) -> Geoms:
        """Return geoms by pixel, shape (height, width); −1: none."""
        flags = (mujoco.mjtRndFlag.mjRND_SEGMENT, mujoco.mjtRndFlag.mjRND_IDCOLOR)
        for flag in flags:
            self._scene.flags[flag] = 1
        self._render(data, camera)
        for flag in flags:
            self._scene.flags[flag] = 0
        mujoco.mjr_readPixels(self._image, None, self._view, self._renderer)
        shown = [-1] * (self._scene.ngeom + 1)
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                shown[geom.segid + 1] = geom.objid
        # spec: MuJoCo, mjRND_IDCOLOR: a colour is segid + 1, its lowest byte is red
        colours = self._image[::-1] @ (1 << np.array([0, 8, 16]))
        return np.array(shown, dtype=np.intp)[colours]

    def close(self) -> None:
        """Close the renderer."""
        if self._renderer is not None:
            self._renderer.free()
            self._context.free()
        self._renderer = self._context = None

    def _render(self, data: mujoco.MjData, camera: mujoco.MjvCamera) -> None:
        self._context.make_current()  # another one may have been made since
        mujoco.mjv_updateScene(
            self._model,
            data,
            self._option,
            None,
            camera,
            mujoco.mjtCatBit.mjCAT_ALL,
            self._scene,
        )
        mujoco.mjr_render(self._view, self._scene, self._renderer)


@contextlib.contextmanager
def _told(way: str) -> Iterator[None]:
    before = os.environ.get(_LOADER)
    os.environ[_LOADER] = way
    try:
        yield
    finally:
        os.environ.pop(_LOADER)
        if before is not None:
            os.environ[_LOADER] = before


def _make_context(width: int, height: int) -> tuple[str, Any]:
    failures = []
    chosen = os.environ.get(_PLATFORM, os.environ.get(_LOADER))
    for way in (chosen,) if chosen in _WAYS else _WAYS:
        try:
            context = import_module(f"mujoco.{way}").GLContext(width, height)
            context.make_current()
        except _FAILURES as err:
            failures.append(f"{way}: {err}")
            _forget(way, chosen)
        else:
            return str(way), context
    raise NoRendererError(
        f"expected EGL or OSMesa, got neither ({'; '.join(failures)}); install one "
        f"with: {INSTALL}"
    )


def _forget(way: str, chosen: str | None) -> None:
    for name in list(sys.modules):
        if name.split(".")[0] == "OpenGL" or name.startswith(f"mujoco.{way}"):
            del sys.modules[name]
    if chosen is None:
        os.environ.pop(_PLATFORM, None)
