"""Timing of silence, not counting a delay of the watcher."""

from __future__ import annotations

_LATE = 1.5  # [periods] chosen: of a watcher; what is more it was held up itself
_SHORT_NS = 50_000_000  # [ns] chosen: no watcher is held to less


class Stillness:
    """Timer of one writer's silence."""

    def __init__(self, rate: float, count: int = 0) -> None:
        """Start at a counter value; ``rate`` is of looks, [Hz]."""
        self._most_ns = max(_SHORT_NS, round(_LATE * 1e9 / rate))
        self._count = count
        self._looked_ns: int | None = None
        self._still_ns = 0

    def look(self, count: int, now_ns: int) -> int:
        """Return the time since the counter changed, [ns]."""
        before_ns = now_ns if self._looked_ns is None else self._looked_ns
        self._looked_ns = now_ns
        if count != self._count:
            self._count, self._still_ns = count, 0
        else:
            self._still_ns += min(now_ns - before_ns, self._most_ns)
        return self._still_ns
