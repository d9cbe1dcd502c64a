"""The follower's end of a link: one session at a time, and only what may be obeyed.

What comes is sealed, in order, of the right size, finite and near the robot's limits,
or it is counted and nothing else. Set-points that pass carry this host's times: how old
the leader's data were on their arrival, the way included. The gate judges them by that
age and by their arrival, as it judges those of a session beside it.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from paprle.contracts.types import RobotInfo
from paprle.ipc.peer_clock import PeerClock
from paprle.ipc.records import Record
from paprle.link.guards import AgeGuard, SetpointGuard
from paprle.link.mirror import Cut, Mirror, Queue, find_by_kind
from paprle.link.packets import LAST, Kind, Packet, Sealer, Side, derive_key
from paprle.link.terms import find_difference

NONCE = 16  # [bytes] chosen: never the same twice


class FollowerEnd:
    """What the follower's host hears and says.

    Attributes:
        refused: Datagrams and orders that were refused, by reason.
        clock: The leader host's clock.
        locked: Why no session may begin; empty when one may.
        is_open: A session has asked for the gate and has not left.
        is_recorded: It records, so that no period of the gate may be missing.
        heard_ns: When it last said anything, our time, [ns].
        outbox: Datagrams to send, and whether each must arrive.
    """

    def __init__(
        self,
        key: bytes,
        robot: RobotInfo,
        cut: Cut,
        terms: Mapping[str, str],
        make_nonce: Callable[[], bytes] = lambda: os.urandom(NONCE),
    ) -> None:
        self.refused: Counter[str] = Counter()
        self.clock = PeerClock()
        self.locked = ""
        self.outbox: list[tuple[bytes, bool]] = []
        self._key, self._terms = key, terms
        self._cut, self._make_nonce = cut, make_nonce
        self._heard = find_by_kind(cut, is_up=True)
        self._guards = {port: _make_guard(cut[port], robot) for port in cut}
        self._sealer: Sealer | None = None
        self.close()

    def close(self) -> None:
        """Forget the session; what was said in it is worth nothing from now on."""
        self.is_open = self.is_recorded = False
        self.heard_ns = 0
        self._nonce, self._welcomed = self._make_nonce(), b""
        self._past, self._sealer = self._sealer, None
        if self._past is not None:
            self._past.refused = Counter()  # its words may still be under way
        self._n_records = 0
        self._ready: bytes | None = None
        for guard in self._guards.values():
            guard.forget()
        self.clock = PeerClock()

    def permit(self, now_ns: int) -> None:
        """Somebody beside the robot allows resets from afar, for a while (E1)."""
        self.locked = ""
        for guard in self._guards.values():
            guard.permit(now_ns)

    def take(self, data: list[bytes], now_ns: int) -> dict[str, Record]:
        """Take datagrams; return the newest record of each port, in our time."""
        newest: dict[str, Record] = {}
        for one in data:
            if one[3:4] == bytes([Kind.HELLO]):
                self._answer(one, now_ns)
                continue
            if self._sealer is None:
                self._try_open(one, now_ns)
                continue
            packet = self._sealer.open(one)
            if packet is not None:
                self.heard_ns = now_ns
                self.clock.take(packet, now_ns)
                self._obey(packet, now_ns, newest)
        return newest

    def send_report(self, report: dict[str, Any], now_ns: int) -> None:
        """Tell the leader's host what the gate said."""
        data = json.dumps(report).encode()
        if report["event"] != "trouble":  # that is told once, whoever hears it
            self._ready = data
        self._send(Kind.REPORT, data, now_ns)

    def send(self, port: str, data: bytes, now_ns: int) -> None:
        """Send a record of a port; one of a queue must arrive."""
        mirror = self._cut[port]
        is_queued = isinstance(mirror.policy, Queue)
        self._n_records += is_queued
        self._send(mirror.kind, data, now_ns, must_arrive=is_queued)

    def send_bye(self, now_ns: int) -> None:
        """Say that the gate is gone, and which record was its last."""
        self._send(Kind.BYE, LAST.pack(self._n_records), now_ns)

    def _send(
        self, kind: Kind, payload: bytes, now_ns: int, *, must_arrive: bool = False
    ) -> None:
        if self._sealer is not None:
            echo = self.clock.make_echo(now_ns)
            data = self._sealer.seal(kind, payload, now_ns, echo)
            self.outbox.append((data, must_arrive))

    def _answer(self, data: bytes, now_ns: int) -> None:
        """Answer somebody who knows the key and asks for the robot.

        While the gate of a session that has left still brakes, nobody is answered: what
        a welcome of that time opens is over soon. Whoever waits asks again.
        """
        sealer = Sealer(self._key, Side.FOLLOWER, self.refused)
        packet = sealer.open(data)
        if packet is None:
            return
        nonce, terms = packet.payload[:NONCE], packet.payload[NONCE:]
        is_same = self.is_open and nonce == self._welcomed
        if self._sealer is not None and not self.is_open:
            return
        why = "" if is_same else self.locked
        if self.is_open and not is_same:
            why = "expected no other session (T2), got one that drives the robot"
        else:
            why = why or find_difference(self._terms, terms)
        if why:
            self.refused["session"] += 1
        kind = Kind.REFUSAL if why else Kind.WELCOME
        payload = nonce + (why.encode() if why else self._nonce)
        self.outbox.append((sealer.seal(kind, payload, now_ns), False))

    def _try_open(self, data: bytes, now_ns: int) -> None:
        """Begin the session of somebody who has our nonce of this time."""
        if self._past is not None and self._past.open(data) is not None:
            return
        nonce = data[-NONCE - 17 : -17]  # before a flag, and the tag
        key = derive_key(self._key, nonce, self._nonce)
        sealer = Sealer(key, Side.FOLLOWER, self.refused)
        packet = sealer.open(data)
        if packet is None or packet.kind is not Kind.OPEN or self.locked:
            return
        self._sealer, self.is_open, self.heard_ns = sealer, True, now_ns
        self._welcomed = nonce
        self.is_recorded = packet.payload[-1:] == b"\x01"
        self.clock.take(packet, now_ns)

    def _obey(self, packet: Packet, now_ns: int, newest: dict[str, Record]) -> None:
        if packet.kind is Kind.BYE:
            self.is_open = False
        elif packet.kind is Kind.OPEN and self._ready is not None:
            self._send(Kind.REPORT, self._ready, now_ns)  # it has not heard it yet
        elif packet.kind in self._heard:
            port = self._heard[packet.kind]
            record = self._check(port, packet, now_ns)
            if record is not None:
                newest[port] = record

    def _check(self, port: str, packet: Packet, now_ns: int) -> Record | None:
        """Return a record in our time, or refuse it."""
        dtype = self._cut[port].dtype
        if len(packet.payload) != dtype.itemsize:
            self.refused["malformed"] += 1
            return None
        record: Record = np.frombuffer(packet.payload, dtype)[0].copy()
        return self._guards[port].take(self, record, packet, now_ns)


def _make_guard(mirror: Mirror, robot: RobotInfo) -> AgeGuard | SetpointGuard:
    """Return who looks at the records of a port first."""
    is_command = mirror.kind is Kind.SETPOINT
    return SetpointGuard(robot) if is_command else AgeGuard(mirror)
