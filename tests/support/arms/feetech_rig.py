"""Emulated arms of Feetech servos: in a process, and in virtual time for the SDK."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from dynamixel_rig import RunningRig, VirtualPort

from paprle_emulators.feetech.config import find_rig
from paprle_emulators.feetech.faults import RigFaults
from paprle_emulators.feetech.orders import FeetechOrders
from paprle_emulators.feetech.packets import BROADCAST, make_instruction
from paprle_emulators.feetech.registers import BY_NAME, decode, encode
from paprle_emulators.feetech.rig import Rig

DT = 0.002
RATE = 1_000_000


@contextlib.contextmanager
def running_feetech(*words: str) -> Iterator[RunningRig]:
    """Run a rig in a process of its own, such as ``rig=so101``."""
    rig = RunningRig(*words, module="paprle_emulators.feetech")
    try:
        yield rig
    finally:
        rig.stop()


class VirtualFeetechPort(VirtualPort):
    """A port of the vendor's SDK in virtual time, as patient as its own."""

    def setPacketTimeout(self, length: int) -> None:
        self.setPacketTimeoutMillis(length * 0.01 + 34.0)


class FeetechBench:
    """One arm in virtual time, and registers by name over its bus.

    Attributes:
        rig, limb, faults: What is tested.
        port: For the vendor's SDK.
    """

    def __init__(self, name: str = "so101", **spec: object) -> None:
        self.rig = Rig(find_rig(name, **spec))
        self.name, self.limb = next(iter(self.rig.limbs.items()))
        self.faults = RigFaults(self.rig)
        self.port = VirtualFeetechPort(self.rig, self.name, RATE)

    def order(self, line: bytes) -> dict:
        """Execute an order that no terminal is needed for."""
        return FeetechOrders(self.rig, self.faults, print).obey(line, None)

    def servo(self, number: int):
        """Return the servo of a place in the arm, from 1 on."""
        return self.limb.servos[number - 1]

    def send(self, number: int, code: int, params: bytes = b"") -> bytes:
        """Send an instruction, and return the answers, however late they come."""
        packet = make_instruction(number, code, params)
        answers = self.rig.answer(self.name, packet, RATE)
        return b"".join(one.data for one in answers)

    def write(self, number: int, name: str, value: int) -> None:
        """Write a register."""
        register = BY_NAME[name]
        self.send(number, 3, bytes((register.address,)) + encode(register, value))

    def read(self, number: int, name: str) -> int:
        """Read a register."""
        register = BY_NAME[name]
        params = bytes((register.address, register.size))
        return decode(register, self.send(number, 2, params)[5:-1])

    def write_all(self, name: str, value: int) -> None:
        """Write a register of all servos."""
        register = BY_NAME[name]
        body = bytes((register.address,)) + encode(register, value)
        self.send(BROADCAST, 3, body)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        for _ in range(round(seconds / DT)):
            self.rig.step(DT)

    def hold(self, *numbers: int) -> None:
        """Let servos hold where they are."""
        for number in numbers or range(1, 7):
            self.write(number, "Goal_Position", self.read(number, "Present_Position"))
            self.write(number, "Torque_Enable", 1)
