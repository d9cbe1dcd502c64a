"""The newest picture of one camera elsewhere, kept by a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable

from paprle.hardware.media.caller import Caller
from paprle.hardware.media.colour import Colour, ColourReceiver

_CLOSING = 2.0  # [s] chosen: nobody waits longer


class Eye:
    """Asks for a camera's colour while it is open.

    Attributes:
        newest: The newest picture; None before the first.
    """

    def __init__(
        self, host: str, port: int, receiver: ColourReceiver, clock: Callable[[], int]
    ) -> None:
        """Find the host, and begin to ask.

        Args:
            host: Where the camera is.
            port: UDP port at which it is asked for.
            receiver: What asks.
            clock: Monotonic time, [ns].

        Raises:
            OSError: If the host has no address.
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
        """Ask no more; may be called twice."""
        self._stop.set()
        self._thread.join(_CLOSING)

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self.newest = self._caller.step() or self.newest
        finally:
            self._caller.close()
