"""Queries of a policy, optionally in a thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, NamedTuple

from paprle.leaders.policy.load import Act, Observation

_END = 1.0  # [s] chosen: a policy that hangs is left behind, its process ends


class Answer(NamedTuple):
    """Answer of a policy.

    Attributes:
        stamp_ns: Of the observation, [ns].
        error: Failure, or empty.
    """

    stamp_ns: int
    value: Any
    error: str


class Question(NamedTuple):
    """Question to a policy.

    Attributes:
        stamp_ns: Of the observation, [ns].
        see: Returns the observation with decoded images.
    """

    stamp_ns: int
    see: Callable[[], Observation]
    is_first: bool


class Thinker:
    """A policy; ``is_busy`` until it answers."""

    def __init__(self, policy: Act, *, is_waited_for: bool) -> None:
        self._policy = policy
        self._questions: SimpleQueue[Question | None] = SimpleQueue()
        self._answers: SimpleQueue[Answer] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self.is_busy = False
        if not is_waited_for:
            self._thread = threading.Thread(
                target=self._run, name="policy", daemon=True
            )
            self._thread.start()

    def ask(self, question: Question) -> None:
        """Ask if it is not busy."""
        self.is_busy = True
        if self._thread is None:
            self._answers.put(self._answer(question))
        else:
            self._questions.put(question)

    def pop(self) -> Answer | None:
        """Return its answer once, or None."""
        if not self.is_busy or self._answers.empty():
            return None
        self.is_busy = False
        return self._answers.get()

    def close(self) -> None:
        """End the thread."""
        if self._thread is not None:
            self._questions.put(None)
            self._thread.join(_END)
            self._thread = None
        if hasattr(self._policy, "close"):
            self._policy.close()

    def _run(self) -> None:
        while (question := self._questions.get()) is not None:
            self._answers.put(self._answer(question))

    def _answer(self, question: Question) -> Answer:
        try:
            if question.is_first and hasattr(self._policy, "reset"):
                self._policy.reset()
            value = self._policy(question.see())
        except Exception as err:  # noqa: BLE001 - it is anybody's code, and is refused
            return Answer(question.stamp_ns, None, f"{type(err).__name__}: {err}")
        return Answer(question.stamp_ns, value, "")
