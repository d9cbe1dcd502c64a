"""A software-device recording."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pyrealsense2 as rs

from paprle_emulators.camera.clock_picture import draw_clock

FOCAL = (300.0, 301.0)
FIRST_DEPTH = 1000
"""Depth of the first frame, in counts; it rises by one with each."""

_LEAD = 1.0  # [s] chosen: of a device's clock that began before the first frame


def write_recording(
    path: Path, n: int, width: int = 160, height: int = 120, fps: int = 30
) -> None:
    """Write n frames, sizes in [px], to a new .db3 file at a rate [Hz]."""
    device = rs.software_device()
    device.register_info(rs.camera_info.name, "Emulated RealSense")
    device.register_info(rs.camera_info.serial_number, "000000000001")
    size = (width, height, fps)
    depth = device.add_sensor("Stereo Module")
    colour = device.add_sensor("RGB Camera")
    depth_profile = depth.add_video_stream(
        _make_stream(rs.stream.depth, 1, rs.format.z16, 2, size)
    )
    colour_profile = colour.add_video_stream(
        _make_stream(rs.stream.color, 2, rs.format.rgb8, 3, size)
    )
    depth.add_read_only_option(rs.option.depth_units, 0.001)
    same_place = rs.extrinsics()
    same_place.rotation = np.eye(3).ravel().tolist()
    same_place.translation = [0.0, 0.0, 0.0]
    depth_profile.register_extrinsics_to(colour_profile, same_place)
    colour_profile.register_extrinsics_to(depth_profile, same_place)
    recorder = rs.recorder(str(path), device)
    sensors = recorder.query_sensors()
    for sensor, profile in zip(sensors, (depth_profile, colour_profile), strict=True):
        sensor.open(profile)
        sensor.start(lambda _: None)
    for k in range(n):
        stamp = _LEAD + k / fps
        image = np.full((height, width, 3), 110, np.uint8)
        draw_clock(image, round(stamp * 1e9))
        plane = np.full((height, width), FIRST_DEPTH + k, np.uint16)
        depth.on_video_frame(_make_frame(depth_profile, plane, 2, stamp, k))
        colour.on_video_frame(_make_frame(colour_profile, image, 3, stamp, k))
        time.sleep(1.0 / fps)
    for sensor in sensors:
        sensor.stop()
        sensor.close()


def _make_stream(
    kind: Any, uid: int, form: Any, bpp: int, size: tuple[int, int, int]
) -> Any:
    stream, model = rs.video_stream(), rs.intrinsics()
    stream.type, stream.index, stream.uid = kind, 0, uid
    stream.width, stream.height, stream.fps = size
    stream.bpp, stream.fmt = bpp, form
    model.width, model.height = size[:2]
    model.fx, model.fy = FOCAL
    model.ppx, model.ppy = 0.5 * (size[0] - 1), 0.5 * (size[1] - 1)
    model.model, model.coeffs = rs.distortion.none, [0.0] * 5
    stream.intrinsics = model
    return stream


def _make_frame(profile: Any, pixels: Any, bpp: int, stamp: float, k: int) -> Any:
    frame = rs.software_video_frame()
    frame.pixels, frame.bpp = pixels, bpp
    frame.stride = pixels.shape[1] * bpp
    frame.timestamp = 1e3 * stamp
    frame.domain = rs.timestamp_domain.hardware_clock
    frame.frame_number = k + 1
    frame.profile = profile.as_video_stream_profile()
    return frame
