"""Columns of a data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from paprle.contracts.types import RobotInfo, Vec
from paprle.observation.frame import ASKED, MEASURED, SENT, StateFrame
from paprle.observation.joints import JointUnits, Style, make_joint_units
from paprle.recording.robot import make_limbs, read_recorded_urdf

OBJECTS = "observation.environment_state"  # spec: LeRobot's name of it
_EE = ("x", "y", "z", "wx", "wy", "wz")
_EE_UNITS = ("m", "m", "m", "rad", "rad", "rad")
_TURN = 2.0 * np.pi
_NO_TURN = 1e-9  # [rad] chosen: below it a rotation has no axis


@dataclass(frozen=True)
class Column:
    """A column of numbers, reported by ``source``."""

    name: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    source: str
    kind: str = "float32"


class Columns:
    """Columns of a robot and their values."""

    def __init__(
        self,
        robot: RobotInfo,
        urdf: str,
        style: Style,
        *,
        has_effort: bool,
        objects: Sequence[str] = (),
    ) -> None:
        self.robot = robot
        self.has_effort, self.objects = has_effort, tuple(objects)
        tree = read_recorded_urdf(self.robot, urdf)
        self.units: JointUnits = make_joint_units(self.robot, tree, style)
        self._limbs = list(make_limbs(self.robot, urdf).values())
        self.all = tuple(self._list())
        self._last: dict[tuple[str, int], Vec] = {}

    def begin(self) -> None:
        """Begin an episode with continuous rotations."""
        self._last.clear()

    def compute(self, frame: StateFrame) -> dict[str, Vec]:
        """Return a frame's values by column, (n,)."""
        units = self.units
        return self.observe(frame.q, frame.dq, frame.tau, frame.objects) | {
            "action": units.convert(frame.q_sent),
            "requested.joints": units.convert(frame.q_asked),
            "requested.ee_pose": self._place(
                "requested.ee_pose", frame.q_asked, frame.target
            ),
            "driven": frame.driven,
            "driven_by_person": frame.by_person,
        }

    def observe(self, q: Vec, dq: Vec, tau: Vec, objects: Vec) -> dict[str, Vec]:
        """Return observations by column, (n,).

        ``objects`` are T_world_object, xyz + quat_xyzw, (o, 7).
        """
        values = {
            "observation.state": self.units.convert(q),
            "observation.velocity": self.units.convert_speed(dq),
            "observation.ee_pose": self._place("observation.ee_pose", q, None),
        }
        if self.has_effort:
            values["observation.effort"] = tau
        if self.objects:
            norms = np.linalg.norm(objects[:, 3:], axis=1, keepdims=True)
            unit = np.hstack([objects[:, :3], objects[:, 3:] / norms])
            poses = [pin.XYZQUATToSE3(row) for row in unit]
            rows = [self._write(OBJECTS, k, T) for k, T in enumerate(poses)]
            values[OBJECTS] = np.concatenate(rows)
        return values

    def _list(self) -> Iterator[Column]:
        names, units = self.units.names, self.units.units
        positions = tuple(f"{name}.pos" for name in names)
        speeds = tuple(f"{name}.vel" for name in names)
        many = len(self._limbs) > 1
        limbs = [f"{limb.name}_ee" if many else "ee" for limb in self._limbs]
        ee = tuple(f"{limb}.{axis}" for limb in limbs for axis in _EE)
        ee_units = _EE_UNITS * len(limbs)
        yield Column("observation.state", positions, units, MEASURED)
        per_s = tuple(f"{unit}/s" for unit in units)
        yield Column("observation.velocity", speeds, per_s, MEASURED)
        if self.has_effort:
            efforts = tuple(f"{name}.eff" for name in names)
            yield Column("observation.effort", efforts, self.units.efforts, MEASURED)
        yield Column("observation.ee_pose", ee, ee_units, MEASURED)
        if self.objects:
            places = name_objects(self.objects)
            yield Column(OBJECTS, places, _EE_UNITS * len(self.objects), MEASURED)
        yield Column("action", positions, units, SENT)
        yield Column("requested.joints", positions, units, ASKED)
        yield Column("requested.ee_pose", ee, ee_units, ASKED)
        driven = tuple(limb.name for limb in self._limbs)
        for name in ("driven", "driven_by_person"):
            yield Column(name, driven, ("yes/no",) * len(driven), ASKED, "bool")

    def _place(self, column: str, q: Vec, target: Vec | None) -> Vec:
        rows = []
        for k, limb in enumerate(self._limbs):
            asked = None if target is None else target[k]
            if asked is None or not np.isfinite(asked).all():
                T = limb.fk(limb.take(q))
            else:
                T = pin.XYZQUATToSE3(asked)
            rows.append(self._write(column, k, T))
        return np.concatenate(rows)

    def _write(self, column: str, k: int, T: pin.SE3) -> Vec:
        turn = pin.log3(T.rotation)
        before = self._last.get((column, k))
        turn = turn if before is None else unwrap_rotation(turn, before)
        self._last[column, k] = turn
        return np.concatenate([T.translation, turn])


def name_objects(objects: Sequence[str]) -> tuple[str, ...]:
    """Return the coordinates of objects in their column."""
    return tuple(f"{name}.{axis}" for name in objects for axis in _EE)


def unwrap_rotation(turn: Vec, before: Vec) -> Vec:
    """Return the equivalent rotation vector nearest to another, (3,), [rad]."""
    angle = float(np.linalg.norm(turn))
    if angle < _NO_TURN:
        size = float(np.linalg.norm(before))
        if size < _NO_TURN:
            return turn
        k = round(size / _TURN)
        return before / size * (k * _TURN) + turn
    axis = turn / angle
    return axis * (angle + _TURN * round((float(axis @ before) - angle) / _TURN))
