"""Pictures of a camera, two in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from paprle.recording.video.codec import Image
from paprle.recording.video.pictures import RecordedPicture

ImageChoice = Literal["newest", "nearest"]
"""The picture of a row: the newest at or before it, as a policy has, or the nearest."""


class Picked(NamedTuple):
    """The picture of a frame.

    Attributes:
        image: RGB, shape (height, width, 3), or depth, shape (height, width).
        stamp_ns: Exposure.
    """

    image: Image
    stamp_ns: int
    is_repeated: bool
    n_dropped: int


class _Shot(NamedTuple):
    image: Image
    stamp_ns: int


class OrderedPictures:
    """Pictures in order of time."""

    def __init__(
        self,
        pictures: Iterator[RecordedPicture],
        size: tuple[int, int],
        choice: ImageChoice = "newest",
    ) -> None:
        """Take pictures in file order; those not of ``size`` (h, w) [px] are broken."""
        self._pictures, self._size, self._choice = pictures, size, choice
        self._n_dropped = 0
        self._newest_ns = -1
        self._is_shown = False
        self._now = self._read()
        self._next = self._read()

    @property
    def first_ns(self) -> int | None:
        """Stamp of the first picture."""
        return None if self._now is None else self._now.stamp_ns

    def find_first(self, t_ns: int) -> int:
        """Return the first stamp from t_ns on, or t_ns."""
        while self._now is not None and self._now.stamp_ns < t_ns:
            self._now, self._next = self._next, self._read()
            self._n_dropped += 1
        return t_ns if self._now is None else self._now.stamp_ns

    def pick(self, t_ns: int) -> Picked | None:
        """Return the picture chosen for increasing times."""
        while self._next is not None and self._is_due(self._next, t_ns):
            self._n_dropped += not self._is_shown
            self._now, self._next = self._next, self._read()
            self._is_shown = False
        if self._now is None:
            return None
        picked = Picked(*self._now, self._is_shown, self._n_dropped)
        self._is_shown, self._n_dropped = True, 0
        return picked

    def is_over(self, t_ns: int, period_ns: int) -> bool:
        """Return whether the last picture is older than a row's would be."""
        if self._next is not None or self._now is None:
            return self._now is None
        longest = period_ns if self._choice == "newest" else period_ns // 2
        return t_ns - self._now.stamp_ns > longest

    def close(self) -> int:
        """Return the number of unused pictures."""
        n = self._n_dropped + (self._now is not None and not self._is_shown)
        while self._next is not None:
            n, self._next = n + 1, self._read()
        return n

    def _is_due(self, shot: _Shot, t_ns: int) -> bool:
        if self._choice == "newest":
            return shot.stamp_ns <= t_ns
        if self._now is None:
            return True
        return abs(shot.stamp_ns - t_ns) < abs(self._now.stamp_ns - t_ns)

    def _read(self) -> _Shot | None:
        for picture in self._pictures:
            image = picture.image
            is_later = picture.stamp_ns > self._newest_ns
            if image is not None and image.shape[:2] == self._size and is_later:
                self._newest_ns = picture.stamp_ns
                return _Shot(image, picture.stamp_ns)
            self._n_dropped += 1
        return None
