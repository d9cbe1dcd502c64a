"""Size of a coded picture."""

from __future__ import annotations

import io

from paprle.recording.video.codec import load_av


def find_coded_size(data: bytes, video: str) -> tuple[int, int] | None:
    """Return height and width of a coded picture, [px]; None: it is none."""
    av = load_av()
    form = video or ("jpeg_pipe" if data[:2] == b"\xff\xd8" else "png_pipe")
    try:
        with av.open(io.BytesIO(data), format=form) as file:
            stream = file.streams.video[0]
            return (stream.height, stream.width) if stream.height else None
    except (av.error.FFmpegError, IndexError, ValueError):
        return None
