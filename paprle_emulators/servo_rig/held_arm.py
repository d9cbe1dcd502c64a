"""An arm with horns and hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from paprle_emulators.servo_rig.arm import FAR, Arm, Drives, Links
from paprle_emulators.servo_rig.hand import Body, ProgramPlayer

Vec = NDArray[np.float64]

HAND_STIFFNESS = 300.0  # chosen: a relaxed hand at a handle [N/m]
LEAST_STIFFNESS = 2.0  # chosen: a wrist or fingers turning a joint [N·m/rad]
REACH = 0.2  # chosen: from a joint to the handle where no links are known [m]
STAND = 0.03  # chosen: so far from its first pose an arm has left its stand [rad]
LIFT_TIME = 0.5  # chosen: in which a person gets used to a weight [s]
AIM_PERIOD = 0.005  # chosen: a hand aims slowly; between, it goes straight on [s]
HAND_TIME = 0.025  # chosen: damping of the hand by its stiffness, well damped [s]


class HeldArm:
    """An arm with horns and holding hand."""

    def __init__(
        self, name: str, joints: Sequence[str], drives: Drives, links: Links | None
    ) -> None:
        self.name = name
        self.joints = tuple(joints)
        n = len(self.joints)
        self._drives, self._links = drives, links
        self._gear, self._offset = np.ones(n), np.zeros(n)
        self._aim_t = 0.0
        self._is_propped = False  # by a stand, until it leaves it

    def take(self, body: Body, gear: Vec, offset: Vec) -> None:
        """Put an arm at home into a hand.

        Args:
            body: For the hand.
            gear: Signed servo turns per joint turn, shape (n,).
            offset: Servo angle at joint position 0, shape (n,), [rad].
        """
        n, links = len(self.joints), self._links
        self._gear, self._offset = gear, offset
        self.arm = Arm(self._drives, links, body.home)
        self.hand = ProgramPlayer(body, [f"{self.name}/{one}" for one in self.joints])
        n_arm = n - (body.closed is not None)
        reach = np.full(n, REACH)
        if links is not None:
            reach = links.measure_reach(body.home, n_arm - 1)
        stiffness = np.maximum(HAND_STIFFNESS * reach**2, LEAST_STIFFNESS)
        self.set_hand(stiffness, HAND_TIME * stiffness)

    def set_hand(self, stiffness: Vec, damping: Vec) -> None:
        """Set stiffness [N·m/rad] and damping [N·m·s/rad]."""
        self._grip = stiffness, damping
        self.hold(self.hand.is_holding)

    def hold(self, is_holding: bool) -> None:
        """Hold or release the arm; remove its prop."""
        self._is_propped = False
        self.hand.is_holding = is_holding
        share = 1.0 if is_holding else 0.0
        self.arm.hand_stiffness, self.arm.hand_damping = (
            share * self._grip[0],
            share * self._grip[1],
        )
        self.arm.hand_lift = share * self._weigh()

    def prop(self) -> None:
        """Prop the arm until it leaves its pose."""
        self.hold(False)
        self._is_propped = True

    def step_arm(self, tau: Vec, t: float | None, dt: float) -> None:
        """Advance dt [s] with servo torques (n,), [N·m]."""
        arm = self.arm
        if self._is_propped:
            arm.hand_lift = self._weigh()
            if np.abs(arm.q - arm.hand_q).max() > STAND:
                self.hold(False)
        if t is not None and t >= self._aim_t:
            arm.hand_dq = (self.hand.sample(t + AIM_PERIOD) - arm.hand_q) / AIM_PERIOD
            self._aim_t = t + AIM_PERIOD
            self._lift(AIM_PERIOD)
        arm.hand_q = arm.hand_q + dt * arm.hand_dq
        arm.step(self._gear * tau, dt)

    def _lift(self, dt: float) -> None:
        if not self.hand.is_holding:
            return
        arm, weight = self.arm, self._weigh()
        sag = arm.hand_stiffness * (arm.hand_q - arm.q)
        lift = arm.hand_lift + sag * dt / LIFT_TIME
        arm.hand_lift = np.clip(lift, np.minimum(weight, 0.0), np.maximum(weight, 0.0))

    def _weigh(self) -> Vec:
        """Return the hand's maximum load, (n,), [N·m]."""
        if self._links is None:
            return np.zeros(len(self.joints))
        gravity = self._links.compute_gravity(self.arm.q)
        return np.where(self._grip[0] > 0.0, gravity, 0.0)

    def mount(self, index: int, sign: int, offset: float) -> tuple[int, float]:
        """Mount a horn by sign and offset [rad].

        Returns:
            Previous sign and offset.
        """
        before = int(np.sign(self._gear[index])), float(self._offset[index])
        self._gear[index] = sign * abs(self._gear[index])
        self._offset[index] = offset
        self.show()
        return before

    @property
    def signs(self) -> list[int]:
        """Direction of each servo, 1 or -1."""
        return [int(sign) for sign in np.sign(self._gear)]

    def list_angles(self) -> tuple[list[float], list[float]]:
        """Return servo angles [rad] and speeds [rad/s]."""
        angles: list[float] = (self._gear * self.arm.q + self._offset).tolist()
        speeds: list[float] = (self._gear * self.arm.dq).tolist()
        return angles, speeds

    def show(self) -> None:
        """Set the servos' angles and speeds."""

    def describe(self) -> dict[str, object]:
        """Return the true joint state."""
        arm = self.arm
        return {
            "joints": list(self.joints),
            "q": arm.q.tolist(),
            "dq": arm.dq.tolist(),
            "q_hand": arm.hand_q.tolist(),
            "tau_motor": arm.tau_motor.tolist(),
            "tau_hand": arm.tau_hand.tolist(),
            "motor_work": arm.motor_work.tolist(),
            "hand_work": arm.hand_work.tolist(),
        }


def make_body(
    home: Sequence[float], gripper: tuple[float, float] | None, links: Links | None
) -> Body:
    """Return an arm's geometry; without links, no limits.

    ``home`` is without the gripper, [rad]; ``gripper`` is closed and open, [rad].
    """
    closed, opened = gripper or (None, None)
    pose = [*home] if opened is None else [*home, opened]
    n = len(pose)
    lower = links.lower if links else np.full(n, -FAR)
    upper = links.upper if links else np.full(n, FAR)
    return Body(np.array(pose), closed, lower, upper)
