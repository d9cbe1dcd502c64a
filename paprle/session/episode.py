"""When an episode begins and ends, as events for the recorder."""

from __future__ import annotations

from typing import Any

_SETTLE_NS = 2_000_000_000  # chosen: longest wait for standstill before it is closed


class EpisodeLog:
    """Counts episodes and tells the recorder of them.

    Attributes:
        number: The current episode, or the next one; counted from 0.
        events: What the recorder has not been told yet.
    """

    def __init__(self) -> None:
        self.number = 0
        self.events: list[dict[str, Any]] = []
        self._begin_ns: int | None = None
        self._ending: tuple[str, int] | None = None

    @property
    def is_ending(self) -> bool:
        """It has ended, but the arm does not stand yet."""
        return self._ending is not None

    def add(self, event: str, now_ns: int, **values: Any) -> None:
        """Tell the recorder of an event."""
        self.events.append({"event": event, "t_ns": now_ns, **values})

    def begin(self, now_ns: int) -> None:
        """Open an episode."""
        self._begin_ns = now_ns
        self.add("episode_begin", now_ns, episode=self.number)

    def end(self, reason: str, now_ns: int, *, is_discarded: bool = False) -> None:
        """Note why it ends; the first reason stands. It is closed by ``close``."""
        if self._begin_ns is None or self._ending is not None:
            return
        self._ending = ("discarded" if is_discarded else reason, now_ns)

    def discard(self, now_ns: int) -> None:
        """Discard the episode that is ending, or else the last one."""
        if self._ending is not None:
            self._ending = ("discarded", self._ending[1])
        elif self.number > 0:
            self.add("discard", now_ns)

    def close(self, now_ns: int, *, is_standing: bool) -> None:
        """Close an ending episode once the command stands, so braking is in it."""
        if self._ending is None:
            return
        reason, since_ns = self._ending
        if not is_standing and now_ns - since_ns < _SETTLE_NS:
            return
        if reason == "discarded":
            self.add("discard", now_ns)
        self.add("episode_end", now_ns, end_reason=reason)
        self._ending, self._begin_ns = None, None
        self.number += 1

    def lasts_longer(self, limit: float | None, now_ns: int) -> bool:
        """Whether it has lasted longer than a limit, [s]; never when None."""
        if limit is None or self._begin_ns is None:
            return False
        return (now_ns - self._begin_ns) * 1e-9 > limit
