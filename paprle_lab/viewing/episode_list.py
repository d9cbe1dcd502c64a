"""Own episodes, listed by their manifests."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paprle.contracts.errors import RecordingError
from paprle.contracts.film import (
    Entry,
    Film,
    RecordingList,
    Report,
    ignore_share,
    link_moments,
)
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
_LARGEST_PAGE = 256 << 20  # [bytes] chosen: of a report's page; ours are some MB
_PAGES = "*.report.html"


class EpisodeList(RecordingList):
    """Own episodes; only manifests are read."""

    def __init__(self, title: str, paths: Sequence[Path]) -> None:
        self.title = title
        self._paths = list(paths)
        self.entries = [_describe(path) for path in self._paths]

    def open(self, k: int, report: Callable[[float], None] = ignore_share) -> Film:  # noqa: D102 - as ``RecordingList``
        return EpisodeFilm(self._paths[k], report)

    def list_reports(self) -> Sequence[Report]:
        """Return the reports beside the episodes."""
        own = {self._find_own(k): k for k in range(len(self._paths))}
        return [
            Report(name, own.get(path, -1))
            for name, path in self._find_reports().items()
        ]

    def read_report(self, name: str, link: Callable[[int, float], str]) -> str:
        """Return a report's HTML with links in place of its marks.

        Raises:
            RecordingError: If it cannot be read.
        """
        path = self._find_reports()[name]
        try:
            with path.open("rb") as file:
                body = file.read(_LARGEST_PAGE).decode("utf-8", "replace")
        except OSError as err:
            raise RecordingError(
                f"{path}: expected a report, got {err}; write it again: paprle evaluate"
            ) from err

        def find_link(recording: str, t: float) -> str:
            film = self._find_film(path.parent / recording)
            return "" if film is None else link(film, t)

        return link_moments(body, find_link)

    def _find_own(self, k: int) -> Path:
        path = self._paths[k]
        return path.with_name(f"{name_report([path])}.html")

    def _find_reports(self) -> dict[str, Path]:
        folders = sorted({path.parent for path in self._paths})
        found = [path for one in folders for path in sorted(one.glob(_PAGES))]
        return {str(path): path for path in found}

    def _find_film(self, path: Path) -> int | None:
        return self._paths.index(path) if path in self._paths else None

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
