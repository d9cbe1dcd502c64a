"""Packs a robot's own text for its stop into the gate's status, and reads it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

STOP_REASON = 192  # [bytes] chosen: a reason with a long topic's name, and what to do


def pack_stop_reason(told: str) -> bytes:
    """Return a robot's own words as ``stop_reason`` takes them, cut visibly."""
    data, mark = told.encode(), " …"
    if len(data) <= STOP_REASON:
        return data
    room = STOP_REASON - len(mark.encode())
    return (data[:room].decode(errors="ignore") + mark).encode()


def read_stop_reason(status: npt.NDArray[np.void]) -> str:
    """Return why the robot stopped by itself, in its own words; empty if it did not."""
    told: bytes = status["stop_reason"].item()
    return told.decode(errors="replace")
