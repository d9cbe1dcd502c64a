"""Bit-exact mapping between wire records and messages.

Only velocity of q_cmd, requested limits and residuals of the IK are rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.axes import FREEDOMS
from paprle.ipc.records import Layout, Stream
from paprle.recording.messages.cdr import FixedMessage, make_fixed
from paprle.recording.messages.fields import cut, see_bytes, write_texts, write_values
from paprle.recording.messages.types import (
    GATE_STATUS,
    JOINT_STATE,
    LEADER_STATUS,
    OWN_FIELDS,
    POSE_STAMPED,
    SESSION_TICK,
    make_header,
    make_message,
)

Path = tuple[str | int, ...]
Rows = npt.NDArray[np.void]
Ints = npt.NDArray[np.int64]

EVENTS_TOPIC = "/events"
GIVEN = "/given/"
"""Prefixes of the topics of the newest samples' requests."""
MAPPING = "/mapping/"
"""Prefix of the topics of the matrices that map axes."""
LEADER_LIFE = "/leader/alive"
AS_BEFORE = "rows as the one before in the chunk"
AS_TARGET = "rows as the target"
AS_LEADER = "rows as the pose of the leader's limb that drives"
_NS = 1_000_000_000
VELOCITY_BITS = 12  # chosen: of dq_cmd, 0.02 %; q_cmd tells it to the last bit
REPORT_BITS = 16  # chosen: 15 µrad of an angle; reports tell 1 mrad


@dataclass(frozen=True)
class Channel:
    """Topic, filled from one kind of record.

    Attributes:
        stamp: Path of the monotonic stamp in the record, [ns].
        fields: Path in the record by field of the message; an int picks a row.
        bits: Kept bits of a field's mantissa; absent: all.
        left_out: Rule of the records without a message; empty: none.
        expected: Their values, shape (n, …); when absent, those of the record before.
    """

    topic: str
    stream: Stream
    message: FixedMessage
    stamp: Path
    fields: Mapping[str, Path]
    bits: Mapping[str, int] = field(default_factory=dict)
    left_out: str = ""
    expected: Callable[[Rows], npt.NDArray[Any]] | None = None

    def encode(self, records: Rows) -> tuple[Rows, Ints]:
        """Return records as CDR messages, and their indices."""
        rows = self._fill(records)
        told = np.arange(len(rows))
        if self.left_out:
            told = np.flatnonzero(self._find_told(rows, records))
        whole: Rows = rows.view(f"V{rows.dtype.itemsize}")  # with what lies between
        return whole[told], told

    def _find_told(self, rows: Rows, records: Rows) -> npt.NDArray[np.bool_]:
        is_told = np.zeros(len(rows), dtype=np.bool_)
        for name in self.fields:
            data = see_bytes(rows[name])
            if self.expected is None:
                is_told[:1] = True
                is_told[1:] |= (data[1:] != data[:-1]).any(axis=1)
            else:
                is_told |= (data != see_bytes(self.expected(records))).any(axis=1)
        return is_told

    def _fill(self, records: Rows) -> Rows:
        rows = self.message.make_rows(len(records))
        sec, nanosec = np.divmod(select(records, self.stamp), _NS)
        rows["header.stamp.sec"] = sec
        rows["header.stamp.nanosec"] = nanosec
        for name, path in self.fields.items():
            target, values = rows[name], select(records, path)
            if name in self.bits:
                values = cut(values, self.bits[name])
            if target.dtype.kind == "S":
                write_texts(target, values)
            elif values.ndim > 1:
                flat = values.reshape(len(values), -1)
                target[...] = flat[:, : target.shape[1]]
            else:
                target[...] = values
        return rows

    @property
    def is_constant(self) -> npt.NDArray[np.bool_]:
        """Mask of constant bytes, shape (itemsize,)."""
        constant = np.ones(self.message.dtype.itemsize, dtype=np.bool_)
        fields: Mapping[str, Any] = self.message.dtype.fields or {}
        for name in ("header.stamp.sec", "header.stamp.nanosec", *self.fields):
            leaf, at = fields[name][:2]
            constant[at : at + leaf.itemsize] = False
        return constant

    def stamps(self, records: Rows) -> Ints:
        """Return monotonic stamps for headers, [ns]."""
        return select(records, self.stamp)

    def decode(self, rows: Rows, records: Rows, at: Ints) -> None:
        """Fill the records from this channel's messages.

        ``at`` indexes the records, shape (n,), ascending; the first may be negative.
        """
        if not self.left_out:
            seconds = rows["header.stamp.sec"].astype(np.int64)
            stamps = seconds * _NS + rows["header.stamp.nanosec"]
            select(records, self.stamp)[...] = stamps
        elif self.expected is None:
            newest = np.searchsorted(at, np.arange(len(records)), side="right") - 1
            rows = rows[newest]
        for name, path in self.fields.items():
            target = select(records, path)
            if self.expected is None:
                write_values(target, rows[name])
            else:
                is_here = at >= 0
                target[...] = self.expected(records)
                target[at[is_here]] = rows[name][is_here]


def select(records: Rows, path: Path) -> npt.NDArray[Any]:
    """Return a view of a field; an int in the path picks a row."""
    view: npt.NDArray[Any] = records
    for key in path:
        view = view[key] if isinstance(key, str) else view[:, key]
    return view


def make_channels(layout: Layout, base_links: Mapping[str, str]) -> tuple[Channel, ...]:
    """Return every channel but ``/events``, in order of writing."""
    channels = [_session_tick(layout), _leader_status(layout)]
    for row, limb in enumerate(layout.leader.limbs):
        channels += _leader_limb(layout, row, limb)
    channels += _leader_device(layout) + _leader_life(layout)
    for row, limb in enumerate(layout.limbs):
        channels.append(_raw(layout, row, limb))
        frame = base_links.get(limb, limb)
        channels.append(_pose(f"/target/{limb}/pose", frame, ("target", row)))
        channels.append(_given(row, limb, frame))
        channels += _mapping(layout, row, limb)
    channels += [
        _joints(layout, "/q_des", Stream.TICK, "stamp_ns", ("q_des", "dq_des")),
        replace(
            _joints(layout, "/q_cmd", Stream.GATE, "stamp_ns", ("q_cmd", "dq_cmd")),
            bits={"velocity": VELOCITY_BITS},
        ),
        _joints(
            layout, "/q_meas", Stream.GATE, "meas_ns", ("q_meas", "dq_meas", "tau_meas")
        ),
        _gate_status(layout),
    ]
    for row, name in enumerate(layout.objects):
        path: Path = ("objects", row)
        topic = f"/objects/{name}/pose"
        pose = _pose(topic, "world", path, ("meas_ns",), Stream.GATE)
        channels.append(replace(pose, left_out=AS_BEFORE))
    for row, name in enumerate(layout.placed):
        pose = _pose(f"/objects/{name}/pose", "world", ("placed", row))
        channels.append(replace(pose, left_out=AS_BEFORE))
    return tuple(_keep_filled(channel) for channel in channels)


def _keep_filled(channel: Channel) -> Channel:
    there = channel.message.dtype.names or ()
    fields = {name: path for name, path in channel.fields.items() if name in there}
    return replace(channel, fields=fields)


def _session_tick(layout: Layout) -> Channel:
    made = _own("/session/tick", SESSION_TICK, Stream.TICK, layout.tick)
    return replace(made, bits=dict.fromkeys(("err_pos", "err_rot"), REPORT_BITS))


def _leader_status(layout: Layout) -> Channel:
    made = _own(
        "/leader/status", LEADER_STATUS, Stream.TICK, layout.tick, "leader_base"
    )
    return replace(made, stamp=("sample", "stamp_ns"))


def _gate_status(layout: Layout) -> Channel:
    made = _own("/gate/status", GATE_STATUS, Stream.GATE, layout.status)
    return replace(made, bits={"q_des": REPORT_BITS})


def _own(
    topic: str,
    typename: str,
    stream: Stream,
    record: np.dtype[np.void],
    frame: str = "",
) -> Channel:
    empty = np.zeros(1, record)
    fields: dict[str, Path] = {}
    values: dict[str, Any] = {}
    for name in OWN_FIELDS[typename]:
        fields[name] = (name,) if name in (record.names or ()) else ("sample", name)
        column = select(empty, fields[name])
        if column.dtype.kind == "S":
            values[name] = " " * column.dtype.itemsize
        else:
            values[name] = column[0] if column.ndim > 1 else column[0].item()
    example = make_message(typename, header=make_header(frame), **values)
    return Channel(
        topic=topic,
        stream=stream,
        message=make_fixed(typename, example),
        stamp=("stamp_ns",),
        fields=fields,
    )


def _leader_limb(layout: Layout, row: int, limb: str) -> list[Channel]:
    stamp = ("sample", "stamp_ns")
    channels = []
    names = layout.leader.joint_names.get(limb, ())
    if names:
        example = _joint_state(names, 1)
        channels.append(
            Channel(
                topic=f"/leader/{limb}/joints",
                stream=Stream.TICK,
                message=make_fixed(JOINT_STATE, example),
                stamp=stamp,
                fields={"position": ("sample", "q", row)},
            )
        )
    for name, axes in _name_axes(layout, limb).items():
        example = _joint_state(axes, 1)
        channels.append(
            Channel(
                topic=f"/leader/{limb}/{name}",
                stream=Stream.TICK,
                message=make_fixed(JOINT_STATE, example),
                stamp=stamp,
                fields={"position": ("sample", name, row)},
            )
        )
    if layout.leader.emits_poses(limb):
        path = ("sample", "pose", row)
        channels.append(_pose(f"/leader/{limb}/pose", "leader_base", path, stamp))
    return channels


def _name_axes(layout: Layout, limb: str) -> dict[str, tuple[str, ...]]:
    axes = layout.leader.axes.get(limb, ())
    return {"axes": axes, "mode": ("mode",)} if axes else {}


def _leader_device(layout: Layout) -> list[Channel]:
    names = layout.leader.device_joints
    if not names:
        return []
    fields: dict[str, Path] = {
        "position": ("sample", "device_q"),
        "velocity": ("sample", "device_dq"),
        "effort": ("sample", "device_tau"),
    }
    return [
        Channel(
            topic="/leader/device",
            stream=Stream.TICK,
            message=make_fixed(JOINT_STATE, _joint_state(names, 3)),
            stamp=("sample", "stamp_ns"),
            fields=fields,
        )
    ]


def _leader_life(layout: Layout) -> list[Channel]:
    if not layout.sample["alive_ns"].shape[0]:
        return []
    message = make_fixed(JOINT_STATE, _joint_state((), 0))
    stamp = ("sample", "alive_ns", 0)
    return [Channel(LEADER_LIFE, Stream.TICK, message, stamp, {})]


def _mapping(layout: Layout, row: int, limb: str) -> list[Channel]:
    n_axes = layout.tick["mapping"].shape[-1]
    if not n_axes:
        return []
    names = tuple(f"{freedom}/{k}" for freedom in FREEDOMS for k in range(n_axes))
    message = make_fixed(JOINT_STATE, _joint_state(names, 1))
    fields: dict[str, Path] = {"position": ("mapping", row)}
    return [Channel(MAPPING + limb, Stream.TICK, message, ("stamp_ns",), fields)]


def _raw(layout: Layout, row: int, limb: str) -> Channel:
    poses = [layout.leader.emits_poses(own) for own in layout.leader.limbs]
    has_pose = np.array([*poses, False])  # the last: no limb

    def expect(ticks: Rows) -> npt.NDArray[Any]:
        driver = ticks["driver"][:, row]
        driver = np.where((driver >= 0) & (driver < len(poses)), driver, len(poses))
        expected = np.full((len(ticks), 7), np.nan)
        told = has_pose[driver]
        expected[told] = ticks["sample"]["pose"][told, driver[told]]
        return expected

    pose = _pose(f"/raw/{limb}/pose", "leader_base", ("raw", row))
    return replace(pose, left_out=AS_LEADER, expected=expect)


def _given(row: int, limb: str, frame: str) -> Channel:
    pose = _pose(f"{GIVEN}{limb}/pose", frame, ("given", row))
    return replace(
        pose,
        left_out=AS_TARGET,
        expected=lambda ticks: np.full((len(ticks), 7), np.nan),
    )


def _pose(
    topic: str,
    frame: str,
    path: Path,
    stamp: tuple[str, ...] = ("stamp_ns",),
    stream: Stream = Stream.TICK,
) -> Channel:
    point = make_message("geometry_msgs/msg/Point", x=0.0, y=0.0, z=0.0)
    turn = make_message("geometry_msgs/msg/Quaternion", x=0.0, y=0.0, z=0.0, w=1.0)
    pose = make_message("geometry_msgs/msg/Pose", position=point, orientation=turn)
    example = make_message(POSE_STAMPED, header=make_header(frame), pose=pose)
    return Channel(
        topic=topic,
        stream=stream,
        message=make_fixed(POSE_STAMPED, example),
        stamp=stamp,
        fields={"pose": path},
    )


def _joint_state(names: tuple[str, ...], n_arrays: int) -> Any:
    arrays = [np.zeros(len(names) if i < n_arrays else 0) for i in range(3)]
    return make_message(
        JOINT_STATE,
        header=make_header(),
        name=list(names),
        position=arrays[0],
        velocity=arrays[1],
        effort=arrays[2],
    )


def _joints(
    layout: Layout, topic: str, stream: Stream, stamp: str, sources: tuple[str, ...]
) -> Channel:
    example = _joint_state(layout.joint_names, len(sources))
    targets = ("position", "velocity", "effort")
    return Channel(
        topic=topic,
        stream=stream,
        message=make_fixed(JOINT_STATE, example),
        stamp=(stamp,),
        fields={a: (b,) for a, b in zip(targets, sources, strict=False)},
    )
