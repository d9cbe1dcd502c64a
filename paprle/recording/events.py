"""Events on ``/events``: JSON objects with ``event`` and monotonic ``t_ns``.

* ``episode_begin``: ``episode``, ``task`` if not the session's;
* ``episode_end``: ``end_reason``, ``kept``, ``outcome``, ``short``: list of
  ``{"cause": …, "seconds": …, "farthest": [m], "turned": [rad]}``;
* ``discard``: ``episode`` (open or last), ``reason``, ``short``;
* ``outcome``: ``episode`` (ended), ``outcome``;
* ``note``: ``episode``, ``text``, ``kind`` if ``subtask`` or ``mistake``.
"""

from __future__ import annotations

import json
from typing import Any

BEGIN = "episode_begin"
END = "episode_end"
DISCARD = "discard"
OUTCOME = "outcome"
NOTE = "note"

_MAX_BYTES = 1 << 16  # chosen: an event is a line, not a document


def parse_event(payload: bytes) -> dict[str, Any]:
    """Return the event, or a ``malformed`` one."""
    try:
        event = json.loads(payload) if len(payload) <= _MAX_BYTES else None
    except (ValueError, RecursionError):
        event = None
    if isinstance(event, dict):
        return event
    return {"event": "malformed", "text": payload[:256].decode(errors="replace")}


def find_stamp(event: dict[str, Any], default: int) -> int:
    """Return the event's valid ``t_ns``, else the default."""
    stamp = event.get("t_ns")
    is_stamp = isinstance(stamp, int) and 0 <= stamp < 1 << 62
    return stamp if is_stamp and stamp is not None else default
