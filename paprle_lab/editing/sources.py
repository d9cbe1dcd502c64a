"""Data sets to edit, with their features as edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paprle.contracts.errors import ConfigError, RecordingError, suggest
from paprle_lab.dataset.formats.lerobot_tables import (
    INDICES,
    read_episodes,
    read_info,
    read_tasks,
)
from paprle_lab.editing.edits import Edits

_COMPARED = ("dtype", "shape", "names")
"""Properties of a feature that sets to be merged have in common, as in LeRobot."""


@dataclass(frozen=True)
class SourceSet:
    """A LeRobot data set.

    Attributes:
        episodes: Rows of ``meta/episodes``.
        tasks: By number.
        names: New names of the features that stay, by old ones.
    """

    root: Path
    info: Mapping[str, Any]
    episodes: Sequence[Mapping[str, Any]]
    tasks: Mapping[int, str]
    names: Mapping[str, str]

    @property
    def fps(self) -> float:
        """Frame rate, [Hz]."""
        return float(self.info["fps"])

    @property
    def features(self) -> dict[str, Any]:
        """Features that stay, by new names."""
        return {new: self.info["features"][old] for old, new in self.names.items()}

    def list_videos(self) -> list[str]:
        """Return old names of the videos that stay."""
        features = self.info["features"]
        return [old for old in self.names if features[old]["dtype"] == "video"]


def open_sources(roots: Sequence[Path], edits: Edits) -> list[SourceSet]:
    """Return data sets that can be edited as one.

    Raises:
        RecordingError: If one is unreadable.
        ConfigError: If a feature is unknown or needed, or sets differ.
    """
    sources = [_open(root, edits) for root in roots]
    first = sources[0]
    for other in sources[1:]:
        _check_alike(first, other)
    return sources


def _open(root: Path, edits: Edits) -> SourceSet:
    info = read_info(root)
    for name in info["features"]:
        if not _is_name(name):  # it becomes a folder
            raise RecordingError(
                f"{root}: expected no '/' in the feature {name[:80]!r}"
            )
    names = _name_features(root, list(info["features"]), edits)
    return SourceSet(
        root, info, read_episodes(root, with_stats=True), read_tasks(root), names
    )


def _name_features(root: Path, there: Sequence[str], edits: Edits) -> dict[str, str]:
    for name in (*edits.removed, *edits.renamed):
        if name not in there:
            raise ConfigError(
                f"{root}: no feature '{name}'; {suggest(name, there, 'features')}"
            )
        if name in INDICES:
            raise ConfigError(f"{root}: '{name}' is a feature of every data set")
    names = {
        name: edits.renamed.get(name, name)
        for name in there
        if name not in edits.removed
    }
    twice = [name for name in names.values() if list(names.values()).count(name) > 1]
    if twice:
        raise ConfigError(f"{root}: expected one feature '{twice[0]}', got two")
    for name in edits.renamed.values():
        if not _is_name(name):
            raise ConfigError(f"expected a feature's name without '/', got '{name}'")
    return names


def _is_name(name: str) -> bool:
    return bool(name.strip()) and "/" not in name and not name.startswith(".")


def _check_alike(first: SourceSet, other: SourceSet) -> None:
    what = [
        key
        for key in ("fps", "robot_type")
        if first.info.get(key) != other.info.get(key)
    ]
    ours, theirs = first.features, other.features
    what += [f"feature {name}" for name in sorted(ours.keys() ^ theirs.keys())]
    what += [
        f"{key} of {name}"
        for name in sorted(ours.keys() & theirs.keys())
        for key in _COMPARED
        if _plain(ours[name].get(key)) != _plain(theirs[name].get(key))
    ]
    if what:
        raise ConfigError(
            f"expected '{other.root}' to be alike '{first.root}', got another "
            f"{', '.join(what[:5])}; --remove-feature or --rename-feature may help"
        )


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
