"""Operator's notes on an episode."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from paprle.recording import events

MOST = 100  # chosen: of one episode, so that its manifest stays one that is read
_LONGEST = 1000  # chosen: five times what can be typed


SUBTASK, MISTAKE = "subtask", "mistake"
"""Kinds of marks by a key."""


class Note(NamedTuple):
    """Note with its monotonic stamp, [ns].

    Attributes:
        kind: ``subtask``, ``mistake``, or empty for a typed note.
    """

    t_ns: int
    text: str
    kind: str = ""


def find_notes(happened: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the notes among events, for a manifest."""
    given = (event for event in happened if event.get("event") == events.NOTE)
    notes = (note for one in given if (note := _read(one)) is not None)
    return [
        {k: v for k, v in note._asdict().items() if k != "kind" or v} for note in notes
    ]


def add_notes(
    manifest: Mapping[str, Any], more: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a manifest's ``notes`` with more of them."""
    notes = [*manifest.get("notes", ()), *more][:MOST]
    return {"notes": notes} if notes else {}


def list_notes(manifest: Mapping[str, Any]) -> Iterator[Note]:
    """Yield the valid notes of a manifest."""
    given = manifest.get("notes", ())
    for one in given if isinstance(given, list) else ():
        note = _read(one)
        if note is not None:
            yield note


def _read(one: Any) -> Note | None:
    if not isinstance(one, Mapping):
        return None
    match one.get("t_ns"), one.get("text"):
        case int(t_ns), str(text):
            kind = one.get("kind")
            known = kind if kind in {SUBTASK, MISTAKE} else ""
            return Note(t_ns, text[:_LONGEST], str(known))
    return None
