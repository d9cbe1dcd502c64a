"""The unit's ports: requests on TCP, states and commands on UDP."""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from typing import Protocol

from paprle_emulators.franka.faults import UnitLine
from paprle_emulators.franka.hand import MAX_WIDTH, Hand
from paprle_emulators.franka.journal import UnitJournal
from paprle_emulators.franka.protocol import (
    HAND_PORT,
    HAND_VERSION,
    ROBOT_PORT,
    Mode,
    MotionCommand,
    Request,
    pack_answer,
    pack_hand_state,
    pack_version,
    take_requests,
)
from paprle_emulators.franka.unit import Unit
from paprle_emulators.vendor_arm.server import Link, Server, Session

_INCOMPATIBLE = 1  # spec: service_types.h, Connect
_CONNECT = 0  # spec: service_types.h, gripper/types.h
_CHUNK = 4096  # chosen: bytes of one packet
_HAND_EVERY = 50  # chosen: cycles between states of the hand


class Port(Protocol):
    """Device behind a port; ``version`` is of its protocol."""

    number: int
    version: int
    has_client: bool

    def answer(self, request: Request) -> bytes:
        """Return the answers to a request other than Connect."""

    def take_packet(self, data: bytes) -> None:
        """Take a packet of the client."""

    def report(self) -> tuple[bytes, bytes]:
        """Return this cycle's state, if any, and answers."""

    def forget(self) -> None:
        """Drop answers of a client that has gone."""


class RobotPort:
    """Port of the arm.

    Attributes:
        has_client: Somebody is sent states.
        is_heard: The client's newest command came.
        message: Identifier of the newest state.
    """

    number = ROBOT_PORT

    def __init__(self, unit: Unit, line: UnitLine, journal: UnitJournal) -> None:
        self._unit, self._line, self._journal = unit, line, journal
        self.version = unit.version.number
        self.has_client = self.is_heard = False
        self.message = self._sent = self._n_cycles = 0
        self._answers: list[bytes] = []
        self._waiting: list[tuple[int, MotionCommand]] = []

    @property
    def has_waiting(self) -> bool:
        """Whether late commands are on their way."""
        return bool(self._waiting)

    def answer(self, request: Request) -> bytes:
        """Return the answers to a request other than Connect."""
        stamp = time.monotonic_ns()
        try:
            command = self._unit.version.find_command(request)
            self._journal.write_request(stamp, command, request.payload)
            return b"".join(self._unit.answer(request))
        except ValueError:
            return b""  # an unknown request has no answer

    def take_packet(self, data: bytes) -> None:
        """Take a command, unless the line loses it."""
        stamp, command = time.monotonic_ns(), self._unit.version.unpack_command(data)
        if command is None or self._line.loses():
            return
        self._journal.write_command(stamp, command.message_id, self._sent, command.q)
        self.is_heard = True
        self._waiting.append((self._n_cycles + self._line.late_cycles, command))

    def choose(self) -> MotionCommand | None:
        """Return this cycle's command, if it is in time."""
        if self._unit.arm.mode is not Mode.MOVE:
            self._waiting.clear()
            self.is_heard = False
        arrived = [one for at, one in self._waiting if at <= self._n_cycles]
        self._waiting = [row for row in self._waiting if row[0] > self._n_cycles]
        in_time = [one for one in arrived if one.message_id == self._sent]
        return in_time[-1] if in_time else None

    def advance(self, answers: list[bytes], n_skipped: int) -> None:
        """End a cycle; messages count the skipped ones."""
        self._n_cycles += 1
        self.message += 1 + n_skipped
        self._sent = self.message
        self._answers += answers

    def report(self) -> tuple[bytes, bytes]:
        """Return this cycle's state, if any, and answers."""
        answers, self._answers = b"".join(self._answers), []
        if not self.has_client or self._line.is_silent:
            return b"", answers
        return self._unit.pack_state(self.message), answers

    def forget(self) -> None:
        """Drop answers of a client that has gone."""
        self._answers.clear()
        self._unit.forget()


class HandPort:
    """Port of the hand.

    Attributes:
        has_client: Somebody is sent states.
    """

    number, version = HAND_PORT, HAND_VERSION

    def __init__(self, hand: Hand, line: UnitLine) -> None:
        self._hand, self._line = hand, line
        self.has_client, self._n_cycles = False, 0

    def answer(self, request: Request) -> bytes:
        """Take a request, which is answered once it is done."""
        with contextlib.suppress(ValueError):
            self._hand.take(request)
        return b""

    def take_packet(self, data: bytes) -> None:
        """Ignore a packet."""

    def step(self, dt: float) -> None:
        """Advance the hand by dt, [s]."""
        self._hand.step(dt)
        self._n_cycles += 1

    def report(self) -> tuple[bytes, bytes]:
        """Return this cycle's state, if any, and answers."""
        hand = self._hand
        answers = b"".join(pack_answer(*answer) for answer in hand.answers)
        hand.answers.clear()
        is_due = self.has_client and self._n_cycles % _HAND_EVERY == 0
        if not is_due or self._line.is_silent:
            return b"", answers
        state = pack_hand_state(self._n_cycles, hand.width, MAX_WIDTH, hand.holds)
        return state, answers

    def forget(self) -> None:
        """Drop answers of a client that has gone."""
        self._hand.answers.clear()


class UnitSession(Session):
    """Client of a port."""

    def __init__(self, link: Link, server: Server, port: Port) -> None:
        super().__init__(link)
        self._server, self._port, self._buffer = server, port, bytearray()
        self._peer: tuple[str, int] | None = None
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind((server.address, 0))
        self._udp.setblocking(False)
        server.selector.register(self._udp, selectors.EVENT_READ, self._receive)
        port.forget()

    def take(self, data: bytes) -> bytes:
        """Return answers to whole requests; ValueError for another protocol."""
        self._buffer += data
        answers = b""
        for request in take_requests(self._port.number, self._buffer):
            is_first = request.command == _CONNECT
            answers += (
                self._connect(request) if is_first else self._port.answer(request)
            )
        return answers

    def report(self) -> bytes:
        """Send this cycle's state, then its answers."""
        state, answers = self._port.report()
        if state and self._peer is not None and not self._server.line.is_cut:
            with contextlib.suppress(OSError):  # nobody listens there any more
                self._udp.sendto(state, self._peer)
        self.link.send(answers)
        return b""

    def leave(self) -> None:
        """Send no more states."""
        self._port.has_client = False
        self._server.selector.unregister(self._udp)
        self._udp.close()

    def _connect(self, request: Request) -> bytes:
        ours = self._port.version
        version, udp_port = request.read_connect()
        is_known = version == ours
        if is_known:
            self._peer, self._port.has_client = (self.link.peer, udp_port), True
        status = 0 if is_known else _INCOMPATIBLE
        return pack_answer(request, status, pack_version(ours))

    def _receive(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                data, sender = self._udp.recvfrom(_CHUNK)
                if sender == self._peer and not self._server.line.is_cut:
                    self._port.take_packet(data)
