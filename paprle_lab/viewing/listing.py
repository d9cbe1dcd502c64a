"""Recordings of a path."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from paprle.contracts.errors import ConfigError, MissingDependency
from paprle.contracts.film import Film, RecordingList, Report, ignore_share
from paprle.contracts.images import CameraInfo, Frame
from paprle.recording.others.bags import is_bag
from paprle.recording.reader import find_episode
from paprle.recording.reading import Reading
from paprle_lab.viewing.episode_list import EpisodeList

_BAGS = (".mcap", ".db3", ".bag")


def list_recordings(path: Path) -> RecordingList:
    """Return the recordings of a path.

    Raises:
        ConfigError: If the path holds none.
        RecordingError: If one is unreadable.
        MissingDependency: If a package is missing.
    """
    if not path.exists():
        raise ConfigError(f"view: expected a recording, got '{path}'; no such file")
    if (path / "meta" / "info.json").is_file():
        module = _load("lerobot_list", "data")
        listed: RecordingList = module.LeRobotList(path)
        return listed
    if is_bag(path):
        listed = _load("bag_list", "page").BagList(path)
        return listed
    if not path.is_dir():
        episode = find_episode(path)
        Reading(episode)  # what cannot be read is refused before a page is served
        return EpisodeList(path.stem, [episode])
    return _list_folder(path)


def _list_folder(path: Path) -> RecordingList:
    bags = [one for one in _find_bags(path) if is_bag(one)]
    episodes = [
        one for one in sorted(path.rglob("episode_*.mcap")) if one not in set(bags)
    ]
    own = EpisodeList(path.resolve().name, episodes)
    if not bags and not episodes:
        raise ConfigError(
            f"view: expected episode_*.mcap, bags (.mcap, .db3, .bag), or a data set "
            f"of LeRobot with meta/info.json, in '{path}', got none of them; record "
            f"with record.dir={path}"
        )
    if not bags:
        return own
    others: RecordingList = _load("bag_list", "page").BagList(path, bags)
    return JoinedList(own, others) if episodes else others


def _find_bags(path: Path) -> list[Path]:
    """Return files and folders that may be bags; the parts of a bag are none."""
    whole = {one.parent for one in path.rglob("metadata.yaml")}
    files = [one for kind in _BAGS for one in path.rglob(f"*{kind}")]
    return sorted([*whole, *(one for one in files if one.parent not in whole)])


class JoinedList(RecordingList):
    """Own episodes, then the recordings of others."""

    def __init__(self, own: EpisodeList, others: RecordingList) -> None:
        self.title = own.title
        self._own, self._others = own, others
        self.entries = [*own.entries, *others.entries]

    def open(self, k: int, report: Callable[[float], None] = ignore_share) -> Film:  # noqa: D102 - as ``RecordingList``
        listed, place = self._find(k)
        return listed.open(place, report)

    def find_still(self, k: int) -> tuple[Frame, CameraInfo] | None:  # noqa: D102 - likewise
        listed, place = self._find(k)
        return listed.find_still(place)

    def list_reports(self) -> Sequence[Report]:  # noqa: D102 - likewise
        return self._own.list_reports()

    def read_report(self, name: str, link: Callable[[int, float], str]) -> str:  # noqa: D102 - likewise
        return self._own.read_report(name, link)

    def _find(self, k: int) -> tuple[RecordingList, int]:
        n = len(self._own.entries)
        return (self._own, k) if k < n else (self._others, k - n)


def _load(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(f"paprle_lab.viewing.{name}")
    except ImportError as err:
        raise MissingDependency(
            f"view: expected the package '{err.name}', got none; "
            f"pip install 'paprle[{extra}]'"
        ) from err
