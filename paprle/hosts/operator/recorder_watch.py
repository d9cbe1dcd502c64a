"""Watchdog of the recorder, which counts lost records.

If it hangs, the open episode is cut; the next one gets a new recorder.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paprle.hosts.roles import RECORDER, SESSION_RING
from paprle.hosts.supervisor import Children
from paprle.recording import events
from paprle.recording.mcap.journal import GONE
from paprle.recording.mcap.leftovers import clear_leftovers

HUNG = 1.0  # [s] chosen: a recorder looks every 0.02 s, and a fault is told within 2 s
_STARTING = 20.0  # [s] chosen: imports on a busy machine, after a restart
_PERIOD_NS = 250_000_000  # [ns] chosen: how often it looks; the tick is not its place

_ANSWERS = 1.0  # [s] chosen: a disk that works needs a few milliseconds
_UNFINISHED = "no manifest: the recorder ended before the file was finished"

HUNG_WORDS = "the recorder stands still (does its disk answer?)"


class RecorderWatch:
    """Monitors the recording.

    Attributes:
        broken: Recoverable recordings; set at the end.
    """

    def __init__(
        self, children: Children, tell: Callable[[str], None], *, is_asked: bool
    ) -> None:
        self.losses: list[str] = []
        self.warning = ""
        self.broken: list[str] = []
        self._opened: dict[str, None] = {}
        self._failed: set[int] = set()
        self._children, self._tell, self._is_asked = children, tell, is_asked
        self._is_dead = False
        self._is_ready = True  # of the first one the session's start has waited
        self._fault, self._fault_ns = "", 0
        self._is_hung = False
        self._looked_ns = self._moved_ns = 0
        self._n_taken = -1
        self._episode = 0
        self._begin_ns: int | None = None
        self._pending: dict[int, str] = {}
        self._retried = -1
        self._ended: list[int] = []
        self._report: dict[str, Any] = {}
        self._dropped: dict[str, int] = {}
        self._marks: dict[str, str] = {}  # of each manifest, by its file
        self._facts: dict[str, dict[str, Any]] = {}  # likewise

    def look(self, now_ns: int) -> None:
        """Check at 4 Hz that records are read."""
        if not self._is_asked or now_ns - self._looked_ns < _PERIOD_NS:
            return
        self._looked_ns = now_ns
        if self._is_dead:
            if self._begin_ns is None:
                self._restart(now_ns)
            return
        n_given, n_taken = self._children.ring(SESSION_RING).ends
        if n_taken != self._n_taken or n_given == n_taken:
            self._n_taken, self._moved_ns = n_taken, now_ns
            self._go_on()
            return
        still = (now_ns - self._moved_ns) * 1e-9
        if not self._is_hung and still > (HUNG if self._is_ready else _STARTING):
            self._is_hung = True
            self._fail(HUNG_WORDS, self._moved_ns)

    def take_report(self, report: dict[str, Any], now_ns: int) -> None:
        """Take a report of the recorder."""
        if report["event"] == "ready":
            self._is_ready, self._moved_ns = True, now_ns
        if report["event"] != "recording":
            return
        failed_before = self._report.get("failure", "")
        self._report = report
        if report["path"]:
            self._opened[report["path"]] = None
        self._dropped |= report["dropped"]
        self._marks |= dict(zip(report["episodes"], report["marks"], strict=True))
        self._facts |= report["facts"]
        failure, warning = report["failure"], report["warning"]
        if failure and failure != failed_before:
            self._fail(failure, now_ns)
            if self._begin_ns is None:
                self._failed.add(self._episode)
                self.losses.append(f"episode {self._episode}: {failure}")
        elif failed_before and not failure:
            self._fault = ""
        if warning and warning != self.warning:
            self._tell(warning)
        self.warning = warning

    def take_event(self, event: dict[str, Any], now_ns: int) -> None:
        """Take an event of the session."""
        if not self._is_asked:
            return
        if event["event"] == events.BEGIN:
            self._episode, self._begin_ns = int(event["episode"]), now_ns
            if self._is_hung or self._is_dead:
                self._restart(now_ns)
        elif event["event"] == events.END:
            self._cut(now_ns)
            self._begin_ns = None
            self._ended.append(self._episode)

    def lose(self, words: str, now_ns: int) -> None:
        """Note the recorder's death and its cause."""
        self._fail(words, now_ns)
        self._is_dead, self._is_hung = True, False
        self._keep_pending()

    def finish(self, now_ns: int) -> None:
        """Find the losses once the recorder has ended."""
        self._cut(now_ns)
        if self._is_hung and not self._is_dead:
            self._go_on()  # it ended by itself, and so has written what waited
        self._keep_pending()
        whole = {facts.get("episode") for facts in self._facts.values()}
        for episode in self._ended:
            if episode not in whole | self._failed:
                self.losses.append(f"episode {episode}: {_UNFINISHED}")
        self.losses += self._list_incomplete()
        self._find_broken()

    @property
    def is_recording(self) -> bool:
        """Whether an episode is being recorded."""
        is_well = self._is_asked and not (self._fault or self._is_dead)
        return is_well and self._begin_ns is not None

    def describe(self) -> str:
        """Return its state; empty without a recording."""
        if not self._is_asked:
            return ""
        if self._fault or self._is_dead:
            return "NOT RECORDING"
        n_lost = self._children.count_dropped()
        if n_lost:
            return f"REC, {n_lost} records LOST"
        return "" if self._begin_ns is None else "REC"

    def summarise(self) -> dict[str, Any]:
        """Return its part of the session summary."""
        return {
            "episodes": list(self._marks),
            "marks": list(self._marks.values()),
            "dropped": self._dropped,
            "failures": self.losses,
            "broken": self.broken,
        }

    def list_episodes(self) -> list[dict[str, Any]]:
        """Return recorded episodes as JSON, the newest last."""
        facts = self._facts
        return [
            {"path": path, "mark": mark, **facts.get(path, {})}
            for path, mark in list(self._marks.items())
        ]

    def _fail(self, words: str, since_ns: int) -> None:
        if not self._fault:
            self._fault, self._fault_ns = words, since_ns
        self._tell(f"RECORDING FAILED: {words}")

    def _go_on(self) -> None:
        if self._is_hung:
            self._is_hung, self._fault = False, ""
            self._pending.clear()
            self._tell("recording: the recorder goes on; nothing that waited is lost")

    def _cut(self, now_ns: int) -> None:
        if not self._fault or self._begin_ns is None:
            return
        since_ns = max(self._fault_ns, self._begin_ns)
        lost = f"the last {(now_ns - since_ns) * 1e-9:.1f} [s] are lost"
        if self._fault_ns <= self._begin_ns:
            lost = f"all {(now_ns - since_ns) * 1e-9:.1f} [s] are lost"
        if GONE in self._fault:
            lost = "all of it is lost, unless the file was moved"
        line = f"episode {self._episode}: {lost}: {self._fault}"
        self._pending[self._episode] = line
        if not self._is_hung:
            self._keep_pending()

    def _list_incomplete(self) -> list[str]:
        """Return the finished recordings that are kept without all their records."""
        return [
            f"episode {facts['episode']}: {facts['lost']} records are missing"
            for path, facts in self._facts.items()
            if facts.get("lost")
            and self._marks.get(path) != "discarded"
            and facts["episode"] not in self._failed
        ]

    def _find_broken(self) -> None:
        left = [Path(path) for path in self._opened if path not in self._marks]

        def look() -> None:
            for path in left:
                with contextlib.suppress(OSError):
                    if clear_leftovers(path):
                        self.broken.append(str(path))

        looker = threading.Thread(target=look, daemon=True)
        looker.start()
        looker.join(_ANSWERS)
        if looker.is_alive():
            self.broken = [str(path) for path in left]

    def _keep_pending(self) -> None:
        self._failed |= self._pending.keys()
        self.losses += self._pending.values()
        self._pending = {}

    def _restart(self, now_ns: int) -> None:
        if self._retried == self._episode:
            return
        self._retried = self._episode
        self._keep_pending()
        self._children.restart(RECORDER)
        self._is_dead = self._is_hung = self._is_ready = False
        self._fault, self._report = "", {}
        self._moved_ns, self._n_taken = now_ns, -1
        self._tell("recording: a new recorder was started for the next episode")
