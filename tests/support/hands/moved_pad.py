"""A game controller that a test moves, of a whole session in processes of its own."""

import json
import socket
import time


class MovedPad:
    """One of ``virtual:PATH``; its session opens the socket.

    Attributes:
        device: What ``leader.pads.pad.device`` is called.
    """

    def __init__(self, folder):
        self._path = str(folder / "pad.sock")
        self.device = f"virtual:{self._path}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

    def close(self):
        self._socket.close()

    def move(self, time_s=0.0, **controls):
        """Say for a time how controls stand, [s]; at least once."""
        end = time.monotonic() + time_s
        while True:
            self._socket.sendto(json.dumps(controls).encode(), self._path)
            if time.monotonic() >= end:
                return
            time.sleep(0.02)
