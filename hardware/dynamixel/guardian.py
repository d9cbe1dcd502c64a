"""Process that switches off servos with a faulty watchdog."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from paprle.hardware.dynamixel import guardian_process
from paprle.hardware.dynamixel.guardian_process import READY_AT, SIZE, STATE
from paprle.hardware.dynamixel.line.packets import Packets
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.servo import WATCHDOG, Servo
from paprle.hardware.serial_bus.register import Register

_END = 1.5  # [s] chosen: more than it tries for, less than a leader may take to end
_STATUS = bytes((0xFF, 0xFF, 0xFD, 0x00))  # spec: Protocol 2.0, header of a packet
_ERRORS = (0x00, 0x80)  # spec: Protocol 2.0: none, or the alert bit


class Guardian:
    """A running guardian."""

    def __init__(self, wire: Wire, servos: Sequence[Servo]) -> None:
        """Start the process on an open wire; ready later.

        Raises:
            OSError: It does not start.
        """
        memory = os.memfd_create("guardian")
        try:
            os.ftruncate(memory, SIZE)
            self._memory = mmap.mmap(memory, SIZE)
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    str(Path(guardian_process.__file__)),
                    json.dumps({"memory": memory, **_pack(wire, servos)}),
                ],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=(wire.port.fileno(), memory),
                start_new_session=True,  # what ends us by our group leaves it alone
            )
        finally:
            os.close(memory)
        self._n_beats = 0

    @property
    def is_ready(self) -> bool:
        """Whether it watches."""
        return bool(self._memory[READY_AT])

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self._process.poll() is None

    def beat(self, *, is_armed: bool) -> None:
        """Beat; an armed guardian acts after 0.1 s without."""
        self._n_beats += 1
        self._memory[: STATE.size] = STATE.pack(self._n_beats, is_armed)

    def end(self, *, is_off: bool, patience: float = _END) -> None:
        """End the guardian, or let it finish within ``patience`` [s]."""
        stdin = self._process.stdin
        if stdin is not None:
            with contextlib.suppress(OSError):  # it is gone already
                if is_off:
                    stdin.write(b"x")
            stdin.close()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _pack(wire: Wire, servos: Sequence[Servo]) -> dict[str, object]:
    paper, packets = _Paper(), Packets()
    at: Register = servos[0].register("Torque Enable")
    ids = [
        servo_id
        for servo in servos
        for servo_id in (servo.spec.id, servo.spec.twin)
        if servo_id is not None
    ]
    zeros = [byte for servo_id in ids for byte in (servo_id, 0)]
    packets.syncWriteTxOnly(paper, at.address, at.size, zeros, len(zeros))
    off, asks = paper.sheet, {}
    for servo_id in ids:
        packets.readTx(paper, servo_id, at.address, at.size)
        answers = [_make_answer(packets, servo_id, error) for error in _ERRORS]
        asks[servo_id] = (paper.sheet.hex(), [one.hex() for one in answers])
    return {
        "port": wire.port.fileno(),
        "silence": WATCHDOG,
        "off": off.hex(),
        "asks": asks,
    }


def _make_answer(packets: Packets, servo_id: int, error: int) -> bytes:
    body = _STATUS + bytes((servo_id, 5, 0, 0x55, error, 0))
    crc = packets.updateCRC(0, body, len(body))
    return body + crc.to_bytes(2, "little")


class _Paper:
    def __init__(self) -> None:
        self.is_using = False
        self.sheet = b""

    def clearPort(self) -> None:
        """Do nothing."""

    def writePort(self, packet: Sequence[int]) -> int:
        """Record a packet; return its length."""
        self.sheet, self.is_using = bytes(packet), False
        return len(packet)

    def setPacketTimeout(self, packet_length: int) -> None:
        """Do nothing."""
