"""python-can back-end ``interface="emucan"``, by entry point ``can.interface``."""

from __future__ import annotations

import select
import socket
import time
from typing import Any

import can

from paprle_emulators.piper.protocol import FRAME_SIZE, Frame, pack_frame, unpack_frame


class EmulatedBus(can.BusABC):  # type: ignore[misc]  # python-can is not type-checked
    """A bus node.

    Raises:
        can.CanInitializationError: If the socket has no listener.
    """

    def __init__(
        self, channel: str, can_filters: Any | None = None, **kwargs: object
    ) -> None:
        self.channel_info = f"emucan {channel}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._socket.connect(channel)
        except OSError as err:
            self._socket.close()
            msg = f"no emulated arm at {channel}: {err}"
            raise can.CanInitializationError(msg) from err
        self._socket.setblocking(False)
        self._poll = select.poll()
        self._poll.register(self._socket, select.POLLIN)
        super().__init__(channel=channel, can_filters=can_filters, **kwargs)

    def send(self, msg: can.Message, timeout: float | None = None) -> None:  # noqa: ARG002 - never waits
        """Send without waiting.

        Raises:
            can.CanOperationError: If full or closed.
        """
        frame = Frame(msg.arbitration_id, bytes(msg.data), msg.is_error_frame)
        try:
            self._socket.send(pack_frame(frame))
        except OSError as err:
            raise can.CanOperationError(f"{self.channel_info}: {err.strerror}") from err

    def shutdown(self) -> None:
        """Leave the bus."""
        super().shutdown()
        self._socket.close()

    def fileno(self) -> int:
        """Return the socket's descriptor."""
        return self._socket.fileno()

    def _recv_internal(self, timeout: float | None) -> tuple[can.Message | None, bool]:
        packet = self._receive()
        if packet is None and timeout != 0.0:
            self._poll.poll(None if timeout is None else timeout * 1e3)
            packet = self._receive()
        if packet is None:
            return None, False
        if not packet:
            raise can.CanOperationError(f"{self.channel_info}: the emulator has gone")
        frame = unpack_frame(packet)
        message = can.Message(
            timestamp=time.monotonic(),  # the product reads no wall time
            arbitration_id=frame.can_id,
            data=frame.data,
            is_error_frame=frame.is_error,
            is_extended_id=False,
            channel=self.channel_info,
        )
        return message, False

    def _receive(self) -> bytes | None:
        try:
            return self._socket.recv(FRAME_SIZE)
        except BlockingIOError:
            return None
        except OSError as err:
            raise can.CanOperationError(f"{self.channel_info}: {err.strerror}") from err
