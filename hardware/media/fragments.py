"""Datagrams of pictures: each is sealed and of use without the others.

A picture is told in parts that fit one datagram each; a part of a cloud holds whole
points, so that a loss costs its points alone. Who wants pictures asks for them a few
times a second with a number of his own choice, and says what arrived. Parts are sealed
with the secret and that number: what was sent to somebody else, or before, is refused.
An ask holds a number of the sender's, too (``paprle.hardware.media.challenge``).
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
    """A part of a picture.

    Attributes:
        camera: Number of the camera.
        picture: Number of the picture.
        stamp_ns: When it was exposed, the sender's time, [ns].
        part: Which one.
        n_parts: How many the picture has.
        seq: Number of the datagram.
        sent_ns: When it was sent, the sender's time, [ns].
        body: What it holds.
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
    """Request for pictures, with a report of those that came.

    Attributes:
        camera: Of which camera.
        nonce: A number of the asker's choice, ``NONCE`` bytes.
        challenge: The newest number that the sender gave the asker, ``NONCE`` bytes.
        number: Of this ask, rising.
        seq: Number of the newest datagram that came.
        n_parts: How many came so far.
        n_bytes: How many bytes, heads included, modulo 2³².
        queue_us: What the datagrams since the last word waited at least, beyond the
            quickest ever, [µs].
        n_lost: How many did not come so far.
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
    """Contents that a sender expects of the next ask.

    Attributes:
        nonce: The asker's number, ``NONCE`` bytes.
        challenge: The sender's, ``NONCE`` bytes.
    """

    nonce: bytes
    challenge: bytes


def pack_part(secret: bytes, part: Fragment) -> bytes:
    """Return a sealed datagram."""
    head = _PART.pack(_MAGIC, *part[:-1])
    return _seal(secret, head + part.body)


def unpack_part(secret: bytes, data: bytes) -> Fragment | None:
    """Return the part of a datagram; None where it is none, or not of this secret."""
    body = _open(secret, data, _MAGIC, _PART.size)
    if body is None:
        return None
    _, *head = _PART.unpack_from(body)
    return Fragment._make([*head, body[_PART.size :]])


def pack_ask(secret: bytes, ask: Ask) -> bytes:
    """Return a sealed datagram."""
    return _seal(secret, _ASK.pack(_ASKS, *ask))


def unpack_ask(secret: bytes, data: bytes) -> Ask | None:
    """Return what is asked for; None where nothing is, or not with this secret."""
    body = _open(secret, data, _ASKS, _ASK.size)
    if body is None or len(body) != _ASK.size:
        return None
    _, *fields = _ASK.unpack(body)
    return Ask(*fields)


def pack_challenge(secret: bytes, challenge: Challenge) -> bytes:
    """Return a sealed datagram."""
    return _seal(secret, _CHALLENGE.pack(_CHALLENGES, *challenge))


def unpack_challenge(secret: bytes, data: bytes) -> Challenge | None:
    """Return what a sender wants to see; None where it is none, or not sealed."""
    body = _open(secret, data, _CHALLENGES, _CHALLENGE.size)
    if body is None or len(body) != _CHALLENGE.size:
        return None
    return Challenge._make(_CHALLENGE.unpack(body)[1:])


def derive(secret: bytes, nonce: bytes) -> bytes:
    """Return the secret between a sender and one who asked."""
    return hashlib.blake2b(nonce, key=secret[:64], digest_size=32).digest()


def compute_room(rate: float, period: float, pose_rate: float) -> int:
    """Return how many points of a picture there is room for (T17, N_max).

    Args:
        rate: Of the link, [bytes/s], all heads included.
        period: Between two pictures, [s].
        pose_rate: Of the streams that go before pictures, [bytes/s].

    Returns:
        The number; with all their heads these points stay within the rate.
    """
    room = int(max(0.0, rate - pose_rate) * period)
    n_whole, rest = divmod(room, OVERHEAD + POINTS * POINT.itemsize)
    return n_whole * POINTS + max(0, rest - OVERHEAD) // POINT.itemsize


def count_bytes(n_points: int) -> int:
    """Return how much goes over the wire for so many points, [bytes]."""
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
