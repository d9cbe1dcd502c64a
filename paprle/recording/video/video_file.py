"""Random access to a video file of a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import RecordingError
from paprle.recording.video.codec import load_av

_AHEAD = 1.0  # [s] chosen: so far it decodes on rather than seeks
_LARGEST = 1 << 26  # [px] chosen: of an image of a stranger


class VideoFile:
    """First video stream of a file; not thread-safe."""

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            RecordingError: If it is no readable video.
            MissingDependency: If PyAV is not installed.
        """
        self._av = load_av()
        self._path = path
        try:
            self._file: Any = self._av.open(str(path))
            self._stream: Any = self._file.streams.video[0]
        except (OSError, IndexError, self._av.error.FFmpegError) as err:
            raise RecordingError(f"{path}: expected a video, got {err}") from err
        context = self._stream.codec_context
        context.thread_count = 1
        context.options = {"max_pixels": str(_LARGEST)}
        self.size: tuple[int, int] = (context.width, context.height)
        rate = self._stream.average_rate
        self._half = 0.5 / float(rate) if rate else 0.0
        self._frames: Any = None
        self._now: Any = None
        self._ahead: Any = None

    def find(self, t: float) -> npt.NDArray[np.uint8] | None:
        """Return the image shown at t [s], RGB, (height, width, 3)."""
        try:
            if self._now is None or not self._now.time <= t + self._half < (
                self._now.time + _AHEAD
            ):
                self._seek(t)
            while self._ahead is not None and self._ahead.time <= t + self._half:
                self._step()
            if self._now is None:
                return None
            image: npt.NDArray[np.uint8] = self._now.to_ndarray(format="rgb24")
        except (self._av.error.FFmpegError, ValueError):
            self._now = None
            return None
        return image

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _seek(self, t: float) -> None:
        base = self._stream.time_base
        self._file.seek(max(int(t / base), 0), stream=self._stream, backward=True)
        self._frames = self._file.decode(self._stream)
        self._now = self._ahead = None
        self._step()
        if self._ahead is not None:
            self._step()

    def _step(self) -> None:
        self._now, self._ahead = self._ahead, next(self._frames, None)
