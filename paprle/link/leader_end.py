"""Leader's end of a link."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from paprle.contracts.datagram import Address, Datagram, get_address
from paprle.ipc.peer_clock import PeerClock
from paprle.ipc.records import Record
from paprle.link.arrivals import choose
from paprle.link.batch_compression import AT_ONCE, squeeze, stretch
from paprle.link.flow import Receiving
from paprle.link.follower_end import NONCE
from paprle.link.guards import SentSetpoints
from paprle.link.handshake import pack_terms
from paprle.link.mirror import Cut, Mirror, find_by_kind, find_queue
from paprle.link.packets import LAST, DatagramKind, Packet, Sealer, Side, derive_key
from paprle.link.reports import unpack_report

_ASK_NS = 200_000_000  # [ns] chosen: silence after which something is said again
_UNOPENED_NS = 1_000_000_000  # [ns] chosen: several round trips; then asked anew
_LINGER_NS = 1_000_000_000  # [ns] chosen: the longest between two records that come


class LeaderEnd:
    """Leader's end of a link.

    Attributes:
        answered_ns: Time of the last answer; 0: never.
        whole: Newest self-describing datagram by port, as ``n_got`` counts them.
    """

    def __init__(
        self,
        key: bytes,
        cut: Cut,
        terms: Mapping[str, str],
        *,
        is_recorded: bool,
    ) -> None:
        self.refused: Counter[str] = Counter()
        self.clock = PeerClock()
        self.refusal = ""
        self.reports: list[dict[str, Any]] = []
        self.queued: list[bytes] = []
        self._queued, _ = find_queue(cut) or ("", None)
        self._flow = Receiving()
        self.heard_ns = self.answered_ns = 0
        self.has_left = False
        self.whole: dict[str, Packet] = {}
        self.n_got: Counter[str] = Counter()
        self.outbox: list[bytes] = []
        self._cut, self._is_recorded = cut, is_recorded
        self._heard = find_by_kind(cut, is_up=False)
        self._nonce, self._key = os.urandom(NONCE), key
        self._terms = pack_terms(terms)
        self._greeter = Sealer(key, Side.LEADER, self.refused)
        self._sealer: Sealer | None = None
        self._peer: Address | None = None
        self._welcome = b""
        self._has_answer = False
        self._n_last = self._left_ns = self._recorded_ns = 0
        self._said_ns = self._welcomed_ns = 0
        self._setpoints = SentSetpoints()

    def ask(self, now_ns: int) -> None:
        """Send a hello, then the request to open, then keep-alives.

        Set-points age regardless (A4).
        """
        if now_ns - self._said_ns < _ASK_NS:
            return
        is_late = not self.heard_ns and now_ns - self._welcomed_ns > _UNOPENED_NS
        if self._sealer is None or is_late:  # it may have begun anew since it answered
            self._said_ns = now_ns
            hello = self._nonce + self._terms
            self.outbox.append(self._greeter.seal(DatagramKind.HELLO, hello, now_ns))
        self._send(DatagramKind.OPEN, self._nonce + bytes([self._is_recorded]), now_ns)

    def send(self, port: str, record: Record, now_ns: int) -> None:
        """Send the newest record of a port."""
        mirror = self._cut[port]
        if mirror.kind is DatagramKind.SETPOINT:
            self._setpoints.note(record)
        for payload in squeeze([record.tobytes()]):
            self._send(mirror.kind, payload, now_ns)

    def send_whole(self, port: str, payload: bytes, now_ns: int) -> None:
        """Send a self-describing record."""
        self._send(self._cut[port].kind, payload, now_ns)

    def is_over(self, now_ns: int) -> bool:
        """Return whether the gate is gone and its records settled."""
        since_ns = max(self._left_ns, self._recorded_ns)
        is_complete = not self.n_missing or now_ns - since_ns > _LINGER_NS
        return self.has_left and is_complete

    @property
    def n_missing(self) -> int:
        """Number of outstanding record datagrams of a gone gate."""
        return max(0, self._n_last - self._flow.n_last) if self.has_left else 0

    @property
    def n_lost(self) -> int:
        """Number of lost record datagrams."""
        return self._flow.n_lost

    def send_bye(self, now_ns: int) -> None:
        """Announce the end of the session."""
        self._send(DatagramKind.BYE, b"", now_ns)

    def receive(self, data: list[bytes], now_ns: int) -> dict[str, Record]:
        """Return each port's newest record, in local time."""
        newest: dict[str, Record] = {}
        before = self._recorded_ns
        chosen = choose(data, self._peer)
        if len(chosen) < len(data):
            self.refused["too many at once"] += len(data) - len(chosen)
        for one in chosen:
            if one[3:4] in {
                bytes([DatagramKind.WELCOME]),
                bytes([DatagramKind.REFUSAL]),
            }:
                self._take_answer(one, now_ns)
                continue
            packet = None if self._sealer is None else self._sealer.open(one)
            if packet is not None:
                self.heard_ns = self.answered_ns = now_ns
                self._peer = get_address(one)
                self.clock.take(packet, now_ns)
                self._obey(packet, now_ns, newest)
        if self._recorded_ns != before:
            self._send(DatagramKind.ACK, self._flow.make_ack(), now_ns)
        return newest

    def _take_answer(self, data: bytes, now_ns: int) -> None:
        packet = Sealer(self._key, Side.LEADER, self.refused).open(data)
        if packet is None or packet.payload[:NONCE] != self._nonce:
            return
        self.answered_ns, rest = now_ns, packet.payload[NONCE:]
        if packet.kind is DatagramKind.REFUSAL:
            self.refusal = rest.decode(errors="replace")
        elif not self.heard_ns and rest != self._welcome:
            key = derive_key(self._key, self._nonce, rest)
            self._sealer = Sealer(key, Side.LEADER, self.refused)
            self._peer = get_address(data)
            self._welcome, self._welcomed_ns, self._said_ns = rest, now_ns, 0

    def _obey(self, packet: Packet, now_ns: int, newest: dict[str, Record]) -> None:
        if packet.kind is DatagramKind.BYE:
            self._take_bye(packet, now_ns)
        elif packet.kind is DatagramKind.REPORT:
            self._take_report(packet)
        elif packet.kind is DatagramKind.RECORD:
            self._recorded_ns = now_ns
            for data in self._flow.receive(packet.payload):
                records = self._unpack(self._queued, data, AT_ONCE)
                for record in records:  # as it was told, however late
                    self._bring(self._cut[self._queued], record, self.clock.to_local)
                self.queued += [record.tobytes() for record in records]
        elif packet.kind in self._heard:
            port = self._heard[packet.kind]
            if self._cut[port].dtype is None:
                self.whole[port] = packet
                self.n_got[port] += 1
                return
            in_past = partial(self.clock.to_past, now_ns=now_ns)
            for record in self._unpack(port, packet.payload, 1):
                if self._bring(self._cut[port], record, in_past):
                    newest[port] = record
                else:
                    self.refused["stamped ahead"] += 1

    def _take_bye(self, packet: Packet, now_ns: int) -> None:
        if not self.has_left and len(packet.payload) == LAST.size:
            self.has_left, self._left_ns = True, now_ns
            (self._n_last,) = LAST.unpack(packet.payload)

    def _take_report(self, packet: Packet) -> None:
        report = unpack_report(packet.payload)
        if report is None:
            self.refused["malformed"] += 1
            return
        if not self._has_answer or report["event"] != "ready":
            self.reports.append(report)
        self._has_answer = True

    def _unpack(self, port: str, payload: bytes, most: int) -> list[Record]:
        dtype = self._cut[port].dtype or np.dtype([])
        found = stretch(payload, dtype.itemsize, most)
        if not found:
            self.refused["malformed"] += 1
        return [np.frombuffer(data, dtype)[0].copy() for data in found]

    def _bring(
        self, mirror: Mirror, record: Record, find: Callable[[int], int | None]
    ) -> bool:
        for name in mirror.stamps:
            if record[name]:
                then_ns = find(int(record[name]))
                if then_ns is None:
                    return False
                record[name] = then_ns
        if mirror.kind in {DatagramKind.STATUS, DatagramKind.RECORD}:
            self._setpoints.fill(record)
        return True

    def _send(self, kind: DatagramKind, payload: bytes, now_ns: int) -> None:
        if self._sealer is not None:
            self._said_ns = now_ns
            echo = self.clock.make_echo(now_ns)
            data = self._sealer.seal(kind, payload, now_ns, echo)
            self.outbox.append(Datagram.make(data, self._peer))
