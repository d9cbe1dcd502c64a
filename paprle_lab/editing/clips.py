"""Clips of episodes that make an edited data set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paprle.contracts.errors import ConfigError, suggest
from paprle_lab.editing.edits import Edits
from paprle_lab.editing.sources import SourceSet

_EPSILON = 1e-6  # [frames] times in decimals are frames, but for their rounding


@dataclass(frozen=True)
class Clip:
    """Frames ``first`` to ``end - 1`` of an episode.

    Attributes:
        row: Of ``meta/episodes``.
        task: Of all its frames; None: as they were.
        renamed_tasks: New texts by old ones.
    """

    source: SourceSet
    row: Mapping[str, Any]
    first: int
    end: int
    task: str | None
    renamed_tasks: Mapping[str, str]

    @property
    def episode(self) -> int:
        """Number in its source."""
        return int(self.row["episode_index"])

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return self.end - self.first

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole episode."""
        return self.first == 0 and self.end == int(self.row["length"])

    def name_task(self, text: str) -> str:
        """Return the new text of a task."""
        if self.task is not None:
            return self.task
        return self.renamed_tasks.get(text, text)


def plan(sources: Sequence[SourceSet], edits: Edits) -> dict[str, list[Clip]]:
    """Return the clips of each part; one part without splits has the name "".

    Raises:
        ConfigError: If an edit does not fit, or nothing is left.
    """
    if edits.names_episodes and len(sources) > 1:
        raise ConfigError(
            "expected one data set where episodes are named, got several; edit each, "
            "then merge them"
        )
    rows = {int(row["episode_index"]): row for row in sources[0].episodes}
    _check_known(edits, rows)
    _check_tasks(sources, edits)
    clips = [
        _make_clip(source, row, edits)
        for source in sources
        for row in source.episodes
        if int(row["episode_index"]) not in edits.deleted
    ]
    if not clips:
        raise ConfigError("expected an episode to stay, got all deleted")
    return _split(clips, edits) if edits.splits else {"": clips}


def _check_known(edits: Edits, rows: Mapping[int, Any]) -> None:
    unknown = sorted({*edits.deleted, *edits.trims, *edits.tasks} - rows.keys())
    if unknown:
        raise ConfigError(
            f"no episode {', '.join(map(str, unknown[:5]))}; there are "
            f"{min(rows)} … {max(rows)}"
        )
    idle = sorted(edits.deleted & {*edits.trims, *edits.tasks})
    if idle:
        raise ConfigError(f"episode {idle[0]} is deleted and edited; leave out one")


def _check_tasks(sources: Sequence[SourceSet], edits: Edits) -> None:
    known = {text for source in sources for text in source.tasks.values()}
    for text in edits.renamed_tasks:
        if text not in known:
            raise ConfigError(f"no task '{text}'; {suggest(text, known, 'tasks')}")


def _make_clip(source: SourceSet, row: Mapping[str, Any], edits: Edits) -> Clip:
    number, length = int(row["episode_index"]), int(row["length"])
    begin, end = edits.trims.get(number, (0.0, math.inf))
    first = math.ceil(begin * source.fps - _EPSILON)
    last = math.ceil(min(float(length), end * source.fps - _EPSILON))
    if first >= last:
        raise ConfigError(
            f"episode {number}: expected times within 0 … {length / source.fps:.2f} "
            f"[s], got {begin:g} … {end:g}"
        )
    task = edits.tasks.get(number, edits.task)
    return Clip(source, row, first, last, task, edits.renamed_tasks)


def _split(clips: Sequence[Clip], edits: Edits) -> dict[str, list[Clip]]:
    if edits.shares and edits.parts:
        raise ConfigError("expected shares or episodes of all parts, got both")
    parts = _share(clips, edits.shares) if edits.shares else _pick(clips, edits.parts)
    empty = [name for name, some in parts.items() if not some]
    if empty:
        raise ConfigError(f"expected episodes in part '{empty[0]}', got none")
    return parts


def _share(clips: Sequence[Clip], shares: Mapping[str, float]) -> dict[str, list[Clip]]:
    total = sum(shares.values())
    if not 0.0 < total <= 1.0 + _EPSILON or min(shares.values()) <= 0.0:
        raise ConfigError(
            f"expected shares above 0 and of 1 at most together, got {dict(shares)}"
        )
    parts, first = dict[str, list[Clip]](), 0
    for name, share in shares.items():
        end = first + int(len(clips) * share + _EPSILON)
        parts[name] = list(clips[first:end])
        first = end
    if math.isclose(total, 1.0):
        parts[name] += clips[first:]
    return parts


def _pick(
    clips: Sequence[Clip], numbers: Mapping[str, Sequence[int]]
) -> dict[str, list[Clip]]:
    by_number = {clip.episode: clip for clip in clips}
    parts, taken = dict[str, list[Clip]](), dict[int, str]()
    for name, own in numbers.items():
        parts[name] = []
        for number in sorted(set(own)):
            if number not in by_number:
                raise ConfigError(f"part '{name}': no episode {number} is left")
            if number in taken:
                raise ConfigError(
                    f"expected episode {number} in one part, got it in "
                    f"'{taken[number]}' and '{name}'"
                )
            taken[number] = name
            parts[name].append(by_number[number])
    return parts
