"""Torque-controlled arm: impedance about each goal, gravity compensated.

A thread sends MIT frames for each goal, and between goals against the motors' time-out.

* Goals are sent in order, at least half a period apart.
* Goals are dropped where the newest waited longer than a gap, or answers do not come.
  After a stop, goals are taken only from near the held position.
* While answers do not come, the last answered goal is held.
* A motor that lost its torque does not regain it; the others hold.
* Frames have no speed: the arm rests at the last one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

import numpy as np

from paprle.hardware.damiao.packets import pack_mit
from paprle.hardware.damiao.powered import (
    ArmSettings,
    Clock,
    PoweredArm,
    Reading,
    Vec,
)

_GAP_NS = 20_000_000  # [ns] spec: safety.md amendments, K2: less is no stall
_GAP_PERIODS = 3  # spec: likewise
_KEEP_PERIODS = 1.0  # chosen: beyond a gap; goals that are merely late are not repeated
_MOST_GOALS = 16  # chosen: more than a gap holds at any rate
_SAME_PLACE = 0.05  # [rad] chosen: a goal that near to where the arm holds is no jump


class DamiaoArm(PoweredArm):
    """An arm on its channel; ``read`` and ``write`` never wait.

    Attributes:
        n_dropped: Goals too late to be sent.
    """

    def __init__(
        self,
        settings: ArmSettings,
        compute_gravity: Callable[[Vec], Vec],
        clock: Clock,
    ) -> None:
        """See ``PoweredArm``."""
        super().__init__(settings, compute_gravity, clock)
        self._gap_ns = max(_GAP_NS, _GAP_PERIODS * self._period_ns)
        self._goals: deque[tuple[Vec, int]] = deque(maxlen=_MOST_GOALS)
        self._held = self._sent = self._answered = np.zeros(self._n)
        self._is_muted = self._was_blind = self._is_behind = False
        self._queue = threading.Lock()
        self.n_dropped = 0

    def read(self) -> tuple[Reading, str]:
        """Return the newest reading and the reason against commands, or ""."""
        found = super().read()
        self._drop(self._clock() - self._gap_ns)
        return found

    def write(self, q: Vec) -> None:
        """Queue a goal, shape (n,), [rad]."""
        self._goals.append((q.copy(), self._clock()))
        self._news.set()

    @property
    def held(self) -> Vec:
        """Position held without new goals, shape (n,), [rad]."""
        return self._held

    @property
    def is_behind(self) -> bool:
        """Whether newer goals than ``held`` were dropped."""
        return self._is_muted or self._is_behind

    @property
    def is_muted(self) -> bool:
        """Whether only goals near the held position are taken."""
        return self._is_muted

    def _begin(self, reading: Reading) -> list[bytes]:
        self._held = self._sent = self._answered = reading.q
        return self.make_round(reading.q, reading.q, np.zeros_like(reading.q))

    def _await_turn(self) -> None:
        period = self._period_ns * 1e-9
        self._news.wait(period / 4 if self._goals else period)
        self._news.clear()

    def _serve(self) -> None:
        found, now = self._list_feedback(), self._clock()
        self._watch(found)
        q, dq = np.array([(one.q, one.dq) for one in found]).T
        if min(one.stamp_ns for one in found) >= self._sent_ns:
            self._answered = self._sent
        is_blind = self._note_answers(found)
        if is_blind and not self._was_blind:  # goals that nobody heard are taken back
            self._held = self._answered
        self._was_blind = is_blind
        goal = self._take_goal(now, is_blind=is_blind)
        if goal is not None:
            self._held = goal
        elif now - self._sent_ns < self._gap_ns + _KEEP_PERIODS * self._period_ns:
            return
        self._round, self._sent = self.make_round(self._held, q, dq), self._held
        self._send_round(found, now)

    def _take_goal(self, now: int, *, is_blind: bool) -> Vec | None:
        goals = self._goals
        is_stopped = is_blind or bool(self._fault or self._suspects)
        self._is_muted = self._is_muted or is_stopped
        self._drop(now if is_stopped else now - self._gap_ns)
        with self._queue:
            if is_stopped or not goals or now - self._sent_ns < self._period_ns // 2:
                return None
            goal, _ = goals.popleft()
        if self._is_muted:
            if np.abs(goal - self._held)[: self._n_joints].max() > _SAME_PLACE:
                return None
            self._is_muted = False
        self._is_behind = False
        return goal

    def _drop(self, before_ns: int) -> None:
        with self._queue:
            if self._goals and self._goals[-1][1] < before_ns:
                self.n_dropped += len(self._goals)
                self._goals.clear()
                self._is_behind = True

    def make_round(self, goal: Vec, q: Vec, dq: Vec) -> list[bytes]:
        """Return the frames towards a goal, with bounded torques.

        Args:
            goal: Shape (n,), [rad].
            q: Measured, shape (n,), [rad].
            dq: [rad/s].
        """
        tau = self._carry(q)
        reach = (self._most - np.abs(tau)) / self._kp
        balanced = q + self._kd * dq / self._kp  # spring and damper add up to nothing
        target = np.clip(goal, balanced - reach, balanced + reach)
        rows = zip(self.bus.models, target, self._kp, self._kd, tau, strict=True)
        return [pack_mit(m, (x, 0.0, kp, kd, t)) for m, x, kp, kd, t in rows]
