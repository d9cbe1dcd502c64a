"""Visual cues of mapped axes (AdaptiX 3.3.3, requirements X16 and X17)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple

import numpy as np
import pinocchio as pin
from annotated_types import doc

from paprle.contracts.axes import AxisSpeeds, compute_difference
from paprle.contracts.session_view import Advice, SessionView
from paprle.contracts.settings.base import settings
from paprle.contracts.types import Vec

CueRole = Literal["active", "suggested"]

COLOURS: Mapping[CueRole, tuple[float, float, float]] = {
    "active": (0.01, 0.95, 0.97),  # spec: AdaptiX 3.1.3, bright cyan
    "suggested": (0.09, 0.0, 0.4),  # spec: the same, dark blue
}

_TIME = 1.5  # [s] chosen: 15 cm at the common speed, as long as a hand
_N_POSES = 6  # chosen: a waypoint every 3 cm
_N_ARC = 16  # chosen: a curve without corners
_RADIUS = 0.07  # [m] chosen: around a hand
_FRESH = 1.0  # [s] as the rule `axes` has it
_NOTHING = 0.02  # chosen: a share of a speed that nobody sees
_MOVED_ON = 0.02  # chosen: a difference that is seen; what is fixed is fixed anew


@settings
class CueSettings:
    """Visible cues and the frame that they are attached to."""

    ghost: Annotated[bool, doc("The hand where the motion leads.")] = True
    waypoints: Annotated[bool, doc("Places on the way.")] = False
    arrows: Annotated[bool, doc("Straight for translations, curved for turns.")] = True
    attached: Annotated[
        Literal["tool", "world", "view"],
        doc("They go with the tool, stay where they appeared, or stand in the view."),
    ] = "tool"


class MotionCue(NamedTuple):
    """Cue of one motion, in world; a (0, 3) array is none.

    Attributes:
        path: Eef poses, xyz + quat_xyzw, (n, 7).
        arrow: Tail and tip, (2, 3).
        arc: Curved arrow, tip last, (k, 3).
    """

    role: CueRole
    path: Vec
    arrow: Vec
    arc: Vec


def make_cue(
    role: CueRole,
    T_world_eef: pin.SE3,
    column: Vec,
    speeds: AxisSpeeds | None = None,
) -> MotionCue:
    """Return the cue of a column of D, (7,)."""
    s = AxisSpeeds() if speeds is None else speeds
    v, w = s.translation * _TIME * column[:3], s.turn * _TIME * column[3:6]
    twist, shares = np.concatenate([v, w]), np.linspace(0.0, 1.0, _N_POSES)
    poses = [T_world_eef * pin.exp6(share * twist) for share in shares]
    path = np.array([pin.SE3ToXYZQUAT(T) for T in poses])
    arrow = np.zeros((0, 3))
    if np.linalg.norm(column[:3]) > _NOTHING:
        arrow = np.array([T_world_eef.translation, T_world_eef.act(v)])
    return MotionCue(role, path, arrow, _make_arc(T_world_eef, w))


def _make_arc(T_world_eef: pin.SE3, turn: Vec) -> Vec:
    angle = float(np.linalg.norm(turn))
    if angle < _NOTHING:
        return np.zeros((0, 3))
    axis = turn / angle
    aside = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    begin = _RADIUS * aside / np.linalg.norm(aside)
    angles = np.linspace(0.0, min(angle, 1.5 * np.pi), _N_ARC)
    return np.array([T_world_eef.act(pin.exp3(a * axis) @ begin) for a in angles])


class CueReader:
    """Reader of a limb's cues; ``is_fixed`` keeps them in place."""

    def __init__(self, limb: str, *, is_fixed: bool = False) -> None:
        self._limb, self._is_fixed = limb, is_fixed
        self._kept: dict[CueRole, tuple[pin.SE3, Vec]] = {}

    def read(self, view: SessionView, T_world_eef: pin.SE3) -> list[MotionCue]:
        """Return the cues of active and suggested axes."""
        columns = find_columns(view.mappings.get(self._limb), view.advice)
        self._kept = {role: one for role, one in self._kept.items() if role in columns}
        cues = []
        for role, column in columns.items():
            T = T_world_eef
            if self._is_fixed:
                kept = self._kept.get(role)
                if kept is None or compute_difference(kept[1], column) > _MOVED_ON:
                    self._kept[role] = kept = (T.copy(), column.copy())
                T, column = kept  # noqa: PLW2901 - what is kept is shown
            cues.append(make_cue(role, T, column))
        return cues


class CrossingCounter:
    """Counter of suggestions that crossed a threshold (X12)."""

    def __init__(self) -> None:
        self.n = 0
        self._last: dict[str, int] = {}

    def take(self, advice: Mapping[str, Advice]) -> bool:
        """Return whether new records with ``n_crossings`` crossed a threshold."""
        before = self.n
        for name, said in advice.items():
            if (
                "n_crossings" in (said.record.dtype.names or ())
                and said.record["valid"]
            ):
                now = int(said.record["n_crossings"])
                self.n += now > self._last.get(name, 0)
                self._last[name] = now
        return self.n > before


def find_columns(
    active: Vec | None, advice: Mapping[str, Advice]
) -> dict[CueRole, Vec]:
    """Return the visible columns, (7,), by role, of active ones, (7, m)."""
    columns: dict[CueRole, Vec] = {}
    if active is None:  # no axes drive it
        return columns
    columns["active"] = active[:, 0]
    for said in advice.values():
        names = said.record.dtype.names or ()
        is_said = said.age <= _FRESH and bool(said.record["valid"])
        if "D" not in names or not is_said:
            continue
        if "is_shown" in names and not said.record["is_shown"]:
            continue
        column = np.asarray(said.record["D"], dtype=np.float64)[:, 0]
        if np.isfinite(column).all() and column.any():
            columns["suggested"] = column
    return columns
