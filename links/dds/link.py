"""Datagrams in best-effort ``std_msgs/UInt8MultiArray``, a topic each way."""

from __future__ import annotations

from collections import deque

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Link
from paprle.contracts.settings.core import LinkSettings
from paprle.hardware.ros.bus import Bus, BusError, Publisher, Qos
from paprle.hardware.ros.messages import BYTES, MessageError, load_codec
from paprle.hardware.ros.transports.dds import DdsBus

_MOST = 4096  # chosen: datagrams taken at once; what is beyond them is the oldest
_QOS = Qos(depth=64, reliable=False)  # chosen: set-points and records of 80 ms


class DdsLink(Link):
    """One end, a node of its own."""

    config: LinkSettings

    def open(self) -> None:
        """Join the domain."""
        config = self.config
        sides = ("to_follower", "to_leader")
        ours, theirs = sides if self.is_leader else reversed(sides)
        self._arrived: deque[bytes] = deque(maxlen=_MOST)
        self._publisher: Publisher | None = None
        self._bus: Bus | None = None
        try:
            self._bus = DdsBus(
                load_codec("jazzy"),
                "paprle_leader" if self.is_leader else "paprle_follower",
                domain=config.domain,
                interface=config.interface,
                peers=(config.peer,) if config.peer else (),
            )
            topic = f"/paprle/{self.name}"
            self._bus.subscribe(f"{topic}/{theirs}", BYTES, self._take, _QOS)
            self._publisher = self._bus.advertise(f"{topic}/{ours}", BYTES, _QOS)
        except (BusError, MessageError) as err:
            self.close()
            raise DeviceError(f"link: {err}") from err

    def send(self, data: bytes) -> bool:
        """Send a datagram."""
        if self._bus is None or self._publisher is None:
            return False
        codec = self._bus.codec
        message = codec.make(BYTES, data=np.frombuffer(data, np.uint8))
        try:
            self._publisher.publish(codec.encode(message, BYTES))
        except BusError:
            return False
        return True

    def receive(self) -> list[bytes]:
        """Return what has arrived.

        Raises:
            DeviceError: If the middleware failed.
        """
        if self._bus is None:
            return []
        try:
            self._bus.poll()
        except BusError as err:
            raise DeviceError(f"link: {err}") from err
        taken = list(self._arrived)
        self._arrived.clear()
        return taken

    def close(self) -> None:
        """Leave the domain."""
        bus, self._bus = self._bus, None
        self._publisher = None
        if bus is not None:
            bus.close()

    def _take(self, data: bytes) -> None:
        if self._bus is None:
            return
        try:
            message = self._bus.codec.decode(data, BYTES)
        except MessageError:
            return
        self._arrived.append(bytes(np.asarray(message.data, np.uint8)))
