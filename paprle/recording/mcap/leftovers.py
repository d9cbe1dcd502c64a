"""Files left by a killed recorder."""

from __future__ import annotations

from pathlib import Path

from paprle.recording.manifest import manifest_path
from paprle.recording.mcap.compaction import make_part_path


def clear_leftovers(path: Path) -> bool:
    """Return whether an episode can be recovered; remove its hidden files.

    Raises:
        OSError: If the folder cannot be changed.
    """
    final = manifest_path(path)
    make_part_path(path).unlink(missing_ok=True)
    for unfinished in path.parent.glob(f".{final.name}.*"):
        unfinished.unlink(missing_ok=True)
    return path.exists() and not final.exists()
