"""Link poses as ``/tf``; never read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from paprle.contracts.urdf.models import make_pin_model
from paprle.ipc.records import Layout
from paprle.recording.messages.cdr import make_fixed
from paprle.recording.messages.channels import Rows
from paprle.recording.messages.types import TF_MESSAGE, make_header, make_message

FRAMES_TOPIC = "/tf"
_PERIOD_NS = 100_000_000  # [ns] chosen: enough to watch; at 10 Hz it takes little room
_STEP = 2.0**-16  # [m] chosen: 15 µm, and of quaternions; a picture shows no less
_NS = 1_000_000_000


class FrameMessages:
    """Encoder of link transforms from the URDF's root."""

    def __init__(self, layout: Layout, header: Mapping[str, Any]) -> None:
        self.is_known = False
        self._next_ns, self._n = 0, 0
        try:
            self._model = make_pin_model(header["urdf"])
        except (ValueError, RuntimeError):
            return
        mimics = {m["joint"]: m for m in header["robot"]["mimics"]}
        rows = {name: i for i, name in enumerate(layout.joint_names)}
        self._joints = []
        for joint, name in zip(
            self._model.joints[1:], self._model.names[1:], strict=True
        ):
            told = mimics.get(name, {"source": name, "multiplier": 1.0, "offset": 0.0})
            if told["source"] not in rows or joint.nv != 1:
                return
            source = rows[told["source"]]
            self._joints.append((joint, source, told["multiplier"], told["offset"]))
        self._data = self._model.createData()
        bodies = [f for f in self._model.frames if f.type == pin.FrameType.BODY]
        ids = [self._model.getFrameId(f.name, pin.FrameType.BODY) for f in bodies]
        self._root, *self._links = ids
        if not self._links:
            return
        self._message = make_fixed(TF_MESSAGE, self._make_example())
        self.is_known = True

    def encode(self, gate: Rows) -> Iterator[tuple[int, int, bytes]]:
        """Yield row, stamp [ns] and message at 10 Hz at most."""
        for record in gate:
            stamp = int(record["stamp_ns"])
            if stamp < self._next_ns or not np.isfinite(record["q_meas"]).all():
                continue
            self._next_ns = stamp + _PERIOD_NS
            yield self._n, stamp, self._encode(record["q_meas"], stamp)
            self._n += 1

    def _encode(self, q_meas: Any, stamp: int) -> bytes:
        q = pin.neutral(self._model)
        for joint, source, multiplier, offset in self._joints:
            angle = multiplier * q_meas[source] + offset
            is_turn = joint.nq == 2  # a continuous joint: its cosine and sine
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                (np.cos(angle), np.sin(angle)) if is_turn else angle
            )
        pin.framesForwardKinematics(self._model, self._data, q)
        T_root = self._data.oMf[self._root]
        row = self._message.make_rows(1)
        for i, link in enumerate(self._links):
            pose = pin.SE3ToXYZQUAT(T_root.inverse() * self._data.oMf[link])
            pose = np.round(pose / _STEP) * _STEP
            names = [f"transforms.{i}.transform.translation.{axis}" for axis in "xyz"]
            names += [f"transforms.{i}.transform.rotation.{axis}" for axis in "xyzw"]
            for name, value in zip(names, pose, strict=True):
                row[name] = value
            seconds, rest = divmod(stamp, _NS)
            row[f"transforms.{i}.header.stamp.sec"] = seconds
            row[f"transforms.{i}.header.stamp.nanosec"] = rest
        return row.tobytes()

    def _make_example(self) -> Any:
        root = self._model.frames[self._root].name
        zero = make_message("geometry_msgs/msg/Vector3", x=0.0, y=0.0, z=0.0)
        turn = make_message("geometry_msgs/msg/Quaternion", x=0.0, y=0.0, z=0.0, w=1.0)
        transform = make_message(
            "geometry_msgs/msg/Transform", translation=zero, rotation=turn
        )
        links = [
            make_message(
                "geometry_msgs/msg/TransformStamped",
                header=make_header(root),
                child_frame_id=self._model.frames[link].name,
                transform=transform,
            )
            for link in self._links
        ]
        return make_message(TF_MESSAGE, transforms=links)
