"""Recordings of a path."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from paprle.contracts.errors import ConfigError, MissingDependency
from paprle.contracts.film import RecordingList
from paprle.recording.others.bags import is_bag
from paprle.recording.reader import find_episode
from paprle.recording.reading import Reading
from paprle_lab.viewing.episode_list import EpisodeList


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
    episodes = sorted(path.rglob("episode_*.mcap"))
    if not episodes:
        raise ConfigError(
            f"view: expected episode_*.mcap, or a data set of LeRobot with "
            f"meta/info.json, in '{path}', got neither; record with record.dir={path}"
        )
    return EpisodeList(path.resolve().name, episodes)


def _load(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(f"paprle_lab.viewing.{name}")
    except ImportError as err:
        raise MissingDependency(
            f"view: expected the package '{err.name}', got none; "
            f"pip install 'paprle[{extra}]'"
        ) from err
