"""Camera pictures of an episode."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

from paprle.contracts.errors import PaprleError
from paprle.recording.video.thumbnail_strip import make_strips
from paprle_lab.evaluation.episode import EpisodeResult


def list_camera_strips(
    result: EpisodeResult, suffix: str = "", at: Sequence[float] | None = None
) -> Iterator[tuple[str, str, bytes]]:
    """Yield title, caption and JPEG of each camera, at given or even times [s]."""
    path = Path(result.entry["path"])
    if result.entry["error"] is not None or not path.is_file():
        return
    at_ns = None if at is None else [result.origin_ns + round(1e9 * t) for t in at]
    try:
        strips = make_strips(path, at_ns)
    except PaprleError as err:
        logging.getLogger(__name__).info("%s: no pictures: %s", path, err)
        return
    for camera, strip in strips.items():
        times = [(stamp - result.origin_ns) * 1e-9 for stamp in strip.stamps_ns]
        told = ", ".join(f"{t:.1f}" for t in times)
        yield f"Camera {camera}{suffix}", f"At {told} s.", strip.jpeg
