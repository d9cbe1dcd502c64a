"""Sealed datagrams: header, payload and a tag that needs the key.

Numbers by direction and kind reveal copies and replays. Of datagrams with our form,
the tag is verified first.
"""

from __future__ import annotations

import hmac
import struct
from collections import Counter
from enum import IntEnum
from typing import NamedTuple

MAX_BYTES = 4096  # spec: safety.md A7
_MAX_AHEAD = 1_000_000  # spec: safety.md A3
_TAG = 16  # spec: safety.md 9, row 4: 16 bytes
_MAGIC = b"PL2"
LAST = struct.Struct("<q")
_HEADER = struct.Struct("<3sBQqqq")  # magic, kind, seq, stamp, echo, held


class DatagramKind(IntEnum):
    """Purpose of a datagram."""

    HELLO = 1  # leader: a nonce of mine, and what I take the robot for
    WELCOME = 2  # follower: your nonce, and mine: with both the session's key is made
    REFUSAL = 3  # follower: your nonce, and why not
    OPEN = 4  # leader, under the session's key: start the gate
    REPORT = 5  # follower: what the gate said when it was ready, or failed of; JSON
    SETPOINT = 6  # leader: ``Layout.setpoint``
    STATUS = 7  # follower: ``Layout.status``
    RECORD = 8  # follower: some periods of the gate, for the recorder
    BYE = 9  # either: it is over; follower: which of the RECORDs is the last, LAST
    SAMPLE = 10  # leader, where the session is at the robot: ``Layout.sample``
    TICK = 11  # follower, where the session is at the robot: ``Layout.tick``
    ACK = 12  # leader: which of the RECORDs it wants next (``paprle.link.flow``)
    ERRORS = 13  # leader, likewise: ``paprle.link.remote_leader.error_report``


_KINDS = frozenset(int(kind) for kind in DatagramKind)
_MAY_BE_LATE = frozenset({DatagramKind.SAMPLE})  # its receiver puts them in order
_WINDOW = 64  # chosen, as in RFC 4303, 3.4.3: numbers of which none counts twice
_ALL = (1 << _WINDOW) - 1


class Side(IntEnum):
    """Sender of a packet; the tag covers it against reflection."""

    LEADER = 1
    FOLLOWER = 2


class Packet(NamedTuple):
    """Accepted datagram.

    Attributes:
        stamp_ns: Time of sending, sender's time.
        echo_ns: Newest stamp the sender had from us; 0: none.
        held_ns: Time since that stamp had arrived.
    """

    kind: DatagramKind
    seq: int
    stamp_ns: int
    echo_ns: int
    held_ns: int
    payload: bytes


class Sealer:
    """Sealer and opener of datagrams; counts ``refused`` ones."""

    def __init__(self, key: bytes, side: Side, refused: Counter[str]) -> None:
        self._key, self._side = key, side
        self._sent: Counter[DatagramKind] = Counter()
        self._newest: dict[DatagramKind, int] = {}
        self._seen: dict[DatagramKind, int] = {}  # bit i: the newest less i
        self.refused = refused

    def seal(
        self,
        kind: DatagramKind,
        payload: bytes,
        stamp_ns: int,
        echo: tuple[int, int] = (0, 0),
    ) -> bytes:
        """Return a datagram; ``echo``: ``Packet.echo_ns`` and ``held_ns``."""
        self._sent[kind] += 1
        header = _HEADER.pack(_MAGIC, kind, self._sent[kind], stamp_ns, *echo)
        return header + payload + self._compute_tag(self._side, header + payload)

    def open(self, data: bytes) -> Packet | None:
        """Return a datagram's content; None, and counted, if refused."""
        why = self._find_seal_fault(data)
        if not why:
            _, number, seq, stamp_ns, echo_ns, held_ns = _HEADER.unpack_from(data)
            kind = DatagramKind(number)
            why = self._find_order_fault(kind, seq)
            if not why:
                payload = data[_HEADER.size : -_TAG]
                return Packet(kind, seq, stamp_ns, echo_ns, held_ns, payload)
        self.refused[why] += 1
        return None

    def _find_order_fault(self, kind: DatagramKind, seq: int) -> str:
        newest = self._newest.get(kind, 0)
        ahead = seq - newest
        if ahead > _MAX_AHEAD:
            return "far ahead"
        seen = self._seen.get(kind, 0)
        if ahead > 0:
            self._newest[kind] = seq
            self._seen[kind] = (seen << min(ahead, _WINDOW) | 1) & _ALL
            return ""
        is_within = kind in _MAY_BE_LATE and -ahead < _WINDOW and seq > 0
        if not is_within or seen >> -ahead & 1:
            return "old or doubled"
        self._seen[kind] = seen | 1 << -ahead
        return ""

    def _find_seal_fault(self, data: bytes) -> str:
        if len(data) > MAX_BYTES:
            return "too large"
        if not has_form(data):
            return "malformed"
        body, tag = data[:-_TAG], data[-_TAG:]
        other = Side.FOLLOWER if self._side is Side.LEADER else Side.LEADER
        if not hmac.compare_digest(tag, self._compute_tag(other, body)):
            return "wrong key"
        return ""

    def _compute_tag(self, side: Side, body: bytes) -> bytes:
        return hmac.digest(self._key, bytes([side]) + body, "sha256")[:_TAG]


def has_form(data: bytes) -> bool:
    """Return whether a datagram has our form, which takes no key."""
    is_sized = _HEADER.size + _TAG <= len(data) <= MAX_BYTES
    return is_sized and data[: len(_MAGIC)] == _MAGIC and data[len(_MAGIC)] in _KINDS


def derive_key(shared: bytes, nonce_leader: bytes, nonce_follower: bytes) -> bytes:
    """Return the key of one session."""
    return hmac.digest(shared, b"session" + nonce_leader + nonce_follower, "sha256")
