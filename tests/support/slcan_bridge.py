"""A serial CAN adapter (slcan) on a pty, wired to the emulated arm's bus."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import tty

import can


class SlcanBridge:
    """What a CANable is, between a bus and the serial port ``port``."""

    def __init__(self, channel: str) -> None:
        self._bus = can.Bus(channel=channel, interface="emucan")
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.port = os.ttyname(self._slave)
        self._must_end = threading.Event()
        self._threads = [
            threading.Thread(target=run)
            for run in (self._run_to_port, self._run_to_bus)
        ]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._must_end.set()
        for thread in self._threads:
            thread.join()
        self._bus.shutdown()
        os.close(self._master)
        os.close(self._slave)

    def _run_to_port(self) -> None:
        while not self._must_end.is_set():
            message = self._bus.recv(0.05)
            if message is None or not select.select([], [self._master], [], 0.0)[1]:
                continue  # an adapter whose buffer is full loses frames
            data = message.data.hex().upper()
            line = f"t{message.arbitration_id:03X}{message.dlc}{data}\r".encode()
            while line and not self._must_end.is_set():
                select.select([], [self._master], [], 0.05)
                with contextlib.suppress(BlockingIOError):
                    line = line[os.write(self._master, line) :]

    def _run_to_bus(self) -> None:
        rest = b""
        while not self._must_end.is_set():
            if not select.select([self._master], [], [], 0.05)[0]:
                continue
            *lines, rest = (rest + os.read(self._master, 4096)).split(b"\r")
            for line in lines:
                if line[:1] == b"t":
                    self._send(line.decode())

    def _send(self, line: str) -> None:
        data = bytes.fromhex(line[5 : 5 + 2 * int(line[4])])
        message = can.Message(
            arbitration_id=int(line[1:4], 16), data=data, is_extended_id=False
        )
        self._bus.send(message)
