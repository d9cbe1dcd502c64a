"""Own episodes, listed by their manifests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paprle.contracts.errors import RecordingError
from paprle.contracts.film import Entry, Film, RecordingList, ignore_share
from paprle.contracts.images import CameraInfo, Frame
from paprle.ipc.pictures import PictureKind
from paprle.recording.manifest import find_mark, read_manifest
from paprle.recording.notes import list_notes
from paprle.recording.video.frame_cache import decode_first
from paprle.recording.video.pictures import Footage
from paprle_lab.evaluation.reporting.files import name_report
from paprle_lab.evaluation.reporting.verdict import judge_run
from paprle_lab.viewing.episode_film import EpisodeFilm

_LARGEST = 8 << 20  # [bytes] chosen: of a report's figures; ours are some kB


class EpisodeList(RecordingList):
    """Own episodes; only manifests are read."""

    def __init__(self, title: str, paths: Sequence[Path]) -> None:
        self.title = title
        self._paths = list(paths)
        self.entries = [_describe(path) for path in self._paths]

    def open(self, k: int, report: Callable[[float], None] = ignore_share) -> Film:  # noqa: D102 - as ``RecordingList``
        return EpisodeFilm(self._paths[k], report)

    def find_still(self, k: int) -> tuple[Frame, CameraInfo] | None:
        """Return the first image."""
        footage = Footage(self._paths[k])
        for track in footage.list_tracks():
            if track.kind is PictureKind.PICTURE:
                still = decode_first(footage, track.camera)
                if still is not None:
                    return still
        return None


def _describe(path: Path) -> Entry:
    try:
        manifest = read_manifest(path)
    except RecordingError as err:
        return Entry(path.stem, notes=(str(err),))
    if manifest is None:
        return Entry(path.stem, outcome="never finished")
    seconds = manifest.get("duration")
    return Entry(
        name=path.stem,
        seconds=float(seconds) if isinstance(seconds, int | float) else float("nan"),
        task=str(manifest.get("task") or ""),
        outcome=find_mark(manifest),
        score=_find_score(path),
        notes=tuple(note.text for note in list_notes(manifest)),
    )


def _find_score(path: Path) -> str:
    figures = path.with_name(f"{name_report([path])}.json")
    try:
        with figures.open("rb") as file:
            entries: list[Mapping[str, Any]] = json.loads(file.read(_LARGEST))
        return judge_run(dict(entries[0])).grade
    except (OSError, ValueError, LookupError, TypeError):
        return ""  # none, or of another version
