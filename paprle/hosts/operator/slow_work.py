"""Progress of slow work on a terminal or in a log."""

from __future__ import annotations

import sys
import threading
import time
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any

from paprle.contracts.kit.work import Work

if TYPE_CHECKING:
    from typing import Self  # which Python 3.10 does not have

_FIRST = 2.0  # [s] spec: longer silence needs a word
_LINE_EVERY = 10.0  # [s] chosen: in a log, often enough to see that it goes on
_LINE_SHARE = 0.1  # chosen: of the time taken; work of a day writes fewer lines
_REDRAW = 0.2  # [s] chosen: of a terminal's bar


class SlowWork(Work):
    """Reports work of more than 2 s on the standard error, from any thread."""

    def __init__(self, text: str) -> None:
        self._step = _Step(text)
        self._began = time.monotonic()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._show, name="slow-work")

    def note(self, text: str) -> None:
        """Show another step."""
        self._step = _Step(text)

    def count(self, n_done: float, n_all: float, unit: str) -> None:
        """Show the done share of the step."""
        self._step.count(n_done, n_all, unit)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end.set()
        self._thread.join()

    def describe(self) -> str:
        """Return a line of a log: seconds, step and count."""
        taken = time.monotonic() - self._began
        step = self._step
        parts = [step.text, step.counted, step.describe_left()]
        return f"{taken:.0f} s: {', '.join(filter(None, parts))}"

    def _show(self) -> None:
        if self._end.wait(_FIRST):
            return
        if sys.stderr.isatty():
            self._draw()
            return
        while True:
            sys.stderr.write(self.describe() + "\n")
            sys.stderr.flush()
            taken = time.monotonic() - self._began
            if self._end.wait(max(_LINE_EVERY, _LINE_SHARE * taken)):
                return

    def _draw(self) -> None:
        with _make_bar() as bar:
            shown, task = None, None
            while not self._end.wait(_REDRAW):
                step = self._step
                if step is not shown:  # the time that is left is another step's
                    if task is not None:
                        bar.remove_task(task)
                    shown, task = step, bar.add_task(step.text, total=None, counted="")
                if step.n_all:
                    bar.update(
                        task,
                        completed=step.n_done,
                        total=step.n_all,
                        counted=step.counted,
                    )


class _Step:
    def __init__(self, text: str) -> None:
        self.text, self.counted = text, ""
        self.n_done = self.n_all = 0.0
        self._first: tuple[float, float] | None = None

    def count(self, n_done: float, n_all: float, unit: str) -> None:
        self.n_done, self.n_all = n_done, n_all
        self.counted = f"{n_done:.0f} of {n_all:.0f} {unit}"
        if self._first is None:
            self._first = time.monotonic(), n_done

    def describe_left(self) -> str:
        if self._first is None or self.n_done <= self._first[1]:
            return ""
        pace = (time.monotonic() - self._first[0]) / (self.n_done - self._first[1])
        left = timedelta(seconds=round(pace * (self.n_all - self.n_done)))
        return f"about {left} left"


def _make_bar() -> Any:
    # imported by slow work alone: it takes 0.1 s
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[counted]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
        # prints of the work stay above the bar, unless they go into a file
        redirect_stdout=sys.stdout.isatty(),
    )
