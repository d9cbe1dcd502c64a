"""The time for which a process wrote nothing, by the clock of the one that waits.

On a busy machine the one who watches is held up as well as the one who writes: wall
time would then blame the writer for what the watcher slept through. So only the time
counts in which the watcher looked as often as it means to.
"""

from __future__ import annotations

_LATE = 1.5  # [periods] chosen: of a watcher; what is more it was held up itself
_SHORT_NS = 50_000_000  # [ns] chosen: no watcher is held to less


class Stillness:
    """Watches the counter of one writer."""

    def __init__(self, rate: float, count: int = 0) -> None:
        """Begin.

        Args:
            rate: How often it will be looked at, [Hz].
            count: How often it had been written by then.
        """
        self._most_ns = max(_SHORT_NS, round(_LATE * 1e9 / rate))
        self._count = count
        self._looked_ns: int | None = None
        self._still_ns = 0

    def look(self, count: int, now_ns: int) -> int:
        """Return for how long nothing was written, [ns]; 0 when something was.

        Args:
            count: How often it was written so far.
            now_ns: Monotonic time, [ns].
        """
        before_ns = now_ns if self._looked_ns is None else self._looked_ns
        self._looked_ns = now_ns
        if count != self._count:
            self._count, self._still_ns = count, 0
        else:
            self._still_ns += min(now_ns - before_ns, self._most_ns)
        return self._still_ns
