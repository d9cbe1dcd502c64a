"""The operator's hand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from paprle_emulators.damiao.models import ArmTable
from paprle_emulators.damiao.plant import Plant
from paprle_emulators.servo_rig.hand import Body, ProgramPlayer, read_program
from paprle_emulators.servo_rig.held_arm import (
    AIM_PERIOD,
    HAND_STIFFNESS,
    HAND_TIME,
    LEAST_STIFFNESS,
)

Vec = NDArray[np.float64]

_FORCE = 40.0  # [N] chosen: the most that a hand pushes or holds with for a while
_LEAST_TORQUE = 3.0  # [N·m] chosen: a wrist or fingers turning a joint


class Hand:
    """A hand that leads an arm once its motors carry it.

    Attributes:
        stiffness: Shape (n + 1,), [N·m/rad].
        most: Shape (n + 1,), [N·m].
    """

    def __init__(self, arm: ArmTable, plant: Plant, program: str) -> None:
        """Take an arm with its gripper open.

        Raises:
            ValueError: If the program is unknown.
        """
        closed, opened = sorted(arm.grip, key=abs)
        plant.q[-1] = opened
        low, high = np.array([*(row.limits for row in arm.rows), arm.grip]).T
        body = Body(plant.q.copy(), closed, low, high)
        names = [*(f"joint{k}" for k in range(1, arm.n + 1)), "gripper"]
        self._player = ProgramPlayer(body, [f"arm/{name}" for name in names])
        self._plant, self._t, self._aim_t = plant, 0.0, 0.0
        reach = np.append(plant.measure_reach(), 0.0)
        self.stiffness = np.maximum(HAND_STIFFNESS * reach**2, LEAST_STIFFNESS)
        self.most = np.maximum(_FORCE * reach, _LEAST_TORQUE)
        plant.hand_q = plant.q.copy()
        self.play(program)
        self.hold(True)

    def play(self, program: str) -> None:
        """Play a program.

        Raises:
            ValueError: If unknown, or without the arm's joints.
        """
        if not self._player.play(read_program(program), self._t):
            raise ValueError(
                f"motion '{program}': expected joints of the arm, got none"
            )

    def hold(self, is_holding: bool) -> None:
        """Hold or release the arm."""
        self._player.is_holding = is_holding
        share = 1.0 if is_holding else 0.0
        plant = self._plant
        plant.hand_stiffness = share * self.stiffness
        plant.hand_damping = share * HAND_TIME * self.stiffness
        plant.hand_most = self.most

    def step(self, dt: float) -> None:
        """Aim for a step, [s]."""
        plant = self._plant
        if plant.is_held:
            return
        if self._t >= self._aim_t:
            goal = self._player.sample(self._t + AIM_PERIOD)
            plant.hand_dq = (goal - plant.hand_q) / AIM_PERIOD
            self._aim_t += AIM_PERIOD
        plant.hand_q = plant.hand_q + dt * plant.hand_dq
        self._t += dt
