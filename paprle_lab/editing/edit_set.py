"""Edit of LeRobot data sets: into a new folder, or in place with a way back."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from paprle.contracts.errors import ConfigError, RecordingError
from paprle.contracts.kit.work import UNSEEN, Work
from paprle_lab.editing.clips import Clip, plan
from paprle_lab.editing.edits import Edits
from paprle_lab.editing.older_set import write_older_set
from paprle_lab.editing.set_writer import write_set
from paprle_lab.editing.sources import open_sources


@dataclass(frozen=True)
class EditedSet:
    """A written data set.

    Attributes:
        before: Folder of the set that it replaced, or None.
    """

    root: Path
    n_episodes: int
    n_frames: int
    before: Path | None = None


def edit_sets(
    roots: Sequence[Path], edits: Edits, out: Path | None, work: Work = UNSEEN
) -> list[EditedSet]:
    """Write the edited data set, or one for each part of a split, below ``out``.

    Several sets are merged. Without ``out`` the only set is replaced, and stays beside
    as ``NAME.before-N``.

    Returns:
        The written sets.

    Raises:
        ConfigError: If an edit does not fit, sets differ, or ``out`` exists.
        RecordingError: If a source is damaged, or the disk fails; nothing is changed.
    """
    if out is None and (len(roots) > 1 or edits.splits or edits.is_older):
        raise ConfigError(
            "dataset edit: expected --out FOLDER to merge, split or convert, got none"
        )
    if out is not None and out.exists() and (out.is_file() or any(out.iterdir())):
        raise ConfigError(f"dataset edit: expected a new folder, got '{out}'")
    work.note("reading tables")
    parts = plan(open_sources(roots, edits), edits)
    if out is None:
        return [_replace(roots[0].resolve(), parts[""], edits, work)]
    with _stage(out) as stage:
        sizes = {name: _write(stage / name, parts[name], edits, work) for name in parts}
        if out.exists():
            out.rmdir()
        stage.rename(out)
    return [EditedSet(out / name, *size) for name, size in sizes.items()]


def undo(root: Path) -> tuple[Path, Path]:
    """Put back the set that the last edit in place replaced.

    Returns:
        The folder that is back, and the one of the edited set.

    Raises:
        ConfigError: If there is none.
    """
    root = root.resolve()
    before = _list_beside(root, "before")
    if not before:
        raise ConfigError(f"dataset edit: no '{root.name}.before-N' beside '{root}'")
    undone = _name_beside(root, "undone")
    root.rename(undone)
    before[-1].rename(root)
    return root, undone


def _replace(root: Path, clips: Sequence[Clip], edits: Edits, work: Work) -> EditedSet:
    before = _name_beside(root, "before")
    with _stage(root) as stage:
        size = _write(stage, clips, edits, work)
        root.rename(before)
        stage.rename(root)
    return EditedSet(root, *size, before)


def _write(
    root: Path, clips: Sequence[Clip], edits: Edits, work: Work
) -> tuple[int, int]:
    root.mkdir(parents=True, exist_ok=True)
    write = write_older_set if edits.is_older else write_set
    totals = write(root, clips, edits, work)
    return totals.n_episodes, totals.n_frames


@contextmanager
def _stage(out: Path) -> Iterator[Path]:
    """Yield a folder beside ``out``; remove it if the work fails."""
    out.parent.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    stage.chmod(0o755)
    try:
        yield stage
    except OSError as err:
        raise RecordingError(
            f"dataset edit: expected to write '{out}', got {err}; nothing was changed"
        ) from err
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _list_beside(root: Path, word: str) -> list[Path]:
    begin = f"{root.name}.{word}-"
    found = {
        int(path.name.removeprefix(begin)): path
        for path in root.parent.iterdir()
        if path.name.startswith(begin) and path.name.removeprefix(begin).isdecimal()
    }
    return [found[number] for number in sorted(found)]


def _name_beside(root: Path, word: str) -> Path:
    there = _list_beside(root, word)
    last = int(there[-1].name.rpartition("-")[2]) if there else 0
    return root.with_name(f"{root.name}.{word}-{last + 1}")
