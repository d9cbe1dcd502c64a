"""Manifests, which aborted recordings lack, and episode numbers."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from paprle.contracts.errors import RecordingError
from paprle.contracts.robot_info import JOINT_LIMITS

_EPISODE = re.compile(r"episode_(\d{6,9})\.(?:mcap|json)")
_MAX_BYTES = 1 << 20  # chosen: a manifest is a few kilobytes


def find_next_episode(folder: Path) -> int:
    """Return a folder's next episode number."""
    numbers = [
        int(match[1])
        for path in folder.iterdir()
        if (match := _EPISODE.fullmatch(path.name))
    ]
    return max(numbers, default=-1) + 1


def make_episode_path(folder: Path, number: int) -> Path:
    """Return an episode's MCAP path."""
    return folder / f"episode_{number:06d}.mcap"


def manifest_path(path: Path) -> Path:
    """Return the manifest's path of an MCAP file."""
    return path.with_suffix(".json")


def make_manifest(
    path: Path,
    header: Mapping[str, Any],
    end_reason: str,
    span_ns: tuple[int, int],
    frames: Mapping[str, int],
    sha256: str,
) -> dict[str, Any]:
    """Return a manifest as JSON values; ``span_ns`` is monotonic."""
    start, end = span_ns
    wall_s = (start + int(header["wall_offset_ns"])) / 1e9
    try:
        began = datetime.fromtimestamp(wall_s, tz=timezone.utc).isoformat()
    except (ValueError, OverflowError, OSError):
        began = ""  # a recovered file may name any time
    robot = header["robot"]
    keys = ("leader", "follower", "env", "version", "git_rev", "gate_period")
    return {
        "schema": header["schema"],
        "file": path.name,
        "bytes": path.stat().st_size,
        "sha256": sha256,
        "end_reason": end_reason,
        "start": began,
        "duration": (end - start) * 1e-9,
        "frames": dict(frames),
        **{key: header.get(key) for key in keys},
        "robot": robot["name"],
        "limits": {key: robot.get(key) for key in ("joint_names", *JOINT_LIMITS)},
    }


def find_mark(manifest: Mapping[str, Any]) -> str:
    """Return ``discarded``, ``broken off: …``, the outcome or ``kept``."""
    if manifest.get("discarded"):
        return "discarded"
    if manifest.get("kept") is False:
        return f"broken off: {manifest['end_reason']}"
    return str(manifest.get("outcome") or "kept")


def write_manifest(path: Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest atomically, synced to the disk.

    Raises:
        OSError: If the disk fails.
    """
    final = manifest_path(path)
    text = json.dumps(manifest, indent=2, allow_nan=False) + "\n"
    # a name that nobody can guess, opened only if new: never through a link
    fd, name = tempfile.mkstemp(prefix=f".{final.name}.", dir=final.parent)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            os.fchmod(fd, 0o644)
            file.write(text)
            file.flush()
            os.fsync(fd)
        Path(name).replace(final)
    finally:
        Path(name).unlink(missing_ok=True)
    sync_folder(final.parent)


def read_manifest(path: Path) -> dict[str, Any] | None:
    """Return an MCAP file's manifest, or None if it was never finished.

    Raises:
        RecordingError: If it cannot be read.
    """
    final = manifest_path(path)
    try:
        with final.open("rb") as file:
            manifest = json.loads(file.read(_MAX_BYTES))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as err:
        raise RecordingError(f"{final}: expected a manifest, got {err}") from err
    if not isinstance(manifest, dict):
        raise RecordingError(f"{final}: expected a JSON object; remove it to go on")
    dropped = manifest.get("dropped", {})
    is_ours = isinstance(manifest.get("end_reason"), str) and isinstance(dropped, dict)
    if not is_ours or not all(isinstance(n, int) for n in dropped.values()):
        raise RecordingError(
            f"{final}: expected an end_reason and counts in dropped, got others; "
            "remove it to go on"
        )
    return manifest


def sync_folder(folder: Path) -> None:
    """Sync a folder's names to the disk."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
