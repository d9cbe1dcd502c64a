"""Messages that describe a robot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.hardware.ros.joints import Pose
from paprle.hardware.ros.messages import Codec

Vec = npt.NDArray[np.float64]

STRING = "std_msgs/msg/String"
FLOAT = "std_msgs/msg/Float64"
TRANSFORMS = "tf2_msgs/msg/TFMessage"
MARKERS = "visualization_msgs/msg/MarkerArray"
ARROW, STRIP, LINES, SPHERES = 0, 4, 5, 7
"""Kinds of markers. spec: visualization_msgs/Marker."""
_ADD, _DELETE = 0, 2  # spec: the same
TARGET_METRIC = "paprle_msgs/msg/TargetMetric"
TRACKING_METRICS = "paprle_msgs/msg/TrackingMetrics"


class Marker(NamedTuple):
    """A shape for viewers.

    Attributes:
        points: Shape (n, 3), [m]; none: delete.
        size: Scale by kind, shape (3,), [m].
        colour: RGB, 0 … 1.
    """

    namespace: str
    kind: int
    points: Vec
    size: Vec
    colour: tuple[float, float, float]


def encode_text(codec: Codec, text: str) -> bytes:
    """Return a String."""
    return codec.encode(codec.make(STRING, data=text), STRING)


def encode_float(codec: Codec, value: float) -> bytes:
    """Return a Float64."""
    return codec.encode(codec.make(FLOAT, data=value), FLOAT)


def encode_transforms(
    codec: Codec, transforms: Iterable[tuple[str, str, Vec]], stamp_ns: int
) -> bytes:
    """Return a TFMessage of (parent, child, T_parent_child as xyz + quat_xyzw)."""
    made = [
        codec.make(
            "geometry_msgs/msg/TransformStamped",
            header=codec.make_header(stamp_ns, parent),
            child_frame_id=child,
            transform=codec.make(
                "geometry_msgs/msg/Transform",
                translation=codec.make("geometry_msgs/msg/Vector3", **_name(row[:3])),
                rotation=codec.make("geometry_msgs/msg/Quaternion", **_name(row[3:])),
            ),
        )
        for parent, child, row in transforms
    ]
    return codec.encode(codec.make(TRANSFORMS, transforms=made), TRANSFORMS)


def decode_transforms(codec: Codec, data: bytes) -> list[tuple[str, str, Vec]]:
    """Return (parent, child, T_parent_child) rows.

    Raises:
        MessageError: No TFMessage.
    """
    found = []
    for one in codec.decode(data, TRANSFORMS).transforms:
        p, r = one.transform.translation, one.transform.rotation
        row = np.array([p.x, p.y, p.z, r.x, r.y, r.z, r.w])
        found.append((str(one.header.frame_id), str(one.child_frame_id), row))
    return found


def encode_markers(
    codec: Codec, frame_id: str, markers: Iterable[Marker], stamp_ns: int
) -> bytes:
    """Return a MarkerArray; a marker without points deletes one."""
    made = [
        codec.make(
            "visualization_msgs/msg/Marker",
            header=codec.make_header(stamp_ns, frame_id),
            ns=marker.namespace,
            id=number,
            type=marker.kind,
            action=_ADD if len(marker.points) else _DELETE,
            pose=codec.make(
                "geometry_msgs/msg/Pose",
                orientation=codec.make("geometry_msgs/msg/Quaternion", w=1.0),
            ),
            scale=codec.make("geometry_msgs/msg/Vector3", **_name(marker.size)),
            color=codec.make("std_msgs/msg/ColorRGBA", **_colour(marker.colour)),
            points=[
                codec.make("geometry_msgs/msg/Point", **_name(point))
                for point in marker.points
            ],
        )
        for number, marker in enumerate(markers)
    ]
    return codec.encode(codec.make(MARKERS, markers=made), MARKERS)


def _colour(rgb: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip("rgba", (*rgb, 1.0), strict=True))


def encode_target_metric(
    codec: Codec, target: Pose, ik_delay: float, latency: float
) -> bytes:
    """Return a TargetMetric; delays in [s], or NaN."""
    message = codec.make(
        TARGET_METRIC,
        header=codec.make_header(target.stamp_ns, target.frame_id),
        target=codec.make(
            "geometry_msgs/msg/Pose",
            position=codec.make("geometry_msgs/msg/Point", **_name(target.p)),
            orientation=codec.make(
                "geometry_msgs/msg/Quaternion", **_name(target.quat_xyzw)
            ),
        ),
        ik_solver_delay_ms=1e3 * ik_delay,
        e2e_latency_ms_at_control=1e3 * latency,
    )
    return codec.encode(message, TARGET_METRIC)


def encode_metrics(
    codec: Codec, metrics: Mapping[str, float], frame_id: str, stamp_ns: int
) -> bytes:
    """Return a TrackingMetrics from its fields."""
    header = codec.make_header(stamp_ns, frame_id)
    message = codec.make(TRACKING_METRICS, header=header, **metrics)
    return codec.encode(message, TRACKING_METRICS)


def _name(values: Vec) -> dict[str, Any]:
    return dict(zip("xyzw", map(float, values), strict=False))
