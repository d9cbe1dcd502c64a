"""AdaptiX scenario: place the block repeatedly (X24, X25)."""

from __future__ import annotations

import mujoco
import numpy as np

from paprle.contracts.types import RobotInfo
from paprle.followers.mujoco.config import MujocoConfig, ScenarioConfig
from paprle.followers.mujoco.grasp import Grasp
from paprle.hardware.mujoco.mechanism import BLOCK, TARGET_HALF_SIZE, Mechanism, Vec
from paprle.hardware.mujoco.model import SimModel

_LIES = 0.005  # [m] chosen: how far from lying flat a block may be, and lies
_STILL = 0.02  # [m/s] chosen: below this it lies
_RESTS = 0.3  # [s] chosen: a block that only passes has not been placed
_FALLEN = 0.1  # [m] chosen: below what it lay on, it has fallen
_OUTSIDE = 0.15  # [m] chosen: so far from where blocks appear no hand gets it back
_APART = 0.03  # [m] chosen: between a new block and the target
_TRIES = 1000  # chosen: more than any room that has a place needs
_POSE_ROW = np.array([0, 1, 2, 4, 5, 6, 3])


class Scenario:
    """A block, a target and a hand."""

    def __init__(
        self,
        sim: SimModel,
        data: mujoco.MjData,
        mechanism: Mechanism,
        robot: RobotInfo,
        config: MujocoConfig,
    ) -> None:
        """Lay the first block.

        Raises:
            ValueError: If table, gripper or room is missing.
        """
        limb = next((one for one in robot.limbs if one.gripper is not None), None)
        if BLOCK not in sim.objects or limb is None or limb.gripper is None:
            raise ValueError("expected a table and a gripper, got none; choose another")
        self._data = data
        self._config = config.scenario or ScenarioConfig()
        self._period = 1.0 / float(config.rate or 1.0)
        self._rng = np.random.default_rng(self._config.seed)
        self._begin = sim.objects[BLOCK]
        self._dof = int(sim.model.joint(BLOCK).dofadr[0])
        self._height = float(data.qpos[self._begin + 2])
        self._target = np.array([*self._config.target, sim.support, 0, 0, 0, 1.0])
        self._grasp = Grasp(sim, data, mechanism, limb.gripper, limb.eef_link)
        self._rested = 0.0
        self._words: list[str] = []
        self.n_placed = self.n_lost = 0
        self._lay_block()
        mujoco.mj_forward(sim.model, data)

    @property
    def is_held(self) -> bool:
        """Whether the hand holds the block."""
        return self._grasp.is_held

    def hold_back(self) -> None:
        """Limit a holding hand's command."""
        self._grasp.hold_back()

    def step(self) -> None:
        """Update the block, after the period."""
        self._grasp.step(is_graspable=self._config.graspable)
        if self._grasp.is_held:
            self._rested = 0.0
            return
        p = self._data.qpos[self._begin : self._begin + 3]
        self._rested = self._rested + self._period if self._is_placed(p) else 0.0
        if self._rested >= _RESTS:
            self.n_placed += 1
            self._words.append(f"scenario: block {self.n_placed} is placed")
            self._lay_block()
        elif self._is_lost(p):
            self.n_lost += 1
            self._words.append("scenario: the block was lost; there is another")
            self._lay_block()

    def read_objects(self) -> Vec:
        """Return poses of block and target, xyz + quat_xyzw, (2, 7)."""
        block = self._data.qpos[self._begin : self._begin + 7][_POSE_ROW]
        poses: Vec = np.stack([block, self._target])
        poses.setflags(write=False)
        return poses

    def take_words(self) -> list[str]:
        """Return new events of blocks."""
        words, self._words = self._words, []
        return words

    def describe(self) -> str:
        """Return the counts as text."""
        return f"scenario: {self.n_placed} placed, {self.n_lost} lost"

    def _is_placed(self, p: Vec) -> bool:
        aside = np.abs(p[:2] - self._target[:2]).max()
        speed = np.linalg.norm(self._data.qvel[self._dof : self._dof + 3])
        is_low = abs(p[2] - self._height) < _LIES
        return bool(aside < TARGET_HALF_SIZE and is_low and speed < _STILL)

    def _is_lost(self, p: Vec) -> bool:
        c = self._config
        low = np.minimum([c.x[0], c.y[0]], c.target) - _OUTSIDE
        high = np.maximum([c.x[1], c.y[1]], c.target) + _OUTSIDE
        is_outside = ((p[:2] < low) | (p[:2] > high)).any()
        return bool(is_outside or p[2] < self._height - _FALLEN)

    def _lay_block(self) -> None:
        c = self._config
        for _ in range(_TRIES):
            x, y = self._rng.uniform(*c.x), self._rng.uniform(*c.y)
            aside = np.abs(np.array([x, y]) - self._target[:2]).max()
            if aside > TARGET_HALF_SIZE + _APART:
                break
        else:
            raise ValueError(f"expected room beside the target, got x {c.x}, y {c.y}")
        yaw = self._rng.uniform(-np.pi, np.pi)
        turned = np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)
        self._data.qpos[self._begin : self._begin + 7] = x, y, self._height, *turned
        self._data.qvel[self._dof : self._dof + 6] = 0.0
        self._rested = 0.0
