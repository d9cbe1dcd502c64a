"""Background work of the tick."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


class Aside:
    """A queue of errands, run in order.

    Without a thread they run at once, so virtual runs are bit-identical.
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
        """End the thread after its current errand."""
        self._is_lent = False
        self._errands.put(None)


class Answer(Generic[_Result]):
    """One question at a time and its answer."""

    def __init__(self, aside: Aside) -> None:
        self._aside = aside
        self._n_asked = 0
        self._found: tuple[int, _Result] | None = None

    def ask(self, question: Callable[[], _Result]) -> None:
        """Ask a question; drop the last."""
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
        """Return the answer to the last question, or None."""
        found = self._found
        return found[1] if found is not None and found[0] == self._n_asked else None
