"""Sealed datagrams of pictures; each part is of use alone.

The seal covers the secret and the asker's number.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from typing import NamedTuple

from paprle.hardware.media.cloud import POINT

PAYLOAD = 1170  # [bytes] chosen: with all heads below 1280, the least MTU of IPv6
NONCE = 16  # [bytes] chosen: of whoever asks
_SEAL = 16  # [bytes] chosen: as the link's own
_MAGIC, _ASKS, _CHALLENGES = b"PaM1", b"PaA2", b"PaC1"
# camera, number of the picture, its stamp, part, parts, number, when it was sent
_PART = struct.Struct("<4sBIqHHIq")
# camera, nonces of asker and sender, its number, number of the newest, how many came,
# bytes, standing queue [µs], lost
_ASK = struct.Struct("<4sB16s16sIIIIiI")
_CHALLENGE = struct.Struct("<4s16s16s")
HEADS = 48  # [bytes] spec: IPv6 and UDP
OVERHEAD = _PART.size + _SEAL + HEADS
POINTS = PAYLOAD // POINT.itemsize
"""Points in one part."""


class Fragment(NamedTuple):
    """Part of a picture.

    Attributes:
        stamp_ns: Exposure, sender's time, [ns].
        sent_ns: Sender's time, [ns].
    """

    camera: int
    picture: int
    stamp_ns: int
    part: int
    n_parts: int
    seq: int
    sent_ns: int
    body: bytes


class Ask(NamedTuple):
    """Request with a report of arrivals.

    Attributes:
        nonce: Asker's, ``NONCE`` bytes.
        challenge: Sender's newest, ``NONCE`` bytes.
        number: Rising.
        n_bytes: With heads, modulo 2³².
        queue_us: Wait beyond the quickest ever, [µs].
    """

    camera: int
    nonce: bytes
    challenge: bytes
    number: int
    seq: int
    n_parts: int
    n_bytes: int
    queue_us: int
    n_lost: int


class Challenge(NamedTuple):
    """Contents for the next request.

    Attributes:
        nonce: Asker's, ``NONCE`` bytes.
        challenge: Sender's, ``NONCE`` bytes.
    """

    nonce: bytes
    challenge: bytes


def pack_part(secret: bytes, part: Fragment) -> bytes:
    """Return a sealed datagram."""
    head = _PART.pack(_MAGIC, *part[:-1])
    return _seal(secret, head + part.body)


def unpack_part(secret: bytes, data: bytes) -> Fragment | None:
    """Return a datagram's part; None if invalid."""
    body = _open(secret, data, _MAGIC, _PART.size)
    if body is None:
        return None
    _, *head = _PART.unpack_from(body)
    return Fragment._make([*head, body[_PART.size :]])


def pack_ask(secret: bytes, ask: Ask) -> bytes:
    """Return a sealed datagram."""
    return _seal(secret, _ASK.pack(_ASKS, *ask))


def unpack_ask(secret: bytes, data: bytes) -> Ask | None:
    """Return a datagram's request; None if invalid."""
    body = _open(secret, data, _ASKS, _ASK.size)
    if body is None or len(body) != _ASK.size:
        return None
    _, *fields = _ASK.unpack(body)
    return Ask(*fields)


def pack_challenge(secret: bytes, challenge: Challenge) -> bytes:
    """Return a sealed datagram."""
    return _seal(secret, _CHALLENGE.pack(_CHALLENGES, *challenge))


def unpack_challenge(secret: bytes, data: bytes) -> Challenge | None:
    """Return a datagram's challenge; None if invalid."""
    body = _open(secret, data, _CHALLENGES, _CHALLENGE.size)
    if body is None or len(body) != _CHALLENGE.size:
        return None
    return Challenge._make(_CHALLENGE.unpack(body)[1:])


def derive(secret: bytes, nonce: bytes) -> bytes:
    """Return the secret of one asker."""
    return hashlib.blake2b(nonce, key=secret[:64], digest_size=32).digest()


def compute_room(rate: float, period: float, pose_rate: float) -> int:
    """Return a picture's number of points (T17, N_max).

    Args:
        rate: Link's, with heads, [bytes/s].
        period: Between pictures, [s].
        pose_rate: Of prior streams, [bytes/s].
    """
    room = int(max(0.0, rate - pose_rate) * period)
    n_whole, rest = divmod(room, OVERHEAD + POINTS * POINT.itemsize)
    return n_whole * POINTS + max(0, rest - OVERHEAD) // POINT.itemsize


def count_bytes(n_points: int) -> int:
    """Return the size of n points on the wire, [bytes]."""
    return n_points * POINT.itemsize + -(-n_points // POINTS) * OVERHEAD


def _seal(secret: bytes, body: bytes) -> bytes:
    digest = hashlib.blake2b(body, key=secret[:64], digest_size=_SEAL).digest()
    return digest + body


def _open(secret: bytes, data: bytes, magic: bytes, least: int) -> bytes | None:
    digest, body = data[:_SEAL], data[_SEAL:]
    if len(body) < least or body[:4] != magic:
        return None
    own = hashlib.blake2b(body, key=secret[:64], digest_size=_SEAL).digest()
    return body if hmac.compare_digest(digest, own) else None
