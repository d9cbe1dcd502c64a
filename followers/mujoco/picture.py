"""Off-screen picture of a model by EGL or OSMesa."""

from __future__ import annotations

import struct
import zlib

import mujoco
import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import MissingDependency
from paprle.contracts.types import Vec
from paprle.hardware.mujoco.offscreen import NoRendererError, Offscreen

Image = npt.NDArray[np.uint8]

_AZIMUTH, _ELEVATION = 140.0, -22.0  # [deg] chosen: from the front left, from above


def render_png(
    mjcf: str, qpos: Vec | None = None, width: int = 960, height: int = 720
) -> bytes:
    """Return a PNG of a model.

    Raises:
        MissingDependency: If neither EGL nor OSMesa is available.
    """
    model = mujoco.MjModel.from_xml_string(mjcf)
    data = mujoco.MjData(model)
    if qpos is not None:
        data.qpos[:] = qpos
    mujoco.mj_forward(model, data)
    try:
        screen = Offscreen(model, width, height)
    except NoRendererError as err:
        raise MissingDependency(f"picture: {err}") from err
    try:
        return _encode_png(screen.draw(data, _make_camera(model, data)))
    finally:
        screen.close()


def _make_camera(model: mujoco.MjModel, data: mujoco.MjData) -> mujoco.MjvCamera:
    points = data.xpos[model.body_weldid != 0]
    if not len(points):
        points = data.xpos
    low, high = points.min(axis=0), points.max(axis=0)
    camera = mujoco.MjvCamera()
    camera.lookat[:] = (low + high) / 2
    camera.distance = 0.6 + 1.3 * float(np.linalg.norm(high - low))
    camera.azimuth, camera.elevation = _AZIMUTH, _ELEVATION
    return camera


def _encode_png(image: Image) -> bytes:
    """Encode an RGB image, (height, width, 3), by RFC 2083."""
    height, width, _ = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    png = b"\x89PNG\r\n\x1a\n"
    for kind, content in chunks:
        crc = zlib.crc32(kind + content)
        png += struct.pack(">I", len(content)) + kind + content
        png += struct.pack(">I", crc)
    return png
