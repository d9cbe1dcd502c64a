"""State of a session at one instant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paprle.contracts.types import Vec
from paprle.recording.video.codec import Image

MEASURED, SENT, ASKED = "measured", "sent", "requested"


@dataclass(frozen=True)
class StateFrame:
    """State at one instant; NaN: not measured, none or unknown.

    Attributes:
        stamp_ns: Monotonic, [ns].
        q: (n,), [rad] or [m].
        dq: (n,).
        tau: (n,), [N·m] or [N].
        q_sent: By the gate, (n,).
        q_asked: By the session, (n,).
        target: Requested poses, (m, 7), xyz + quat_xyzw.
        driven: (m,).
        by_person: Limbs driven by a person, (m,).
        objects: T_world_object, xyz + quat_xyzw, (o, 7).
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
