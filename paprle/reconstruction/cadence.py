"""Median period and delay of captures."""

from __future__ import annotations

from collections import deque

_N_PERIODS = (
    15  # chosen: half a second of 30 Hz; a rate that changes is noticed by then
)
_N_DELAYS = 33  # chosen: a second of 30 Hz; clocks drift slower
_SHORTEST_NS, _LONGEST_NS = 5_000_000, 100_000_000  # chosen: 200 Hz to 10 Hz


def _find_median(values: deque[int]) -> int:
    return sorted(values)[len(values) // 2]


class Cadence:
    """Period and delay of captures.

    Attributes:
        delay_ns: From capture stamp to arrival; any number if clocks differ.
    """

    def __init__(self, rate: float) -> None:
        """Begin with a nominal rate, [Hz]."""
        self.period_ns = min(max(round(1e9 / rate), _SHORTEST_NS), _LONGEST_NS)
        self.delay_ns = 0
        self._periods: deque[int] = deque(maxlen=_N_PERIODS)
        self._delays: deque[int] = deque(maxlen=_N_DELAYS)
        self._newest_ns: int | None = None

    def note(self, stamp_ns: int, now_ns: int) -> None:
        """Note a capture's stamp and arrival, even a late one."""
        self._delays.append(now_ns - stamp_ns)
        self.delay_ns = _find_median(self._delays)
        if self._newest_ns is not None:
            period_ns = stamp_ns - self._newest_ns
            if _SHORTEST_NS <= period_ns <= _LONGEST_NS:
                self._periods.append(period_ns)
                self.period_ns = _find_median(self._periods)
        self._newest_ns = max(stamp_ns, self._newest_ns or stamp_ns)
