"""Follower's end of a link, for one session at a time.

Datagrams must be sealed, in order, finite and near the robot's limits. Accepted
set-points carry the age of the leader's data.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from paprle.contracts.datagram import Address, Datagram, get_address
from paprle.ipc.peer_clock import PeerClock
from paprle.ipc.records import Record
from paprle.link.arrivals import Callers, choose
from paprle.link.batch_compression import AT_ONCE, squeeze
from paprle.link.flow import Sending
from paprle.link.guards import Guard
from paprle.link.handshake import REMEDY, find_difference
from paprle.link.mirror import Cut, find_by_kind, find_queue
from paprle.link.packets import LAST, DatagramKind, Packet, Sealer, Side, derive_key
from paprle.link.rates import Allowance, Leftover
from paprle.link.reports import pack_report

NONCE = 16  # [bytes] chosen: never the same twice
_TIMES_NOMINAL = 2.0  # spec: safety.md A7
_BURST = 0.25  # [s] chosen: what comes at once after the network stood still
_UNHEARD_NS = 400_000_000  # [ns] chosen: a queue of 0.2 s, a common buffer, each way


class FollowerEnd:
    """Follower's end of a link.

    Attributes:
        is_recorded: The session needs every period of the gate.
    """

    def __init__(
        self,
        key: bytes,
        cut: Cut,
        guards: Mapping[str, Guard],
        terms: Mapping[str, str],
        *,
        rate: float,
        make_nonce: Callable[[], bytes] = lambda: os.urandom(NONCE),
    ) -> None:
        """Prepare; more than double the leader host's ``rate``, [Hz], is refused."""
        self.refused: Counter[str] = Counter()
        self.clock = PeerClock()
        self.locked = ""
        self.outbox: list[bytes] = []
        self._rate = _TIMES_NOMINAL * rate
        self._callers = Callers()
        self.remedy = REMEDY
        self._key, self._terms = key, terms
        self._cut, self._make_nonce = cut, make_nonce
        self._heard = find_by_kind(cut, is_up=True)
        self._queued, queue = find_queue(cut) or ("", None)
        self._bound = queue.bound // AT_ONCE if queue is not None else 0
        self._guards = guards
        self._sealer: Sealer | None = None
        self.close()

    def close(self) -> None:
        """Forget the session and void its packets."""
        self.is_open = self.is_recorded = False
        self.heard_ns = 0
        self._peer: Address | None = None
        self._nonce, self._welcomed = self._make_nonce(), b""
        self._past, self._sealer = self._sealer, None
        if self._past is not None:
            self._past.refused = Counter()  # its words may still be under way
        self._waiting: list[bytes] = []
        self._flow, self._leftover = Sending(self._bound), Leftover()
        self._ready: bytes | None = None
        for guard in self._guards.values():
            guard.forget()
        self.clock = PeerClock()
        self._heard_of = Allowance(self._rate, _BURST * self._rate)

    def is_unheard(self, now_ns: int) -> bool:
        """Return whether our newest echoed stamp is too old."""
        clock = self.clock
        return clock.find_echo_age(now_ns) > clock.trip_ns + _UNHEARD_NS

    def permit(self, now_ns: int) -> None:
        """Unlock, and allow remote resets for a while (E1)."""
        self.locked = ""
        for guard in self._guards.values():
            guard.permit(now_ns)

    def receive(self, data: list[bytes], now_ns: int) -> dict[str, Record]:
        """Return each port's newest record, in local time."""
        newest: dict[str, Record] = {}
        chosen = choose(data, self._peer)
        self._refuse("too many at once", len(data) - len(chosen))
        for one in chosen:
            if one[3:4] == bytes([DatagramKind.HELLO]):
                self._answer(one, now_ns)
                continue
            if self._sealer is None:
                self._try_open(one, now_ns)
                continue
            packet = self._sealer.open(one)
            if packet is not None:
                self.heard_ns, self._peer = now_ns, get_address(one)
                self.clock.take(packet, now_ns)
                self._leftover.see(self.clock.waited_ns, now_ns)
                self._obey(packet, now_ns, newest)
        return newest

    def _refuse(self, why: str, n: int = 1) -> None:
        if n:
            self.refused[why] += n

    def send_report(self, report: dict[str, Any], now_ns: int) -> None:
        """Send a report of the gate."""
        data = pack_report(report)
        if report["event"] != "trouble":  # that is told once, whoever hears it
            self._ready = data
        self._send(DatagramKind.REPORT, data, now_ns)

    def send(self, port: str, data: bytes, now_ns: int) -> None:
        """Send a port's record, reliably for a queue."""
        if port != self._queued:
            is_whole = self._cut[port].dtype is None
            for payload in [data] if is_whole else squeeze([data]):
                self._send(self._cut[port].kind, payload, now_ns)
            return
        self._waiting.append(data)
        if len(self._waiting) == AT_ONCE:
            self._queue_waiting()

    def send_queued(self, now_ns: int) -> None:
        """Send waiting records at the available rate."""
        trip_ns = self.clock.trip_ns
        for payload in self._flow.list_due(self._leftover, trip_ns, now_ns):
            self._send(self._cut[self._queued].kind, payload, now_ns)

    def send_bye(self, now_ns: int) -> None:
        """Announce the gate's end and last record."""
        self.is_open = False
        self._queue_waiting()
        self._send(DatagramKind.BYE, LAST.pack(self._flow.n_last), now_ns)

    @property
    def is_drained(self) -> bool:
        """Whether all reliable records have arrived."""
        return self._flow.is_empty and not self._waiting

    def _queue_waiting(self) -> None:
        for payload in squeeze(self._waiting) if self._waiting else []:
            self._flow.put(payload)
        self._waiting.clear()

    def _send(self, kind: DatagramKind, payload: bytes, now_ns: int) -> None:
        if self._sealer is not None:
            echo = self.clock.make_echo(now_ns)
            data = self._sealer.seal(kind, payload, now_ns, echo)
            self.outbox.append(Datagram.make(data, self._peer))

    def _answer(self, data: bytes, now_ns: int) -> None:
        # While the gate of a session that has left still brakes, nobody is answered:
        # what a welcome of that time opens is over soon. Whoever waits asks again.
        sealer = Sealer(self._key, Side.FOLLOWER, self.refused)
        packet = sealer.open(data)
        if packet is None:
            return
        nonce, terms = packet.payload[:NONCE], packet.payload[NONCE:]
        if not self._callers.may_be_answered(nonce, get_address(data), now_ns):
            self._refuse("asked too often")
            return
        is_same = self.is_open and nonce == self._welcomed
        if self._sealer is not None and not self.is_open:
            return
        why = "" if is_same else self.locked
        if self.is_open and not is_same:
            why = "expected no other session (T2), got one that drives the robot"
        else:
            why = why or find_difference(self._terms, terms, self.remedy)
        if why:
            self.refused["session"] += 1
        kind = DatagramKind.REFUSAL if why else DatagramKind.WELCOME
        payload = nonce + (why.encode() if why else self._nonce)
        answer = sealer.seal(kind, payload, now_ns)
        self.outbox.append(Datagram.make(answer, get_address(data)))

    def _try_open(self, data: bytes, now_ns: int) -> None:
        if self._past is not None and self._past.open(data) is not None:
            return
        nonce = data[-NONCE - 17 : -17]  # before a flag, and the tag
        key = derive_key(self._key, nonce, self._nonce)
        sealer = Sealer(key, Side.FOLLOWER, self.refused)
        packet = sealer.open(data)
        if packet is None or packet.kind is not DatagramKind.OPEN or self.locked:
            return
        self._sealer, self.is_open, self.heard_ns = sealer, True, now_ns
        self._peer = get_address(data)
        self._welcomed = nonce
        self.is_recorded = packet.payload[-1:] == b"\x01"
        self.clock.take(packet, now_ns)

    def _obey(self, packet: Packet, now_ns: int, newest: dict[str, Record]) -> None:
        if packet.kind is DatagramKind.BYE:
            self.is_open = False
        elif packet.kind is DatagramKind.ACK:
            if not self._flow.take_ack(packet.payload, now_ns):
                self._refuse("malformed")
        elif packet.kind is DatagramKind.OPEN and self._ready is not None:
            self._send(
                DatagramKind.REPORT, self._ready, now_ns
            )  # it has not heard it yet
        elif packet.kind in self._heard:
            if not self._heard_of.take(now_ns):
                self._refuse("more than twice the rate")
                return
            port = self._heard[packet.kind]
            record = self._guards[port].accept(self, packet, now_ns)
            if record is not None:
                newest[port] = record
