"""Begin, end and fate of episodes, as recorder events."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from paprle.contracts.types import Actions

_SETTLE_NS = 2_000_000_000  # chosen: longest wait for standstill before it is closed
_KEPT = frozenset(
    {"next", "success", "failure", "end signal", "time is up", "done", "quit"}
)
_DISCARDED = frozenset({"discarded", "redo"})
OUTCOMES = ("success", "failure")


def name_end(asked: Actions) -> str:
    """Return the end that presses ask for; empty if none."""
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
    """Counts episodes and makes recorder events.

    Attributes:
        number: The current or next episode, from 0.
        fates: Counts of ``kept``, ``discarded`` (``redone`` among them), ``broken
            off``.
        task: Of the next episode alone; empty: the session's.
        notes: Notes to record; any thread may append.
        subtasks: Parts of the task in order; after the last comes the first.
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
        self.subtasks: Sequence[str] = ()
        self._n_subtasks = 0
        self._ending: tuple[str, int] | None = None
        self._fate, self._outcome = "", ""
        self._short: list[dict[str, Any]] = []
        self._stood: dict[str, float] = {}

    @property
    def n_kept(self) -> int:
        """Number of episodes kept."""
        return self.fates["kept"]

    @property
    def is_ending(self) -> bool:
        """Whether it has ended while the arm still moves."""
        return self._ending is not None

    def add(self, event: str, now_ns: int, **values: Any) -> None:
        """Add an event for the recorder."""
        self.events.append({"event": event, "t_ns": now_ns, **values})

    def tell_notes(self, now_ns: int) -> None:
        """Record notes on the open or last episode."""
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
        self._n_subtasks = 0
        if self.subtasks:
            self._mark("subtask", self.subtasks[0], now_ns)

    def take_marks(self, asked: Actions, now_ns: int) -> None:
        """Record presses that mark the next subtask or a mistake."""
        if self.begin_ns is None:
            return
        for _ in range(asked.subtask):
            self._n_subtasks += 1
            k = self._n_subtasks
            names = self.subtasks
            text = names[k % len(names)] if names else f"subtask {k + 1}"
            self._mark("subtask", text, now_ns)
        if asked.mistake:
            self._mark("mistake", "mistake", now_ns)

    def _mark(self, kind: str, text: str, now_ns: int) -> None:
        self.noted.append(text)
        self.add("note", now_ns, episode=self.number, text=text, kind=kind)

    def end(self, reason: str, now_ns: int) -> None:
        """Note the first reason to end; ``close`` follows."""
        if self.begin_ns is None or self._ending is not None:
            return
        self._ending = (reason, now_ns)

    def note_short(self, begin_ns: int | None, short: list[dict[str, Any]]) -> None:
        """Note causes of shortfall, the longest first, as JSON.

        Ignored unless ``begin_ns`` is the open episode's start.
        """
        if begin_ns == self.begin_ns:
            self._short = short

    def note_stood(self, begin_ns: int | None, stood: dict[str, float]) -> None:
        """Note standing times by limb and cause, [s], likewise."""
        if begin_ns == self.begin_ns:
            self._stood = stood

    def judge(self, asked: Actions, now_ns: int) -> None:
        """Apply presses between episodes to the last one."""
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
        """Close an ending episode once the command stands."""
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
        """Whether it exceeds a limit, [s]."""
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
