"""How ``Feedback`` and anchors cross from the session to the leader process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paprle.types import Feedback, SessionState
from paprle.wire import Record

if TYPE_CHECKING:  # heavy, and a leader without motors has none
    from paprle.retarget import RetargetState

FEEDBACK: np.dtype[np.void] = np.dtype(
    [
        ("stamp_ns", "i8"),
        ("state", "i4"),
        ("episode", "i4"),
        ("is_engaged", "?"),
        ("rumble", "f8"),
    ]
)


def pack_feedback(feedback: Feedback) -> Record:
    """Return the feedback as one record."""
    record: Record = np.zeros((), dtype=FEEDBACK)
    record["stamp_ns"], record["episode"] = feedback.stamp_ns, feedback.episode
    record["state"] = SessionState[feedback.state]
    record["is_engaged"], record["rumble"] = feedback.is_engaged, feedback.rumble
    return record


def unpack_feedback(record: Record) -> Feedback:
    """Return the feedback of one record."""
    return Feedback(
        stamp_ns=int(record["stamp_ns"]),
        state=SessionState(int(record["state"])).name,
        episode=int(record["episode"]),
        is_engaged=bool(record["is_engaged"]),
        rumble=float(record["rumble"]),
    )


def make_anchors_dtype(n_limbs: int) -> np.dtype[np.void]:
    """Return the layout of what engaging fixed, for a robot of so many limbs."""
    m = n_limbs
    return np.dtype(
        [
            ("L", "f8", (m, 3, 3)),
            ("K", "f8", (m, 3, 3)),
            ("p_0", "f8", (m, 3)),
            ("p_leader0", "f8", (m, 3)),
            ("scale", "f8"),
        ]
    )


def pack_anchors(anchors: RetargetState) -> Record:
    """Return what engaging fixed as one record."""
    record: Record = np.zeros((), dtype=make_anchors_dtype(len(anchors.L)))
    for name, value in anchors._asdict().items():
        record[name] = value
    return record
