"""Robot's text for its own stop."""

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
    """Return a status's text; empty without one."""
    told: bytes = status["stop_reason"].item()
    return told.decode(errors="replace")
