"""Videos for LeRobot: frames at index / fps, every second a key frame."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from paprle.recording.video.codec import Image, load_av

CODEC = "h264"
_THREADS = 2  # chosen: each of them keeps images of its own in memory
_KEY_EVERY = 2  # spec: LeRobot's own data sets, g=2
_OPTIONS = {
    "crf": "20",  # chosen: below 23 little of what the recording kept is lost again
    "preset": "veryfast",  # chosen: half of medium's time
    "rc-lookahead": "0",  # chosen: with this many key pictures it finds nothing
}


class VideoWriter:
    """Writer of images at a constant rate."""

    def __init__(self, path: Path, size: tuple[int, int], fps: int) -> None:
        """Open a new ``.mp4`` of a size (height, width) [px] and rate [Hz]."""
        av = load_av()
        self._av = av
        self._file: Any = av.open(str(path), "w", options={"movflags": "faststart"})
        self._stream: Any = self._file.add_stream("libx264", rate=fps)
        self._stream.height, self._stream.width = size
        self._stream.pix_fmt = choose_pixels(size)
        self._stream.gop_size = _KEY_EVERY
        self._stream.max_b_frames = 0
        self._stream.options = _OPTIONS
        self._stream.thread_count = _THREADS
        self._tick = Fraction(1, fps)
        self._n = 0

    def add(self, image: Image) -> None:
        """Add an image, RGB, shape (height, width, 3)."""
        frame = self._av.VideoFrame.from_ndarray(image, format="rgb24")
        frame.pts, frame.time_base = self._n, self._tick
        self._n += 1
        self._file.mux(self._stream.encode(frame))

    def close(self) -> None:
        """Flush and close."""
        if self._n:
            self._file.mux(self._stream.encode(None))
        self._file.close()


def choose_pixels(size: tuple[int, int]) -> str:
    """Return the pixel format; even sizes have subsampled chroma."""
    return "yuv444p" if size[0] % 2 or size[1] % 2 else "yuv420p"


def join_videos(pieces: Sequence[tuple[Path, int]], out: Path, fps: int) -> None:
    """Concatenate videos without recoding."""
    av = load_av()
    with av.open(str(out), "w", format="mp4", options={"movflags": "faststart"}) as to:
        stream: Any = None
        n_before = 0
        for path, n in pieces:
            with av.open(str(path)) as source:
                video = source.streams.video[0]
                if stream is None:
                    stream = to.add_stream_from_template(video)
                shift = int(n_before / (fps * video.time_base))
                for packet in source.demux(video):
                    if packet.dts is None:
                        continue
                    packet.pts += shift
                    packet.dts += shift
                    packet.stream = stream
                    to.mux(packet)
            n_before += n


def describe_video(size: tuple[int, int], fps: int) -> dict[str, Any]:
    """Return a video's entry of LeRobot's ``info.json``."""
    return {
        "video.height": size[0],
        "video.width": size[1],
        "video.codec": CODEC,
        "video.pix_fmt": choose_pixels(size),
        "video.is_depth_map": False,
        "video.fps": fps,
        "video.channels": 3,
        "has_audio": False,
    }
