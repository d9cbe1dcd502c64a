"""Coded pictures for an episode, from a key frame on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from paprle.ipc.pictures import CodedPicture, PictureKind, unpack_coded
from paprle.recording.tracks import CameraTrack, list_tracks

MAX_PICTURE = 8 << 20  # [bytes] chosen: half of what a reader takes for a chunk


class RingReader(Protocol):
    """Consumer's end of a ``paprle.ipc.mailbox.Ring``."""

    def drain(self) -> list[tuple[int, bytes]]: ...  # noqa: D102 - see Ring

    @property
    def dropped(self) -> dict[int, int]: ...  # noqa: D102 - see Ring


@dataclass
class _Count:
    n: int = 0
    n_missed: int = 0
    last_ns: int = 0
    longest_ns: int = 0
    n_before: int | None = None
    n_ring: int = 0


class FootageRecorder:
    """Cameras' rings and their part of the episode."""

    def __init__(
        self,
        cameras: Mapping[str, Any],
        rings: Mapping[str, RingReader],
        tell: Callable[[int, bool], None],
        n_before: int = 0,
    ) -> None:
        tracks = list_tracks(cameras)
        self._tracks: dict[tuple[str, int], CameraTrack] = {
            (track.camera, track.kind): track for track in tracks
        }
        self._rings, self._tell = rings, tell
        self._begin_ns: int | None = None
        self._n_episodes = n_before
        self._counts: dict[str, _Count] = {}
        self._has_key: set[CameraTrack] = set()
        tell(n_before, False)

    def begin(self, stamp_ns: int) -> None:
        """Begin an episode with pictures exposed from ``stamp_ns`` on."""
        self._drain_all()
        self._begin_ns = stamp_ns
        self._n_episodes += 1
        self._has_key.clear()
        self._counts = {
            name: _Count(n_ring=_count_dropped(ring))
            for name, ring in self._rings.items()
        }
        self._tell(self._n_episodes, True)

    def end(self) -> dict[str, dict[str, Any]]:
        """End the episode; return picture counts and longest gap [s] by camera."""
        self._tell(self._n_episodes, False)
        self._begin_ns = None
        return {
            name: {
                "pictures": count.n,
                "dropped": count.n_missed + _count_dropped(ring) - count.n_ring,
                "longest_gap": count.longest_ns * 1e-9,
            }
            for name, count in self._counts.items()
            for ring in [self._rings[name]]
        }

    def take(self) -> Iterator[tuple[CameraTrack | None, Any]]:
        """Yield tracks with ``CodedPicture``, and None with events."""
        for name, ring in self._rings.items():
            for kind, payload in ring.drain():
                if self._begin_ns is None:
                    continue
                if kind == PictureKind.EVENT:
                    yield None, payload
                    continue
                track = self._tracks.get((name, kind))
                coded = unpack_coded(payload)
                if track is not None and coded is not None:
                    yield from self._judge(track, coded, self._begin_ns)

    def _judge(
        self, track: CameraTrack, coded: CodedPicture, begin_ns: int
    ) -> Iterator[tuple[CameraTrack, CodedPicture]]:
        if coded.stamp_ns < begin_ns:
            return
        count = self._counts[track.camera]
        if coded.is_key:
            self._has_key.add(track)
        if track not in self._has_key or len(coded.data) > MAX_PICTURE:
            count.n_missed += 1
            return
        if track.kind == PictureKind.PICTURE:
            _add(count, coded)
        yield track, coded

    def _drain_all(self) -> None:
        for ring in self._rings.values():
            ring.drain()


def _add(count: _Count, coded: CodedPicture) -> None:
    if count.n_before is not None:
        count.n_missed += max(0, coded.n_dropped - count.n_before)
    count.n_before = coded.n_dropped
    if count.n:
        count.longest_ns = max(count.longest_ns, coded.stamp_ns - count.last_ns)
    count.n, count.last_ns = count.n + 1, coded.stamp_ns


def _count_dropped(ring: RingReader) -> int:
    return sum(ring.dropped.values())
