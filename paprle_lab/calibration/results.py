"""Results of a calibration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.config.folders import SESSION, Folder, find_site
from paprle_lab.calibration.board import FoundBoard, Grey
from paprle_lab.calibration.lens import Lens
from paprle_lab.calibration.mounting import CameraResult
from paprle_lab.calibration.site_file import merge_into

_GREEN, _RED = (60, 200, 60), (60, 60, 240)  # BGR
_AXES = ((60, 60, 240), (60, 200, 60), (240, 120, 60))  # BGR of x, y, z
_MAGNIFIED = 20.0  # chosen: of a corner's error, which is a part of a pixel
_AXIS = 0.06  # [m] chosen: two squares of a usual board


def list_settings(
    result: CameraResult, link: str, *, with_lens: bool = False
) -> dict[str, Any]:
    """Return a camera's settings; ``link`` is its mount.

    A lens that was given is among them only ``with_lens``.
    """
    T = result.T_mount_cam
    values: dict[str, Any] = {}
    if result.is_lens_found or with_lens:
        values["focal"] = _round(result.lens.focal, 3)
        values["centre"] = _round(result.lens.centre, 3)
        values["distortion"] = _round(result.lens.distortion, 6)
    values["link"] = link
    values["T_link_camera"] = {
        "xyz": _round(T.translation, 6),
        "rpy_xyz_extrinsic": _round(pin.rpy.matrixToRpy(T.rotation), 7),
    }
    return values


def store_camera(
    name: str, values: Mapping[str, Any], site: Folder | None = None
) -> Path:
    """Return the site's ``session.yaml`` with the stored settings.

    Raises:
        ConfigError: If that file is damaged; it is kept.
    """
    camera = {"cameras": {name: dict(values)}}
    return merge_into(site or find_site(), SESSION, camera)


def describe_camera(result: CameraResult) -> list[str]:
    """Return a result as lines of text."""
    lens, place = result.lens, 1e3 * result.T_mount_cam.translation
    off = np.linalg.norm(result.deviations[:, :3], axis=1)
    turned = np.linalg.norm(result.deviations[:, 3:], axis=1)
    worst = float(np.percentile(result.residuals, 95.0))
    lines = [
        f"place {place[0]:.1f}, {place[1]:.1f}, {place[2]:.1f} mm, spread "
        f"{1e3 * result.sigma_place:.2f} mm and {np.rad2deg(result.sigma_turn):.3f}°",
        f"focal {lens.focal[0]:.2f}, {lens.focal[1]:.2f} px, centre "
        f"{lens.centre[0]:.2f}, {lens.centre[1]:.2f} px"
        + ("" if result.is_lens_found else " (as given)"),
        f"corners: {result.rms:.2f} px rms, 95 % below {worst:.2f} px, in "
        f"{len(result.views)} views",
        f"the hand was {1e3 * off.mean():.2f} ± {1e3 * off.std():.2f} mm and "
        f"{np.rad2deg(turned.mean()):.3f} ± {np.rad2deg(turned.std()):.3f}° from where "
        "its joints put it",
    ]
    lines += [f"view {k + 1} dropped: {why}" for k, why in result.dropped.items()]
    return lines


def draw_view(
    picture: Grey, found: FoundBoard, T_cam_board: pin.SE3, lens: Lens
) -> npt.NDArray[np.uint8]:
    """Return a picture with axes and corner errors.

    Green: corners as found; red: errors, 20 times as long.
    """
    image: npt.NDArray[np.uint8] = cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR)
    p_cam = found.p_board @ T_cam_board.rotation.T + T_cam_board.translation
    for seen, computed in zip(found.pixels, lens.project(p_cam), strict=True):
        end = seen + _MAGNIFIED * (computed - seen)
        cv2.line(image, _to_pixel(seen), _to_pixel(end), _RED, 1, cv2.LINE_AA)
        cv2.circle(image, _to_pixel(seen), 3, _GREEN, 1, cv2.LINE_AA)
    ends = np.vstack([np.zeros(3), _AXIS * np.eye(3)])
    axes = lens.project(ends @ T_cam_board.rotation.T + T_cam_board.translation)
    for end, colour in zip(axes[1:], _AXES, strict=True):
        cv2.line(image, _to_pixel(axes[0]), _to_pixel(end), colour, 2, cv2.LINE_AA)
    return image


def _to_pixel(place: Any) -> tuple[int, int]:
    limited = np.clip(np.rint(place), -10_000, 10_000)
    return int(limited[0]), int(limited[1])


def _round(values: Any, digits: int) -> list[float]:
    return [round(float(value), digits) for value in values]
