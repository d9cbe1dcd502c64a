"""Deflections of axes: the limb moves at speeds · clip(D u), by modes D.

* world-aligned: p ← p + R_map v dt and R ← exp(R_map ω dt) R;
* body-aligned: T ← T·exp((R_map v, R_map ω) dt);

dt is that between samples (requirements X1 to X3). Suggested modes (X4) are in the
tool's axes, without R_map (X5).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.axes import AxisSpeeds
from paprle.contracts.session_view import Advice
from paprle.contracts.types import Vec
from paprle.retargeting.rules.base import LimbRule, LimbTarget, RuleInputs
from paprle.retargeting.rules.inputs import REST, InputKind, Pushed, read_input
from paprle.retargeting.rules.modes import choose_other, has_modes, read_modes
from paprle.retargeting.rules.windup import (
    PushResponse,
    draw_back,
    hold_back,
    stay_near,
)

_LONGEST = 0.1  # [s] spec: safety.md A1: no sample says what was before that


class Meaning(NamedTuple):
    """Meaning of a device's axes for a limb.

    Attributes:
        speeds: At full deflection.
        R_map: From the leader's axes to the limb's, shape (3, 3).
        is_world: Axes of the limb's base, not of the tool.
    """

    speeds: AxisSpeeds
    R_map: Vec
    is_world: bool
    input: InputKind = "continuous"


class Matrix(NamedTuple):
    """The matrix D in use, shape (7, m); ``is_used``: the limb has moved with it."""

    D: Vec
    row: int = 0
    is_advised: bool = False
    is_used: bool = False


class AxesState(NamedTuple):
    """State of a limb that axes drive.

    Attributes:
        T: T_base_eef, shape (4, 4).
        opening: NaN: unused, it holds.
        mode: The operator's counter at the choice of ``mapping``.
    """

    T: Vec
    opening: float
    stamp_ns: int
    mapping: Matrix
    mode: int
    pushed: Pushed
    standing: PushResponse


class AxesRule(LimbRule[AxesState]):
    """A device of axes drives the limb; ``modes`` need no advice, (7, m) each."""

    begins_at_command = True

    def __init__(
        self,
        modes: Sequence[Vec],
        meaning: Meaning,
        *,
        advisor: str = "",
        gripper: tuple[int, Vec] | None = None,
    ) -> None:
        """Make it; ``gripper`` is its joint, with gain and offset."""
        self.modes = tuple(modes)
        self._n_axes = self.modes[0].shape[1]
        self._speeds: Vec = np.repeat(np.array(meaning.speeds), [3, 3, 1])
        self._R_map, self._is_world = meaning.R_map, meaning.is_world
        self._input = meaning.input
        self._advisor, self._gripper = advisor, gripper

    def begin(self, inputs: RuleInputs) -> AxesState:
        """Begin at the command."""
        T = inputs.T_base_eef[inputs.limb].copy()
        mode, stamp_ns = self._read_mode(inputs), _read_stamp(inputs)
        row = 0 if self._advisor else mode % len(self.modes)
        mapping = Matrix(self.modes[row], row)
        pushed = Pushed(self._read_axes(inputs), np.zeros(self._n_axes))
        standing = PushResponse(T, inputs.T_base_reached[inputs.limb].copy())
        return AxesState(T, math.nan, stamp_ns, mapping, mode, pushed, standing)

    def apply(
        self, inputs: RuleInputs, state: AxesState
    ) -> tuple[LimbTarget, AxesState]:
        """Return the target moved by deflections."""
        stamp_ns, mode = _read_stamp(inputs), self._read_mode(inputs)
        dt = (stamp_ns - state.stamp_ns) * 1e-9
        dt = dt if 0.0 < dt <= _LONGEST else 0.0
        u, pushed = read_input(self._input, self._read_axes(inputs), state.pushed, dt)
        is_resting = not (u.any() or pushed.owed.any())
        mapping = state.mapping
        if mode != state.mode or (self._advisor and is_resting):
            mapping = self._choose(mapping, mode - state.mode, inputs.advice)
        if mapping.D is not state.mapping.D:
            pushed = pushed._replace(owed=np.zeros(self._n_axes))
        T, opening, standing = state.T, state.opening, state.standing
        if not is_resting:
            step = np.clip(mapping.D @ u, -1.0, 1.0) * self._speeds * dt
            if step[:6].any():
                T, standing = self._push(inputs, state, mapping, step, dt)
            if step[6] != 0.0:
                opening = self._open(opening, float(step[6]), inputs.q_cmd)
            mapping = mapping._replace(is_used=True)
        after_ns = max(stamp_ns, state.stamp_ns)
        after = AxesState(T, opening, after_ns, mapping, mode, pushed, standing)
        return LimbTarget(T_base_eef=T, opening=opening), after

    def find_motions(self, state: AxesState) -> Vec:
        """Return D in the eef's axes, shape (7, m)."""
        D = state.mapping.D
        if state.mapping.is_advised:
            return D
        R = state.T[:3, :3].T @ self._R_map if self._is_world else self._R_map
        motions = D.copy()
        motions[:3], motions[3:6] = R @ D[:3], R @ D[3:6]
        return motions

    def _read_mode(self, inputs: RuleInputs) -> int:
        return int(inputs.sample.mode[inputs.source, 0])

    def _read_axes(self, inputs: RuleInputs) -> Vec:
        u = inputs.sample.axes[inputs.source, : self._n_axes]
        u = np.where(np.abs(u) <= REST, 0.0, u)
        return np.clip(np.where(np.isfinite(u), u, 0.0), -1.0, 1.0)

    def _choose(self, now: Matrix, steps: int, advice: Mapping[str, Advice]) -> Matrix:
        said = advice.get(self._advisor) if self._advisor else None
        if not steps and has_modes(said) == now.is_advised:
            return now  # nearly always: in each tick at rest
        suggested = read_modes(said, self._n_axes)
        if bool(suggested) != now.is_advised:
            found = suggested or self.modes
            row = (steps - 1 if steps > 0 else steps) % len(found)
            return Matrix(found[row], row, is_advised=bool(suggested))
        if not suggested:
            row = (now.row + steps) % len(self.modes)
            return Matrix(self.modes[row], row)
        row, way = (-1 if now.is_used else now.row), (1 if steps > 0 else -1)
        if now.is_used and way < 0:
            row = 0
        D = now.D
        for _ in range(min(abs(steps), len(suggested))):
            row = choose_other(suggested, D, row, way)
            D = suggested[row]
        return Matrix(D, row, is_advised=True)

    def _push(
        self,
        inputs: RuleInputs,
        state: AxesState,
        mapping: Matrix,
        step: Vec,
        dt: float,
    ) -> tuple[Vec, PushResponse]:
        T_cmd = inputs.T_base_eef[inputs.limb]
        T_reached = inputs.T_base_reached[inputs.limb]
        T = self._move(state.T, step, is_advised=mapping.is_advised)
        asked = np.concatenate([T[:3, 3] - state.T[:3, 3], step[3:6]])
        standing = state.standing.push(T_cmd, T_reached, asked, dt)
        begin, standing = draw_back(state.T, T, standing, self._speeds[[0, 3]])
        if begin is not state.T:
            T = self._move(begin, step, is_advised=mapping.is_advised)
        return stay_near(hold_back(begin, T, standing), T_cmd), standing

    def _move(self, T: Vec, step: Vec, *, is_advised: bool) -> Vec:
        if is_advised:
            moved: Vec = T @ pin.exp6(step[:6]).homogeneous
        else:
            v, w = self._R_map @ step[:3], self._R_map @ step[3:6]
            if self._is_world:
                moved = T.copy()
                moved[:3, 3] += v
                moved[:3, :3] = pin.exp3(w) @ T[:3, :3]
            else:
                moved = T @ pin.exp6(np.concatenate([v, w])).homogeneous
        R = moved[:3, :3]
        moved[:3, :3] = 1.5 * R - 0.5 * R @ R.T @ R  # rounding does not add up
        return moved

    def _open(self, opening: float, step: float, q_cmd: Vec) -> float:
        if self._gripper is None:
            return math.nan
        joint, line = self._gripper
        if math.isnan(opening):
            opening = (float(q_cmd[joint]) - line[1]) / line[0]
        return min(max(opening + step, 0.0), 1.0)


def _read_stamp(inputs: RuleInputs) -> int:
    return int(inputs.sample.limb_ns[inputs.source])
