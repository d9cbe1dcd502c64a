"""Emulated CAN bus: one ``struct can_frame`` per SOCK_SEQPACKET packet."""

from __future__ import annotations

import selectors
import socket
import struct
from pathlib import Path

from paprle_emulators.piper.protocol import FRAME_SIZE, Frame, pack_frame, unpack_frame

_CREDENTIALS = struct.Struct("3i")  # spec: struct ucred of unix(7)


class Server:
    """The bus between arm and processes."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if self._path.is_socket() and not _is_served(path):
            self._path.unlink()  # left by an emulator that was killed
        self._listener.bind(path)
        self._listener.listen()
        self._listener.setblocking(False)
        self._nodes: dict[socket.socket, int] = {}
        self.selector = selectors.DefaultSelector()
        self.selector.register(self._listener, selectors.EVENT_READ, self.accept)

    def accept(self) -> list[Frame]:
        """Accept a node."""
        node, _ = self._listener.accept()
        node.setblocking(False)
        size = _CREDENTIALS.size
        peer = node.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        self._nodes[node] = _CREDENTIALS.unpack(peer)[0]
        self.selector.register(node, selectors.EVENT_READ, lambda: self._receive(node))
        return []

    def send(self, frames: list[Frame], but: int = -1) -> None:
        """Send to nodes outside one process."""
        packets = [pack_frame(frame) for frame in frames]
        for node in [node for node, pid in self._nodes.items() if pid != but]:
            try:
                for packet in packets:
                    node.send(packet)
            except BlockingIOError:
                continue  # nobody reads there
            except OSError:
                self._drop(node)

    def close(self) -> None:
        """Disconnect all nodes."""
        for node in list(self._nodes):
            self._drop(node)
        self._listener.close()
        self.selector.close()
        self._path.unlink(missing_ok=True)

    def _receive(self, node: socket.socket) -> list[Frame]:
        frames = []
        try:
            while packet := node.recv(FRAME_SIZE):
                frames.append(unpack_frame(packet))
            self._drop(node)
        except BlockingIOError:
            pass
        except OSError:
            self._drop(node)
        self.send(frames, but=self._nodes.get(node, -1))
        return frames

    def _drop(self, node: socket.socket) -> None:
        if self._nodes.pop(node, None) is not None:
            self.selector.unregister(node)
            node.close()


def _is_served(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as node:
        return node.connect_ex(path) == 0
