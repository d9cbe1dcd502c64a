"""A rig in virtual time: buses, their servos, and the arms that the servos move.

``step`` moves time on, ``exchange`` is the wire; nothing here waits or has a clock. The
server puts a rig behind pseudo-terminals in real time; tests of feel and stability step
it as fast as they like.
"""

from __future__ import annotations

from dataclasses import dataclass

from hardware.dynamixel.emulator.bus import BAUDS, Answer, Bus
from hardware.dynamixel.emulator.config import LimbSpec, RigSpec, ServoSpec
from hardware.dynamixel.emulator.models import find_model
from hardware.dynamixel.emulator.servo import Servo

HEALTH_PERIOD = 0.1  # chosen: temperature and supply change slowly [s]
WATCHDOG_PERIOD = 0.01  # chosen: half of the watchdog's unit [s]


def make_servo(spec: ServoSpec, baud: int) -> Servo:
    """Return a servo as a calibrated rig has it: own ID, fast bus, no return delay."""
    servo = Servo(spec.number, find_model(spec.model))
    servo.table.set("Baud Rate", BAUDS.index(baud))
    servo.table.set("Return Delay Time", 0)
    servo.angle = spec.offset
    servo.reboot()
    return servo


@dataclass(slots=True)
class Limb:
    """An arm with its servos.

    Attributes:
        spec: What it is.
        servos: In the order of the joints.
    """

    spec: LimbSpec
    servos: list[Servo]


class Rig:
    """Arms, servos and buses in virtual time.

    Attributes:
        limbs: By name.
        buses: By port, as the specification names ports.
        now_ns: Time since the start, [ns].
    """

    def __init__(self, spec: RigSpec) -> None:
        self.spec = spec
        self.limbs = {
            limb.name: Limb(limb, [make_servo(s, spec.baud) for s in limb.servos])
            for limb in spec.limbs
        }
        self.buses = {
            port: Bus(
                servo
                for limb in self.limbs.values()
                if limb.spec.port == port
                for servo in limb.servos
            )
            for port in spec.ports
        }
        self.now_ns = 0

    def exchange(self, port: str, data: bytes, baud: int | None = None) -> bytes:
        """Put bytes on a bus and return all that comes back, without delay.

        Args:
            port: Which bus.
            data: What a client sends.
            baud: At which rate; None: at the one the servos understand.
        """
        return b"".join(answer.data for answer in self.answer(port, data, baud))

    def answer(self, port: str, data: bytes, baud: int | None = None) -> list[Answer]:
        """Put bytes on a bus and return the answers with their delays."""
        return self.buses[port].receive(data, self.now_ns, baud)

    def step(self, dt: float) -> None:
        """Move time on by a small step, [s]."""
        self.now_ns += round(dt * 1e9)
