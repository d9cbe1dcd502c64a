"""Subtasks and mistakes as LeRobot's language columns (from version 0.6 on).

Layout: ``huggingface/lerobot``, ``docs/source/language_and_recipes.mdx``.
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from paprle.recording.notes import SUBTASK, Note

PERSISTENT, EVENTS = "language_persistent", "language_events"
FEATURES: Mapping[str, Any] = {
    name: {"dtype": "language", "shape": [1], "names": None}
    for name in (PERSISTENT, EVENTS)
}
"""Entries of ``info.json``."""

_TAIL = [
    pa.field("camera", pa.string()),
    pa.field("tool_calls", pa.list_(pa.string())),  # JSON, as older pyarrow has it
]
_HEAD = [
    pa.field("role", pa.string(), nullable=False),
    pa.field("content", pa.string()),
    pa.field("style", pa.string()),
]
_STAMP = pa.field("timestamp", pa.float32(), nullable=False)
FIELDS = (
    pa.field(PERSISTENT, pa.list_(pa.struct([*_HEAD, _STAMP, *_TAIL]))),
    pa.field(EVENTS, pa.list_(pa.struct([*_HEAD, *_TAIL]))),
)
"""Columns of the row files."""


class PlacedMark(NamedTuple):
    """A mark at a frame of its piece."""

    frame: int
    kind: str
    text: str


def place_marks(notes: Sequence[Note], stamps: Sequence[int]) -> list[PlacedMark]:
    """Return the marks of a piece at its frames; ``stamps`` are theirs, [ns].

    A mark between two frames is at the later one, beyond the last at the last. Of
    subtasks before the first frame the last is at the first; earlier mistakes are of
    another piece.
    """
    marks = list[PlacedMark]()
    for note in sorted(notes):
        if not note.kind or not stamps:
            continue
        is_before = note.t_ns < stamps[0]
        if is_before and note.kind != SUBTASK:
            continue
        frame = min(bisect.bisect_left(stamps, note.t_ns), len(stamps) - 1)
        if note.kind == SUBTASK:
            marks = [m for m in marks if (m.frame, m.kind) != (frame, SUBTASK)]
        marks.append(PlacedMark(frame, note.kind, note.text))
    return marks


def make_columns(
    marks: Sequence[PlacedMark], frames: Sequence[int], fps: float
) -> dict[str, pa.Array]:
    """Return the columns of some frames of a piece.

    Each frame has all subtasks, with the times at which they begin, [s]; a mistake is
    at its own frame.
    """
    plain = {"camera": None, "tool_calls": None}
    subtasks = [
        {
            "role": "user",
            "content": one.text,
            "style": SUBTASK,
            "timestamp": one.frame / fps,
            **plain,
        }
        for one in marks
        if one.kind == SUBTASK
    ]
    events: dict[int, list[dict[str, Any]]] = {}
    for one in marks:
        if one.kind != SUBTASK:
            told = {"role": "user", "content": one.text, "style": "interjection"}
            events.setdefault(one.frame, []).append(told | plain)
    columns = ([subtasks] * len(frames), [events.get(k, []) for k in frames])
    return {
        field.name: pa.array(values, field.type)
        for field, values in zip(FIELDS, columns, strict=True)
    }
