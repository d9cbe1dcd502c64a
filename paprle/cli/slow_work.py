"""Progress messages of slow work."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self  # which Python 3.10 does not have

_FIRST = 2.0  # asked for: [s] longer silence needs a word
_NEXT = 10.0  # chosen: [s] often enough to see that it goes on


class SlowWork:
    """Reports work on the standard error after 2 s, then every 10 s."""

    def __init__(self, what: str) -> None:
        """Prepare; ``what`` is the first work."""
        self._what, self._end = what, threading.Event()
        self._thread = threading.Thread(target=self._tell, name="slow-work")

    def note(self, what: str) -> None:
        """Set the reported work."""
        self._what = what

    def __enter__(self) -> Self:
        """Start the reports."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the reports."""
        self._end.set()
        self._thread.join()

    def _tell(self) -> None:
        begin, wait = time.monotonic(), _FIRST
        while not self._end.wait(wait):
            wait = _NEXT
            taken = time.monotonic() - begin
            sys.stderr.write(f"{taken:.0f} s: {self._what}\n")
            sys.stderr.flush()
