"""Non-blocking sends for serial adapters (slcan), which drain after each frame."""

from __future__ import annotations

import queue
import threading

import can

_N_FRAMES = 16  # chosen: four periods of commands; more would arrive too late
_PATIENCE = 0.2  # [s] chosen: for the thread at the end; a stuck port keeps it


class Outbox(can.BusABC):  # type: ignore[misc]  # python-can is not type-checked
    """Bus that sends on its own thread."""

    def __init__(self, bus: can.BusABC) -> None:
        self.channel_info = bus.channel_info
        self._bus = bus
        self._frames: queue.Queue[can.Message | None] = queue.Queue(_N_FRAMES)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        super().__init__(channel=None)

    def send(self, msg: can.Message, timeout: float | None = None) -> None:  # noqa: ARG002 - never waits
        """Queue a frame.

        Raises:
            can.CanOperationError: Full queue.
        """
        try:
            self._frames.put_nowait(msg)
        except queue.Full:
            raise can.CanOperationError("Transmit buffer full") from None

    def shutdown(self) -> None:
        """Send the queue briefly, and leave the bus."""
        super().shutdown()
        if self._thread.is_alive():
            self._frames.put(None, timeout=_PATIENCE)
            self._thread.join(_PATIENCE)
        if not self._thread.is_alive():
            self._bus.shutdown()

    def _run(self) -> None:
        while (message := self._frames.get()) is not None:
            try:
                self._bus.send(message)
            except (can.CanError, OSError):
                return  # the reader sees the same port fail, and says so
