"""Samples of one source, with bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.recording.messages.channels import Rows

Stamps = npt.NDArray[np.int64]

_KEEP = 4096  # [rows] chosen: what has been passed is let go of in blocks
_BEFORE_ALL = np.iinfo(np.int64).min


class Around(NamedTuple):
    """The samples before and after a time."""

    before: np.void
    before_ns: int
    after: np.void | None
    after_ns: int


class Series:
    """Finite samples of one source in order."""

    def __init__(self, pull: Callable[[], bool]) -> None:
        self.n_dropped = 0
        self._pull = pull
        self._stamps: Stamps = np.zeros(0, np.int64)
        self._rows: list[Rows] = []
        self._newest = _BEFORE_ALL

    @property
    def n_bytes(self) -> int:
        """Size in memory, [bytes]."""
        return sum(rows.nbytes for rows in self._rows)

    @property
    def first_ns(self) -> int | None:
        """Stamp of the first sample."""
        while not len(self._stamps) and self._pull():
            pass
        return int(self._stamps[0]) if len(self._stamps) else None

    def add(self, stamps: Stamps, rows: Rows, is_good: npt.NDArray[np.bool_]) -> None:
        """Add samples; those not ``is_good`` are dropped."""
        known = np.where(is_good, stamps, _BEFORE_ALL)
        newest = np.maximum.accumulate(np.append(self._newest, known))
        is_later = stamps > newest[:-1]
        self.n_dropped += int((~is_good | (stamps < newest[:-1])).sum())
        self._newest = int(newest[-1])
        keep = is_good & is_later
        self._stamps = np.append(self._stamps, stamps[keep])
        self._rows.append(rows[keep])

    def find(self, t_ns: int) -> Around | None:
        """Return samples around increasing times, or None."""
        while not len(self._stamps) or self._stamps[-1] <= t_ns:
            if not self._pull():
                break
        at = int(np.searchsorted(self._stamps, t_ns, "right")) - 1
        if at < 0:
            return None
        at = self._let_go(at)
        rows, stamps = self._join(), self._stamps
        is_last = at + 1 == len(stamps)
        return Around(
            rows[at],
            int(stamps[at]),
            None if is_last else rows[at + 1],
            0 if is_last else int(stamps[at + 1]),
        )

    def _join(self) -> Rows:
        if len(self._rows) > 1:
            self._rows = [np.concatenate(self._rows)]
        return self._rows[0]

    def _let_go(self, at: int) -> int:
        if at < _KEEP:
            return at
        self._rows = [self._join()[at:].copy()]
        self._stamps = self._stamps[at:].copy()
        return 0
