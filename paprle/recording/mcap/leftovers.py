"""Files that a recorder leaves beside an episode if it is killed."""

from __future__ import annotations

from pathlib import Path

from paprle.recording.manifest import manifest_path
from paprle.recording.mcap.compaction import make_part_path


def clear_leftovers(path: Path) -> bool:
    """Remove the hidden files of an episode whose recorder is gone.

    Args:
        path: The MCAP file; it is left as it is.

    Returns:
        Whether there is a file without a manifest, which can be recovered.

    Raises:
        OSError: If the folder cannot be read or changed.
    """
    final = manifest_path(path)
    make_part_path(path).unlink(missing_ok=True)
    for unfinished in path.parent.glob(f".{final.name}.*"):
        unfinished.unlink(missing_ok=True)
    return path.exists() and not final.exists()
