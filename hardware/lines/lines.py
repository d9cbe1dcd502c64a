"""JSON lines over a Unix socket, without waiting."""

from __future__ import annotations

import json
import socket
from typing import Any

_CHUNK = 1 << 20  # [bytes] chosen: an image
_LONGEST = (
    1 << 26
)  # [bytes] chosen: of a line that is still to end: images of 4 cameras
_TIMEOUT = 0.05  # [s] chosen: a reader that is slower misses a message


class Lines:
    """One connection."""

    def __init__(self, path: str) -> None:
        """Connect to a path.

        Raises:
            ConnectionError: No listener.
        """
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_TIMEOUT)
        self._tail = self._unsent = b""
        try:
            self._socket.connect(path)
        except OSError as err:
            self._socket.close()
            raise ConnectionError(
                f"socket '{path}': expected a program that listens, got {err}"
            ) from err

    def send(self, message: dict[str, Any]) -> bool:
        """Send a message.

        Returns:
            False if the last one is unread.

        Raises:
            ConnectionError: Lost peer.
        """
        is_free = not self._unsent
        data = self._unsent or json.dumps(message).encode() + b"\n"
        try:
            while data:
                data = data[self._socket.send(data) :]
        except TimeoutError:
            pass
        except OSError as err:
            raise ConnectionError(
                f"socket: the other program has gone ({err})"
            ) from err
        self._unsent = data
        return is_free

    def read(self) -> Any:
        """Return the newest message, or None.

        Raises:
            ConnectionError: Lost peer, or no JSON.
        """
        self._socket.setblocking(False)
        try:
            while data := self._socket.recv(_CHUNK):
                self._tail += data
                if len(self._tail) > _LONGEST:
                    raise ConnectionError(
                        "socket: expected lines of JSON, got no end of one"
                    )
            raise ConnectionError("socket: the other program has gone")
        except BlockingIOError:
            pass
        finally:
            self._socket.settimeout(_TIMEOUT)
        *lines, self._tail = self._tail.split(b"\n")
        if not lines:
            return None
        try:
            return json.loads(lines[-1])
        except (ValueError, RecursionError) as err:
            raise ConnectionError(
                f"socket: expected a line of JSON, got {err}"
            ) from err

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()
