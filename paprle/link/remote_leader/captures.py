"""Leader's captures in datagrams.

A pose takes 20 bytes: position in single precision, of the quaternion the index of the
largest component and the others in 20 bits each. Absent values are NaN.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Actions, LeaderInfo, LeaderSample, LimbCommand, Vec
from paprle.ipc.records import pose_to_row

MOST_TOGETHER = 9
"""Most captures in a datagram."""
_HEAD = struct.Struct("<BI6H")  # how many, number of the newest, actions
_AGE = struct.Struct("<I")  # when sent, in microseconds
_CAPTURE = struct.Struct("<IB")  # the same and flags, before what the limbs are asked
_POSE = struct.Struct("<3fQ")
_OPENING = struct.Struct("<H")
_MODE = struct.Struct("<h")
_US = 1000  # [ns]
_OLDEST_US = 2**32 - 1
_FLAGS = ("engaged", "valid", "start", "end", "is_exhausted")
_WRAP = 2**16  # counters of actions and modes have 16 bits on their way
_STEPS = 2**20 - 1  # of a number of a quaternion
_LARGEST = math.sqrt(0.5)  # of the three smaller ones
_FULL, _NO_OPENING = 65534, 65535
_NOTHING = LimbCommand()


class Packed(NamedTuple):
    """Packed capture with its local time, [ns]."""

    stamp_ns: int
    actions: Actions
    body: bytes


class Capture(NamedTuple):
    """Received capture.

    Attributes:
        stamp_ns: Time of the capture, sender's time.
    """

    number: int
    stamp_ns: int
    flags: dict[str, bool]
    limbs: tuple[LimbCommand, ...]


class CaptureCodec:
    """Codec of one leader's captures."""

    def __init__(self, info: LeaderInfo) -> None:
        self._limbs = [
            _LimbCodec(
                len(info.joint_names.get(limb, ())),
                len(info.axes.get(limb, ())),
                has_pose=not (info.emits_joints(limb) or info.emits_axes(limb)),
            )
            for limb in info.limbs
        ]
        self._names = info.limbs
        self._size = _CAPTURE.size + sum(limb.size for limb in self._limbs)

    def pack(self, sample: LeaderSample) -> Packed:
        """Return a sample's packed capture."""
        flags = sum(getattr(sample, name) << i for i, name in enumerate(_FLAGS))
        limbs = [
            limb.pack(sample.limbs.get(name, _NOTHING))
            for name, limb in zip(self._names, self._limbs, strict=True)
        ]
        return Packed(
            sample.stamp_ns, sample.actions, b"".join([bytes([flags]), *limbs])
        )

    @staticmethod
    def join(number: int, captures: Sequence[Packed], now_ns: int) -> bytes:
        """Return a payload of captures, ``number`` the newest."""
        counts = (count % _WRAP for count in captures[-1].actions[:6])
        parts = [_HEAD.pack(len(captures), number % 2**32, *counts)]
        for one in captures:
            age_us = min(max(0, now_ns - one.stamp_ns) // _US, _OLDEST_US)
            parts += _AGE.pack(age_us), one.body
        return b"".join(parts)

    def unpack(self, data: bytes, sent_ns: int) -> tuple[list[Capture], Actions] | None:
        """Return captures, oldest first, and newest actions; None if invalid."""
        if len(data) < _HEAD.size:
            return None
        n, newest, *counts = _HEAD.unpack_from(data)
        if not 1 <= n <= MOST_TOGETHER or len(data) != _HEAD.size + n * self._size:
            return None
        captures, at = [], _HEAD.size
        for number in range(newest - n + 1, newest + 1):
            age_us, bits = _CAPTURE.unpack_from(data, at)
            at += _CAPTURE.size
            limbs = []
            for limb in self._limbs:
                command = limb.unpack(data, at)
                if command is None:
                    return None
                limbs.append(command)
                at += limb.size
            flags = {name: bool(bits >> i & 1) for i, name in enumerate(_FLAGS)}
            stamp_ns = sent_ns - age_us * _US
            captures.append(Capture(number, stamp_ns, flags, tuple(limbs)))
        return captures, Actions(*counts)


class _LimbCodec:
    def __init__(self, n_joints: int, n_axes: int, *, has_pose: bool) -> None:
        self._has_pose, self._has_axes = has_pose, bool(n_axes)
        self._numbers = struct.Struct(f"<{n_joints or n_axes}f")
        self.size = _OPENING.size + self._numbers.size
        self.size += _POSE.size * has_pose + _MODE.size * self._has_axes

    def pack(self, command: LimbCommand) -> bytes:
        opening = command.opening
        is_there = opening is not None and math.isfinite(opening)
        share = round(_FULL * min(max(opening or 0.0, 0.0), 1.0)) if is_there else 0
        packed = _OPENING.pack(share if is_there else _NO_OPENING)
        if self._has_pose:
            return packed + _pack_pose(command.T_leader_base_leader_eef)
        values = command.axes if self._has_axes else command.q
        n = self._numbers.size // 4
        row = np.full(n, np.nan) if values is None else np.asarray(values)
        packed += self._numbers.pack(*row.tolist())
        if self._has_axes:
            packed += _MODE.pack((command.mode + _WRAP // 2) % _WRAP - _WRAP // 2)
        return packed

    def unpack(self, data: bytes, at: int) -> LimbCommand | None:
        (share,) = _OPENING.unpack_from(data, at)
        opening = None if share == _NO_OPENING else share / _FULL
        at += _OPENING.size
        if self._has_pose:
            T, is_whole = _unpack_pose(data, at)
            if not is_whole:
                return None
            return LimbCommand(T_leader_base_leader_eef=T, opening=opening)
        values: Vec = np.array(self._numbers.unpack_from(data, at))
        is_none = bool(np.isnan(values).all())
        if not is_none and not np.isfinite(values).all():
            return None
        given = None if is_none else values
        if not self._has_axes:
            return LimbCommand(q=given, opening=opening)
        (mode,) = _MODE.unpack_from(data, at + self._numbers.size)
        return LimbCommand(axes=given, opening=opening, mode=mode)


def _pack_pose(T: pin.SE3 | None) -> bytes:
    if T is None:
        return _POSE.pack(math.nan, math.nan, math.nan, 0)
    row = pose_to_row(T)
    quat_xyzw = row[3:]
    # numbers of Python from here on: for four at a time NumPy takes far longer
    rest = (quat_xyzw / math.sqrt(quat_xyzw.dot(quat_xyzw))).tolist()
    sizes = [abs(one) for one in rest]
    word = sizes.index(max(sizes))
    sign = 1.0 if rest.pop(word) >= 0 else -1.0
    for one in rest:
        share = min(max(0.5 + 0.5 * (one * sign) / _LARGEST, 0.0), 1.0)
        word = word << 20 | round(share * _STEPS)
    return _POSE.pack(*row[:3].tolist(), word)


def _unpack_pose(data: bytes, at: int) -> tuple[pin.SE3 | None, bool]:
    x, y, z, word = _POSE.unpack_from(data, at)
    if math.isnan(x) and math.isnan(y) and math.isnan(z):
        return None, True
    shares = [(word >> shift & _STEPS) / _STEPS for shift in (40, 20, 0)]
    rest = [(2.0 * share - 1.0) * _LARGEST for share in shares]
    left = 1.0 - sum(one * one for one in rest)
    largest = word >> 60
    if not math.isfinite(x + y + z) or left < 0.0 or largest > 3:
        return None, False
    rest.insert(largest, math.sqrt(left))
    quat = pin.Quaternion(*[rest[i] for i in (3, 0, 1, 2)])  # w first
    quat.normalize()
    return pin.SE3(quat, np.array([x, y, z])), True
