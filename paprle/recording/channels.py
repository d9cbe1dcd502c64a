"""Which fields of the wire records become which messages: one table, both ways.

The journal writes a batch of records through it and the reader fills the same records
from the messages, so that what comes back is what went in, bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.axes import FREEDOMS
from paprle.ipc.records import Layout, Stream
from paprle.recording.cdr import FixedMessage, make_fixed
from paprle.recording.messages import (
    GATE_STATUS,
    JOINT_STATE,
    LEADER_STATUS,
    POSE_STAMPED,
    SESSION_TICK,
    make_header,
    make_message,
)

Path = tuple[str | int, ...]
Rows = npt.NDArray[np.void]

EVENTS_TOPIC = "/events"
MAPPING = "/mapping/"
"""Where topics of the matrices begin by which axes drive."""
LEADER_LIFE = "/leader/alive"
_NS = 1_000_000_000


@dataclass(frozen=True)
class Channel:
    """One topic, filled from one kind of record.

    Attributes:
        topic: Its name.
        stream: Kind of record that it is filled from.
        message: Type, template and offsets.
        stamp: Path of the monotonic stamp in the record, [ns].
        fields: Path in the record by field of the message; an int picks a row.
    """

    topic: str
    stream: Stream
    message: FixedMessage
    stamp: Path
    fields: Mapping[str, Path]

    def encode(self, records: Rows) -> Rows:
        """Return the CDR messages of a batch of records, one row each."""
        rows = self.message.make_rows(len(records))
        sec, nanosec = np.divmod(select(records, self.stamp), _NS)
        rows["header.stamp.sec"] = sec
        rows["header.stamp.nanosec"] = nanosec
        for name, path in self.fields.items():
            target, values = rows[name], select(records, path)
            if target.dtype.kind == "S":
                _write_texts(target, values)
            elif values.ndim > 1:
                flat = values.reshape(len(values), -1)
                target[...] = flat[:, : target.shape[1]]
            else:
                target[...] = values
        return rows

    @property
    def is_constant(self) -> npt.NDArray[np.bool_]:
        """Which bytes of its messages are always the template's, shape (itemsize,)."""
        constant = np.ones(self.message.dtype.itemsize, dtype=np.bool_)
        fields: Mapping[str, Any] = self.message.dtype.fields or {}
        for name in ("header.stamp.sec", "header.stamp.nanosec", *self.fields):
            leaf, at = fields[name][:2]
            constant[at : at + leaf.itemsize] = False
        return constant

    def stamps(self, records: Rows) -> list[int]:
        """Return the monotonic stamps that go into the headers, [ns]."""
        stamps: list[int] = select(records, self.stamp).tolist()
        return stamps

    def decode(self, rows: Rows, records: Rows) -> None:
        """Fill the records from the CDR messages of this channel, row by row."""
        seconds = rows["header.stamp.sec"].astype(np.int64)
        select(records, self.stamp)[...] = seconds * _NS + rows["header.stamp.nanosec"]
        for name, path in self.fields.items():
            source, target = rows[name], select(records, path)
            if source.dtype.kind == "S":
                target[...] = np.char.rstrip(source, b" ")
            elif target.ndim > 2:
                target[...] = source.reshape(target.shape)
            elif target.ndim > 1:
                target[:, : source.shape[1]] = source
            else:
                target[...] = source


def select(records: Rows, path: Path) -> npt.NDArray[Any]:
    """Return a view of one field of all records: names go in, an int picks a row."""
    view: npt.NDArray[Any] = records
    for key in path:
        view = view[key] if isinstance(key, str) else view[:, key]
    return view


def make_channels(layout: Layout, base_links: Mapping[str, str]) -> tuple[Channel, ...]:
    """Return every channel of a recording but ``/events``.

    Args:
        layout: Dtypes of the session.
        base_links: Base link by limb of the robot, for ``frame_id``.

    Returns:
        The channels, in the order in which they are written.
    """
    channels = [_session_tick(layout), _leader_status(layout)]
    for row, limb in enumerate(layout.leader.limbs):
        channels += _leader_limb(layout, row, limb)
    channels += _leader_device(layout) + _leader_life(layout)
    for row, limb in enumerate(layout.limbs):
        channels.append(_pose(f"/raw/{limb}/pose", "leader_base", ("raw", row)))
        frame = base_links.get(limb, limb)
        channels.append(_pose(f"/target/{limb}/pose", frame, ("target", row)))
        channels += _mapping(layout, row, limb)
    channels += [
        _joints(layout, "/q_des", Stream.TICK, "stamp_ns", ("q_des", "dq_des")),
        _joints(layout, "/q_cmd", Stream.GATE, "stamp_ns", ("q_cmd", "dq_cmd")),
        _joints(
            layout, "/q_meas", Stream.GATE, "meas_ns", ("q_meas", "dq_meas", "tau_meas")
        ),
        _gate_status(layout),
    ]
    for row, name in enumerate(layout.objects):
        path: Path = ("objects", row)
        topic = f"/objects/{name}/pose"
        channels.append(_pose(topic, "world", path, ("meas_ns",), Stream.GATE))
    return tuple(_keep_filled(channel) for channel in channels)


def _keep_filled(channel: Channel) -> Channel:
    """Return a channel without the arrays that are empty: a capture has no joints."""
    there = channel.message.dtype.names or ()
    fields = {name: path for name, path in channel.fields.items() if name in there}
    return replace(channel, fields=fields)


def _write_texts(target: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
    """Write texts padded with blanks, as CDR strings of constant length need."""
    width = target.dtype.itemsize
    for row in np.flatnonzero(values != b""):
        text = values[row].decode(errors="ignore").encode()
        target[row] = text[:width].ljust(width)


def _session_tick(layout: Layout) -> Channel:
    m = len(layout.limbs)
    names: tuple[str, ...] = (
        "k",
        "state",
        "episode",
        "driver",
        "err_pos",
        "err_rot",
        "compute_ns",
        "late_ns",
    )
    names += ("n_overruns", "posted_ns")
    example = make_message(
        SESSION_TICK,
        header=make_header(),
        **dict.fromkeys(names, 0)
        | {
            "driver": np.zeros(m, dtype=np.int32),
            "err_pos": np.zeros(m),
            "err_rot": np.zeros(m),
        },
    )
    return Channel(
        topic="/session/tick",
        stream=Stream.TICK,
        message=make_fixed(SESSION_TICK, example),
        stamp=("stamp_ns",),
        fields={name: (name,) for name in names},
    )


def _leader_status(layout: Layout) -> Channel:
    flags = ("engaged", "valid", "start", "end", "is_exhausted")
    example = make_message(
        LEADER_STATUS,
        header=make_header("leader_base"),
        seq=0,
        has_sample=False,
        **dict.fromkeys(flags, False),
        sample_age_ns=0,
        opening=np.zeros(len(layout.leader.limbs)),
        limb_ns=np.zeros(len(layout.leader.limbs), dtype=np.int64),
        actions=np.zeros(layout.sample["actions"].shape, dtype=np.uint32),
    )
    sampled = ("seq", *flags, "opening", "limb_ns", "actions")
    fields: dict[str, Path] = {name: ("sample", name) for name in sampled}
    fields |= {name: (name,) for name in ("has_sample", "sample_age_ns")}
    return Channel(
        topic="/leader/status",
        stream=Stream.TICK,
        message=make_fixed(LEADER_STATUS, example),
        stamp=("sample", "stamp_ns"),
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
    """Return what a sample holds of a limb of axes, and the names of its numbers."""
    axes = layout.leader.axes.get(limb, ())
    return {"axes": axes, "mode": ("mode",)} if axes else {}


def _leader_device(layout: Layout) -> list[Channel]:
    """Return the channel of a device's own joints, where it has some."""
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
    """Return the channel of a slow leader's signs of life: stamps alone."""
    if not layout.sample["alive_ns"].shape[0]:
        return []
    message = make_fixed(JOINT_STATE, _joint_state((), 0))
    stamp = ("sample", "alive_ns", 0)
    return [Channel(LEADER_LIFE, Stream.TICK, message, stamp, {})]


def _mapping(layout: Layout, row: int, limb: str) -> list[Channel]:
    """Return the channel of the matrix D by which axes drive a limb, row by row."""
    n_axes = layout.tick["mapping"].shape[-1]
    if not n_axes:
        return []
    names = tuple(f"{freedom}/{k}" for freedom in FREEDOMS for k in range(n_axes))
    message = make_fixed(JOINT_STATE, _joint_state(names, 1))
    fields: dict[str, Path] = {"position": ("mapping", row)}
    return [Channel(MAPPING + limb, Stream.TICK, message, ("stamp_ns",), fields)]


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
    """Return a JointState with its first n of position, velocity, effort filled."""
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


def _gate_status(layout: Layout) -> Channel:
    width = layout.status["stop_reason"].itemsize
    names: tuple[str, ...] = ("k", "state", "reasons", "latched", "counts")
    names += (
        "setpoint_seq",
        "setpoint_ns",
        "sim_time",
        "q_des",
        "speed_scale",
        "clearance",
        "compute_ns",
        "late_ns",
    )
    names += ("n_overruns", "stop_reason")
    example = make_message(
        GATE_STATUS,
        header=make_header(),
        **dict.fromkeys(names, 0)
        | {
            "counts": np.zeros(32, dtype=np.uint32),
            "q_des": np.zeros(len(layout.joint_names)),
            "sim_time": 0.0,
            "speed_scale": 0.0,
            "clearance": 0.0,
            "stop_reason": " " * width,
        },
    )
    return Channel(
        topic="/gate/status",
        stream=Stream.GATE,
        message=make_fixed(GATE_STATUS, example),
        stamp=("stamp_ns",),
        fields={name: (name,) for name in names},
    )
