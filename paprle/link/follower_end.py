"""The follower's end of a link: one session at a time, and only what may be obeyed.

What comes is sealed, in order, of the right size, finite and near the robot's limits,
or it is counted and nothing else. Set-points that pass carry this host's times: how old
the leader's data were on their arrival, the way included. The gate judges them by that
age and by their arrival, as it judges those of a session beside it.
"""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from paprle.contracts.types import RobotInfo
from paprle.ipc.peer_clock import PeerClock
from paprle.ipc.records import Layout, Record, Request
from paprle.link.packets import LAST, Kind, Packet, Sealer, Side, derive_key
from paprle.link.terms import find_difference

NONCE = 16  # [bytes] chosen: never the same twice
_PLAUSIBLE = math.pi  # [rad] chosen: how far beyond its limits a target may be
_PERMIT_NS = 30_000_000_000  # [ns] chosen: to walk from the robot to the leader


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
        layout: Layout,
        terms: Mapping[str, str],
        make_nonce: Callable[[], bytes] = lambda: os.urandom(NONCE),
    ) -> None:
        self.refused: Counter[str] = Counter()
        self.clock = PeerClock()
        self.locked = ""
        self.outbox: list[tuple[bytes, bool]] = []
        self._key, self._terms = key, terms
        self._layout, self._make_nonce = layout, make_nonce
        self._low, self._high = robot.q_min - _PLAUSIBLE, robot.q_max + _PLAUSIBLE
        self._permitted_ns = -_PERMIT_NS
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
        self._n_asked = self._n_passed = 0
        self.clock = PeerClock()

    def permit(self, now_ns: int) -> None:
        """Somebody beside the robot allows resets from afar, for a while (E1)."""
        self.locked, self._permitted_ns = "", now_ns

    def take(self, data: list[bytes], now_ns: int) -> Record | None:
        """Take datagrams; return the newest set-point in this host's time, if any."""
        newest = None
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
                newest = self._obey(packet, now_ns) or newest
        return newest

    def send_report(self, report: dict[str, Any], now_ns: int) -> None:
        """Tell the leader's host what the gate said."""
        data = json.dumps(report).encode()
        if report["event"] != "trouble":  # that is told once, whoever hears it
            self._ready = data
        self._send(Kind.REPORT, data, now_ns)

    def send_status(self, record: Record, now_ns: int) -> None:
        """Send the gate's newest status; a lost one is replaced by the next."""
        self._send(Kind.STATUS, record.tobytes(), now_ns)

    def send_record(self, data: bytes, now_ns: int) -> None:
        """Send one period of the gate for the recorder."""
        self._n_records += 1
        self._send(Kind.RECORD, data, now_ns, must_arrive=True)

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

    def _obey(self, packet: Packet, now_ns: int) -> Record | None:
        if packet.kind is Kind.BYE:
            self.is_open = False
        elif packet.kind is Kind.OPEN and self._ready is not None:
            self._send(Kind.REPORT, self._ready, now_ns)  # it has not heard it yet
        elif packet.kind is Kind.SETPOINT:
            return self._check(packet, now_ns)
        return None

    def _check(self, packet: Packet, now_ns: int) -> Record | None:
        """Return a set-point in our time, or refuse it."""
        dtype = self._layout.setpoint
        if len(packet.payload) != dtype.itemsize:
            self.refused["malformed"] += 1
            return None
        record: Record = np.frombuffer(packet.payload, dtype)[0].copy()
        q, dq = record["q_des"], record["dq_des"]
        if int(record["request"]) not in set(Request):
            self.refused["malformed"] += 1
            return None
        is_near = ((self._low <= q) & (q <= self._high)).all()  # NaN is not
        if not (is_near and np.isfinite(dq).all()):
            self.refused["not plausible"] += 1
            return None
        age_ns = self.clock.compute_age(packet, int(record["source_ns"]), now_ns)
        if age_ns is None:  # what the gate has grows old meanwhile
            self.refused["of unknown age"] += 1
            return None
        record["at_ns"] = self.clock.to_arrival(int(record["at_ns"]))
        record["stamp_ns"], record["source_ns"] = now_ns, now_ns - age_ns
        record["n_resets"] = self._pass_resets(int(record["n_resets"]), now_ns)
        return record

    def _pass_resets(self, n_asked: int, now_ns: int) -> int:
        """Return how many resets were asked for while somebody here allowed them."""
        if n_asked > self._n_asked:
            self._n_asked = n_asked
            if now_ns - self._permitted_ns <= _PERMIT_NS:
                self._n_passed += 1
            else:
                self.refused["reset from afar"] += 1
        return self._n_passed
