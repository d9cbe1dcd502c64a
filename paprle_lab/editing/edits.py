"""Edits that a user asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Edits:
    """Edits of episodes, tasks and features; times in an episode, [s].

    Attributes:
        deleted: Episodes to leave out.
        trims: Kept spans (begin, end) by episode; an end of infinity is the episode's.
        task: Of all episodes; None keeps them.
        tasks: By episode; before ``task``.
        renamed_tasks: New texts by old ones.
        removed: Features to leave out.
        renamed: New names of features by old ones.
        shares: Shares of the episodes, in order, by the name of a part.
        parts: Episodes by the name of a part.
        has_new_stats: Whether statistics are computed anew from all data.
        is_older: Whether the set is written in version 2.1.
    """

    deleted: frozenset[int] = frozenset()
    trims: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    task: str | None = None
    tasks: Mapping[int, str] = field(default_factory=dict)
    renamed_tasks: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)
    parts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    has_new_stats: bool = False
    is_older: bool = False

    @property
    def names_episodes(self) -> bool:
        """Whether it names episodes by their numbers."""
        return bool(self.deleted or self.trims or self.tasks or self.parts)

    @property
    def splits(self) -> bool:
        """Whether it makes several data sets."""
        return bool(self.shares or self.parts)

    def describe(self) -> dict[str, Any]:
        """Return the edits that are asked for as JSON values."""
        values = asdict(self) | {"deleted": sorted(self.deleted)}
        return {name: value for name, value in values.items() if value}
