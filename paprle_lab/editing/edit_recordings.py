"""Edits of recordings, in their manifests; their data are never changed."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paprle.contracts.errors import ConfigError, RecordingError, suggest
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.recording.manifest import (
    find_next_episode,
    make_episode_path,
    read_manifest,
    write_manifest,
)
from paprle_lab.dataset.episodes import find_recordings
from paprle_lab.editing.edits import Edits

BEFORE = "before_edit"
"""Key of a manifest: what edited keys were, null where there were none."""

Told = tuple[Path, str]
"""A recording and what became of it."""


def edit_recordings(
    places: Sequence[Path], edits: Edits, out: Path | None, work: Work = UNSEEN
) -> list[Told]:
    """Edit manifests in place, or copy edited recordings below ``out``.

    Episodes have numbers in the order of their paths.

    Returns:
        Changed recordings with words for their changes.

    Raises:
        ConfigError: If an edit does not fit recordings.
        RecordingError: If a manifest is missing or unreadable, or the disk fails.
    """
    paths = find_recordings(places)
    _check(paths, edits, out)
    manifests = [_read(path) for path in paths]
    tasks = {str(one.get("task") or "") for one in manifests}
    for text in edits.renamed_tasks:
        if text not in tasks:
            raise ConfigError(f"no task '{text}'; {suggest(text, tasks, 'tasks')}")
    changes = [_find_changes(k, one, edits) for k, one in enumerate(manifests)]
    try:
        if out is not None:
            parts = _find_parts(len(paths), edits)
            return _copy(
                paths, manifests, changes, {out / k: v for k, v in parts.items()}, work
            )
        told = list[Told]()
        for path, manifest, change in zip(paths, manifests, changes, strict=True):
            if change:
                before = dict(manifest.get(BEFORE) or {})
                for key in change:
                    before.setdefault(key, manifest.get(key))
                write_manifest(path, manifest | change | {BEFORE: before})
                told.append((path, _describe(change)))
        return told
    except OSError as err:
        raise RecordingError(f"dataset edit: expected to write, got {err}") from err


def undo(places: Sequence[Path]) -> list[Told]:
    """Take back all edits in place.

    Returns:
        Changed recordings.

    Raises:
        RecordingError: If a manifest is unreadable.
    """
    told = list[Told]()
    for path in find_recordings(places):
        manifest = read_manifest(path) or {}
        before = manifest.pop(BEFORE, None)
        if isinstance(before, dict):
            manifest |= before
            gone = {key for key, value in before.items() if value is None}
            write_manifest(path, {k: v for k, v in manifest.items() if k not in gone})
            told.append((path, "as it was recorded"))
    return told


def _check(paths: Sequence[Path], edits: Edits, out: Path | None) -> None:
    if edits.removed or edits.renamed or edits.has_new_stats or edits.is_older:
        raise ConfigError(
            "dataset edit: recordings have no features or version; edit the data "
            "set that `paprle dataset create` makes of them"
        )
    if out is None and edits.splits:
        raise ConfigError("dataset edit: expected --out FOLDER to split, got none")
    named = {*edits.deleted, *edits.trims, *edits.tasks}
    named |= {k for part in edits.parts.values() for k in part}
    if unknown := sorted(k for k in named if k >= len(paths)):
        raise ConfigError(f"no episode {unknown[0]}; there are 0 … {len(paths) - 1}")
    if out is None and not edits.describe():
        raise ConfigError("dataset edit: expected an edit, got none; see --help")


def _read(path: Path) -> dict[str, Any]:
    manifest = read_manifest(path)
    if manifest is None:
        raise RecordingError(
            f"{path}: expected a finished recording; 'paprle recover' makes one of it"
        )
    return manifest


def _find_changes(k: int, manifest: Mapping[str, Any], edits: Edits) -> dict[str, Any]:
    changes = dict[str, Any]()
    if k in edits.deleted:
        changes["discarded"] = True
    task = edits.tasks.get(k, edits.task)
    if task is None:
        task = edits.renamed_tasks.get(str(manifest.get("task") or ""))
    if task is not None:
        changes["task"] = task
    if k in edits.trims:
        begin, end = edits.trims[k]
        length = float(manifest.get("duration") or math.inf)
        if begin >= length:
            raise ConfigError(
                f"episode {k}: expected times within 0 … {length:.2f} [s], got "
                f"{begin:g} … {end:g}"
            )
        changes["trim"] = [begin, end if math.isfinite(end) else None]
    return changes


def _describe(change: Mapping[str, Any]) -> str:
    words = ["deleted"] if change.get("discarded") else []
    if "task" in change:
        words.append(f"task '{change['task']}'")
    if "trim" in change:
        begin, end = change["trim"]
        words.append(f"kept {begin:g} … {'end' if end is None else f'{end:g}'} [s]")
    return ", ".join(words)


def _find_parts(n: int, edits: Edits) -> dict[str, list[int]]:
    left = [k for k in range(n) if k not in edits.deleted]
    if edits.parts:
        return {name: sorted(set(some)) for name, some in edits.parts.items()}
    if not edits.shares:
        return {"": left}
    parts, first = dict[str, list[int]](), 0
    for name, share in edits.shares.items():
        end = first + int(len(left) * share + 1e-6)
        parts[name], first = left[first:end], end
    if math.isclose(sum(edits.shares.values()), 1.0):
        parts[name] += left[first:]
    return parts


def _copy(
    paths: Sequence[Path],
    manifests: Sequence[Mapping[str, Any]],
    changes: Sequence[Mapping[str, Any]],
    parts: Mapping[Path, Sequence[int]],
    work: Work,
) -> list[Told]:
    told = list[Told]()
    n_all, n_done = sum(map(len, parts.values())), 0
    work.note("copying recordings")
    for folder, numbers in parts.items():
        folder.mkdir(parents=True, exist_ok=True)
        for k in numbers:
            path = make_episode_path(folder, find_next_episode(folder))
            _link(paths[k], path)
            write_manifest(path, {**manifests[k], **changes[k], "file": path.name})
            n_done += 1
            work.count(n_done, n_all, "recordings")
            told.append((path, f"copy of {paths[k]}"))
    return told


def _link(source: Path, path: Path) -> None:
    """Link a file that nobody changes; copy it to another disk."""
    try:
        os.link(source, path)
    except OSError:
        shutil.copyfile(source, path)
