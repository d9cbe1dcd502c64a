"""Camera tracks of an episode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import RecordingError
from paprle.contracts.images import EXACT, CameraInfo
from paprle.contracts.settings.camera import Video
from paprle.contracts.types import readonly
from paprle.ipc.pictures import CodedPicture, PictureKind
from paprle.recording.messages.types import (
    CAMERA_INFO,
    COMPRESSED_IMAGE,
    COMPRESSED_VIDEO,
    TF_MESSAGE,
    encode,
    make_header,
    make_message,
)

STATIC_FRAMES_TOPIC = "/tf_static"
_NS = 1_000_000_000
_ROUNDING = 1e-3  # chosen: what a file by hand may be off
_IMAGE_FORMATS = {"jpeg": "jpeg", "png": "16UC1; png compressed"}
"""Values of ``CompressedImage.format``, in the words of ROS's image transports."""
_LAST = {"h264": "video", "jpeg": "image", "depth16": "depth", "ids16": "segmentation"}
"""Ends of topics, by encoding where pixels are numbers, else by format."""


@dataclass(frozen=True)
class CameraTrack:
    """Pictures or depth of one camera as h264, jpeg or png."""

    camera: str
    kind: PictureKind
    topic: str
    format: str

    @property
    def typename(self) -> str:
        """Type of its messages."""
        return COMPRESSED_VIDEO if self.format == "h264" else COMPRESSED_IMAGE

    def encode(self, coded: CodedPicture) -> bytes:
        """Return the message of a picture."""
        frame, stamp = name_frame(self.camera), _make_stamp(coded.stamp_ns)
        data = np.frombuffer(coded.data, np.uint8)
        if self.format == "h264":
            values = {"timestamp": stamp, "frame_id": frame}
            video = make_message(
                COMPRESSED_VIDEO, **values, data=data, format=self.format
            )
            return encode(video, COMPRESSED_VIDEO)
        header = make_message("std_msgs/msg/Header", stamp=stamp, frame_id=frame)
        form = _IMAGE_FORMATS[self.format]
        image = make_message(COMPRESSED_IMAGE, header=header, format=form, data=data)
        return encode(image, COMPRESSED_IMAGE)


def name_frame(camera: str) -> str:
    """Return the name of a camera's frame."""
    return f"camera_{camera}"


def list_tracks(cameras: Mapping[str, Any]) -> tuple[CameraTrack, ...]:
    """Return the tracks of a header's cameras."""
    tracks = []
    for name, values in cameras.items():
        encoding = values["encoding"]
        if values["video"] == "none":
            continue
        form = "png" if encoding in EXACT else values["video"]
        last = _LAST.get(encoding) or _LAST[form]
        tracks.append(
            CameraTrack(name, PictureKind.PICTURE, f"/cameras/{name}/{last}", form)
        )
        if values["depth_unit"] and encoding != "depth16":
            tracks.append(
                CameraTrack(name, PictureKind.DEPTH, f"/cameras/{name}/depth", "png")
            )
    return tuple(tracks)


def camera_to_dict(info: CameraInfo, kind: str, video: Video) -> dict[str, Any]:
    """Return JSON values; ``K`` is null without a calibration."""
    pose = pin.SE3ToXYZQUAT(info.T_link_cam)
    return {
        "type": kind,
        "video": video,
        "width": info.width,
        "height": info.height,
        "fps": info.fps,
        "encoding": info.encoding,
        "K": None if np.isnan(info.K).any() else info.K.tolist(),
        "distortion": list(info.distortion),
        "link": info.link,
        "T_link_camera": {"xyz": pose[:3].tolist(), "quat_xyzw": pose[3:].tolist()},
        "depth_unit": info.depth_unit,
    }


def camera_from_dict(values: Mapping[str, Any]) -> CameraInfo:
    """Return the camera of checked ``camera_to_dict`` values.

    Raises:
        RecordingError: If its quaternion has no unit length.
    """
    mounting = values["T_link_camera"]
    pose = np.array([*mounting["xyz"], *mounting["quat_xyzw"]], dtype=np.float64)
    if abs(np.linalg.norm(pose[3:]) - 1.0) > _ROUNDING:
        raise RecordingError(
            f"recording header: expected a unit quaternion of a camera, got {pose[3:]}"
        )
    K = np.full((3, 3), np.nan) if values["K"] is None else np.array(values["K"])
    return CameraInfo(
        width=values["width"],
        height=values["height"],
        fps=values["fps"],
        encoding=values["encoding"],
        K=readonly(K),
        distortion=tuple(values.get("distortion", (0.0,) * 5)),
        link=values["link"],
        T_link_cam=pin.XYZQUATToSE3(pose),
        depth_unit=values["depth_unit"],
    )


def make_first_messages(
    cameras: Mapping[str, Any], stamp_ns: int
) -> Iterator[tuple[str, str, bytes]]:
    """Yield topics, types and messages of calibrations."""
    infos = {name: camera_from_dict(values) for name, values in cameras.items()}
    for name, info in infos.items():
        if not np.isnan(info.K).any():
            message = _make_camera_info(name, info, stamp_ns)
            yield f"/cameras/{name}/camera_info", CAMERA_INFO, message
    if infos:
        yield STATIC_FRAMES_TOPIC, TF_MESSAGE, _make_frames(infos, stamp_ns)


def _make_camera_info(name: str, info: CameraInfo, stamp_ns: int) -> bytes:
    region = make_message(
        "sensor_msgs/msg/RegionOfInterest",
        x_offset=0,
        y_offset=0,
        height=0,
        width=0,
        do_rectify=False,
    )
    P = np.hstack([info.K, np.zeros((3, 1))])
    message = make_message(
        CAMERA_INFO,
        header=_make_header(name_frame(name), stamp_ns),
        height=info.height,
        width=info.width,
        distortion_model="plumb_bob",
        d=np.array(info.distortion, dtype=np.float64),
        k=info.K.ravel().astype(np.float64),
        r=np.eye(3).ravel(),
        p=P.ravel(),
        binning_x=0,
        binning_y=0,
        roi=region,
    )
    return encode(message, CAMERA_INFO)


def _make_frames(infos: Mapping[str, CameraInfo], stamp_ns: int) -> bytes:
    transforms = []
    for name, info in infos.items():
        x, y, z, qx, qy, qz, qw = pin.SE3ToXYZQUAT(info.T_link_cam).tolist()
        shift = make_message("geometry_msgs/msg/Vector3", x=x, y=y, z=z)
        turn = make_message("geometry_msgs/msg/Quaternion", x=qx, y=qy, z=qz, w=qw)
        pose = make_message(
            "geometry_msgs/msg/Transform", translation=shift, rotation=turn
        )
        transforms.append(
            make_message(
                "geometry_msgs/msg/TransformStamped",
                header=_make_header(info.link or "world", stamp_ns),
                child_frame_id=name_frame(name),
                transform=pose,
            )
        )
    return encode(make_message(TF_MESSAGE, transforms=transforms), TF_MESSAGE)


def _make_header(frame: str, stamp_ns: int) -> Any:
    header = make_header(frame)
    header.stamp = _make_stamp(stamp_ns)
    return header


def _make_stamp(stamp_ns: int) -> Any:
    sec, nanosec = divmod(max(stamp_ns, 0), _NS)
    return make_message("builtin_interfaces/msg/Time", sec=sec, nanosec=nanosec)
