"""Background work of the tick, inline or in a thread."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


class Aside:
    """Queue of errands, run in order.

    Without a thread they run where they are given, so virtual runs are bit-identical.
    """

    def __init__(self) -> None:
        self._errands: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._is_lent = False

    def give(self, errand: Callable[[], None]) -> None:
        """Run an errand, now or soon."""
        if self._is_lent:
            self._errands.put(errand)
        else:
            errand()

    def run(self) -> None:
        """Run errands until ``end``, in a thread."""
        self._is_lent = True
        while (errand := self._errands.get()) is not None:
            errand()

    def end(self) -> None:
        """Let the thread end after its current errand."""
        self._is_lent = False
        self._errands.put(None)


class Answer(Generic[_Result]):
    """One question at a time and its answer."""

    def __init__(self, aside: Aside) -> None:
        self._aside = aside
        self._n_asked = 0
        self._found: tuple[int, _Result] | None = None

    def ask(self, question: Callable[[], _Result]) -> None:
        """Ask a question and drop the one before."""
        self._n_asked += 1
        number = self._n_asked

        def answer() -> None:
            if number == self._n_asked:
                self._found = number, question()

        self._aside.give(answer)

    def forget(self) -> None:
        """Drop the question."""
        self._n_asked += 1

    def take(self) -> _Result | None:
        """Return the answer to the last question; None while there is none."""
        found = self._found
        return found[1] if found is not None and found[0] == self._n_asked else None
