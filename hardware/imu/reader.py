"""Thread of a sensor; reopens a lost or silent port."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import serial

from paprle.hardware.camera.stamps import StampMap
from paprle.hardware.imu.errors import ImuError
from paprle.hardware.imu.fusion import Orientation
from paprle.hardware.imu.packets import Packet, PacketDecoder, PacketKind, Tally

_LOG = logging.getLogger(__name__)
_START = b"start\n"  # spec: cake-lab/AR-CV, final.py
_SILENCE_NS = 1_000_000_000  # [ns] spec: the same: reopened when silent for 1 s
_RETRY = 1.0  # [s] spec: the same
_TIMEOUT = 0.1  # [s] chosen: how soon the thread sees that it must end
_JOIN = 2.0  # [s] chosen: an open that waits for a driver


@dataclass(frozen=True, slots=True, kw_only=True)
class ImuPort:
    """A sensor's port and packets.

    Attributes:
        baud: [bit/s].
        rate: Of packets, [Hz].
        boot: After opening, [s].
    """

    path: str
    packet: PacketKind = "attitude"
    baud: int = 500_000
    rate: float = 200.0
    boot: float = 2.0


class Attitude(NamedTuple):
    """Orientation of the sensor.

    Attributes:
        stamp_ns: Reader's clock, [ns].
        quat_wxyz: T_world_imu's rotation, world z up, heading arbitrary, shape (4,).
        run: Grows after a restart or silence, with another heading.
        is_settled: Inclination is known.
    """

    stamp_ns: int
    quat_wxyz: npt.NDArray[np.float64]
    seq: int
    run: int
    is_settled: bool


class ImuReader:
    """Thread that reads a sensor.

    Attributes:
        fault: Reason for missing packets, or empty.
    """

    def __init__(self, port: ImuPort, clock: Callable[[], int]) -> None:
        self._port, self._clock = port, clock
        self.newest: Attitude | None = None
        self.fault = ""
        self.n_reopened = 0
        self._decoder = PacketDecoder(port.packet)
        self._fusion: Orientation | None = None
        self._stamps, self._mapped_run = StampMap(), 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._keep_on, name="imu", daemon=True)
        self._line: serial.Serial | None = None

    @property
    def tally(self) -> Tally:
        """Packets by outcome."""
        return self._decoder.tally

    def open(self) -> None:
        """Open the port and begin to read.

        Raises:
            ImuError: No such port.
            ModuleNotFoundError: ``vqf`` is needed and missing.
        """
        if self._port.packet == "inertial":
            self._fusion = Orientation(self._port.rate)
        try:
            self._line = self._connect()
        except (serial.SerialException, OSError, ValueError) as err:
            raise ImuError(
                f"imu '{self._port.path}': expected a serial port, got {err}; is it "
                "plugged in, and may you read it (group dialout)?"
            ) from err
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(_JOIN)
        if self._line is not None:
            self._line.close()

    def _connect(self) -> serial.Serial:
        path, baud = self._port.path, self._port.baud
        return serial.Serial(path, baud, timeout=_TIMEOUT, exclusive=True)

    def _keep_on(self) -> None:
        while not self._end.is_set():
            try:
                self._line = self._line or self._connect()
                self._stream(self._line)
                self.fault = f"imu '{self._port.path}' is silent"
            except (serial.SerialException, OSError) as err:
                self.fault = f"imu '{self._port.path}': {err}"
            line, self._line = self._line, None
            if line is not None:
                line.close()
            if self._end.wait(_RETRY):
                return
            self.n_reopened += 1

    def _stream(self, line: serial.Serial) -> None:
        if self._end.wait(self._port.boot):
            return
        line.reset_input_buffer()
        line.write(_START)
        self._decoder.interrupt()
        heard_ns = self._clock()
        while not self._end.is_set():
            # whatever is there: asking for a whole packet waits for another period
            packets = self._decoder.feed(line.read(max(1, line.in_waiting)))
            now_ns = self._clock()
            if packets:
                heard_ns, self.fault = now_ns, ""
                self._pass_on(packets, now_ns)
            elif now_ns - heard_ns > _SILENCE_NS:
                return

    def _pass_on(self, packets: list[Packet], now_ns: int) -> None:
        for packet in packets:
            if packet.run != self._mapped_run:
                self._stamps, self._mapped_run = StampMap(), packet.run
            stamp_ns = self._stamps.map(packet.t_us * 1000, now_ns)
            before = self.newest
            if self._fusion is None:
                quat_wxyz, is_settled = np.array(packet.values), True
            else:
                quat_wxyz = self._fusion.update(packet)
                is_settled = self._fusion.is_settled
            self.newest = Attitude(
                max(stamp_ns, 0 if before is None else before.stamp_ns),
                quat_wxyz / np.linalg.norm(quat_wxyz),
                1 if before is None else before.seq + 1,
                packet.run,
                is_settled,
            )
