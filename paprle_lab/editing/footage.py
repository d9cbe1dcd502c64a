"""Videos of clips, copied without a loss: no image is decoded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from paprle.contracts.errors import RecordingError
from paprle.recording.video.codec import load_av

_PART = 0.25  # [frames] chosen: times are those of frames, but for their rounding


@dataclass(frozen=True)
class Span:
    """Part of a video file, [s]; ``whose`` for messages."""

    path: Path
    begin: float
    end: float
    whose: str = ""


@dataclass(frozen=True)
class Place:
    """File (chunk, number) and time [s] at which a span begins."""

    file: tuple[int, int]
    begin: float


class FootageWriter:
    """Joins spans to files.

    A span is copied from its last key image on, since later images depend on it: an
    episode may begin after the beginning of its copy, as version 3 allows. Spans of
    other codec settings begin another file.
    """

    def __init__(
        self,
        take: Callable[[], tuple[tuple[int, int], Path]],
        fps: float,
        limit: float,
        longest: float,
    ) -> None:
        """Begin.

        Args:
            take: Returns number and path of a new file.
            fps: Of the videos, [Hz].
            limit: Of a file, [bytes].
            longest: Of a file, [s].
        """
        self._take, self._fps = take, fps
        self._limit, self._longest = limit, longest
        self._av = load_av()
        self._out: Any = None
        self._stream: Any = None
        self._file = (0, 0)
        self._settings: tuple[object, ...] = ()
        self._end = self._n_bytes = 0

    def add(self, spans: Sequence[Span]) -> list[Place]:
        """Copy spans in order.

        Returns:
            Their places.

        Raises:
            RecordingError: If a video is unreadable or too short.
        """
        places = list[Place]()
        for run in find_runs(spans, self._fps):
            whole = Span(run[0].path, run[0].begin, run[-1].end, run[0].whose)
            try:
                begin = self._copy(whole)
            except (self._av.error.FFmpegError, IndexError, ValueError) as err:
                raise RecordingError(
                    f"{whole.path}: expected a video of {whole.whose}, got {err}"
                ) from err
            places += [
                Place(self._file, begin + (one.begin - whole.begin)) for one in run
            ]
        return places

    def close(self) -> None:
        """Finish the file."""
        if self._out is not None:
            self._out.close()
            self._out = None

    def _copy(self, span: Span) -> float:
        """Copy a span; return the time at which it begins, [s]."""
        with self._av.open(str(span.path)) as source:
            video = source.streams.video[0]
            base, part = video.time_base, _PART / self._fps
            first = int((span.begin + part) / base)
            last = int((span.end - part) / base)
            source.seek(first, stream=video, backward=True)
            packets = _list_packets(source.demux(video), first, last)
            head = next(packets, None)
            if head is None or head.pts > first:
                raise self._too_short(span)
            self._prepare(video, span)
            key, end = head.pts, head.pts
            shift = self._end - key
            begin = float(self._end * base) + span.begin - float(key * base)
            frame = round(1 / (self._fps * base))
            for packet in chain((head,), packets):
                if packet.pts < key:
                    continue  # shown before the key image, on which it does not depend
                end = max(end, packet.pts + (packet.duration or frame))
                self._n_bytes += packet.size
                packet.pts += shift
                packet.dts += shift
                packet.stream = self._stream
                self._out.mux(packet)
            if end <= last:
                raise self._too_short(span)
            self._end = end + shift
            return begin

    def _prepare(self, video: Any, span: Span) -> None:
        context = video.codec_context
        settings = (
            context.name,
            context.extradata,
            context.width,
            context.height,
            video.time_base,
        )
        length = span.end - span.begin
        is_full = self._n_bytes > self._limit or (
            float(self._end * video.time_base) + length > self._longest
        )
        if self._out is not None and settings == self._settings and not is_full:
            return
        self.close()
        self._file, path = self._take()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._out = self._av.open(
            str(path), "w", format="mp4", options={"movflags": "faststart"}
        )
        self._stream = self._out.add_stream_from_template(video, opaque=True)
        self._settings, self._end, self._n_bytes = settings, 0, 0

    def _too_short(self, span: Span) -> RecordingError:
        return RecordingError(
            f"{span.path}: expected a video up to {span.end:.2f} [s] for {span.whose}, "
            "got a shorter one; leave the episode out by --delete, or the camera by "
            "--remove-feature"
        )


def find_runs(spans: Sequence[Span], fps: float) -> Iterator[list[Span]]:
    """Yield neighbours of one file that follow each other without a gap."""
    run = list[Span]()
    for span in spans:
        if run and not (
            span.path == run[-1].path and abs(span.begin - run[-1].end) < _PART / fps
        ):
            yield run
            run = []
        run.append(span)
    if run:
        yield run


def _list_packets(packets: Any, first: int, last: int) -> Iterator[Any]:
    """Yield packets in decoding order, from the last key image not after ``first``."""
    before = list[Any]()
    has_key = False
    for packet in packets:
        if packet.dts is None or packet.pts is None:
            continue
        if packet.dts > last:
            break
        if packet.is_keyframe and packet.pts <= first:
            before, has_key = [], True
        if packet.dts > first:
            yield from before
            before = []
            yield packet
        elif has_key:
            before.append(packet)
    yield from before
