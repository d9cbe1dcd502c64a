"""Background work for the tick: done at once, or by a thread that a host lends."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

_Result = TypeVar("_Result")


class Aside:
    """Runs errands one after the other, in the order in which they were given.

    Without a thread they are run where they are given: on the virtual clock the tick
    has all the time there is, and runs are the same to the last bit.
    """

    def __init__(self) -> None:
        self._errands: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._is_lent = False

    def give(self, errand: Callable[[], None]) -> None:
        """Run this, now or soon."""
        if self._is_lent:
            self._errands.put(errand)
        else:
            errand()

    def run(self) -> None:
        """Run what is given until ``end``; called by a thread of its own."""
        self._is_lent = True
        while (errand := self._errands.get()) is not None:
            errand()

    def end(self) -> None:
        """Let the thread go, once it has finished what it does."""
        self._is_lent = False
        self._errands.put(None)


class Answer(Generic[_Result]):
    """One question at a time, and its answer once there is one."""

    def __init__(self, aside: Aside) -> None:
        self._aside = aside
        self._n_asked = 0
        self._found: tuple[int, _Result] | None = None

    def ask(self, question: Callable[[], _Result]) -> None:
        """Ask; what was asked before is of no interest any more."""
        self._n_asked += 1
        number = self._n_asked

        def answer() -> None:
            if number == self._n_asked:
                self._found = number, question()

        self._aside.give(answer)

    def forget(self) -> None:
        """Ask nothing."""
        self._n_asked += 1

    def take(self) -> _Result | None:
        """Return the answer to what was asked last; None while there is none."""
        found = self._found
        return found[1] if found is not None and found[0] == self._n_asked else None
