"""Beginnings, ends and fates of episodes, as events for the recorder."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

from paprle.contracts.types import Actions

_SETTLE_NS = 2_000_000_000  # chosen: longest wait for standstill before it is closed
_KEPT = frozenset(
    {"next", "success", "failure", "end signal", "time is up", "done", "quit"}
)
_DISCARDED = frozenset({"discarded", "redo"})
OUTCOMES = ("success", "failure")


def name_end(asked: Actions) -> str:
    """Return how the operator ends an episode by these presses; empty: not at all."""
    if asked.redo:
        return "redo"
    if asked.discard:
        return "discarded"
    if asked.failure:
        return "failure"
    if asked.success:
        return "success"
    return "next" if asked.next_episode else ""


class EpisodeLog:
    """Counts episodes and tells the recorder of them.

    Attributes:
        number: The current episode, or the next one; counted from 0.
        fates: How many were ``kept``, ``discarded`` (``redo`` among them, which are
            counted again as ``redone``) and ``broken off``.
        outcomes: How many of those kept were a ``success`` and a ``failure``.
        task: What the operator is told to do in the next one alone; empty: what the
            session says.
        begin_ns: When the open one began, [ns]; None while none is open.
        closed_ns: When the last one was closed, [ns]; None before.
        last_end: Why the last one ended; empty before.
        events: What the recorder has not been told yet.
        notes: What the operator noted and no tick has told yet; any thread may append.
        noted: Of the open episode, else of the last one.
    """

    def __init__(self) -> None:
        self.number = 0
        self.fates: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.task = ""
        self.begin_ns: int | None = None
        self.closed_ns: int | None = None
        self.last_end = ""
        self.events: list[dict[str, Any]] = []
        self.notes: deque[str] = deque()
        self.noted: list[str] = []
        self._ending: tuple[str, int] | None = None
        self._fate, self._outcome = "", ""
        self._short: list[dict[str, Any]] = []
        self._stood: dict[str, float] = {}

    @property
    def n_kept(self) -> int:
        """The number of episodes kept: ended as they should, and not discarded."""
        return self.fates["kept"]

    @property
    def is_ending(self) -> bool:
        """It has ended, but the arm does not stand yet."""
        return self._ending is not None

    def add(self, event: str, now_ns: int, **values: Any) -> None:
        """Add an event for the recorder."""
        self.events.append({"event": event, "t_ns": now_ns, **values})

    def tell_notes(self, now_ns: int) -> None:
        """Record the notes on the open episode, else on the last one.

        Notes from before the first episode wait for it.
        """
        is_open = self.begin_ns is not None
        if not is_open and self.number == 0:
            return
        while self.notes:
            of, text = self.number if is_open else self.number - 1, self.notes.popleft()
            self.noted.append(text)
            self.add("note", now_ns, episode=of, text=text)

    def begin(self, now_ns: int) -> None:
        """Open an episode."""
        self.begin_ns, self._short, self.noted = now_ns, [], []
        self._stood = {}
        own = {"task": self.task} if self.task else {}
        self.add("episode_begin", now_ns, episode=self.number, **own)

    def end(self, reason: str, now_ns: int) -> None:
        """Note why it ends; the first reason stands. It is closed by ``close``."""
        if self.begin_ns is None or self._ending is not None:
            return
        self._ending = (reason, now_ns)

    def note_short(self, begin_ns: int | None, short: list[dict[str, Any]]) -> None:
        """Note the shortfall of an episode so far, for its end event.

        Args:
            begin_ns: Start of that episode, [ns]; ignored unless it is the open one, as
                the shortfall is found beside the tick.
            short: Causes, the longest first, JSON values only.
        """
        if begin_ns == self.begin_ns:
            self._short = short

    def note_stood(self, begin_ns: int | None, stood: dict[str, float]) -> None:
        """Note for how long limbs stood while they were asked to move; see above.

        Args:
            begin_ns: When that episode began, [ns].
            stood: Limb and cause in words, and for how long, [s], the longest first.
        """
        if begin_ns == self.begin_ns:
            self._stood = stood

    def judge(self, asked: Actions, now_ns: int) -> None:
        """Take the verdict on the last episode from presses between two episodes.

        Args:
            asked: The operator's presses.
            now_ns: Monotonic time, [ns].
        """
        verdict = name_end(asked)
        if verdict not in {*_DISCARDED, *OUTCOMES}:
            return
        if self._ending is not None:
            self._ending = (verdict, self._ending[1])
        elif self._fate == "kept" and verdict in OUTCOMES:
            self._count(-1)
            self._outcome = verdict
            self._count(1)
            self.add("outcome", now_ns, episode=self.number - 1, outcome=verdict)
        elif self._fate and self._fate != "discarded" and verdict in _DISCARDED:
            self._count(-1)
            self._note_fate(verdict)
            self._tell_discard(self.number - 1, verdict, now_ns)

    def close(self, now_ns: int, *, is_standing: bool) -> None:
        """Close an ending episode once the command stands, so braking is in it."""
        if self._ending is None:
            return
        reason, since_ns = self._ending
        if not is_standing and now_ns - since_ns < _SETTLE_NS:
            return
        self._note_fate(reason)
        short: dict[str, Any] = {"short": self._short} if self._short else {}
        short |= {"stood": self._stood} if self._stood else {}
        if reason in _DISCARDED:
            self._tell_discard(self.number, reason, now_ns, **short)
        own: dict[str, Any] = {"outcome": self._outcome} if self._outcome else {}
        own |= short
        is_kept = self._fate == "kept"
        self.add("episode_end", now_ns, end_reason=reason, kept=is_kept, **own)
        if is_kept:
            self.task = ""
        self._ending, self.begin_ns, self.closed_ns = None, None, now_ns
        self.last_end = reason
        self.number += 1

    def lasts_longer(self, limit: float | None, now_ns: int) -> bool:
        """Whether it has lasted longer than a limit, [s]; never when None."""
        if limit is None or self.begin_ns is None:
            return False
        return (now_ns - self.begin_ns) * 1e-9 > limit

    def _note_fate(self, reason: str) -> None:
        self._outcome = reason if reason in OUTCOMES else ""
        self._fate = "kept" if reason in _KEPT else "broken off"
        if reason in _DISCARDED:
            self._fate = "discarded"
            self.fates["redone"] += reason == "redo"
        self._count(1)

    def _count(self, n: int) -> None:
        self.fates[self._fate] += n
        if self._outcome:
            self.outcomes[self._outcome] += n

    def _tell_discard(
        self, number: int, reason: str, now_ns: int, **short: Any
    ) -> None:
        self.add("discard", now_ns, episode=number, reason=reason, **short)
