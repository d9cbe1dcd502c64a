"""Moments of an episode on a time line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from paprle.contracts.film import Mark, MarkKind
from paprle.contracts.types import GateState, SessionState
from paprle.gate.reason_text import list_words
from paprle.ipc.records import Stream
from paprle.recording import events
from paprle.recording.notes import find_notes, list_notes
from paprle.recording.reading import Block

_MOST_MARKS = 500  # chosen: a time line shows no more
_STATES: Mapping[int, str] = {
    SessionState.ENGAGED: "driving",
    SessionState.CLUTCHED: "paused",
    SessionState.ALIGNING: "aligning",
    SessionState.STOPPED: "stopped",
}
_SHOWN = {events.END, events.DISCARD, events.OUTCOME, "stuck_in_reach"}
"""Events with a place of their own; states come from the records, notes as notes."""


class MomentLog:
    """Collected moments of an episode."""

    def __init__(self) -> None:
        self._marks = list[tuple[int, MarkKind, str]]()
        self._notes = list[Mapping[str, Any]]()
        self._last: dict[Stream, int] = {}

    def take(self, item: Block | Mapping[str, Any]) -> None:
        """Take the next item of a ``Reading``."""
        if len(self._marks) >= _MOST_MARKS:
            return
        if not isinstance(item, Block):
            self._take_event(item)
            return
        states = item.records["state"]
        before = self._last.get(item.stream, -1)
        self._last[item.stream] = int(states[-1])
        for k in np.flatnonzero(np.diff(states, prepend=before)):
            row = item.records[k]
            if item.stream == Stream.TICK and int(states[k]) in _STATES:
                text = _STATES[int(states[k])]
                self._marks.append((int(row["stamp_ns"]), "state", text))
            elif item.stream == Stream.GATE and states[k] == GateState.HOLD:
                text = ", ".join(list_words(int(row["latched"])))
                self._marks.append((int(row["stamp_ns"]), "held", f"held: {text}"))

    def list_marks(
        self, begin_ns: int, manifest: Mapping[str, Any]
    ) -> tuple[Mark, ...]:
        """Return the moments in order; a manifest's notes win."""
        given = manifest if manifest.get("notes") else {"notes": self._notes}
        notes: list[tuple[int, MarkKind, str]] = [
            (note.t_ns, "note", f"{note.kind}: {note.text}".removeprefix(": "))
            for note in list_notes(given)
        ]
        marks = sorted([*self._marks, *notes])
        return tuple(
            Mark(max(t_ns - begin_ns, 0) * 1e-9, kind, text)
            for t_ns, kind, text in marks
        )

    def _take_event(self, event: Mapping[str, Any]) -> None:
        self._notes += find_notes([event])
        name, t_ns = str(event.get("event", "")), event.get("t_ns")
        if name in _SHOWN and isinstance(t_ns, int):
            more = [
                str(event[k])
                for k in ("limb", "cause", "outcome", "reason", "end_reason")
                if event.get(k)
            ]
            text = ": ".join(filter(None, [name.replace("_", " "), ", ".join(more)]))
            self._marks.append((t_ns, "event", text))
