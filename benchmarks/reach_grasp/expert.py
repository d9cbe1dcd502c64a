"""Scripted leader and policy: grasps and lifts the block."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

_FPS = 30.0
_SPEED = 0.15  # [m/s] chosen: a careful hand
_TURN = 0.8  # [rad/s] chosen: likewise
_OPENING = 100.0  # [a second] chosen: the hand closes in a second
_REACH = 0.1358  # [m] spec: urdf/piper, fingertips before the eef
_ELEVATION = np.pi / 4  # chosen: the hand points forward and down
_ABOVE, _AROUND, _LIFTED = 0.10, 0.012, 0.16  # [m] chosen: tips over the table
_CLOSED, _OPEN = 0.0, 100.0
_NEAR = 0.004  # [m] chosen: so near is there
_NEAR_TURN = 0.03  # [rad] chosen: likewise


def _point_hand() -> np.ndarray:
    out = np.array([np.cos(_ELEVATION), 0.0, -np.sin(_ELEVATION)])
    side = np.array([0.0, 1.0, 0.0])
    return np.stack([np.cross(side, out), side, out], axis=1)


class Expert:
    """Emits poses (``leader.action=ee_pose``), at constant speed."""

    def reset(self) -> None:
        """Reset."""
        self._stage, self._waited = 0, 0
        self._T: pin.SE3 | None = None
        self._opening = _OPEN

    def __call__(self, observation):
        block = observation["observation.environment_state"][:3].astype(float)
        if self._T is None:
            pose = observation["observation.ee_pose"].astype(float)
            self._T = pin.SE3(pin.exp3(pose[3:]), pose[:3])
            self._block = block
        goals = (
            (_ABOVE, _OPEN, 0),
            (_AROUND, _OPEN, 5),
            (_AROUND, _CLOSED, 10),
            (_LIFTED, _CLOSED, 15),
        )
        if self._stage == len(goals):
            return None
        height, opening, wait = goals[self._stage]
        R = _point_hand()
        tip = np.array([*self._block[:2], height])
        is_there = self._step(pin.SE3(R, tip - R @ [0.0, 0.0, _REACH]), opening)
        self._waited = self._waited + 1 if is_there else 0
        if self._waited > wait:
            self._stage, self._waited = self._stage + 1, 0
        return [*self._T.translation, *pin.log3(self._T.rotation), self._opening]

    def _step(self, goal: pin.SE3, opening: float) -> bool:
        way = goal.translation - self._T.translation
        turn = pin.log3(self._T.rotation.T @ goal.rotation)
        far, turned = np.linalg.norm(way), np.linalg.norm(turn)
        left = max(far / _SPEED, turned / _TURN, 1e-9) * _FPS
        share = min(1.0, 1.0 / left)
        self._T = pin.SE3(
            self._T.rotation @ pin.exp3(share * turn), self._T.translation + share * way
        )
        change = np.clip(opening - self._opening, -_OPENING / _FPS, _OPENING / _FPS)
        self._opening += change
        return far < _NEAR and turned < _NEAR_TURN and abs(change) < 1e-9
