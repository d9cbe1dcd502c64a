"""A frame: all that is known of a robot, its leaders and its cameras at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paprle.contracts.types import Vec
from paprle.recording.video.codec import Image

MEASURED, SENT, ASKED = "measured", "sent", "requested"


@dataclass(frozen=True)
class Frame:
    """All that is known of one instant.

    Attributes:
        stamp_ns: The instant, monotonic, [ns].
        q: Measured joints, shape (n,), [rad] or [m].
        dq: Their velocities, shape (n,); NaN: not measured.
        tau: Their efforts, shape (n,), [N·m] or [N]; NaN: not measured.
        q_sent: Joints that the gate sent, shape (n,).
        q_asked: Joints that the session asked for, shape (n,).
        target: Poses that were asked for, shape (m, 7), xyz + quat_xyzw; NaN: none.
        driven: Limbs that a leader drove, shape (m,).
        by_person: Those whose leader a person held, shape (m,).
        objects: T_world_object as xyz + quat_xyzw, shape (o, 7); NaN: not known.
        images: RGB by camera.
        depths: Depth in counts by camera.
    """

    stamp_ns: int
    q: Vec
    dq: Vec
    tau: Vec
    q_sent: Vec
    q_asked: Vec
    target: Vec
    driven: Any
    by_person: Any
    objects: Vec
    images: Mapping[str, Image]
    depths: Mapping[str, Image]
