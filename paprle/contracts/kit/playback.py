"""Time of an automatic leader, running only while engaged."""

from __future__ import annotations

from paprle.contracts.types import Feedback, SessionState


class Playback:
    """Time within a play of a motion, in step with the session's episodes.

    Attributes:
        n_plays: Until exhausted, one an episode; 0: endless.
        coast_until_ns: Until then in the play, [ns], it also runs while not engaged,
            across stretches without valid data.
    """

    def __init__(self, duration: float, n_plays: int | None) -> None:
        """Set the length, [s], and the number of plays; None: one."""
        self.duration_ns = round(duration * 1e9)
        self.n_plays = 1 if n_plays is None else n_plays
        self.n_played = 0
        self.is_engaged = False
        self.is_over = False
        self.coast_until_ns = 0
        self._elapsed_ns = 0
        self._episode = 0
        self._last_ns: int | None = None

    @property
    def has_begun(self) -> bool:
        """Whether this play has begun."""
        return self.is_engaged or self._elapsed_ns > 0

    @property
    def is_exhausted(self) -> bool:
        """Whether all plays are complete."""
        return self.is_over and 0 < self.n_plays <= self.n_played

    @property
    def asks_to_start(self) -> bool:
        """Whether a play waits for the session."""
        return not self.is_over and not self.is_engaged

    def apply(self, feedback: Feedback, now_ns: int) -> None:
        """Update the session's state at ``now_ns``, [ns]."""
        self.advance(now_ns)
        is_between_episodes = feedback.state is SessionState.RESETTING
        if feedback.episode != self._episode or is_between_episodes:
            self._rewind()
        self._episode = feedback.episode
        self.is_engaged = feedback.is_engaged

    def advance(self, now_ns: int) -> int:
        """Advance to ``now_ns``; return the time within the play, [ns]."""
        step_ns = 0 if self._last_ns is None else max(0, now_ns - self._last_ns)
        self._last_ns = now_ns
        if not self.is_engaged:
            step_ns = max(0, min(step_ns, self.coast_until_ns - self._elapsed_ns))
        if not self.is_over and step_ns > 0:
            self._elapsed_ns = min(self._elapsed_ns + step_ns, self.duration_ns)
            if self._elapsed_ns == self.duration_ns:
                self.is_over = True
                self.n_played += 1
        return self._elapsed_ns

    def finish(self) -> None:
        """End the current play."""
        if not self.is_over:
            self._elapsed_ns = self.duration_ns
            self.is_over = True
            self.n_played += 1

    def _rewind(self) -> None:
        if not self.is_exhausted:
            self._elapsed_ns = 0
            self.coast_until_ns = 0
            self.is_over = False
