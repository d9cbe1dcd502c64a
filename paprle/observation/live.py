"""Observations and actions of a session, as in ``paprle dataset create``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import CommandError
from paprle.contracts.images import EXACT, CameraInfo, Frame
from paprle.contracts.session_view import SessionView
from paprle.contracts.types import GripperInfo, LimbCommand, RobotInfo, Vec, readonly
from paprle.observation.columns import Columns, name_objects
from paprle.recording.video.codec import Decoder, Image

Action = Literal["joints", "ee_pose"]
"""Which column a policy's answers are: ``action``, or ``requested.ee_pose``."""

_MOST_ROWS = 1000  # chosen: half a minute of actions is no answer to what is seen
_POSE = 6


class Observations:
    """Observation columns of a session."""

    def __init__(
        self,
        robot: RobotInfo,
        cameras: Mapping[str, CameraInfo],
        objects: Sequence[str] = (),
    ) -> None:
        self._robot, self._objects = robot, tuple(objects)
        self._urdf = robot.urdf_path.read_text(encoding="utf-8")
        self.columns: Columns | None = None
        coloured = {k: c for k, c in cameras.items() if c.encoding not in EXACT}
        self._images = {name: Images(one) for name, one in coloured.items()}

    @property
    def cameras(self) -> tuple[str, ...]:
        """Cameras with image columns."""
        return tuple(self._images)

    @property
    def object_names(self) -> tuple[str, ...]:
        """Coordinates of objects in their column."""
        return name_objects(self._objects)

    def begin(self) -> None:
        """Begin an episode with continuous rotations."""
        if self.columns is not None:
            self.columns.begin()

    def make(self, view: SessionView) -> dict[str, Vec]:
        """Return measurements by column, float32, (n,), or raise CommandError."""
        rows = [view.objects.get(name) for name in self._objects]
        known = [row for row in rows if row is not None]
        if self.columns is None:
            self.columns = Columns(
                self._robot,
                self._urdf,
                "lerobot",
                has_effort=bool(np.isfinite(view.tau).all()),
                objects=self._objects if len(known) == len(rows) else (),
            )
        if self.columns.objects and len(known) < len(rows):
            raise CommandError("observation: expected all objects, got some")
        seen = self.columns.observe(
            view.q, view.dq, view.tau, np.array(known).reshape(-1, 7)
        )
        if not all(np.isfinite(values).all() for values in seen.values()):
            raise CommandError("observation: expected numbers, got NaN or infinity")
        return {name: values.astype(np.float32) for name, values in seen.items()}

    def decode(self, frames: Mapping[str, Frame]) -> dict[str, Image]:
        """Return images by column, as ``Images.decode``."""
        return {
            f"observation.images.{name}": images.decode(name, frames[name])
            for name, images in self._images.items()
        }


class Images:
    """RGB decoder of a camera."""

    def __init__(self, info: CameraInfo) -> None:
        self._info = info
        is_coded = info.encoding in {"jpeg", "png"}
        size = (info.width, info.height)
        self._decoder = Decoder(info.encoding, size) if is_coded else None

    def decode(self, name: str, frame: Frame) -> Image:
        """Return an image, RGB, uint8, (height, width, 3), or raise CommandError."""
        info = self._info
        image: Image | None
        if self._decoder is not None:
            image = self._decoder.decode(frame.data)
        elif info.find_fault(frame):
            image = None
        else:
            flat = np.frombuffer(frame.data, np.uint8)
            image = flat.reshape(info.height, info.width, -1)
            image = np.repeat(image, 3 // image.shape[2], axis=2)
        if image is None:
            raise CommandError(f"camera '{name}': expected an image, got a broken one")
        return image


class PolicyActions:
    """Actions of a policy and their limb commands."""

    def __init__(self, robot: RobotInfo, kind: Action) -> None:
        """Prepare for all joints, or the poses of all limbs, then the grippers."""
        urdf = robot.urdf_path.read_text(encoding="utf-8")
        columns = Columns(robot, urdf, "lerobot", has_effort=False)
        self._columns, self._robot, self._kind = columns, robot, kind
        by_name = {column.name: column.names for column in columns.all}
        joints = by_name["action"]
        self._hands = [
            robot.joint_names.index(limb.gripper.joint)
            for limb in robot.limbs
            if limb.gripper is not None
        ]
        hands = tuple(joints[j] for j in self._hands)
        poses = (*by_name["requested.ee_pose"], *hands)
        self.names = joints if kind == "joints" else poses

    def check(self, answer: object) -> Vec:
        """Return an action, (n,), or chunk, (k, n), as rows, or raise CommandError."""
        n = len(self.names)
        try:
            rows = np.atleast_2d(np.asarray(answer, dtype=np.float64))
        except (TypeError, ValueError) as err:
            raise CommandError(
                f"expected numbers, got {type(answer).__name__}"
            ) from err
        if rows.shape[1:] != (n,) or not 0 < len(rows) <= _MOST_ROWS:
            raise CommandError(f"expected shape ({n},) or (k, {n}), got {rows.shape}")
        if not np.isfinite(rows).all():
            raise CommandError("expected finite numbers, got NaN or infinity")
        return rows

    def encode(self, q: Vec) -> Vec:
        """Return the action of a posture, (n,), [rad] or [m]."""
        values = self._columns.units.convert(q)
        if self._kind == "joints":
            return values
        self._columns.begin()
        none = np.zeros((0, 7))
        seen = self._columns.observe(q, q, q, none)
        return np.concatenate([seen["observation.ee_pose"], values[self._hands]])

    def decode(self, row: Vec) -> dict[str, LimbCommand]:
        """Return an action's limb commands."""
        if self._kind == "ee_pose":
            return self._decode_poses(row)
        robot, q = self._robot, self._columns.units.invert(row)
        at = {name: j for j, name in enumerate(robot.joint_names)}
        return {
            limb.name: LimbCommand(
                q=readonly([q[at[name]] for name in limb.joint_names]),
                opening=None
                if limb.gripper is None
                else _find_opening(limb.gripper, q[at[limb.gripper.joint]]),
            )
            for limb in robot.limbs
        }

    def _decode_poses(self, row: Vec) -> dict[str, LimbCommand]:
        limbs, units = self._robot.limbs, self._columns.units
        poses = row[: _POSE * len(limbs)].reshape(-1, _POSE)
        values = np.zeros(len(self._robot.joint_names))
        values[self._hands] = row[_POSE * len(limbs) :]
        q, hands = units.invert(values), iter(self._hands)
        return {
            limb.name: LimbCommand(
                T_leader_base_leader_eef=pin.SE3(pin.exp3(pose[3:]), pose[:3]),
                opening=None
                if limb.gripper is None
                else _find_opening(limb.gripper, q[next(hands)]),
            )
            for limb, pose in zip(limbs, poses, strict=True)
        }


def _find_opening(gripper: GripperInfo, q: float) -> float:
    share = (q - gripper.closed) / (gripper.open - gripper.closed)
    return float(np.clip(share, 0.0, 1.0))
