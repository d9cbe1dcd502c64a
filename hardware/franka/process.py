"""Process of one device."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence

from paprle.hardware.franka.messages import LONGEST

_JOIN = 5.0  # [s] chosen: an arm brakes in 0.4 s, and the SDK waits 1 s for a state


class DeviceProcess:
    """Child process that ends with its parent."""

    def __init__(self, module: str, words: Sequence[str]) -> None:
        """Start ``python -m module FD words``."""
        self._node, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._node.setblocking(False)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, str(theirs.fileno()), *words],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def send(self, data: bytes) -> bool:
        """Return whether a message was taken, without waiting."""
        try:
            self._node.send(data)
        except OSError:
            return False
        return True

    def receive(self) -> Iterator[bytes]:
        """Yield arrived messages."""
        with contextlib.suppress(OSError):
            while data := self._receive():
                yield data

    def _receive(self) -> bytes:
        try:
            return self._node.recv(LONGEST)
        except ConnectionResetError:  # it comes before the last messages
            return self._node.recv(LONGEST)

    def kill(self) -> None:
        """End it at once; repeatable."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Await or force its end; repeatable."""
        self._node.close()
        try:
            self._process.wait(_JOIN)
        except subprocess.TimeoutExpired:
            self.kill()
