"""Feedback thread; any failure or stall leaves a limp leader."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from paprle.contracts.plugins import Leader
from paprle.contracts.types import Feedback, SessionState, Vec
from paprle.haptics.haptics import Haptics, SessionNotice
from paprle.ipc.loop import DeadlineLoop, request_realtime
from paprle.ipc.records import Record
from paprle.retargeting.state import Anchors

_SHUTDOWN_TIMEOUT = 1.0  # [s] chosen: a hundred periods of the slowest thread
_IDLE_RATE = 50.0  # [Hz] chosen: a leader that starts to move is felt 20 ms later
_HOLD_RATE = 100.0  # [Hz] chosen: a torque that stands is told anew before it is stale
_STANDS = 1e-3  # [N·m] chosen: torques that change by less between two steps stand
_WAITING = SessionState.WAITING
_KEPT = 1 << 16  # chosen: wake-ups that are remembered; 160 s of them at 400 Hz


class Sources(NamedTuple):
    """Functions that return the newest records, if any."""

    session: Callable[[], Feedback | None]
    anchors: Callable[[], Anchors | None]
    status: Callable[[], Record | None]


class FeedbackThread(threading.Thread):
    """Thread that renders torques until it is closed or fails."""

    def __init__(
        self,
        haptics: Haptics,
        leader: Leader,
        sources: Sources,
        rate: float,
        report: Callable[[str], Any],
    ) -> None:
        super().__init__(name="feedback", daemon=True)
        self.n_steps, self.n_overruns = 0, 0
        self.is_idle = False
        self._haptics, self._leader, self._sources = haptics, leader, sources
        self._rate, self._report = rate, report
        self._status: Record | None = None
        self._late_ns: deque[int] = deque(maxlen=_KEPT)
        self.period_ns = round(1e9 / rate)
        self._tau: Mapping[str, Vec] = {}
        self._busy_ns = 0  # time between steps that were not idle
        self._must_end = threading.Event()

    def run(self) -> None:
        """Step once a period."""
        request_realtime()
        loop = DeadlineLoop(self._rate)
        before_ns = time.monotonic_ns()
        try:
            while not self._must_end.is_set():
                late_ns, now_ns = loop.wait(), time.monotonic_ns()
                if not self.is_idle:
                    self._late_ns.append(late_ns)
                    self._busy_ns += now_ns - before_ns
                    self.n_steps += 1
                before_ns = now_ns
                self.step(now_ns)
                loop.period_ns = self.period_ns
                self.n_overruns = loop.n_overruns
        except Exception as err:  # noqa: BLE001 - limp and told, whatever it was
            self._report(f"{type(err).__name__}: {err}; the leader is limp")
        finally:
            self._go_limp()

    def step(self, now_ns: int) -> None:
        """Render once, at this time, [ns]."""
        told = self._sources.session()
        view = None
        if told is not None:
            anchors = self._sources.anchors()
            view = SessionNotice(
                told.stamp_ns,
                told.state,
                told.is_engaged,
                anchors,
                None if told.drives is None else np.array(told.drives),
            )
        status = self._sources.status()
        news = None if status is self._status else status
        self._status = status
        tau = self._haptics.step(now_ns, self._leader.latest(), view, news)
        rate = self._find_rate(told, tau)
        self.is_idle, self.period_ns = rate < self._rate, round(1e9 / rate)
        if told is not None:
            self._leader.apply(_add(told, tau, now_ns))

    def _find_rate(self, told: Feedback | None, tau: Mapping[str, Vec]) -> float:
        before, self._tau = self._tau, tau
        if told is None or told.state != _WAITING or not self._leader.is_at_rest:
            return self._rate
        if any(torque.any() for torque in tau.values()):
            rest = _HOLD_RATE if _stand(before, tau) else self._rate
        else:
            rest = _HOLD_RATE if self._haptics.renders_undriven else _IDLE_RATE
        return min(rest, self._rate)

    def summarise(self) -> str:
        """Return the punctuality while not idle."""
        if self.n_steps == 0 or self._busy_ns == 0:
            return ""
        rate = 1e9 * self.n_steps / self._busy_ns
        late = 1e-6 * np.array(self._late_ns)
        p50, p99 = np.percentile(late, (50.0, 99.0))
        return (
            f"feedback: {self.n_steps} steps at {rate:.1f} Hz, late p50 {p50:.2f}, "
            f"p99 {p99:.2f}, max {late.max():.1f} ms, {self.n_overruns} missed"
        )

    def close(self) -> None:
        """Stop and join the thread."""
        self._must_end.set()
        if self.is_alive():
            self.join(_SHUTDOWN_TIMEOUT)

    def _go_limp(self) -> None:
        told = self._sources.session()
        if told is not None:
            self._leader.apply(_add(told, {}, time.monotonic_ns()))


def _stand(before: Mapping[str, Vec], tau: Mapping[str, Vec]) -> bool:
    return before.keys() == tau.keys() and all(
        before[limb].shape == torque.shape
        and bool((np.abs(torque - before[limb]) <= _STANDS).all())
        for limb, torque in tau.items()
    )


def _add(told: Feedback, tau: Mapping[str, Vec], now_ns: int) -> Feedback:
    return replace(told, stamp_ns=now_ns, tau=tau)
