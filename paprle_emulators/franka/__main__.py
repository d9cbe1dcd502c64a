"""An emulated Franka Research 3 or Panda with its control unit, for libfranka.

    python -m paprle_emulators.franka [key=value …]

Keys:
    model=NAME       fr3 (version 10 of the protocol) or panda (version 5)  (fr3)
    address=A        of its ports 1337 and 1338, on the loopback; own: one that no
                     other process of this host has  (127.0.0.1)
    port=A           the same
    hand=BOOL        whether it has a Franka Hand, on port 1338  (true)
    q=Q1,…,Q7        joints at the start, rad  (the maker's ready pose)
    ideal=BOOL       whether the unit waits for a late command, 1 s at most, as no
                     real one does: for busy computers  (false)
    log=FILE         every request, command and cycle, with the emulator's clock
    fault=JSON       a fault from the start, as '{"fault":"lost","share":0.01}'; may
                     come several times

A client opens franka::Robot(ADDRESS): libfranka 0.21 or another that asks for version
10, with model=panda libfranka 0.9.2 or another that asks for version 5. It prints one
JSON line with its endpoint, then takes JSON lines on standard input and answers each
with one:
    {"fault": "cable", "time": 0.3}        also lost, late, silence: for a time; stall
    {"fault": "user_stop"}, {"fault": "none"}  also release, guide, end_guiding, lean,
                                           collision, cartesian_reflex, self_collision,
                                           power_limit, torque_range, joint_limit,
                                           joint_speed, manual, recover, lock, unlock,
                                           power_off, power_on, block
It ends on SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import sys

from paprle_emulators.command_line import Settings, read_one
from paprle_emulators.franka.arm import PERIOD, Arm
from paprle_emulators.franka.faults import UnitFaults, UnitLine
from paprle_emulators.franka.hand import MAX_WIDTH, Hand
from paprle_emulators.franka.journal import UnitJournal
from paprle_emulators.franka.models import HOME, MODELS
from paprle_emulators.franka.ports import HandPort, Port, RobotPort, UnitSession
from paprle_emulators.franka.protocol import Mode
from paprle_emulators.franka.unit import Unit
from paprle_emulators.pace import Pace
from paprle_emulators.vendor_arm.command import (
    Command,
    Made,
    Place,
    read_joints,
    run,
)
from paprle_emulators.vendor_arm.loop import Loop
from paprle_emulators.vendor_arm.server import MakeSession, Server

_SHORTEST = 0.7  # chosen: share of a cycle after a late one of this machine
_MOST_LATE = 3  # [cycles] chosen: a longer pause of this machine is left out
_PATIENCE_NS = 1_000_000_000  # [ns] chosen: of an ideal unit
_BOOLEANS = {"true": True, "false": False}


class Emulator(Loop):
    """Loop of arm, unit and hand."""

    flush_every = 20

    def __init__(
        self, place: Place, unit: Unit, hand: Hand | None, *, is_ideal: bool
    ) -> None:
        line, journal = UnitLine(), UnitJournal(place.log)
        self._line, self._unit_journal = line, journal
        self._unit, self._arm, self._hand = unit, unit.arm, hand
        self._is_ideal = is_ideal
        self._robot = RobotPort(unit, line, journal)
        self._hand_port = None if hand is None else HandPort(hand, line)
        ports: list[Port] = [
            self._robot,
            *([] if self._hand_port is None else [self._hand_port]),
        ]
        makers = {port.number: self._make_session(port) for port in ports}
        server = Server(place.address, makers, line, most_clients=1)  # chosen
        pace = Pace(PERIOD, most_late=_MOST_LATE, shortest=_SHORTEST)
        super().__init__(pace, server, UnitFaults(line, unit, hand), journal)

    def _make_session(self, port: Port) -> MakeSession:
        return lambda link: UnitSession(link, self.server, port)

    def _is_held(self, late_ns: int) -> bool:
        line, robot = self._line, self._robot
        is_moving = self._is_ideal and robot.has_client and self._arm.mode is Mode.MOVE
        is_well = not line.is_cut and not line.is_hurting and robot.is_heard
        if not is_moving or not is_well or robot.has_waiting:
            return False
        robot.is_heard = late_ns < _PATIENCE_NS
        return robot.is_heard

    def _step(self, now_ns: int, n_skipped: int) -> None:  # noqa: ARG002 - cycles count
        command = self._robot.choose()
        self._arm.step(None if command is None else command.q)
        answers = self._unit.note_cycle()
        if command is not None and command.is_last:
            answers += self._unit.finish()
        self._robot.advance(answers, n_skipped)
        if self._hand_port is not None and not self._line.is_off:
            self._hand_port.step(PERIOD)

    def _note(self, now_ns: int) -> None:
        width = MAX_WIDTH if self._hand is None else self._hand.width
        self._unit_journal.write_arm(now_ns, self._robot.message, self._arm, width)


def make(settings: Settings, place: Place) -> Made:
    """Return the emulator of settings.

    Args:
        settings: Of the command line.
        place: Its address and journal.

    Raises:
        ValueError: If a setting is invalid.
    """
    flags = {}
    for key, default in (("hand", "true"), ("ideal", "false")):
        word = read_one(settings, key, default)
        if word not in _BOOLEANS:
            raise ValueError(f"{key}: expected true or false, got {word}")
        flags[key] = _BOOLEANS[word]
    model = MODELS.get(name := read_one(settings, "model", "fr3"))
    if model is None:
        raise ValueError(f"model: expected {' or '.join(MODELS)}, got '{name}'")
    unit = Unit(Arm(read_joints(settings, HOME), model))
    hand = Hand() if flags["hand"] else None
    loop = Emulator(place, unit, hand, is_ideal=flags["ideal"])
    return Made(loop=loop, robot=model.robot)


def main(words: list[str]) -> int:
    """Run the arm."""
    keys = ("model", "hand", "ideal")
    command = Command(env="franka", help=__doc__ or "", make=make, keys=keys)
    return run(command, words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
