"""Starts emulated rigs of Dynamixel servos for tests, and ends them."""

from __future__ import annotations

import contextlib
import json
import selectors
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.line.wire import Wire
from paprle_emulators.dynamixel.rig import Rig

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 30.0  # chosen: a busy machine's start of Python with pinocchio [s]

TWO_JOINTS = """
type: puppeteer
baud: 4000000
limbs:
  left:
    port: one
    servos:
      shoulder: {id: 1, model: xl330-m288}
      elbow: {id: 2, model: xl330-m288, sign: -1, offset: 0.5}
    gripper: {joint: gripper, id: 8, model: xl330-m077, closed: 0.0, open: 0.8}
  right:
    port: two
    servos:
      shoulder: {id: 1, model: xm430-w350}
      elbow: {id: 2, model: xl430-w250, gear: 2.0}
"""
"""A small rig without links: two buses, three and two servos, four models."""


class RunningRig:
    """A rig in a process of its own.

    Attributes:
        ports: What to open, by limb.
        overrides: Settings that make a leader use them.
        process: The process.
    """

    def __init__(self, *words: str, module: str = "paprle_emulators.dynamixel") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
        )
        self._rest = b""
        try:
            ready = self._read_line()
        except BaseException:
            self.stop()
            raise
        self.ports: dict[str, str] = ready["ports"]
        self.overrides: list[str] = ready["overrides"]

    def _read_line(self) -> dict:
        out = self.process.stdout
        with selectors.DefaultSelector() as selector:
            selector.register(out, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                assert selector.select(PATIENCE), "the emulator says nothing"
                data = out.read1(65536)
                assert data, "the emulator ended"
                self._rest += data
        line, self._rest = self._rest.split(b"\n", 1)
        return json.loads(line)

    def ask(self, **order: object) -> dict:
        """Send an order and return its answer, whatever it is."""
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()
        return self._read_line()

    def send(self, **order: object) -> dict:
        """Send an order that must be carried out, such as ``cmd="state"``."""
        answer = self.ask(**order)
        assert answer["ok"], answer
        return answer

    def fault(self, kind: str, **what: object) -> None:
        """Cause a fault."""
        self.send(fault=kind, **what)

    def state(self, limb: str) -> dict:
        """Return the truth about one limb."""
        return self.send(cmd="state")["limbs"][limb]

    def stop(self) -> int:
        """End it and return its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            for stream in (self.process.stdin, self.process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


@contextlib.contextmanager
def running_rig(leader: str | Path, *words: str) -> Iterator[RunningRig]:
    """Run a rig for the length of a block.

    Args:
        leader: Name of a config, or path of one.
        words: Such as ``motion=sines`` or ``link_dir=…``.
    """
    rig = RunningRig(f"leader={leader}", *words)
    try:
        yield rig
    finally:
        rig.stop()


class VirtualPort:
    """A port of the vendor's SDK on a rig in virtual time: no terminal, no waiting.

    Waiting for a packet steps the rig, a millisecond at a time.
    """

    def __init__(self, rig: Rig, port: str, baud: int | None = None) -> None:
        self.rig, self.port, self.baud = rig, port, baud
        self.is_using = False
        self.is_open = True
        self.tx_time_per_byte = 0.0025
        self._bytes = b""
        self._end_ns = 0
        self.is_plugged = True

    def clearPort(self) -> None:
        self._bytes = b""

    def closePort(self) -> None:
        self.is_open = self.is_using = False

    def getBaudRate(self) -> int:
        return self.baud or 4_000_000

    def writePort(self, packet: list[int]) -> int:
        if not self.is_plugged:
            raise OSError(5, "Input/output error")
        self._bytes += self.rig.exchange(self.port, bytes(packet), self.baud)
        return len(packet)

    def readPort(self, length: int) -> bytes:
        taken, self._bytes = self._bytes[:length], self._bytes[length:]
        return taken

    def setPacketTimeout(self, length: int) -> None:
        self.setPacketTimeoutMillis(length * self.tx_time_per_byte + 10)

    def setPacketTimeoutMillis(self, milliseconds: float) -> None:
        self._end_ns = self.rig.now_ns + round(min(milliseconds, 50) * 1e6)

    def isPacketTimeout(self) -> bool:
        if self.rig.now_ns >= self._end_ns:
            return True
        self.rig.step(0.001)
        self._bytes += self.rig.exchange(self.port, b"", self.baud)
        return False


class VirtualWire(Wire):
    """A wire to a rig in virtual time; may be unplugged.

    Attributes:
        is_plugged: The adapter is there.
    """

    def __init__(self, rig: Rig, port: str) -> None:
        super().__init__(port, 4_000_000)
        self.rig = rig
        self.is_plugged = True

    def open(self) -> None:
        if not self.is_plugged:
            raise BusError(f"port '{self.path}': gone")
        self.port = VirtualPort(self.rig, self.path)

    def wait(self, duration: float) -> None:
        for _ in range(round(duration * 1000)):
            self.rig.step(0.001)

    def unplug(self) -> None:
        self.is_plugged = self.port.is_plugged = False
