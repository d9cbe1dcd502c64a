"""UDP socket of a receiver."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from paprle.hardware.media.receiver import Asker

_LARGEST = 2048  # [bytes] chosen: no part is longer
_NAP = 0.01  # [s] chosen: a fifth of the time between two asks
_BUFFER = 1 << 20  # [bytes] chosen: a tenth of a second of 80 Mbit/s

Joined = TypeVar("Joined")


class Caller(Generic[Joined]):
    """Requester of a camera's pictures."""

    def __init__(
        self, host: str, port: int, asker: Asker[Joined], clock: Callable[[], int]
    ) -> None:
        """Resolve the host and port.

        Raises:
            OSError: No address.
        """
        self._asker, self._clock = asker, clock
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
            self._socket.setblocking(False)
            self._socket.connect((host, port))
        except OSError:
            self.close()
            raise

    def step(self) -> Joined | None:
        """Return a complete picture or None, after due requests; may wait."""
        ask = self._asker.ask(time.monotonic())
        try:
            if ask is not None:
                self._socket.send(ask)
            readable, _, _ = select.select([self._socket], [], [], _NAP)
            if not readable:
                return None
            data = self._socket.recv(_LARGEST)
        except OSError:  # nobody listens there yet
            time.sleep(_NAP)
            return None
        return self._asker.receive(data, self._clock() * 1e-9)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()
