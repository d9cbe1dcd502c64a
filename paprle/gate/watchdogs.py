"""Watches of set-points (A1–A3) and measurements (L1–L3).

Times are of the gate's own clock: a sender's stamp never extends life.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paprle.compiled import compiled
from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import FollowerState, RobotInfo, Vec
from paprle.gate.reasons import Reason, from_bits
from paprle.ipc.records import HeadCodec, Record, SetpointHead
from paprle.robot.arrays import Bools

_SHORTEST_DEADLINE_NS = 20_000_000  # spec: safety.md A2
_LONGEST_DEADLINE = 0.2  # [s] spec: safety.md A2
_MAX_SEQUENCE_JUMP = 1_000_000  # spec: safety.md A3
_SHORTEST_STATE_AGE = 0.02  # [s] spec: safety.md amendments, L3
_STANDSTILL = 0.02  # [rad/s] chosen: above encoder noise, below any commanded motion
_CREEP = 0.1  # [rad/s] chosen: how a joint moves that is pressed against something
_HINDERED = 0.5  # chosen: a joint slower than this share of its command is held up
_AFTER_CONTACT = 0.2  # [s] chosen: a joint that is let go springs back for this long
_SHORTEST_LAG = 0.02  # [s] chosen: springing back is no quicker than a servo
_PLAUSIBLE = 1.0  # [rad] chosen: how far outside its limits a real joint may read
_FAR = 1e6  # [rad] chosen: what a joint without limits never gets to

# Timers of a follower's motion: for how long each of three things has been seen, and
# for how much longer what follows contact excuses them.
_LAG_SEEN, _OVERSPEED_SEEN, _REVERSED_SEEN, _EXCUSED = range(4)
_N_TIMERS = _EXCUSED + 1
_LAG, _OVERSPEED, _REVERSED, _BLOCKED = (
    1 << reason
    for reason in (Reason.LAG, Reason.OVERSPEED, Reason.REVERSED, Reason.BLOCKED)
)


class SetpointWatch:
    """Accepts set-points in order and measures their age (A1–A3).

    ``q_des``, [rad], and ``dq_des``, [rad/s], have shape (n,).
    """

    def __init__(self, settings: GateSettings) -> None:
        self._settings = settings
        self._codec: HeadCodec[SetpointHead] | None = None
        self._arrived_ns = 0
        self._source_age_ns = 0
        self._valid_for_ns = 0
        self._longest_ns = int(min(_LONGEST_DEADLINE, settings.stale_after) * 1e9)
        self.newest: SetpointHead | None = None
        self.q_des = self.dq_des = np.empty(0)

    def update(self, record: Record | None, now_ns: int) -> tuple[Reason, ...]:
        """Adopt the mailbox's record if newer than the last."""
        if record is None:
            return ()
        self._codec = self._codec or HeadCodec(SetpointHead, record.dtype)
        setpoint = self._codec.read(record)
        if self.newest is not None:
            ahead = setpoint.seq - self.newest.seq
            is_other = setpoint.session_id != self.newest.session_id
            if is_other or ahead > _MAX_SEQUENCE_JUMP:
                return (Reason.SEQUENCE_JUMP,)
            if ahead <= 0:
                return (Reason.OLD_SEQUENCE,) if ahead < 0 else ()
        self.newest, self._arrived_ns = setpoint, now_ns
        self.q_des, self.dq_des = record["q_des"].copy(), record["dq_des"].copy()
        # both stamps are the session's: their difference is how old its source is
        self._source_age_ns = max(0, setpoint.stamp_ns - setpoint.source_ns)
        valid_for_ns = max(setpoint.valid_for_ns, _SHORTEST_DEADLINE_NS)
        self._valid_for_ns = min(valid_for_ns, self._longest_ns)
        return ()

    def compute_age(self, now_ns: int) -> float:
        """Return the age of the newest set-point with its leader data, [s]."""
        if self.newest is None:
            return float("inf")
        return (now_ns - self._arrived_ns + self._source_age_ns) * 1e-9

    def check(self, now_ns: int) -> tuple[Reason, ...]:
        """Return the reason if the newest is too old."""
        if self.newest is None:
            return (Reason.COMMAND_STALE,)
        silence_ns = now_ns - self._arrived_ns
        if silence_ns * 1e-9 > self._settings.latch_after:
            return (Reason.COMMAND_LOST,)
        is_old = self.compute_age(now_ns) > self._settings.stale_after
        if silence_ns > self._valid_for_ns or is_old:
            return (Reason.COMMAND_STALE,)
        return ()


class MotionBounds(NamedTuple):
    """Bounds of a follower's motion; see ``GateSettings``."""

    h: float
    lag: float
    sag: float
    lag_bound: float
    lag_time: float
    implausible_time: float
    overspeed_factor: float
    overspeed_margin: float


class MeasurementWatch:
    """Compares the follower's motion with its commands (L1–L3)."""

    def __init__(
        self,
        robot: RobotInfo,
        settings: GateSettings,
        h: float,
        lag: float,
        state_period: float = 0.0,
        sag: float = 0.0,
    ) -> None:
        self._settings = settings
        self._oldest_age = max(3.0 * h, 3.0 * state_period, _SHORTEST_STATE_AGE)
        bounds = MotionBounds(
            h=h,
            lag=max(lag, _SHORTEST_LAG),
            sag=sag,
            lag_bound=settings.lag_bound,
            lag_time=settings.lag_time,
            implausible_time=settings.implausible_time,
            overspeed_factor=settings.overspeed_factor,
            overspeed_margin=settings.overspeed_margin,
        )
        self._bounds: Vec = np.array(bounds)
        n, n_delay = len(robot.joint_names), max(1, round(lag / h))
        self._commands: Vec = np.zeros((n_delay + 1, 2, n))
        self._n_commands = 0
        grippers = {limb.gripper.joint for limb in robot.limbs if limb.gripper}
        self._is_arm = np.array([name not in grippers for name in robot.joint_names])
        self._low: Vec = np.maximum(robot.q_min, -_FAR) - _PLAUSIBLE
        self._high: Vec = np.minimum(robot.q_max, _FAR) + _PLAUSIBLE
        # a driver's arrays may be of any kind; these are what the kernels compile for
        self._q, self._dq = np.zeros((2, n))
        self._timers: Vec = np.zeros(_N_TIMERS)
        self.is_blocked = False
        is_plausible(self._q, self._dq, self._low, self._high)
        self._judge(is_following=True)
        self.reset()

    def reset(self) -> None:
        """Forget the past, at arming."""
        self._n_commands, self.is_blocked = 0, False
        self._timers[:] = 0.0

    def check_state(self, state: FollowerState, now_ns: int) -> tuple[Reason, ...]:
        """Return the reason against the measured state, if any (L3)."""
        if state.stop_reason:
            return (Reason.FOLLOWER_STOP,)
        age = (now_ns - state.stamp_ns) * 1e-9
        if age > self._settings.state_latch_after:
            return (Reason.STATE_LOST,)
        if not self._is_plausible(state):
            return (Reason.STATE_BAD,)
        return (Reason.STATE_STALE,) if age > self._oldest_age else ()

    def _is_plausible(self, state: FollowerState) -> bool:
        q, dq = self._q, self._dq
        if state.q.shape != q.shape or state.dq.shape != q.shape:
            return False
        q[...], dq[...] = state.q, state.dq
        return is_plausible(q, dq, self._low, self._high)

    def check_motion(
        self, q_cmd: Vec, dq_cmd: Vec, *, is_following: bool
    ) -> tuple[Reason, ...]:
        """Return reasons if the follower does not follow, lag and sag allowed for.

        A joint that stands or creeps off its command is blocked. ``q_cmd``, [rad],
        ``dq_cmd``, [rad/s], have shape (n,); ``is_following``: the command does not
        return.
        """
        newest = self._commands[self._n_commands % len(self._commands)]
        newest[0], newest[1] = q_cmd, dq_cmd
        self._n_commands += 1
        found = self._judge(is_following=is_following)
        self.is_blocked = bool(found & _BLOCKED)
        return from_bits(found) if found else ()

    def _judge(self, *, is_following: bool) -> int:
        return judge_motion(
            self._q,
            self._dq,
            self._commands,
            self._n_commands,
            self._is_arm,
            self._bounds,
            self._timers,
            self.is_blocked,
            is_following,
        )


@compiled
def is_plausible(q: Vec, dq: Vec, low: Vec, high: Vec) -> bool:
    """Return whether positions are in bounds and velocities finite."""
    for j in range(len(q)):
        if not (low[j] <= q[j] <= high[j] and math.isfinite(dq[j])):
            return False
    return True


@compiled
def judge_motion(  # noqa: PLR0913, PLR0917 - a tuple of arrays costs a microsecond
    q: Vec,
    dq: Vec,
    commands: Vec,
    n_commands: int,
    is_arm: Bools,
    limits: Vec,
    timers: Vec,
    was_blocked: bool,
    is_following: bool,
) -> int:
    """Return reason bits of measured motion beside delayed commands.

    ``commands`` is a ring of positions and velocities, (m, 2, n); ``timers``, (4,),
    [s], of lag, overspeed, reversal and contact, are changed.
    """
    m, bounds = len(commands), _unpack(limits)
    then = commands[n_commands % m if n_commands >= m else 0]
    q_then, dq_then = then[0], then[1]
    # hysteresis: holding the command within E brings the error down to E
    contact = bounds.sag + bounds.lag_bound * (0.5 if was_blocked else 1.0)
    is_blocked, seen = False, np.zeros(_EXCUSED, dtype=np.bool_)
    for j in range(len(q)):
        if not is_arm[j]:
            continue
        error, speed = q_then[j] - q[j], abs(dq[j])
        stands = speed < max(_CREEP, _HINDERED * abs(dq_then[j]))
        is_blocked = is_blocked or (stands and abs(error) > contact)
        ahead = bounds.sag + (error if dq[j] > 0.0 else -error)
        catching_up = max(ahead, 0.0) / bounds.lag
        allowed = bounds.overspeed_factor * _find_fastest(commands, n_commands, j)
        if speed > allowed + bounds.overspeed_margin + catching_up:
            seen[_OVERSPEED_SEEN] = True
        if abs(error) > bounds.sag + bounds.lag_bound and not stands:
            seen[_LAG_SEEN] = True
            is_against = dq[j] * dq_then[j] < 0.0 and abs(dq_then[j]) > _STANDSTILL
            if is_against and is_following:
                seen[_REVERSED_SEEN] = True
    # contact, and what follows it, is neither a lag nor overspeed of the drive
    timers[_EXCUSED] = _AFTER_CONTACT if is_blocked else timers[_EXCUSED] - bounds.h
    for k in range(_EXCUSED):
        is_seen = seen[k] and timers[_EXCUSED] <= 0.0
        timers[k] = timers[k] + bounds.h if is_seen else 0.0
    found = _BLOCKED if is_blocked else 0
    found |= _LAG if timers[_LAG_SEEN] > bounds.lag_time else 0
    found |= _OVERSPEED if timers[_OVERSPEED_SEEN] > bounds.implausible_time else 0
    found |= _REVERSED if timers[_REVERSED_SEEN] > bounds.implausible_time else 0
    return found


@compiled
def _unpack(x: Vec) -> MotionBounds:
    return MotionBounds(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7])


@compiled
def _find_fastest(commands: Vec, n_commands: int, j: int) -> float:
    fastest = 0.0
    for k in range(min(n_commands, len(commands))):
        fastest = max(fastest, abs(commands[k, 1, j]))
    return fastest
