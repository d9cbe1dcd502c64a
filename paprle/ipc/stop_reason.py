"""A robot's text for its own stop, in the gate's status."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

STOP_REASON = 192  # [bytes] chosen: a reason with a long topic's name, and what to do


def pack_stop_reason(told: str) -> bytes:
    """Return the text as bytes, visibly cut."""
    data, mark = told.encode(), " …"
    if len(data) <= STOP_REASON:
        return data
    room = STOP_REASON - len(mark.encode())
    return (data[:room].decode(errors="ignore") + mark).encode()


def read_stop_reason(status: npt.NDArray[np.void]) -> str:
    """Return the robot's text for its own stop; empty without one."""
    told: bytes = status["stop_reason"].item()
    return told.decode(errors="replace")
