"""Grasping by rule: fingers hold what both touch (AdaptiX 4.1.1)."""

from __future__ import annotations

import math
from collections.abc import Collection

import mujoco
import numpy as np

from paprle.contracts.types import GripperInfo
from paprle.hardware.mujoco.mechanism import BLOCK, Mechanism, Vec
from paprle.hardware.mujoco.model import SimModel

_OPENS = 0.02  # [opening] chosen: a hand that trembles does not let go
_CLOSES = 0.005  # [opening] chosen: told to be tighter than it is by so much


class Grasp:
    """The hand and the block."""

    def __init__(
        self,
        sim: SimModel,
        data: mujoco.MjData,
        mechanism: Mechanism,
        gripper: GripperInfo,
        eef_link: str,
    ) -> None:
        self._model, self._data = sim.model, data
        self._row = mechanism.joint_names.index(gripper.joint)
        self._at = int(sim.qpos_ids[self._row])
        self._gripper = gripper
        self._eef = sim.model.body(eef_link).id
        self._block = sim.model.geom(BLOCK).id
        self._begin = sim.objects[BLOCK]
        self._dof = int(sim.model.joint(BLOCK).dofadr[0])
        self._thumb, self._others = _find_fingers(sim.model, mechanism, gripper.joint)
        self._support = sim.support
        self._T_eef_block = np.eye(4)
        self._opening = math.nan
        self.is_held = False

    def hold_back(self) -> None:
        """Limit the fingers to a held block."""
        asked = self._gripper.measure(float(self._data.ctrl[self._row]))
        if self.is_held and asked > self._opening + _OPENS:
            self._let_go()
        if self.is_held:
            g, least = self._gripper, max(asked, self._opening)
            self._data.ctrl[self._row] = g.closed + (g.open - g.closed) * least
        self._is_closing = asked < self._measure() - _CLOSES

    def step(self, *, is_graspable: bool) -> None:
        """Grasp or carry the block."""
        if not self.is_held and is_graspable and self._is_closing and self._touches():
            self._take_hold()
        if self.is_held:
            self._carry()

    def _touches(self) -> bool:
        touching = set()
        for contact in self._data.contact:
            geoms = (contact.geom1, contact.geom2)
            if self._block in geoms:
                other = geoms[1] if geoms[0] == self._block else geoms[0]
                touching.add(int(self._model.geom_bodyid[other]))
        return not (
            self._thumb.isdisjoint(touching) or self._others.isdisjoint(touching)
        )

    def _take_hold(self) -> None:
        mujoco.mj_kinematics(self._model, self._data)
        row = self._data.qpos[self._begin : self._begin + 7]
        T_world_block = _make_pose(row[:3], row[3:])
        self._T_eef_block = np.linalg.inv(self._place_eef()) @ T_world_block
        self._opening, self.is_held = self._measure(), True
        self._touch_nothing(True)

    def _let_go(self) -> None:
        row = self._data.qpos[self._begin : self._begin + 7]
        R = _make_pose(row[:3], row[3:])[:3, :3]
        low = np.abs(R[2]) @ self._model.geom_size[self._block]
        row[2] = max(row[2], self._support + low)
        self.is_held = False
        self._touch_nothing(False)

    def _carry(self) -> None:
        mujoco.mj_kinematics(self._model, self._data)
        T = self._place_eef() @ self._T_eef_block
        row = self._data.qpos[self._begin : self._begin + 7]
        row[:3] = T[:3, 3]
        mujoco.mju_mat2Quat(row[3:], T[:3, :3].ravel())
        self._data.qvel[self._dof : self._dof + 6] = 0.0

    def _touch_nothing(self, is_nothing: bool) -> None:
        self._model.geom_contype[self._block] = int(not is_nothing)
        self._model.geom_conaffinity[self._block] = int(not is_nothing)

    def _place_eef(self) -> Vec:
        T = np.eye(4)
        T[:3, :3] = self._data.xmat[self._eef].reshape(3, 3)
        T[:3, 3] = self._data.xpos[self._eef]
        return T

    def _measure(self) -> float:
        return self._gripper.measure(float(self._data.qpos[self._at]))


def _make_pose(position: Vec, quat_wxyz: Vec) -> Vec:
    T, R = np.eye(4), np.zeros(9)
    mujoco.mju_quat2Mat(R, quat_wxyz)
    T[:3, :3], T[:3, 3] = R.reshape(3, 3), position
    return T


def _find_fingers(
    model: mujoco.MjModel, mechanism: Mechanism, joint: str
) -> tuple[set[int], set[int]]:
    mimics = [one.joint for one in mechanism.mimics if one.source == joint]
    finger = int(model.joint(joint).bodyid[0])
    thumb = _list_below(model, {finger})
    if not mimics:  # one jaw that closes on the hand itself
        return thumb, {int(model.body_parentid[finger])}
    follow = _list_below(model, {int(model.joint(one).bodyid[0]) for one in mimics})
    return thumb, follow - thumb


def _list_below(model: mujoco.MjModel, roots: Collection[int]) -> set[int]:
    found = set(roots)
    for body in range(1, model.nbody):  # parents come first
        if int(model.body_parentid[body]) in found:
            found.add(body)
    return found
