"""State of robot, leaders and cameras at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paprle.contracts.types import Vec
from paprle.recording.video.codec import Image

MEASURED, SENT, ASKED = "measured", "sent", "requested"


@dataclass(frozen=True)
class Frame:
    """State at one instant.

    Attributes:
        stamp_ns: Monotonic time, [ns].
        q: Measured joints, shape (n,), [rad] or [m].
        dq: Velocities, shape (n,); NaN: not measured.
        tau: Efforts, shape (n,), [N·m] or [N]; NaN: not measured.
        q_sent: Joints sent by the gate, shape (n,).
        q_asked: Joints requested by the session, shape (n,).
        target: Requested poses, shape (m, 7), xyz + quat_xyzw; NaN: none.
        driven: Driven limbs, shape (m,).
        by_person: Limbs driven by a person, shape (m,).
        objects: T_world_object as xyz + quat_xyzw, shape (o, 7); NaN: unknown.
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
