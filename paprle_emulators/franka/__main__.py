"""An emulated Franka Research 3 with its control unit, for libfranka.

    python -m paprle_emulators.franka [key=value …]

Keys:
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

A client opens franka::Robot(ADDRESS), libfranka 0.21 or what asks for version 10. It
prints one JSON line with its endpoint, then takes JSON lines on standard input and
answers each with one:
    {"fault": "cable", "time": 0.3}        also lost, late, silence: for a time
    {"fault": "user_stop"}, {"fault": "none"}  also release, guide, end_guiding, lean,
                                           collision, cartesian_reflex, self_collision,
                                           power_limit, torque_range, joint_limit,
                                           joint_speed, manual, recover, lock, unlock,
                                           power_off, power_on, block
It ends on SIGTERM and Ctrl-C.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from types import FrameType

import numpy as np

from paprle_emulators.command_line import read_one, say, take_settings
from paprle_emulators.franka.arm import PERIOD, Arm
from paprle_emulators.franka.faults import Faults
from paprle_emulators.franka.hand import MAX_WIDTH, Hand
from paprle_emulators.franka.journal import Journal
from paprle_emulators.franka.models import HOME
from paprle_emulators.franka.protocol import (
    HAND_PORT,
    ROBOT_PORT,
    Mode,
    MotionCommand,
    Request,
    pack_answer,
    pack_hand_state,
    unpack_command,
)
from paprle_emulators.franka.server import Server
from paprle_emulators.franka.unit import Unit
from paprle_emulators.notice import announce
from paprle_emulators.punctual import request_punctuality

_KEYS = ("address", "port", "hand", "q", "ideal", "log", "fault")
_PERIOD_NS = round(PERIOD * 1e9)
_SHORTEST_NS = 700_000  # [ns] chosen: of a cycle after a late one of this machine
_PAUSE_NS = 3_000_000  # [ns] chosen: a pause of this machine, which its time leaves out
_HAND_EVERY = 50  # chosen: cycles between states of the hand
_FLUSH_EVERY = 20  # chosen: cycles between writings of the journal
_SHORTEST_WAIT = 5e-5  # [s] chosen: also of a late cycle, so that it hears
_PATIENCE_NS = 1_000_000_000  # [ns] chosen: of an ideal unit
_BOOLEANS = {"true": True, "false": False}


class Emulator:
    """Loop of arm, unit, ports, faults and journal."""

    def __init__(
        self, faults: Faults, server: Server, log: Journal, *, is_ideal: bool
    ) -> None:
        self._faults, self._server, self._log = faults, server, log
        self._unit, self._arm, self._hand = faults.unit, faults.arm, faults.hand
        self._is_ideal = is_ideal
        self._must_end, self._rest, self._n_boots = False, b"", 0
        self._n_clients = 0
        self._message = self._sent = self._n_cycles = self._next_ns = 0
        self._command: MotionCommand | None = None
        self._answers: list[bytes] = []
        self._waiting: list[tuple[int, MotionCommand]] = []
        self._hears_orders, self._is_heard = True, False

    def run(self) -> None:
        """Run until a signal."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        due = self._next_ns = time.monotonic_ns()
        while not self._must_end:
            self._listen(self._next_ns)
            now = time.monotonic_ns()
            if now < self._next_ns or self._waits(now - self._next_ns):
                continue
            if now - due > _PAUSE_NS:  # a real unit does not pause; the arm waits
                n_missed = (now - due) // _PERIOD_NS
                self._message += n_missed
                due += n_missed * _PERIOD_NS
            self._step(now)
            due += _PERIOD_NS
            self._next_ns = max(due, now + _SHORTEST_NS)

    def _waits(self, late_ns: int) -> bool:
        faults = self._faults
        has_client = self._server.has_client(ROBOT_PORT)
        is_moving = self._is_ideal and has_client and self._arm.mode is Mode.MOVE
        is_well = not faults.is_cut and not faults.is_hurting and self._is_heard
        if not is_moving or not is_well or self._waiting:
            return False
        self._is_heard = late_ns < _PATIENCE_NS
        return self._is_heard

    def _listen(self, due: int) -> None:
        timeout = max((due - time.monotonic_ns()) * 1e-9, _SHORTEST_WAIT)
        if self._faults.is_cut or self._faults.is_off:
            time.sleep(timeout)
            return
        requests, packets = self._server.receive(timeout)
        if self._server.n_clients != self._n_clients:
            self._n_clients = self._server.n_clients
            self._answers.clear()
            self._unit.forget()
        for request in requests:
            self._take_request(request)
        stamp = time.monotonic_ns()
        for data in packets:
            command = unpack_command(data)
            if command is None or self._faults.loses():
                continue
            self._log.write_command(stamp, command.message_id, self._sent, command.q)
            self._is_heard = True
            self._waiting.append((self._n_cycles + self._faults.late_cycles, command))

    def _take_request(self, request: Request) -> None:
        stamp = time.monotonic_ns()
        if request.port == HAND_PORT:
            if self._hand is not None:
                with contextlib.suppress(ValueError):
                    self._hand.take(request)
            return
        self._log.write_request(stamp, request.command, request.payload)
        try:
            answers = self._unit.answer(request)
        except ValueError:
            return  # an unknown request has no answer
        for answer in answers:
            self._server.answer(ROBOT_PORT, answer)

    def _step(self, now_ns: int) -> None:
        self._take_orders()
        self._faults.pass_time(now_ns)
        if self._faults.n_boots != self._n_boots:
            self._n_boots = self._faults.n_boots
            self._server.leave()  # whoever was connected has to come again
            if not self._faults.is_off:
                self._server.listen()
        command = self._choose()
        self._arm.step(None if command is None else command.q)
        answers = self._unit.note_cycle()
        if command is not None and command.is_last:
            answers += self._unit.finish()
        self._n_cycles += 1
        self._message += 1
        self._sent = self._message
        self._report(answers)
        width = MAX_WIDTH if self._hand is None else self._hand.width
        self._log.write_arm(now_ns, self._message, self._arm, width)
        if self._n_cycles % _FLUSH_EVERY == 0:
            self._log.flush()

    def _choose(self) -> MotionCommand | None:
        if self._arm.mode is not Mode.MOVE:
            self._waiting.clear()
            self._is_heard = False
        arrived = [one for at, one in self._waiting if at <= self._n_cycles]
        self._waiting = [row for row in self._waiting if row[0] > self._n_cycles]
        in_time = [one for one in arrived if one.message_id == self._sent]
        return in_time[-1] if in_time else None

    def _report(self, answers: list[bytes]) -> None:
        faults, server = self._faults, self._server
        self._answers = [] if faults.is_off else [*self._answers, *answers]
        if faults.is_cut or faults.is_off:
            return  # TCP brings the answers once the cable is in again
        if server.has_client(ROBOT_PORT) and not faults.is_silent:
            state = self._unit.pack_state(self._message)
            server.send_state(ROBOT_PORT, state)
        for answer in self._answers:
            server.answer(ROBOT_PORT, answer)
        self._answers = []
        if self._hand is not None:
            self._report_hand(self._hand)

    def _report_hand(self, hand: Hand) -> None:
        hand.step(PERIOD)
        for request, status in hand.answers:
            self._server.answer(HAND_PORT, pack_answer(request, status))
        hand.answers.clear()
        if self._n_cycles % _HAND_EVERY == 0 and self._server.has_client(HAND_PORT):
            state = pack_hand_state(self._n_cycles, hand.width, MAX_WIDTH, hand.holds)
            self._server.send_state(HAND_PORT, state)

    def _take_orders(self) -> None:
        if not self._hears_orders or not select.select([sys.stdin], [], [], 0.0)[0]:
            return
        data = os.read(sys.stdin.fileno(), 65536)
        self._hears_orders = bool(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in filter(None, lines):
            self._take_order(line.decode(errors="replace"))

    def _take_order(self, line: str) -> None:
        now = time.monotonic_ns()
        try:
            order = json.loads(line)
            if not isinstance(order, dict):
                raise ValueError(f"expected a JSON object, got {line!r}")
            self._faults.apply(now, order)
        except ValueError as err:
            say(json.dumps({"ok": False, "error": str(err)}))
            return
        self._log.write_fault(now, line)
        say(json.dumps({"ok": True, "done": order["fault"], "stamp_ns": now}))

    def _end(self, _signal: int, _frame: FrameType | None) -> None:
        self._must_end = True


def choose_address(word: str) -> str:
    """Return a loopback address."""
    if word != "own":
        return word
    pid = os.getpid()
    return f"127.{1 + (pid >> 16) % 254}.{pid >> 8 & 0xFF}.{pid & 0xFF or 1}"


def make_faults(words: list[str]) -> tuple[Faults, str, bool, str]:
    """Return arm, address, whether it is ideal, and log.

    Raises:
        ValueError: If a setting is invalid.
    """
    settings = take_settings(words, _KEYS)
    answers = {}
    for key, default in (("hand", "true"), ("ideal", "false")):
        word = read_one(settings, key, default)
        if word not in _BOOLEANS:
            raise ValueError(f"{key}: expected true or false, got {word}")
        answers[key] = _BOOLEANS[word]
    q = read_one(settings, "q", ",".join(map(str, HOME)))
    arm = Arm(np.array([float(word) for word in q.split(",")]))
    faults = Faults(Unit(arm), Hand() if answers["hand"] else None)
    for text in settings["fault"]:
        faults.apply(time.monotonic_ns(), json.loads(text))
    place = read_one(settings, "port", read_one(settings, "address", "127.0.0.1"))
    log = read_one(settings, "log", "")
    return faults, choose_address(place), answers["ideal"], log


def main(words: list[str]) -> int:
    """Run the arm."""
    if {"-h", "--help"} & set(words):
        sys.stdout.write(f"{__doc__}\n")
        return 0
    request_punctuality()
    try:
        faults, address, is_ideal, log = make_faults(words)
    except ValueError as err:
        sys.stderr.write(f"franka emulator: {err}\n")
        return 2
    with contextlib.ExitStack() as stack:
        server = Server(address, faults.hand is not None)
        stack.callback(server.leave)
        try:
            file = None
            if log:
                file = stack.enter_context(Path(log).open("w", encoding="ascii"))
            server.listen()
        except OSError as err:
            sys.stderr.write(f"franka emulator: {address}: {err}\n")
            return 2
        overrides = [f"env.host={address}"]
        stack.enter_context(announce("env", "franka", overrides, "fr3"))
        endpoint = {"ports": {"franka": address}, "host": address, "log": log}
        say(json.dumps({"ready": True, **endpoint, "overrides": overrides}))
        Emulator(faults, server, Journal(file), is_ideal=is_ideal).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
