"""A serial CAN adapter (slcan) on a pty, wired to the emulated arm's bus.

It is a process of its own, as an adapter is: in the test's it would share an
interpreter with the reader, and starve on a busy machine.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import threading
import tty
from pathlib import Path

import can

WORKSPACE = Path(__file__).parents[3]


class SlcanBridge:
    """What a CANable is, between a bus and the serial port ``port``; a context."""

    def __init__(self, channel: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, channel],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(WORKSPACE)},
        )
        self.port = self._process.stdout.readline().strip()

    def __enter__(self) -> SlcanBridge:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=10)


def run_to_port(bus, master):
    while True:
        message = bus.recv()
        if not select.select([], [master], [], 0.0)[1]:
            continue  # an adapter whose buffer is full loses frames
        data = message.data.hex().upper()
        line = f"t{message.arbitration_id:03X}{message.dlc}{data}\r".encode()
        while line:
            select.select([], [master], [])
            with contextlib.suppress(BlockingIOError):
                line = line[os.write(master, line) :]


def run_to_bus(bus, master):
    rest = b""
    while True:
        select.select([master], [], [])
        *lines, rest = (rest + os.read(master, 4096)).split(b"\r")
        for line in lines:
            if line[:1] == b"t":
                send(bus, line.decode())


def send(bus, line):
    data = bytes.fromhex(line[5 : 5 + 2 * int(line[4])])
    bus.send(
        can.Message(arbitration_id=int(line[1:4], 16), data=data, is_extended_id=False)
    )


def main():
    bus = can.Bus(channel=sys.argv[1], interface="emucan")
    master, slave = os.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    for run in (run_to_port, run_to_bus):
        threading.Thread(target=run, args=(bus, master), daemon=True).start()
    sys.stdout.write(f"{os.ttyname(slave)}\n")
    sys.stdout.flush()
    sys.stdin.read()  # until its parent lets go
    os._exit(0)  # its threads wait for what may never come


if __name__ == "__main__":
    main()
