"""Goals between a gate and a bus thread."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from paprle.hardware.goal_order import BEHIND_NS, count_stale, read_boottime

Vec = NDArray[np.float64]

_STALL_NS = 20_000_000  # [ns] spec: safety.md amendments, K2: less is no stall
_PERIODS = 4.0  # chosen: of goals; a gate that waits longer stood still
_MOST = 64  # chosen: more than come within a stall at the highest rate


class LateGoalsError(Exception):
    """Goals waited too long."""


class GoalQueue:
    """Goals by the rule of ``count_stale``; one thread posts, one takes."""

    def __init__(self, rate: float) -> None:
        """Begin empty; goals have a rate, [Hz]."""
        self._stall_ns = max(_STALL_NS, round(_PERIODS * 1e9 / rate))
        self._goals: deque[tuple[int, Vec]] = deque(maxlen=_MOST)
        self._sent: Vec | None = None

    def __len__(self) -> int:
        return len(self._goals)

    def post(self, goal: Vec) -> None:
        """Append a goal, shape (n,)."""
        self._goals.append((read_boottime(), goal))

    def take(self) -> Vec | None:
        """Return the next fresh goal, or None.

        Raises:
            LateGoalsError: Too long a wait; all goals are dropped.
        """
        now, waiting = read_boottime(), tuple(self._goals)
        if not waiting or now - waiting[-1][0] > self._stall_ns:
            return None  # after a stall the gate's next goal says which are to be sent
        stamps, goals = zip(*waiting, strict=True)
        for _ in range(count_stale(goals, stamps, self._sent, self._stall_ns)):
            self._goals.popleft()
        posted_ns, goal = self._goals.popleft()
        if now - posted_ns > max(BEHIND_NS, self._stall_ns):
            self._goals.clear()
            raise LateGoalsError(
                f"goals waited for {1e-6 * (now - posted_ns):.0f} [ms]"
            )
        self._sent = goal
        return goal

    def clear(self) -> None:
        """Forget all goals, also the last."""
        self._goals.clear()
        self._sent = None

    def restart(self, goal: Vec) -> None:
        """Forget all goals; the servos hold another."""
        self._goals.clear()
        self._sent = goal

    @property
    def held(self) -> Vec | None:
        """Last goal, taken or not, or None."""
        try:
            posted_ns, goal = self._goals[-1]
        except IndexError:
            return self._sent
        age_ns = read_boottime() - posted_ns
        return goal if age_ns <= self._stall_ns else self._sent
