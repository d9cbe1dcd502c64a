"""How ``Feedback`` crosses from the session to the leader process.

Torques, cues and rumble do not cross: they are made there, from the gate's status.
"""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import Feedback, SessionState
from paprle.ipc.records import Record

FEEDBACK: np.dtype[np.void] = np.dtype(
    [
        ("stamp_ns", "i8"),
        ("state", "i4"),
        ("episode", "i4"),
        ("is_engaged", "?"),
    ]
)


def pack_feedback(feedback: Feedback) -> Record:
    """Return the feedback as one record."""
    record: Record = np.zeros((), dtype=FEEDBACK)
    record["stamp_ns"], record["episode"] = feedback.stamp_ns, feedback.episode
    record["state"] = feedback.state
    record["is_engaged"] = feedback.is_engaged
    return record


def unpack_feedback(record: Record) -> Feedback:
    """Return the feedback of one record."""
    return Feedback(
        stamp_ns=int(record["stamp_ns"]),
        state=SessionState(int(record["state"])),
        episode=int(record["episode"]),
        is_engaged=bool(record["is_engaged"]),
    )
