"""Camera calibrations shared by all recordings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEYS = ("K", "distortion", "link", "T_link_camera")


def describe_calibration(camera: Mapping[str, Any]) -> dict[str, Any]:
    """Return a camera's calibration for LeRobot's ``info.json``.

    K: fx 0 cx, 0 fy cy, 0 0 1 [px]; distortion: k1, k2, p1, p2, k3; pose: image axes in
    ``link``, [m].
    """
    if camera.get("K") is None:
        return {}
    return {f"camera.{key}": camera[key] for key in _KEYS if key in camera}


def keep_common(
    header: Mapping[str, Any], other: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return a header without contradicted calibrations."""
    theirs = other.get("cameras", {})
    cameras = {
        name: camera
        if all(camera.get(key) == theirs.get(name, {}).get(key) for key in _KEYS)
        else {**camera, "K": None}
        for name, camera in header.get("cameras", {}).items()
    }
    return {**header, "cameras": cameras}
