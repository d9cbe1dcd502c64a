"""Virtual pad moved over a Unix datagram socket, for tests.

    {"leftx": 0.5, "a": 1}     moves controls
    {"plug": 0}, {"plug": 1}   unplugs, plugs in
    {"freeze": 1}              stops all motion, as a lost radio

The last sender receives each rumble: ``{"strong": 0.4, "weak": 0.0}``.
"""

from __future__ import annotations

import contextlib
import json
import math
import socket
from pathlib import Path

from paprle.hardware.gamepad.controls import CONTROLS
from paprle.hardware.gamepad.virtual import VirtualPad

_LARGEST = 4096  # [bytes] chosen: all controls in words
_AT_ONCE = 64  # chosen: more than a sender at 1 kHz has sent between two readings


class RemotePad:
    """One pad; ``n_refused`` counts invalid datagrams."""

    def __init__(self, path: str) -> None:
        """Plug in and listen at a path; replace a stale socket.

        Raises:
            OSError: Impossible path.
        """
        self._path, self.n_refused, self._n_told = Path(path), 0, 0
        self._sender: str = ""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        if self._path.is_socket():
            self._path.unlink()
        self._socket.bind(path)
        self._pad = VirtualPad(self.name_of(path))

    @staticmethod
    def name_of(path: str) -> str:
        """Return a socket's pad name."""
        return f"Virtual pad {path}"

    def obey(self) -> None:
        """Obey commands and report rumbles; never waits."""
        for _ in range(_AT_ONCE):
            try:
                data, sender = self._socket.recvfrom(_LARGEST)
            except BlockingIOError:
                break
            self._sender = sender or self._sender
            self._take(data)
        for felt in self._pad.rumbled[self._n_told :]:
            line = json.dumps(felt._asdict()).encode()
            with contextlib.suppress(OSError):  # who moved it may be gone
                self._socket.sendto(line, self._sender)
        self._n_told = len(self._pad.rumbled)

    def close(self) -> None:
        """Unplug and remove the socket."""
        self._pad.unplug()
        self._socket.close()
        self._path.unlink(missing_ok=True)

    def _take(self, data: bytes) -> None:
        try:
            words = {str(k): float(v) for k, v in json.loads(data).items()}
        except (ValueError, TypeError, AttributeError, RecursionError):
            self.n_refused += 1
            return
        for word, value in words.items():
            if word == "plug":
                self._pad.unplug()
                if value:
                    self._pad.plug()
            elif word == "freeze":
                self._pad.is_frozen = bool(value)
            elif word in CONTROLS and math.isfinite(value):
                self._pad.move(word, value)
            else:
                self.n_refused += 1
