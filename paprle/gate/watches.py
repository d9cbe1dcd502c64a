"""Watches on what reaches the gate: set-points (A1–A3) and measurements (L1–L3).

Each returns the reasons it finds; none of them acts. Times are in seconds or
nanoseconds of the gate's own monotonic clock: a sender's stamp never extends life.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from paprle.gate.reasons import Reason
from paprle.settings import GateSettings
from paprle.types import FollowerState, RobotInfo, Vec
from paprle.wire import Record

_SHORTEST_DEADLINE = 0.02  # [s] spec: safety.md A2
_LONGEST_DEADLINE = 0.2  # [s] spec: safety.md A2
_MAX_SEQUENCE_JUMP = 1_000_000  # spec: safety.md A3
_SHORTEST_STATE_AGE = 0.02  # [s] spec: safety.md amendments, L3
_STANDSTILL = 0.02  # [rad/s] chosen: above encoder noise, below any commanded motion
_CREEP = 0.1  # [rad/s] chosen: how a joint moves that is pressed against something
_HINDERED = 0.5  # chosen: a joint slower than this share of its command is held up
_AFTER_CONTACT = 0.2  # [s] chosen: a joint that is let go springs back for this long
_SHORTEST_LAG = 0.02  # [s] chosen: springing back is no quicker than a servo
_PLAUSIBLE = 1.0  # [rad] chosen: how far outside its limits a real joint may read


_TIMED = (Reason.LAG, Reason.OVERSPEED, Reason.REVERSED)


class SetpointWatch:
    """Accepts set-points in order and says how old the newest one is (A1–A3)."""

    def __init__(self, settings: GateSettings) -> None:
        self._settings = settings
        self._session_id: int | None = None
        self._seq = 0
        self._arrived_ns = 0
        self._source_age_ns = 0
        self._valid_for_ns = 0
        self.newest: Record | None = None

    def take(self, record: Record | None, now_ns: int) -> tuple[Reason, ...]:
        """Look at the mailbox's newest record; adopt it when it is a newer one."""
        if record is None:
            return ()
        session_id, seq = int(record["session_id"]), int(record["seq"])
        if self._session_id is None:
            self._session_id, self._seq = session_id, seq - 1
        if session_id != self._session_id or seq - self._seq > _MAX_SEQUENCE_JUMP:
            return (Reason.SEQUENCE_JUMP,)
        if seq < self._seq:
            return (Reason.OLD_SEQUENCE,)
        if seq == self._seq:
            return ()
        self._seq, self._arrived_ns, self.newest = seq, now_ns, record
        # both stamps are the session's: their difference is how old its source is
        self._source_age_ns = max(0, int(record["stamp_ns"] - record["source_ns"]))
        deadline = float(record["valid_for_ns"]) * 1e-9
        limit = min(max(deadline, _SHORTEST_DEADLINE), _LONGEST_DEADLINE)
        self._valid_for_ns = int(min(limit, self._settings.stale_after) * 1e9)
        return ()

    def compute_age(self, now_ns: int) -> float:
        """Age of the newest set-point and of the leader data it rests on, [s]."""
        if self.newest is None:
            return float("inf")
        return (now_ns - self._arrived_ns + self._source_age_ns) * 1e-9

    def check(self, now_ns: int) -> tuple[Reason, ...]:
        """Whether the newest one is too old: HOLD, and later a latched stop."""
        if self.newest is None:
            return (Reason.COMMAND_STALE,)
        silence_ns = now_ns - self._arrived_ns
        if silence_ns * 1e-9 > self._settings.latch_after:
            return (Reason.COMMAND_LOST,)
        is_old = self.compute_age(now_ns) > self._settings.stale_after
        if silence_ns > self._valid_for_ns or is_old:
            return (Reason.COMMAND_STALE,)
        return ()


class MeasurementWatch:
    """Compares what the follower did with what it was sent (L1–L3)."""

    def __init__(
        self, robot: RobotInfo, settings: GateSettings, h: float, lag: float
    ) -> None:
        self._settings = settings
        self._h = h
        self._lag = max(lag, _SHORTEST_LAG)
        self._calm = 0.0
        n_delay = max(1, round(lag / h))
        self._commands: deque[tuple[Vec, Vec]] = deque(maxlen=n_delay + 1)
        grippers = {limb.gripper.joint for limb in robot.limbs if limb.gripper}
        self._is_arm = np.array([name not in grippers for name in robot.joint_names])
        self._low = robot.q_min - _PLAUSIBLE
        self._high = robot.q_max + _PLAUSIBLE
        self._times = dict.fromkeys(
            (Reason.LAG, Reason.OVERSPEED, Reason.REVERSED), 0.0
        )
        self.is_blocked = False

    def reset(self) -> None:
        """Forget the past, at arming."""
        self._commands.clear()
        self._times = dict.fromkeys(self._times, 0.0)
        self.is_blocked, self._calm = False, 0.0

    def check_state(self, state: FollowerState, now_ns: int) -> tuple[Reason, ...]:
        """Whether the measured state is fresh and plausible (L3)."""
        if state.stop_reason:
            return (Reason.FOLLOWER_STOP,)
        age = (now_ns - state.stamp_ns) * 1e-9
        if age > self._settings.state_latch_after:
            return (Reason.STATE_LOST,)
        if not self._is_plausible(state):
            return (Reason.STATE_BAD,)
        is_old = age > max(3.0 * self._h, _SHORTEST_STATE_AGE)
        return (Reason.STATE_STALE,) if is_old else ()

    def _is_plausible(self, state: FollowerState) -> bool:
        """Finite, of the right size, and in radians: near the robot's own limits."""
        n = len(self._low)
        if state.q.shape != (n,) or state.dq.shape != (n,):
            return False
        is_inside = (state.q >= self._low) & (state.q <= self._high)
        return bool(is_inside.all() and np.isfinite(state.dq).all())

    def check_motion(
        self, state: FollowerState, q_cmd: Vec, dq_cmd: Vec, *, is_following: bool
    ) -> tuple[Reason, ...]:
        """Whether the follower does what it was told, its identified lag allowed for.

        A joint that is away from its command and stands, or creeps, is in contact: it
        is reported as blocked and the caller leashes the command to the measurement.

        Args:
            state: A fresh, plausible measurement.
            q_cmd: The command now, shape (n,), [rad].
            dq_cmd: Its velocity, shape (n,), [rad/s].
            is_following: The follower is to follow the command; while the command comes
                back to the follower instead, they move against each other.

        Returns:
            The reasons found.
        """
        self._commands.append((q_cmd, dq_cmd))
        q_then, dq_then = self._commands[0]
        fastest = np.max([np.abs(dq) for _, dq in self._commands], axis=0)
        speed = np.abs(state.dq)
        error = q_then - state.q
        behind = np.abs(error) * self._is_arm
        is_behind = behind > self._settings.lag_bound
        stands = speed < np.maximum(_CREEP, _HINDERED * np.abs(dq_then))
        # hysteresis: the leash itself brings the error down to E
        bound = self._settings.lag_bound * (0.5 if self.is_blocked else 1.0)
        self.is_blocked = bool(((behind > bound) & stands).any())
        # contact, and what follows it, is neither a lag nor overspeed of the drive
        self._calm = _AFTER_CONTACT if self.is_blocked else self._calm - self._h
        is_calm = self._calm <= 0.0
        catching_up = np.where(state.dq * error > 0.0, behind / self._lag, 0.0)
        allowed = (
            self._settings.overspeed_factor * fastest
            + self._settings.overspeed_margin
            + catching_up
        )
        found = {
            Reason.LAG: is_behind & ~stands & is_calm,
            Reason.OVERSPEED: self._is_arm & (speed > allowed) & is_calm,
            Reason.REVERSED: is_behind
            & (np.sign(state.dq) == -np.sign(dq_then))
            & (np.abs(dq_then) > _STANDSTILL)
            & ~stands
            & is_calm
            & is_following,
        }
        limits = {
            Reason.LAG: self._settings.lag_time,
            Reason.OVERSPEED: self._settings.implausible_time,
            Reason.REVERSED: self._settings.implausible_time,
        }
        reasons = []
        for reason, where in found.items():
            self._times[reason] = self._times[reason] + self._h if where.any() else 0.0
            if self._times[reason] > limits[reason]:
                reasons.append(reason)
        return (*reasons, *((Reason.BLOCKED,) if self.is_blocked else ()))
