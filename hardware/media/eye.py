"""Thread for a remote camera."""

from __future__ import annotations

import threading
from collections.abc import Callable

from paprle.hardware.media.caller import Caller
from paprle.hardware.media.colour import Colour, ColourReceiver

_CLOSING = 2.0  # [s] chosen: nobody waits longer


class Eye:
    """Receiver of colour while open.

    Attributes:
        newest: Picture, or None.
    """

    def __init__(
        self, host: str, port: int, receiver: ColourReceiver, clock: Callable[[], int]
    ) -> None:
        """Resolve the host and port, and begin.

        Raises:
            OSError: No address.
        """
        self.newest: Colour | None = None
        self._receiver = receiver
        self._caller = Caller(host, port, receiver, clock)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="eye", daemon=True)
        self._thread.start()

    @property
    def closing_notes(self) -> str:
        """Counts of datagrams and pictures."""
        told = [f"{what} {n}" for what, n in self._receiver.counts.items() if n]
        return ", ".join(told) or "none came"

    def close(self) -> None:
        """End the thread."""
        self._stop.set()
        self._thread.join(_CLOSING)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self.newest = self._caller.step() or self.newest
        finally:
            self._caller.close()
