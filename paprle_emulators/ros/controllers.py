"""Controllers with ros2_control's semantics, one topic each.

References:
    ros2_controllers, joint_trajectory_controller: a message replaces the trajectory,
    begins at its stamp or on arrival, and is interpolated from the state desired
    then; cubic with velocities, linear without.
    forward_command_controller: a message is the command until the next.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from paprle_emulators.ros.wire import (
    Codec,
    Refused,
    Trajectory,
    read_goal,
    read_joint_state,
    read_positions,
    read_trajectory,
)

Vec = npt.NDArray[np.float64]

BEGINS = ("measured", "desired")
"""Start of a trajectory at the controller: on arrival, or as set."""
STOCK = BEGINS[0]


class Controller(ABC):
    """Converts a topic's messages to desired joint positions (n,)."""

    def __init__(self, joints: tuple[str, ...], q: Vec) -> None:
        self.joints = joints
        self.restart(q)

    def restart(self, q: Vec) -> None:
        """Hold positions; drop the trajectory."""
        self.q, self.dq = q.copy(), np.zeros_like(q)

    @abstractmethod
    def accept(self, codec: Codec, data: bytes, now_ns: int) -> Vec:
        """Return a command's next requested position, (n,), at a time [ns].

        Raises:
            Refused: With unchanged state.
        """

    @abstractmethod
    def update(self, now_ns: int, q_meas: Vec, dq_meas: Vec) -> None:
        """Update by a measured state (n,) at a time [ns]."""

    def _find_order(self, names: tuple[str, ...]) -> list[int]:
        if sorted(names) != sorted(self.joints):
            raise Refused(
                f"expected the joints {', '.join(self.joints)}, got {', '.join(names)}"
            )
        return [names.index(name) for name in self.joints]


class TrajectoryController(Controller):
    """As joint_trajectory_controller, in position mode."""

    def __init__(self, joints: tuple[str, ...], q: Vec, *, begins: str = STOCK) -> None:
        super().__init__(joints, q)
        self._begins = begins

    def restart(self, q: Vec) -> None:
        """Hold positions; drop the trajectory."""
        super().restart(q)
        self._times = np.zeros(0)
        self._qs = self._dqs = np.zeros((0, len(q)))
        self._is_cubic = False
        self._is_fresh = False

    def accept(self, codec: Codec, data: bytes, now_ns: int) -> Vec:
        """Accept a command."""
        trajectory = read_trajectory(codec, data)
        order = self._find_order(trajectory.names)
        self._check(trajectory, now_ns)
        if self._begins == "desired":
            self._interpolate(now_ns)
        begin = trajectory.stamp_ns or now_ns
        self._is_cubic = trajectory.dq is not None
        dq = np.zeros_like(trajectory.q) if trajectory.dq is None else trajectory.dq
        ends_ns = begin + trajectory.times * 1e9
        self._times = np.append(now_ns, ends_ns)
        self._qs = np.vstack([self.q, trajectory.q[:, order]])
        self._dqs = np.vstack([self.dq, dq[:, order]])
        self._is_fresh = True
        ahead = min(int(trajectory.times[0] <= 0.0), len(trajectory.times) - 1)
        return np.array(trajectory.q[ahead, order])

    def update(self, now_ns: int, q_meas: Vec, dq_meas: Vec) -> None:
        """Interpolate; hold after the end."""
        if self._is_fresh and self._begins == "measured":
            self._times[0] = now_ns
            self._qs[0], self._dqs[0] = q_meas, dq_meas
        self._is_fresh = False
        self._interpolate(now_ns)

    def _interpolate(self, now_ns: int) -> None:
        times = self._times
        if not len(times) or now_ns < times[0]:
            return
        i = int(np.searchsorted(times, now_ns, side="right")) - 1
        if i >= len(times) - 1:
            self.q, self.dq = self._qs[-1].copy(), np.zeros_like(self.q)
            return
        T = (times[i + 1] - times[i]) * 1e-9
        s = (now_ns - times[i]) * 1e-9 / T
        q0, q1 = self._qs[i], self._qs[i + 1]
        if not self._is_cubic:
            self.q, self.dq = q0 + s * (q1 - q0), (q1 - q0) / T
            return
        m0, m1 = T * self._dqs[i], T * self._dqs[i + 1]
        a, b = 2 * q0 - 2 * q1 + m0 + m1, 3 * q1 - 3 * q0 - 2 * m0 - m1
        self.q = ((a * s + b) * s + m0) * s + q0
        self.dq = ((3 * a * s + 2 * b) * s + m0) / T

    def _check(self, trajectory: Trajectory, now_ns: int) -> None:
        if trajectory.times[0] < 0 or not np.isfinite(trajectory.q).all():
            raise Refused("expected finite points after the start")
        begin_ns = trajectory.stamp_ns
        if begin_ns and begin_ns + trajectory.times[-1] * 1e9 < now_ns:
            raise Refused("expected an end in the future, got one that is over")
        if trajectory.dq is not None and np.abs(trajectory.dq[-1]).max() > 1e-6:
            raise Refused("expected to end at rest")  # the default since Jazzy


class ForwardController(Controller):
    """As forward_command_controller: positions by order."""

    def accept(self, codec: Codec, data: bytes, now_ns: int) -> Vec:  # noqa: ARG002
        """Accept a command."""
        q = read_positions(codec, data)
        if q.shape != self.q.shape or not np.isfinite(q).all():
            raise Refused(f"expected {len(self.q)} finite positions, got {q}")
        self.q = q
        return q.copy()

    def update(self, now_ns: int, q_meas: Vec, dq_meas: Vec) -> None:
        """Hold."""


class JointStateController(ForwardController):
    """As AgileX's piper_ros: JointState."""

    def accept(self, codec: Codec, data: bytes, now_ns: int) -> Vec:  # noqa: ARG002
        """Accept a command."""
        names, q = read_joint_state(codec, data)
        q = q[self._find_order(names)]
        if not np.isfinite(q).all():
            raise Refused(f"expected finite positions, got {q}")
        self.q = q
        return q.copy()


class ActionController(ForwardController):
    """A simple action server without answers."""

    kind = ""

    def accept(self, codec: Codec, data: bytes, now_ns: int) -> Vec:  # noqa: ARG002
        """Accept a goal."""
        self.q = read_goal(codec, data, self.kind, len(self.joints))
        return self.q.copy()


class GripperController(ActionController):
    """As gripper_action_controller: one joint."""

    kind = "gripper_action"


class KinovaArm(ActionController):
    """As joints_action of Kinova's driver."""

    kind = "kinova_joints"


class KinovaHand(ActionController):
    """As fingers_action of Kinova's driver."""

    kind = "kinova_fingers"


CONTROLLERS: dict[str, type[Controller]] = {
    "trajectory": TrajectoryController,
    "positions": ForwardController,
    "joint_state": JointStateController,
    "gripper_action": GripperController,
    "kinova_joints": KinovaArm,
    "kinova_fingers": KinovaHand,
}
