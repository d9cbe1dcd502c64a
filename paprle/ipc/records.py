"""Fixed binary layouts of what crosses process borders, as NumPy structured dtypes.

Mailboxes and rings carry plain bytes; this module says what they mean, so that the
tick copies a few arrays and nothing is parsed. Poses are (x, y, z, qx, qy, qz, qw),
``quat_xyzw``; absent numbers are NaN. A ``Layout`` is made from the resolved config, by
each process for itself.

Each record begins with its scalars, laid out as C would (``align=True``), so that
``Head`` reads or writes them all at once.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.types import (
    LeaderInfo,
    LeaderSample,
    RobotInfo,
    Vec,
)

Record = npt.NDArray[np.void]

STOP_REASON = 192  # [bytes] chosen: a reason with a long topic's name, and what to do
_DEVICE = {"device_q": "q", "device_dq": "dq", "device_tau": "tau"}
"""Where a sample's record keeps ``LeaderSample.leader_state``."""


class Stream(IntEnum):
    """Kinds of ring records."""

    EVENT = 0  # JSON object, utf-8: see paprle/recording/README in the module docs
    TICK = 1  # one session tick, Layout.tick
    GATE = 2  # one gate tick, Layout.gate


class Request(IntEnum):
    """What the session asks of the gate, as a level."""

    DISARM = 0
    READY = 1  # armed, braking to rest and holding
    MOVE = 2  # follow q_des
    STOP = 3  # latch STOPPED


@dataclass(frozen=True)
class Layout:
    """Dtypes for one robot and one leader.

    Attributes:
        joint_names: The robot's actuated joints.
        limbs: The robot's limbs.
        leader: The leader's info.
        sample: One leader sample (``pack_sample``).
        setpoint: Session → gate.
        status: Gate → session.
        tick: What the session records each tick.
        gate: What the gate records each tick (the same as ``status``).
    """

    joint_names: tuple[str, ...]
    limbs: tuple[str, ...]
    leader: LeaderInfo
    sample: np.dtype[np.void]
    setpoint: np.dtype[np.void]
    status: np.dtype[np.void]
    tick: np.dtype[np.void]

    @property
    def gate(self) -> np.dtype[np.void]:
        """What the gate records each tick."""
        return self.status


def make_gate_layout(robot: RobotInfo) -> Layout:
    """Make what a gate hears and says: nothing of that depends on the leader."""
    return make_layout(robot, LeaderInfo(limbs=()))


def make_layout(robot: RobotInfo, leader: LeaderInfo) -> Layout:
    """Make the dtypes of a session between this robot and this leader."""
    n, m = len(robot.joint_names), len(robot.limbs)
    k, d = len(leader.limbs), len(leader.device_joints)
    joints = max((len(names) for names in leader.joint_names.values()), default=0)
    sample = np.dtype(
        [
            ("stamp_ns", "i8"),
            ("seq", "u8"),
            ("engaged", "?"),
            ("valid", "?"),
            ("start", "?"),
            ("end", "?"),
            ("is_exhausted", "?"),
            ("pose", "f8", (k, 7)),  # NaN where the leader gives joints alone
            ("q", "f8", (k, joints)),  # padded with NaN
            ("opening", "f8", (k,)),
            ("device_q", "f8", (d,)),  # LeaderInfo.device_joints
            ("device_dq", "f8", (d,)),
            ("device_tau", "f8", (d,)),  # NaN: not measured
        ],
        align=True,
    )
    setpoint = np.dtype(
        [
            ("session_id", "u8"),
            ("seq", "u8"),
            ("stamp_ns", "i8"),  # when it was posted
            ("at_ns", "i8"),  # the instant for which q_des is meant
            ("source_ns", "i8"),  # arrival of the newest leader data it rests on
            ("valid_for_ns", "i8"),  # A2: the next one comes within this time
            ("request", "i4"),  # Request
            ("reduced", "?"),
            ("n_resets", "u4"),  # operator resets so far (a counter)
            ("q_des", "f8", (n,)),
            ("dq_des", "f8", (n,)),
        ],
        align=True,
    )
    status = np.dtype(
        [
            ("k", "u8"),  # gate tick
            ("stamp_ns", "i8"),  # when q_cmd was written
            ("state", "i4"),  # GateState
            ("reasons", "u8"),  # Reason bits that acted in this tick
            ("latched", "u8"),  # Reason bits of the latest HOLD or STOPPED
            ("setpoint_seq", "u8"),  # newest set-point used
            ("setpoint_ns", "i8"),  # its stamp
            ("meas_ns", "i8"),  # FollowerState.stamp_ns
            ("sim_time", "f8"),
            ("speed_scale", "f8"),  # share of V that was allowed
            ("clearance", "f8"),
            ("counts", "u4", (32,)),  # cumulative, by Reason
            ("q_des", "f8", (n,)),  # what the gate was asked for in this tick
            ("q_cmd", "f8", (n,)),
            ("dq_cmd", "f8", (n,)),
            ("q_meas", "f8", (n,)),
            ("dq_meas", "f8", (n,)),
            ("tau_meas", "f8", (n,)),  # NaN: not measured
            ("compute_ns", "i8"),
            ("late_ns", "i8"),  # wake-up lateness
            ("n_overruns", "u8"),
            ("stop_reason", f"S{STOP_REASON}"),
        ],
        align=True,
    )
    tick = np.dtype(
        [
            ("k", "u8"),
            ("stamp_ns", "i8"),
            ("state", "i4"),  # SessionState
            ("episode", "i4"),
            ("has_sample", "?"),
            ("sample_age_ns", "i8"),
            ("sample", sample),
            ("raw", "f8", (m, 7)),  # leader pose as given, by follower limb; NaN: none
            ("target", "f8", (m, 7)),  # retargeted T_base_eef, before IK; NaN: none
            ("q_des", "f8", (n,)),
            ("dq_des", "f8", (n,)),
            ("err_pos", "f8", (m,)),  # of the IK
            ("err_rot", "f8", (m,)),
            ("compute_ns", "i8"),
            ("late_ns", "i8"),
            ("n_overruns", "u8"),
            ("posted_ns", "i8"),  # when the set-point was posted
        ],
        align=True,
    )
    return Layout(
        joint_names=robot.joint_names,
        limbs=tuple(limb.name for limb in robot.limbs),
        leader=leader,
        sample=sample,
        setpoint=setpoint,
        status=status,
        tick=tick,
    )


class Head(NamedTuple):
    """The scalars before the first array of a record, in the time of one field.

    Attributes:
        read: Return them all, of a record.
        write: Write them all: record, 0, values.
    """

    read: Callable[[Record], tuple[Any, ...]]
    write: Callable[..., None]


def head_of(dtype: np.dtype[np.void]) -> Head:
    """Return what reads and writes the scalars of records of this type."""
    codes = ""
    for name in dtype.names or ():
        leaf = dtype[name]
        if leaf.shape or leaf.names:
            break
        codes += leaf.char  # NumPy's letters of numbers are those of struct
    scalars = struct.Struct(f"@{codes}")
    read = cast(Callable[[Record], tuple[Any, ...]], scalars.unpack_from)
    return Head(read, scalars.pack_into)


def pose_to_row(T: pin.SE3) -> Vec:
    """Return (x, y, z, qx, qy, qz, qw)."""
    return np.asarray(pin.SE3ToXYZQUAT(T), dtype=np.float64)


def row_to_pose(row: npt.ArrayLike) -> pin.SE3:
    """Return the SE3 of (x, y, z, qx, qy, qz, qw)."""
    return pin.XYZQUATToSE3(np.asarray(row, dtype=np.float64))


def pack_sample(layout: Layout, sample: LeaderSample) -> Record:
    """Return the sample as one record of ``layout.sample``."""
    record: Record = np.zeros((), dtype=layout.sample)
    for name in ("stamp_ns", "seq", "engaged", "valid", "start", "end", "is_exhausted"):
        record[name] = getattr(sample, name)
    for name in ("pose", "q", "opening", *_DEVICE):
        record[name][...] = np.nan
    for row, limb in enumerate(layout.leader.limbs):
        command = sample.limbs.get(limb)
        if command is None:
            continue
        if command.T_leader_base_leader_eef is not None:
            record["pose"][row] = pose_to_row(command.T_leader_base_leader_eef)
        if command.q is not None:
            record["q"][row, : len(command.q)] = command.q
        if command.opening is not None:
            record["opening"][row] = command.opening
    for name, field in _DEVICE.items():
        values = getattr(sample.leader_state, field, None)
        if values is not None:
            record[name][...] = values
    return record


class SampleView:
    """A copy of one leader sample, its scalars and arrays at hand.

    ``stamp_ns``, ``seq``, ``engaged``, ``valid``, ``start``, ``end`` and
    ``is_exhausted`` are those of ``LeaderSample``.

    Attributes:
        record: The whole sample.
        pose: Poses by leader limb, shape (k, 7); NaN where there is none.
        q: Joints by leader limb, padded with NaN, shape (k, j).
        opening: Gripper openings by leader limb, shape (k,); NaN: none.
        numbers: The three in a row, shape (k · (7 + j + 1),).
    """

    __slots__ = (
        "_head",
        "end",
        "engaged",
        "is_exhausted",
        "numbers",
        "opening",
        "pose",
        "q",
        "record",
        "seq",
        "stamp_ns",
        "start",
        "valid",
    )

    def __init__(self, layout: Layout) -> None:
        sample = layout.sample
        self.record: Record = np.zeros((), dtype=sample)
        self._head = head_of(sample)
        self.pose: Vec = self.record["pose"]
        self.q: Vec = self.record["q"]
        self.opening: Vec = self.record["opening"]
        n = self.pose.size + self.q.size + self.opening.size
        start = sample.fields["pose"][1] if sample.fields else 0
        self.numbers: Vec = np.ndarray((n,), np.float64, self.record, start)
        self.take(self.record)

    def take(self, record: Record) -> None:
        """Copy a record of the leader's mailbox."""
        self.record[()] = record
        (
            self.stamp_ns,
            self.seq,
            self.engaged,
            self.valid,
            self.start,
            self.end,
            self.is_exhausted,
        ) = self._head.read(self.record)


def pack_stop_reason(told: str) -> bytes:
    """Return a robot's own words as ``stop_reason`` takes them, cut visibly."""
    data = told.encode()
    if len(data) <= STOP_REASON:
        return data
    mark = " …"
    room = STOP_REASON - len(mark.encode())
    return (data[:room].decode(errors="ignore") + mark).encode()


def read_stop_reason(status: Record) -> str:
    """Return why the robot stopped by itself, in its own words; empty if it did not."""
    told: bytes = status["stop_reason"].item()
    return told.decode(errors="replace")
