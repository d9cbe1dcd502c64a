"""Messages of VisionProTeleop's gRPC stream, in protobuf's encoding.

Source: Improbable-AI/VisionProTeleop, ``handtracking.proto``: a ``HandUpdate`` has
left_hand = 1, right_hand = 2, Head = 3; a ``Hand`` wristMatrix = 1, skeleton = 2; a
``Skeleton`` jointMatrices = 1; a ``Matrix4x4`` the floats m00 = 1 … m33 = 16.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

SERVICE = "handtracking.HandTrackingService"
METHOD = "StreamHandUpdates"
PORT = 12345  # spec: avp_stream, streamer.py

Matrix = npt.NDArray[np.float64]
_FIXED_32, _LENGTH = 5, 2  # spec: protobuf, wire types
_HEADS = b"".join(
    bytes([low | 0x80, high]) if high else bytes([low])
    for high, low in (divmod(number << 3 | _FIXED_32, 128) for number in range(1, 17))
)
_MATRIX = struct.Struct("<" + "Bf" * 15 + "2Bf")  # the tag of field 16 has two bytes


@dataclass
class Hand:
    """One hand: wrist in headset axes, joints in its frame, (4, 4)."""

    wrist: Matrix | None = None
    joints: list[Matrix] = field(default_factory=list)


@dataclass
class HandUpdate:
    """One message; None: absent."""

    left: Hand | None = None
    right: Hand | None = None
    head: Matrix | None = None


def encode(update: HandUpdate) -> bytes:
    """Return the bytes of a message."""
    hands = [
        _wrap(number, _encode_hand(hand))
        for number, hand in ((1, update.left), (2, update.right))
        if hand is not None
    ]
    head = b"" if update.head is None else _wrap(3, _encode_matrix(update.head))
    return b"".join(hands) + head


def _encode_hand(hand: Hand) -> bytes:
    wrist = b"" if hand.wrist is None else _wrap(1, _encode_matrix(hand.wrist))
    joints = b"".join(_wrap(1, _encode_matrix(joint)) for joint in hand.joints)
    return wrist + _wrap(2, joints)


def _encode_matrix(matrix: Matrix) -> bytes:
    numbers = matrix.ravel().tolist()
    parts: list[float] = []
    for head, number in zip(_HEADS, numbers[:-1], strict=False):
        parts += [head, number]
    return _MATRIX.pack(*parts, *_HEADS[15:], numbers[-1])


def _wrap(number: int, body: bytes) -> bytes:
    return bytes([number << 3 | _LENGTH]) + _encode_varint(len(body)) + body


def _encode_varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
