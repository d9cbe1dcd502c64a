"""Queue of a dataset's episodes, read ahead by a thread.

Unreadable ones are skipped, aborted ones repeated.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from paprle.contracts.errors import ConfigError, PaprleError
from paprle.contracts.kit.playback import Playback
from paprle.contracts.types import Feedback, SessionState
from paprle.leaders.dataset.track import EpisodeTrack


class Plays:
    """A queue of episodes, with the number of skipped ones."""

    def __init__(
        self,
        read: Callable[[int], EpisodeTrack],
        order: Sequence[int],
        repeat: int,
        speed: float,
    ) -> None:
        """Read the first episode; ``repeat`` 0 is endless.

        Raises:
            PaprleError: If none can be read.
        """
        self._read, self._speed = read, speed
        rounds = itertools.count() if repeat == 0 else range(repeat)
        self._left: Iterator[int] = (number for _ in rounds for number in order)
        self._most_failures = len(order)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="dataset")
        self._warnings: list[str] = []
        self._next: tuple[int, Future[EpisodeTrack]] | None = None
        self._episode, self._play_time = 0, 0.0
        self.n_failed = 0
        self._request()
        first, problem = self._take()
        if first is None:
            self.close()
            raise problem or ConfigError("leader.episodes: expected one, got none")
        self._begin(*first)

    @property
    def asks_to_start(self) -> bool:
        """Whether an episode is ready."""
        return self._playback.asks_to_start

    @property
    def is_over(self) -> bool:
        """Whether this episode has ended."""
        return self._playback.is_over

    @property
    def is_exhausted(self) -> bool:
        """Whether all episodes have ended."""
        return self._playback.is_exhausted

    def apply(self, feedback: Feedback, now_ns: int) -> None:
        """Take the session's state at ``now_ns``, [ns]."""
        is_between = feedback.state is SessionState.RESETTING
        if (feedback.episode != self._episode or is_between) and self.is_over:
            following, _ = self._take()
            if following is None:
                self._playback.n_plays = 1  # what is left cannot be read
            else:
                self._begin(*following)
        self._episode = feedback.episode
        self._playback.apply(feedback, now_ns)

    def advance(self, now_ns: int) -> float:
        """Advance to ``now_ns``; return the episode's time, [s]."""
        return self._playback.advance(now_ns) * 1e-9 * self._speed

    def take_warnings(self) -> list[str]:
        """Return newly skipped episodes."""
        told, self._warnings = self._warnings, []
        return told

    def close(self) -> None:
        """Stop reading."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _begin(self, number: int, track: EpisodeTrack) -> None:
        self.number, self.track = number, track
        self._request()
        self.is_last = self._next is None
        # a play that is not the last never makes the leader exhausted
        n_plays = 1 if self.is_last else 0
        self._playback = Playback(track.duration / self._speed, n_plays)

    def _request(self) -> None:
        number = next(self._left, None)
        if number is None:
            self._next = None
        else:
            self._next = (number, self._pool.submit(self._read, number))

    def _take(self) -> tuple[tuple[int, EpisodeTrack] | None, PaprleError | None]:
        # Where it is not read yet this waits: on a virtual clock always the same is
        # played, and in a live session the robot does not follow by then.
        problem: PaprleError | None = None
        for _ in range(self._most_failures):
            if self._next is None:
                break
            number, reading = self._next
            try:
                return (number, reading.result()), None
            except PaprleError as err:
                problem = err
                self.n_failed += 1
                self._warnings.append(f"dataset: episode {number} is left out: {err}")
                self._request()
        return None, problem
