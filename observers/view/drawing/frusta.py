"""Camera frusta with live pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pinocchio as pin
import viser

from paprle.contracts.images import CameraInfo
from paprle.observers.view.drawing import palette
from paprle.observers.view.drawing.bodies import Robot
from paprle.observers.view.thumbnails import Shot

_SCALE = 0.12  # [m] chosen: as deep as a hand is long
_LINE = 0.003  # [m] chosen
_INK = (40, 50, 60)
_USUAL = math.radians(60.0)  # chosen: of a camera that was not calibrated
_QUALITY = 70  # chosen: small on the screen


class Frusta:
    """Frusta of cameras with pictures."""

    def __init__(self, server: viser.ViserServer, robot: Robot) -> None:
        self._server, self._robot = server, robot
        self._handles: dict[str, viser.CameraFrustumHandle] = {}
        self._labels: dict[str, viser.LabelHandle] = {}
        self._drawn: dict[str, int] = {}

    def show(
        self, shots: Mapping[str, Shot], cameras: Mapping[str, CameraInfo]
    ) -> None:
        """Draw the newest pictures."""
        for name in self._drawn.keys() - shots.keys():
            del self._drawn[name]
            self._handles[name].image = None
            self._handles[name].color = palette.GONE
            self._labels[name].text = f"camera {name}: no image"
        for name, shot in shots.items():
            info = cameras[name]
            if info.link and not self._robot.has_link(info.link):
                continue  # of a recording whose URDF is another's
            handle = self._handles.get(name) or self._add(name, info)
            link = self._robot.find(info.link) if info.link else pin.SE3.Identity()
            T = link * info.T_link_cam
            x, y, z, w = pin.Quaternion(T.rotation).coeffs()
            handle.position, handle.wxyz = T.translation, (w, x, y, z)
            if self._drawn.get(name) != shot.number:
                self._drawn[name] = shot.number
                handle.image, handle.color = shot.pixels, _INK
                self._labels[name].text = f"camera {name}"

    def _add(self, name: str, info: CameraInfo) -> viser.CameraFrustumHandle:
        focal = float(info.K[1, 1])
        fov = 2.0 * math.atan2(0.5 * info.height, focal) if focal > 0.0 else _USUAL
        handle = self._server.scene.add_camera_frustum(
            f"/cameras/{name}",
            fov,
            info.width / info.height,
            scale=_SCALE,
            thickness=_LINE,
            color=_INK,
            format="jpeg",
            jpeg_quality=_QUALITY,
            cast_shadow=False,
            receive_shadow=False,
        )
        self._handles[name] = handle
        self._labels[name] = self._server.scene.add_label(
            f"/cameras/{name}/name", f"camera {name}", anchor="bottom-center"
        )
        return handle
