"""Events: JSON objects with a name, and the monotonic time at which they happened.

Five of them steer the recorder, all are written to ``/events``:
``{"event": "episode_begin", "episode": 0, "task": "…", "t_ns": …}``, with a task where
it is not that of the session,
``{"event": "episode_end", "end_reason": "success", "kept": true, "outcome": "success",
"t_ns": …}``, with an outcome where the operator told one, and with ``short`` where the
robot was not where it was asked to be (``{"cause": …, "seconds": …, "farthest": [m],
"turned": [rad]}`` each), and, naming the open episode or the last one,
``{"event": "discard", "episode": 0, "reason": "redo", "t_ns": …}``, which marks it as
one that the operator does not want, with the ``short`` of one that it ends,
``{"event": "outcome", "episode": 0, "outcome": "failure", "t_ns": …}``, the operator's
word on an episode that has ended, and ``{"event": "note", "episode": 0, "text": "…",
"t_ns": …}``, what the operator noted of it in words. The manifest has the notes of both
times.
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
    """Return the event; one that is not a JSON object becomes a ``malformed`` event."""
    try:
        event = json.loads(payload) if len(payload) <= _MAX_BYTES else None
    except (ValueError, RecursionError):
        event = None
    if isinstance(event, dict):
        return event
    return {"event": "malformed", "text": payload[:256].decode(errors="replace")}


def find_stamp(event: dict[str, Any], default: int) -> int:
    """Return the event's ``t_ns``, or the default where it has none that can be."""
    stamp = event.get("t_ns")
    is_stamp = isinstance(stamp, int) and 0 <= stamp < 1 << 62
    return stamp if is_stamp and stamp is not None else default
