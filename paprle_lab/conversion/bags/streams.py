"""Samples of one topic around the time of a row, in bounded memory."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Sample(NamedTuple, Generic[T]):
    """A sample and its stamp, [ns]."""

    stamp_ns: int
    value: T


class SampleStream(Generic[T]):
    """Samples in order of their stamps, from the one before the present row on.

    Attributes:
        n_dropped: Samples that repeat a stamp or come after their row.
        n_unused: Samples that no row took.
    """

    def __init__(self) -> None:
        self._stamps = list[int]()
        self._values = list[T]()
        self._passed_ns = -1
        self._taken_ns = -1
        self.n_dropped = self.n_unused = 0

    @property
    def oldest_ns(self) -> int | None:
        """Stamp of the oldest sample that is kept."""
        return self._stamps[0] if self._stamps else None

    @property
    def newest_ns(self) -> int | None:
        """Stamp of the newest sample."""
        return self._stamps[-1] if self._stamps else None

    def add(self, stamp_ns: int, value: T) -> None:
        """Add a sample."""
        at = bisect_left(self._stamps, stamp_ns)
        is_there = at < len(self._stamps) and self._stamps[at] == stamp_ns
        if is_there or stamp_ns <= self._passed_ns:
            self.n_dropped += 1
            return
        self._stamps.insert(at, stamp_ns)
        self._values.insert(at, value)

    def move(self, t_ns: int) -> None:
        """Let go of the samples before the newest one that is not after ``t_ns``."""
        at = bisect_right(self._stamps, t_ns) - 1
        if at > 0:
            gone = self._stamps[:at]
            self.n_unused += sum(stamp > self._taken_ns for stamp in gone)
            self._passed_ns = self._stamps[at]
            del self._stamps[:at], self._values[:at]

    def drop(self, t_ns: int) -> None:
        """Let go of all samples that are not after ``t_ns``."""
        at = bisect_right(self._stamps, t_ns)
        self.n_unused += sum(stamp > self._taken_ns for stamp in self._stamps[:at])
        self._passed_ns = max(self._passed_ns, t_ns)
        del self._stamps[:at], self._values[:at]

    def find(self, t_ns: int) -> tuple[Sample[T] | None, Sample[T] | None]:
        """Return the newest sample not after ``t_ns`` and the one behind it."""
        self.move(t_ns)
        samples = [
            Sample(*pair) for pair in zip(self._stamps[:2], self._values, strict=False)
        ]
        if not samples or samples[0].stamp_ns > t_ns:
            return None, samples[0] if samples else None
        return samples[0], samples[1] if len(samples) > 1 else None

    def take(self, sample: Sample[T]) -> bool:
        """Note that a row has a sample; return whether none had it before."""
        is_new = sample.stamp_ns > self._taken_ns
        self._taken_ns = max(self._taken_ns, sample.stamp_ns)
        return is_new
