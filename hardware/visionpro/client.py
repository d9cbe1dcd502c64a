"""Reconnecting reader of the headset.

``avp_stream`` would take over signals and serve HTTP everywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import grpc

from paprle.hardware.visionpro.errors import VisionProError
from paprle.hardware.visionpro.hands import HandReader
from paprle.hardware.visionpro.messages import METHOD, SERVICE, HandUpdate
from paprle.hardware.web.device import WebDevice

_RETRY = 0.5  # [s] chosen: a headset that wakes is there soon
_JOIN = 5.0  # [s] chosen: nobody waits longer
_MOST_BYTES = 65_536  # chosen: 54 matrices have 5 kB
_OPTIONS = (
    ("grpc.max_receive_message_length", _MOST_BYTES),
    ("grpc.enable_http_proxy", 0),
    ("grpc.initial_reconnect_backoff_ms", 500),
    ("grpc.max_reconnect_backoff_ms", 1000),
)


class Headset:
    """One headset's hands.

    Attributes:
        fault: Reason for silence, or empty.
    """

    def __init__(
        self, address: str, hands: Sequence[str], clock: Callable[[], int]
    ) -> None:
        """Take ``host:port``, the hands (``left``, ``right``), and a clock, [ns]."""
        self.device = WebDevice(hands, clock)
        self.fault = ""
        self._address = address
        self._readers = {name: HandReader() for name in hands}
        self._end = threading.Event()
        self._channel: grpc.Channel | None = None
        self._thread = threading.Thread(target=self._keep_on, name="visionpro")

    @property
    def n_refused(self) -> int:
        """Invalid hands so far."""
        return sum(reader.n_refused for reader in self._readers.values())

    def open(self, timeout: float) -> None:
        """Connect within ``timeout``, [s].

        Raises:
            VisionProError: Silent app.
        """
        self._channel = grpc.insecure_channel(self._address, options=_OPTIONS)
        try:
            grpc.channel_ready_future(self._channel).result(timeout)
        except grpc.FutureTimeoutError as err:
            self._channel.close()
            self._channel = None
            raise VisionProError(
                f"expected the app Tracking Streamer at {self._address}, got no "
                "answer; press Start in it, and compare the address that it shows"
            ) from err
        self._thread.start()

    def close(self) -> None:
        """Disconnect."""
        self._end.set()
        if self._channel is not None:
            self._channel.close()  # ends the stream
            self._channel = None
        if self._thread.is_alive():
            self._thread.join(_JOIN)

    def _keep_on(self) -> None:
        channel = self._channel
        while channel is not None and not self._end.is_set():
            owner = object()
            self.device.begin(owner)
            try:
                self._stream(channel)
                self.fault = "the headset has ended its stream"
            except (grpc.RpcError, ValueError) as err:  # closing raises the second
                self.fault = f"the headset is gone ({_describe(err)})"
            self.device.end(owner)
            self._end.wait(_RETRY)

    def _stream(self, channel: grpc.Channel) -> None:
        call = channel.unary_stream(
            f"/{SERVICE}/{METHOD}",
            request_serializer=HandUpdate.SerializeToString,
            response_deserializer=HandUpdate.FromString,
        )
        for update in call(HandUpdate()):
            self.fault = ""
            self.device.take_hands(
                {
                    name: reader.read(getattr(update, f"{name}_hand"), update.Head)
                    for name, reader in self._readers.items()
                },
                None,
            )
            if self._end.is_set():
                return


def _describe(err: Any) -> str:
    code = getattr(err, "code", None)
    return str(err) if code is None else str(code().name)
