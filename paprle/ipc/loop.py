"""Deadline loop and its Linux settings.

Deadlines are absolute. One missed by over a tenth of a period is counted and re-arms
the schedule; ticks are never replayed nor closer than 0.8 of a period (``safety.md``
T1). The gate's deadlines are multiples of its period; other loops are in phase with it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
import threading
import time
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable
from pathlib import Path

# chosen: below the console's keyboard and kernel threads, above everything else
_FIFO_PRIORITY = 50
BESIDE_PRIORITY = 10
"""Of threads that a loop does not wait for: chosen, below every loop, above everything
ordinary, so that none keeps the interpreter's lock while another process runs."""
_SWITCH_INTERVAL = 5e-4  # [s] measured: 1 instead of 1500 missed ticks in 3000
_TASKS = Path("/proc/self/task")  # spec: proc(5)
_EVERY = 100  # [ticks] chosen: a connection that is new is found in half a second
_PR_SET_TIMERSLACK = 29  # spec: linux/prctl.h
_MCL_CURRENT_FUTURE_ONFAULT = 7  # spec: sys/mman.h; what is touched, and no more
_SLEW = 0.02  # chosen: share of a period by which a deadline may come sooner or later
_SPARE_NS = 50_000  # [ns] chosen: of a turn that took longest, still in time
# chosen: [turns] those of the last two seconds at 200 Hz count, so a slow start is
# forgotten by then; four of them may take longer than the time that is kept for one
_N_TURNS, _N_LONGER = 400, 4
_LEAST_TURN_NS = 500_000  # chosen: [ns] no turn takes less: starts are alike
_LONGEST_TURN = 0.25  # chosen: share of a period
SESSION_TURN = 0.0008
"""Initial time of the session's turns: 0.5 ms and what it wakes late, [s]."""
_TRUST = 0.02  # chosen: share of a single instant in the phase that it tells
_REARM = 0.1  # chosen: share of a period after which a deadline counts as missed
SPACING = 0.8
"""Two ticks, and two commands, are never closer than this share of a period (T1)."""


class Pacer:
    """Limiter that keeps commands ``SPACING`` periods apart (T1)."""

    def __init__(
        self,
        rate: float,
        clock: Callable[[], int] = time.monotonic_ns,
        sleep: Callable[[float], None] = time.sleep,  # noqa: TID251 - it is what waits
    ) -> None:
        self.sent_ns = 0
        self._gap_ns = int(SPACING * 1e9 / rate) + 1
        self._clock, self._sleep = clock, sleep

    def wait(self) -> None:
        """Wait until the next command may leave."""
        while (now := self._clock()) < self.sent_ns + self._gap_ns:
            self._sleep((self.sent_ns + self._gap_ns - now) * 1e-9)
        self.sent_ns = now


class DeadlineLoop:
    """Loop with absolute deadlines."""

    def __init__(
        self,
        rate: float,
        clock: Callable[[], int] = time.monotonic_ns,
        sleep: Callable[[float], None] = time.sleep,  # noqa: TID251 - the loop waits
        *,
        turn: float | None = None,
        ahead: float = 0.0,
    ) -> None:
        """Prepare, with times in [s].

        Args:
            rate: [Hz].
            clock: Monotonic time, [ns].
            sleep: Sleeps.
            turn: Initial lead before multiples of the period; None: in no phase.
            ahead: Lead of the loop that it works for.
        """
        self.period_ns = round(1e9 / rate)
        self.n_overruns = 0
        self._clock, self._sleep = clock, sleep
        self._turn_ns = None if turn is None else int(turn * 1e9)
        self._spent_ns: deque[int] = deque()
        self._sorted_ns: list[int] = []
        self._ahead_ns = int(ahead * 1e9)
        self.deadline_ns = clock()
        self.deadline_ns -= self._find_error()  # near a deadline, so in phase at once
        self._woke_ns = self.deadline_ns

    def wait(self) -> int:
        """Sleep until the next deadline; return the delay, [ns]."""
        earliest = self._woke_ns + int(SPACING * self.period_ns)
        most = int(_SLEW * self.period_ns)
        self.deadline_ns += self.period_ns - min(max(self._find_error(), -most), most)
        now = self._clock()
        if now > self.deadline_ns + _REARM * self.period_ns:
            self.n_overruns += 1
            late = now - self.deadline_ns
            self.deadline_ns = max(now, earliest)
        else:
            late = 0
        wake_at = max(self.deadline_ns, earliest)
        while (now := self._clock()) < wake_at:
            self._sleep((wake_at - now) * 1e-9)
        self._woke_ns = now
        return late + now - wake_at

    def give_time(self, spent_ns: int) -> None:
        """Adapt to a turn's time, [ns]."""
        if self._turn_ns is None:
            return
        spent, ranked = self._spent_ns, self._sorted_ns
        spent.append(spent_ns)
        insort(ranked, spent_ns)
        if len(spent) > _N_TURNS:
            del ranked[bisect_left(ranked, spent.popleft())]
        if len(ranked) > _N_LONGER:
            longest = int(_LONGEST_TURN * self.period_ns)
            kept = max(ranked[-1 - _N_LONGER] + _SPARE_NS, _LEAST_TURN_NS)
            self._turn_ns = min(kept, longest)

    def work_for(self, instant_ns: int) -> None:
        """Synchronise with a loop's turn, [ns]."""
        off = self._wrap(-instant_ns - self._ahead_ns)
        self._ahead_ns += int(_TRUST * off)

    def _find_error(self) -> int:
        if self._turn_ns is None:
            return 0
        return self._wrap(self.deadline_ns + self._turn_ns + self._ahead_ns)

    def _wrap(self, time_ns: int) -> int:
        half = self.period_ns // 2
        return (time_ns + half) % self.period_ns - half


def request_realtime(thread_id: int = 0) -> str:
    """Request real time for a thread, by native id; 0: the caller's.

    Returns:
        Empty, or a note with the command that grants it.
    """
    sys.setswitchinterval(_SWITCH_INTERVAL)
    if not sys.platform.startswith("linux"):
        return ""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
    try:
        _schedule(thread_id, _FIFO_PRIORITY)
    except OSError:
        return (
            "real-time scheduling was refused, so deadlines may slip under load; "
            "grant it with: sudo setcap cap_sys_nice=ep "
            f"{os.path.realpath(sys.executable)}"
        )
    libc.mlockall(_MCL_CURRENT_FUTURE_ONFAULT)
    return ""


def _schedule(thread_id: int, priority: int) -> None:
    os.sched_setscheduler(
        thread_id,
        os.SCHED_FIFO | os.SCHED_RESET_ON_FORK,
        os.sched_param(priority),
    )


class Promoter:
    """Promoter of threads, which may hold the interpreter's lock."""

    def __init__(
        self, priority: int = _FIFO_PRIORITY, own_priority: int = _FIFO_PRIORITY
    ) -> None:
        self._own, self._priority = threading.get_native_id(), priority
        self._own_priority = own_priority
        self._known: set[int] = set()
        self._n_looks = 0

    def look(self) -> None:
        """Promote new threads; call every tick."""
        self._n_looks += 1
        if self._n_looks % _EVERY != 1:
            return
        with contextlib.suppress(FileNotFoundError):  # no Linux
            alive = {int(task.name) for task in _TASKS.iterdir()}
            for thread_id in alive - self._known:
                is_own = thread_id == self._own
                priority = self._own_priority if is_own else self._priority
                with contextlib.suppress(OSError):  # refused, or it has ended
                    _schedule(thread_id, priority)
            self._known = alive


def freeze_garbage() -> None:
    """Collect garbage once and disable the collector."""
    gc.collect()
    gc.freeze()
    gc.disable()


def thaw_garbage() -> None:
    """Enable the collector."""
    gc.unfreeze()
    gc.enable()
