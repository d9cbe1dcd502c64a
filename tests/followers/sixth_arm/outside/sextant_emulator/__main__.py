"""An emulated Sextant S6, for the maker's SDK.

    python -m sextant_emulator [key=value …]

Keys:
    address=A        of its ports 7700 and 7701, on the loopback; own: one that no other
                     process of this host has  (127.0.0.1)
    port=A           the same
    model=NAME       as it says it  (S6)
    q=Q1,…,Q6        joints at the start, rad  (zeros)
    log=FILE         every goal, state and event, with the emulator's clock
    fault=JSON       a fault from the start; may come several times

It prints one JSON line with its endpoint, then takes JSON lines on standard input and
answers each with one:
    {"fault": "cable", "time": 0.3}        also silence, lost, late: for a time; stall,
                                           power_off, power_on
    {"fault": "collision"}, {"fault": "none"}   also drive, reset, estop, release,
                                           switch_on, slider, lean
It ends on SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import struct
import sys
import time

from sextant_emulator.controller import DT, N_JOINTS, Controller, Error

from paprle_emulators.command_line import Settings, read_one
from paprle_emulators.pace import Pace
from paprle_emulators.vendor_arm.command import Command, Made, Place, read_joints, run
from paprle_emulators.vendor_arm.faults import Faults
from paprle_emulators.vendor_arm.journal import Journal
from paprle_emulators.vendor_arm.line import Line
from paprle_emulators.vendor_arm.loop import Loop
from paprle_emulators.vendor_arm.server import Link, Server, Session

COMMANDS, STATES = 7700, 7701  # spec: the maker's document
_STATE = struct.Struct("<4sdHHd6d6d6d")  # spec: likewise


class CommandSession(Session):
    """Client of port 7700."""

    def __init__(self, link: Link, controller: Controller) -> None:
        super().__init__(link)
        self._controller, self._rest = controller, b""

    def take(self, data: bytes) -> bytes:
        """Return the answers to whole lines; ValueError for no ASCII."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        answers = [self._controller.answer(line.decode("ascii")) for line in lines]
        return "".join(f"{answer}\n" for answer in answers).encode()


class StateSession(Session):
    """Client of port 7701."""

    def __init__(self, link: Link, controller: Controller) -> None:
        super().__init__(link)
        self._controller = controller

    def report(self) -> bytes:
        """Return this cycle's state."""
        one = self._controller
        head = b"SXT1", one.time, one.mode, one.error, one.speed
        return _STATE.pack(*head, *one.q, *one.dq, *one.push_torque)


class ArmFaults(Faults):
    """Faults of arm and controller."""

    def __init__(self, line: Line, controller: Controller) -> None:
        self._controller = controller
        orders = {
            "collision": lambda: controller.halt(Error.COLLISION),
            "drive": lambda: controller.halt(Error.DRIVE),
            "reset": controller.reset,
            "estop": controller.stop_in_emergency,
            "release": controller.release,
            "switch_on": lambda: controller.switch_power(is_on=True),
            "slider": self._set_slider,
            "lean": self._lean,
        }
        super().__init__(line, orders)

    def clear(self) -> None:
        """End a push, and restore the slider."""
        self._controller.push_torque[:] = 0.0
        self._controller.speed = 1.0

    def switch(self, *, is_on: bool) -> None:  # noqa: ARG002 - it boots with brakes
        """Close the brakes with the power, and after it."""
        self._controller.switch_power(is_on=False)

    def _set_slider(self, fraction: float) -> None:
        self._controller.speed = min(max(float(fraction), 0.0), 1.0)

    def _lean(self, joint: int = 1, torque: float = 5.0) -> None:
        self._controller.push_torque[joint - 1] = float(torque)


class Emulator(Loop):
    """Loop of arm and controller."""

    def __init__(self, place: Place, controller: Controller, journal: Journal) -> None:
        self._controller, line = controller, Line()
        ports = {
            COMMANDS: lambda link: CommandSession(link, controller),
            STATES: lambda link: StateSession(link, controller),
        }
        server, faults = Server(place.address, ports, line), ArmFaults(line, controller)
        super().__init__(Pace(DT), server, faults, journal)

    def _step(self, now_ns: int, n_skipped: int) -> None:
        one = self._controller
        for goal in one.goals:
            self.journal.write_goal(now_ns, goal)
        one.goals.clear()
        one.time += n_skipped * DT  # its clock does not stand still
        one.step()

    def _note(self, now_ns: int) -> None:
        one = self._controller
        self.journal.write_state(now_ns, (one.mode, one.error), one.q, one.dq)


def make(settings: Settings, place: Place) -> Made:
    """Return the emulator of settings."""
    journal = Journal(place.log)

    def note(text: str) -> None:
        journal.write_event(time.monotonic_ns(), text)

    q, model = (
        read_joints(settings, [0.0] * N_JOINTS),
        read_one(settings, "model", "S6"),
    )
    return Made(loop=Emulator(place, Controller(q, model, note), journal), robot="")


def main(words: list[str]) -> int:
    """Run the arm."""
    help_text = __doc__ or ""
    command = Command(env="sextant", help=help_text, make=make, keys=("model",))
    return run(command, words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
