"""Binary layouts of interprocess records.

Poses are (x, y, z, qx, qy, qz, qw), ``quat_xyzw``; absent numbers are NaN. A record
starts with its head, a NamedTuple of binary types laid out as in C (``align=True``).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property, partial
from typing import (
    Annotated,
    Any,
    Generic,
    NamedTuple,
    TypeVar,
    get_args,
    get_type_hints,
)

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.axes import N_FREEDOMS, count_axes
from paprle.contracts.gate_status import GateStatus
from paprle.contracts.kit.sampling import SLOW_RATE
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand, RobotInfo, Vec
from paprle.ipc.held import HELD
from paprle.ipc.stop_reason import STOP_REASON

Record = npt.NDArray[np.void]
Columns = tuple[tuple[str, str, tuple[str | int, ...]], ...]
"""Names, binary types and shapes of arrays; a letter of a shape is a size."""

N_REASONS = 32  # chosen: more than ``paprle.gate.reasons`` has
_POSE, _ROW = 7, 8
_N_BUTTONS = 6  # spec: leader_status in a recording: ``Actions`` down to quit
_TURN = 2**31  # counters of modes have 32 bits
_DEVICE = {"device_q": "q", "device_dq": "dq", "device_tau": "tau"}
"""Field of a sample's record for ``LeaderSample.leader_state``."""
_I4, _I8, _U4, _U8, _F8, _BOOL = "i4", "i8", "u4", "u8", "f8", "?"


class Stream(IntEnum):
    """Kind of a ring record."""

    EVENT = 0  # JSON object, utf-8: docs/conventions.md
    TICK = 1  # one session tick, Layout.tick
    GATE = 2  # one gate period, Layout.status


class Request(IntEnum):
    """Session's request to the gate, as a level."""

    DISARM = 0
    READY = 1  # armed, braking to rest and holding
    MOVE = 2  # follow q_des
    STOP = 3  # latch STOPPED


class SampleHead(NamedTuple):
    """Scalars of a leader's sample; see ``LeaderSample``."""

    stamp_ns: Annotated[int, _I8]
    seq: Annotated[int, _U8]
    engaged: Annotated[bool, _BOOL]
    valid: Annotated[bool, _BOOL]
    start: Annotated[bool, _BOOL]
    end: Annotated[bool, _BOOL]
    is_exhausted: Annotated[bool, _BOOL]


SAMPLE: Columns = (
    ("pose", _F8, ("k", _POSE)),  # NaN where the leader gives joints alone
    ("q", _F8, ("k", "j")),  # padded with NaN
    ("opening", _F8, ("k",)),
    ("limb_ns", _I8, ("k",)),  # capture time by limb
    ("actions", _U4, (_N_BUTTONS,)),  # counters, order of ``Actions``
    ("device_q", _F8, ("d",)),  # LeaderInfo.device_joints
    ("device_dq", _F8, ("d",)),
    ("device_tau", _F8, ("d",)),  # NaN: not measured
    ("ahead", _F8, ("k", "a", _ROW)),  # times and poses to come; NaN: not known
    ("axes", _F8, ("k", "x")),  # deflections, padded with NaN
    ("mode", _I4, ("k", "y")),  # counters, where there are axes
    ("alive_ns", _I8, ("s",)),  # when the process of a slow leader said that it waits
)


class SetpointHead(NamedTuple):
    """Scalars of the session's request to the gate.

    Attributes:
        source_ns: Arrival of the newest leader data used.
        valid_for_ns: A2: the next one comes within this time.
    """

    session_id: Annotated[int, _U8]
    seq: Annotated[int, _U8]
    stamp_ns: Annotated[int, _I8]
    at_ns: Annotated[int, _I8]
    source_ns: Annotated[int, _I8]
    valid_for_ns: Annotated[int, _I8]
    request: Annotated[int, _I4]
    reduced: Annotated[bool, _BOOL]
    n_resets: Annotated[int, _U4]


SETPOINT: Columns = (("q_des", _F8, ("n",)), ("dq_des", _F8, ("n",)))


STATUS: Columns = (
    ("counts", _U4, (N_REASONS,)),  # cumulative, by Reason
    ("q_des", _F8, ("n",)),  # what the gate was asked for in this period
    ("q_cmd", _F8, ("n",)),
    ("dq_cmd", _F8, ("n",)),
    ("q_meas", _F8, ("n",)),
    ("dq_meas", _F8, ("n",)),
    ("tau_meas", _F8, ("n",)),  # NaN: not measured
    ("objects", _F8, ("o", _POSE)),  # in world, by Layout.objects; NaN: not known
    ("compute_ns", _I8, ()),
    ("late_ns", _I8, ()),  # wake-up lateness
    ("n_overruns", _U8, ()),
    ("stop_reason", f"S{STOP_REASON}", ()),
    ("held", f"S{HELD}", ()),  # ``paprle.ipc.held``
)


class TickHead(NamedTuple):
    """Scalars of a session's tick."""

    k: Annotated[int, _U8]
    stamp_ns: Annotated[int, _I8]
    state: Annotated[int, _I4]
    episode: Annotated[int, _I4]
    has_sample: Annotated[bool, _BOOL]
    sample_age_ns: Annotated[int, _I8]


TICK: Columns = (
    ("driver", _I4, ("m",)),  # limb of the leader that drives each limb; -1: none
    ("raw", _F8, ("m", _POSE)),  # leader pose as given, by follower limb; NaN: none
    ("target", _F8, ("m", _POSE)),  # retargeted T_base_eef, before IK; NaN: none
    ("given", _F8, ("m", _POSE)),  # target of the newest sample alone; NaN: ``target``
    ("is_far", _F8, ("m",)),  # 1: shortened by retarget.max_travel, else 0
    ("status_age_ns", _I8, ()),  # of the gate's status that the tick saw; 0: none
    ("mapping", _F8, ("m", N_FREEDOMS, "x")),  # D that axes drive by; NaN: none
    ("placed", _F8, ("p", _POSE)),  # in world, by Layout.placed; NaN: taken away
    ("q_des", _F8, ("n",)),
    ("dq_des", _F8, ("n",)),
    ("err_pos", _F8, ("m",)),  # of the IK
    ("err_rot", _F8, ("m",)),
    ("compute_ns", _I8, ()),
    ("late_ns", _I8, ()),
    ("n_overruns", _U8, ()),
    ("posted_ns", _I8, ()),  # when the set-point was posted
)


@dataclass(frozen=True)
class Layout:
    """Dtypes for one robot and its leaders.

    Attributes:
        objects: Simulated objects in the order of ``status["objects"]``.
        placed: Placeable objects in the order of ``tick["placed"]``.
        status: Gate → session, and each recorded period.
    """

    joint_names: tuple[str, ...]
    limbs: tuple[str, ...]
    leader: LeaderInfo
    objects: tuple[str, ...]
    placed: tuple[str, ...]
    sample: np.dtype[np.void]
    setpoint: np.dtype[np.void]
    status: np.dtype[np.void]
    tick: np.dtype[np.void]

    @cached_property
    def blank(self) -> bytes:
        """Empty leader sample, as a template."""
        record: Record = np.zeros((), dtype=self.sample)
        for name in ("pose", "q", "opening", "ahead", "axes", *_DEVICE):
            record[name][...] = np.nan
        return record.tobytes()


def make_gate_layout(robot: RobotInfo, objects: Iterable[str] = ()) -> Layout:
    """Make a gate's layout, the same for every leader."""
    return make_layout(robot, LeaderInfo(limbs=()), objects)


def make_layout(
    robot: RobotInfo,
    leader: LeaderInfo,
    objects: Iterable[str] = (),
    placed: Iterable[str] = (),
) -> Layout:
    """Make a session's layout, of merged leaders."""
    names, by_hand = tuple(objects), tuple(placed)
    sizes = {
        "n": len(robot.joint_names),
        "m": len(robot.limbs),
        "o": len(names),
        "p": len(by_hand),
        "x": count_axes(leader.axes),
    }
    sample = _make_sample_dtype(leader)
    tick = make_dtype(TickHead, TICK, sizes, (("sample", sample),))
    return Layout(
        joint_names=robot.joint_names,
        limbs=tuple(limb.name for limb in robot.limbs),
        leader=leader,
        objects=names,
        placed=by_hand,
        sample=sample,
        setpoint=make_dtype(SetpointHead, SETPOINT, sizes),
        status=make_dtype(GateStatus, STATUS, sizes),
        tick=tick,
    )


H = TypeVar("H", bound=tuple[Any, ...])


def make_dtype(
    head: type[tuple[Any, ...]],
    columns: Columns,
    sizes: Mapping[str, int],
    nested: tuple[tuple[str, np.dtype[np.void]], ...] = (),
) -> np.dtype[np.void]:
    """Make a dtype of head, nested records and arrays."""
    hints = get_type_hints(head, include_extras=True)
    fields: list[tuple[Any, ...]] = [(k, get_args(v)[1]) for k, v in hints.items()]
    fields += nested
    for name, code, shape in columns:
        whole = tuple(sizes[s] if isinstance(s, str) else s for s in shape)
        fields.append((name, code, whole) if shape else (name, code))
    return np.dtype(fields, align=True)


def split_layout(layout: Layout) -> list[Layout]:
    """Return each leader's layout."""
    parts = layout.leader.parts.values()
    if not parts:
        return [layout]
    return [
        replace(layout, leader=part, sample=_make_sample_dtype(part)) for part in parts
    ]


def _make_sample_dtype(leader: LeaderInfo) -> np.dtype[np.void]:
    sizes = {
        "k": len(leader.limbs),
        "j": max((len(own) for own in leader.joint_names.values()), default=0),
        "d": len(leader.device_joints),
        "a": leader.n_ahead,
        "x": count_axes(leader.axes),
        "y": 1 if leader.axes else 0,
        "s": 1 if leader.rate < SLOW_RATE else 0,  # as a header tells it
    }
    return make_dtype(SampleHead, SAMPLE, sizes)


class HeadCodec(Generic[H]):
    """Codec of record heads of one type."""

    def __init__(self, head: type[H], dtype: np.dtype[np.void]) -> None:
        names: tuple[str, ...] = head._fields  # type: ignore[attr-defined]
        # NumPy's letters of numbers are those of struct
        codes = "".join(dtype[name].char for name in names)
        # ``_make`` would count the fields, which ``struct`` has counted
        self._make: Callable[[Any], H] = partial(tuple.__new__, head)
        scalars: Any = struct.Struct(f"@{codes}")  # a record is a buffer, too
        self._unpack, self._pack = scalars.unpack_from, scalars.pack_into

    def read(self, record: Record) -> H:
        """Return a record's head."""
        return self._make(self._unpack(record))

    def write(self, record: Record, *values: float) -> None:
        """Write a record's head from values in its order."""
        self._pack(record, 0, *values)


def pose_to_row(T: pin.SE3) -> Vec:
    """Return (x, y, z, qx, qy, qz, qw)."""
    return np.asarray(pin.SE3ToXYZQUAT(T), dtype=np.float64)


def row_to_pose(row: npt.ArrayLike) -> pin.SE3:
    """Return the SE3 of such a row."""
    return pin.XYZQUATToSE3(np.asarray(row, dtype=np.float64))


def pack_sample(layout: Layout, sample: LeaderSample, alive_ns: int = 0) -> Record:
    """Return a sample's record with a slow leader's life sign."""
    # a copy of an array has anything between its fields
    record: Record = np.ndarray((), layout.sample, bytearray(layout.blank))
    for name in SampleHead._fields:
        record[name] = getattr(sample, name)
    record["alive_ns"][...] = alive_ns
    record["limb_ns"][...] = sample.stamp_ns
    record["actions"][...] = sample.actions[:_N_BUTTONS]
    for row, limb in enumerate(layout.leader.limbs):
        command = sample.limbs.get(limb)
        if command is not None:
            _pack_command(record, row, command)
    for name, field in _DEVICE.items():
        values = getattr(sample.leader_state, field, None)
        if values is not None:
            record[name][...] = values
    return record


def _pack_command(record: Record, row: int, command: LimbCommand) -> None:
    if command.T_leader_base_leader_eef is not None:
        record["pose"][row] = pose_to_row(command.T_leader_base_leader_eef)
    if command.q is not None:
        record["q"][row, : len(command.q)] = command.q
    if command.opening is not None:
        record["opening"][row] = command.opening
    if command.ahead is not None:
        room = record["ahead"][row]
        room[: len(command.ahead)] = command.ahead[: len(room)]
    if command.axes is not None:
        record["axes"][row, : len(command.axes)] = command.axes
        record["mode"][row] = (command.mode + _TURN) % (2 * _TURN) - _TURN


class SampleView:
    """Copy of one leader sample; absent numbers are NaN.

    Attributes:
        pose: Shape (k, 7), by limb.
        q: Shape (k, j).
        opening: Shape (k,).
        ahead: See ``LimbCommand``, shape (k, a, 8).
        axes: Deflections, shape (k, x).
        alive_ns: See ``SAMPLE``; 0: unknown.
        mode: Counters, shape (k, 1); (k, 0) without axes.
    """

    def __init__(self, layout: Layout) -> None:
        sample = layout.sample
        self.record: Record = np.zeros((), dtype=sample)
        self._codec = HeadCodec(SampleHead, sample)
        self.pose: Vec = self.record["pose"]
        self.q: Vec = self.record["q"]
        self.opening: Vec = self.record["opening"]
        self.ahead: Vec = self.record["ahead"]
        self.axes: Vec = self.record["axes"]
        self.mode: npt.NDArray[np.int32] = self.record["mode"]
        self.alive_ns, self._alive = 0, self.record["alive_ns"]
        self.limb_ns: npt.NDArray[np.int64] = self.record["limb_ns"]
        n = self.pose.size + self.q.size + self.opening.size
        start = sample.fields["pose"][1] if sample.fields else 0
        self.numbers: Vec = np.ndarray((n,), np.float64, self.record, start)
        self.update(self.record)

    def update(self, record: Record) -> None:
        """Copy a record of the leader's mailbox."""
        self.record[()] = record
        if self._alive.size:
            self.alive_ns = int(self._alive[0])
        (
            self.stamp_ns,
            self.seq,
            self.engaged,
            self.valid,
            self.start,
            self.end,
            self.is_exhausted,
        ) = self._codec.read(self.record)
