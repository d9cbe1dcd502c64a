"""Arm of a maker's controller.

A thread sends each goal once, by rules for all makers:

* Goals are sent in order, at least half a period apart.
* Goals older than a gap wait for a newer one. If that is at the held place, the gate
  begins anew: older ones are dropped. Otherwise all are sent, since the newest alone
  would be a jump; beyond a tenth of a second that is a stop. All are dropped without
  readings.
* A refused goal in motion is a stop.
* After any stop only a goal at the arm's place is sent.
* A program that would resume by itself is ended.
* A program ended by our silence at rest is no stop, unless it stays ended.
* After an owner's first reading, only its calls keep the watchdog alive.
"""

from __future__ import annotations

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paprle.hardware.goal_order import BEHIND_NS, count_stale, read_boottime
from paprle.hardware.vendor_arm.states import (
    RESUMING,
    STARTABLE,
    ArmError,
    ArmState,
    Condition,
    describe,
)

Vec = npt.NDArray[np.float64]
Clock = Callable[[], int]

_LOG = logging.getLogger(__name__)
_GAP_NS = 20_000_000  # [ns] spec: safety.md amendments, K2: less is no stall
_GAP_PERIODS = 3  # spec: likewise; a gate that is paced writes at the end of its period
_BEAT_NS = 50_000_000  # [ns] chosen: an owner that reads more seldom stands still
_MOST_GOALS = 64  # chosen: more than come in that time at any rate
_BLIND_NS = 50_000_000  # [ns] chosen: readings that old mean a cable, not a busy host
_SAME_PLACE = 0.05  # [rad] chosen: a goal that far from the arm is no jump
_AT_REST = 0.01  # [rad/s] chosen: above the noise of measured speeds
_PAUSE_NS = 500_000_000  # [ns] chosen: between attempts to end or start a program
_PARDON_NS = 3_000_000_000  # [ns] chosen: several attempts to start a program
_STANDING_NS = 1_000_000_000  # [ns] chosen: goals that long the same
_SAME_GOAL = 1e-6  # [rad] chosen
_TOLD_NS = 500_000_000  # [ns] chosen: many readings of a gate, which latches it
_POLL = 0.01  # [s] chosen: while an arm opens
_JOIN = 8.0  # [s] chosen: ur_rtde waits 5 s for a program that does not start


@dataclass(frozen=True, slots=True)
class Reading:
    """An arm at one instant.

    Attributes:
        stamp_ns: On our clock, [ns].
        q: Shape (n,), [rad].
        dq: Shape (n,), [rad/s].
        tau: By contact, shape (n,), [N·m].
        speed: Slider, 0 … 1.
    """

    stamp_ns: int
    q: Vec
    dq: Vec
    tau: Vec
    condition: Condition
    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class _Goal:
    q: Vec
    stamp_ns: int  # on the clock of ages


class VendorArm(ABC):
    """Base of a driver; its thread calls the hooks.

    Attributes:
        remedies: The maker's own, by state.
        n_dropped: Late goals.
    """

    remedies: Mapping[ArmState, str] = {}

    def __init__(
        self,
        name: str,
        clock: Clock,
        rate: float,
        watchdog: float,
        *,
        age_clock: Clock = read_boottime,
    ) -> None:
        """Describe an arm.

        Args:
            name: For messages.
            clock: Monotonic, [ns].
            rate: Of goals, [Hz].
            watchdog: Of the controller's silence, [s].
            age_clock: Of waiting goals, [ns]; goes on while the computer sleeps.
        """
        self.name = name
        self._clock, self._age_clock = clock, age_clock
        self._period = 1.0 / rate
        self._gap_ns = max(_GAP_NS, round(_GAP_PERIODS * 1e9 / rate))
        self._keep_ns = round(watchdog * 1e9 / 4)  # chosen: three may be lost
        self._watchdog_ns = round(watchdog * 1e9)
        self._goals: deque[_Goal] = deque(maxlen=_MOST_GOALS)
        self._sent: Vec | None = None
        self._is_muted = False
        self._same_place = _SAME_PLACE
        self._trouble, self._trouble_ns = "", 0
        self._beat_ns: int | None = None
        self._sent_ns = self._spoke_ns = self._tried_ns = self._moved_ns = (
            self._silent_ns
        ) = 0
        self._ended_ns: int | None = None
        self._was_ready = True
        self._given: Vec | None = None
        self._news, self._must_end = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None
        self.n_dropped = 0

    @abstractmethod
    def _read(self) -> Reading:
        """Return the newest reading without waiting."""

    @abstractmethod
    def _send(self, q: Vec) -> None:
        """Send a goal; raise ArmError if refused."""

    @abstractmethod
    def _keep(self) -> None:
        """Keep the controller's watchdog alive without a goal."""

    @abstractmethod
    def _end_program(self) -> None:
        """End a program that could resume."""

    @abstractmethod
    def _start_program(self) -> None:
        """Restart the program without motion, if permitted."""

    @abstractmethod
    def _leave(self, *, is_powerless: bool) -> None:
        """Leave the arm held, or powerless."""

    def start(self) -> None:
        """Start the thread of a ready arm."""
        self._must_end.clear()
        self._beat_ns, self._spoke_ns = None, self._clock()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def read(self) -> tuple[Reading, str]:
        """Return the newest reading and the reason against commands, or ""."""
        self._beat_ns = self._clock()
        reading = self._read()
        reason = describe(reading.condition, self.remedies)
        if not reason and reading.speed <= 0.0:
            reason = "speed slider at 0 %; raise it at the pendant"
        reason = reason or self._find_trouble(self._beat_ns)
        if reason:
            self._is_muted = True
        return reading, "" if self._is_pardoned(reading, self._beat_ns) else reason

    def write(self, q: Vec) -> None:
        """Queue a goal, shape (n,), [rad]; never waits."""
        self._beat_ns = now = self._clock()
        if self._given is not None and np.abs(q - self._given).max() > _SAME_GOAL:
            self._moved_ns = now
        self._given = q.copy()
        self._goals.append(_Goal(self._given, self._age_clock()))
        self._news.set()

    @property
    def is_muted(self) -> bool:
        """Whether only goals at the arm's place are sent."""
        return self._is_muted

    def find_held(self, reading: Reading) -> Vec:
        """Return the place held without goals, shape (n,), [rad]."""
        is_here = self._sent is None or not reading.condition.is_ready
        return reading.q if is_here or self._sent is None else self._sent

    def close(self, *, is_powerless: bool) -> None:
        """End the thread and leave; repeatable."""
        self._must_end.set()
        self._news.set()
        if self._thread is not None:
            self._thread.join(_JOIN)
            self._thread = None
        self._leave(is_powerless=is_powerless)

    def _wait_for(self, is_met: Callable[[], object], timeout: float) -> bool:
        end = time.monotonic() + timeout
        while not is_met():
            if time.monotonic() > end:
                return False
            time.sleep(_POLL)
        return True

    def _run(self) -> None:
        while not self._must_end.is_set():
            self._news.wait(self._period / 4 if self._goals else self._period)
            self._news.clear()
            try:
                self._serve()
            except ArmError as err:
                self._note_trouble(str(err))
                _LOG.warning("%s: %s", self.name, err)

    def _serve(self) -> None:
        reading, now = self._read(), self._clock()
        if not reading.condition.is_ready:
            self._is_muted, self._sent = True, None
            self._goals.clear()
            self._attend(reading, now)
            return
        goal = self._take_goal(reading, now)
        if goal is not None:
            self._note_speech(now)
            self._sent_ns = now
            self._send(goal)
            self._sent = goal
        else:
            self._keep_alive(now, reading)

    def _keep_alive(self, now: int, reading: Reading) -> None:
        if (
            now - self._spoke_ns > self._keep_ns
            and self._is_owned(now, _BEAT_NS)
            and now - reading.stamp_ns < _BLIND_NS
        ):
            self._note_speech(now)
            self._keep()

    def _take_goal(self, reading: Reading, now: int) -> Vec | None:
        self._drop_goals(is_blind=now - reading.stamp_ns > _BLIND_NS)
        goals = self._goals
        if not goals or self._age_clock() - goals[-1].stamp_ns > self._gap_ns:
            return None  # after a stall the gate's next goal says which are to be sent
        if now - self._sent_ns < self._period * 0.5e9:
            return None
        goal = goals.popleft()
        if self._is_muted:
            off = np.abs(goal.q - reading.q).max()
            if off > self._same_place or reading.speed <= 0.0:
                return None
            self._is_muted, self._same_place = False, _SAME_PLACE
        return goal.q

    def _drop_goals(self, *, is_blind: bool) -> None:
        now = self._age_clock()
        goals = tuple(self._goals)
        stamps = [goal.stamp_ns for goal in goals]
        if not stamps:
            return
        if is_blind:
            n = len(stamps)
        elif self._is_muted:  # none is sent but one that is where the arm is
            n = sum(now - stamp > self._gap_ns for stamp in stamps)
        else:
            n = count_stale([one.q for one in goals], stamps, self._sent, self._gap_ns)
        is_fresh = n < len(stamps) and now - stamps[-1] <= self._gap_ns
        is_behind = is_fresh and now - stamps[n] > BEHIND_NS
        n = len(stamps) if is_behind else n
        for _ in range(n):
            self._goals.popleft()
        self.n_dropped += n
        if is_behind:
            raise ArmError(f"goals waited for {1e-6 * (now - stamps[0]):.0f} [ms]")

    def _note_trouble(self, text: str) -> None:
        now = self._clock()
        self._is_muted = True
        if now - self._moved_ns < _STANDING_NS:
            self._trouble, self._trouble_ns = text, now

    def _find_trouble(self, now: int) -> str:
        if not self._trouble or now - self._trouble_ns > _TOLD_NS:
            return ""
        return (
            f"{self._trouble}; look at the network and the computer's load, then resume"
        )

    def _attend(self, reading: Reading, now: int) -> None:
        is_early = now - self._tried_ns < _PAUSE_NS
        if is_early or not self._is_owned(now, self._watchdog_ns):
            return
        state = reading.condition.state
        if state in RESUMING:
            self._tried_ns = now
            self._end_program()
        elif state in STARTABLE and np.abs(reading.dq).max() < _AT_REST:
            self._start_program()
            self._tried_ns = self._clock()

    def _is_owned(self, now: int, within_ns: int) -> bool:
        return self._beat_ns is None or now - self._beat_ns < within_ns

    def _note_speech(self, now: int) -> None:
        if now - self._spoke_ns > self._watchdog_ns // 2:
            self._silent_ns = now
        self._spoke_ns = now

    def _is_pardoned(self, reading: Reading, now: int) -> bool:
        if reading.condition.state is not ArmState.ENDED:
            self._ended_ns, self._was_ready = None, reading.condition.is_ready
            return False
        if self._ended_ns is None:
            self._ended_ns = now
        lately = self._ended_ns - self._silent_ns < _PAUSE_NS
        was_silent = lately or self._ended_ns - self._spoke_ns > self._watchdog_ns // 2
        is_standing = now - self._moved_ns > _STANDING_NS
        is_early = now - self._ended_ns < _PARDON_NS
        return self._was_ready and was_silent and is_standing and is_early
