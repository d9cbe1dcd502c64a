"""What the gate process does each period: read, watch, decide, limit, write.

Owns the follower and is the only one to write to it. It is stepped by the gate process,
or in lock-step by a session on the virtual clock; it reads no clock itself. Its report
of each period is the record that goes to the session and to the recorder.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paprle.gate.gate import Gate
from paprle.gate.reasons import HOLD_REASONS, STOP_REASONS, Reason, to_bits
from paprle.gate.states import Event, step_state
from paprle.gate.watches import MeasurementWatch, SetpointWatch
from paprle.interfaces import Follower
from paprle.settings import GateSettings
from paprle.types import FollowerInfo, FollowerState, GateState, RobotInfo, Vec
from paprle.wire import Layout, Record, Request

_SHORTEST_STALL = 0.02  # [s] spec: safety.md amendments, K2


class GateController:
    """The gate with its watches, its state and its follower.

    Attributes:
        state: State of the gate.
        gate: The limits.
        fault: What the follower's driver raised, if it did.
        is_orphaned: The session is gone: brake and latch.
        pace: Called before each command leaves; waits where time is real (T1).
    """

    def __init__(
        self,
        robot: RobotInfo,
        settings: GateSettings,
        follower: Follower,
        info: FollowerInfo,
        layout: Layout,
        session_period: float,
    ) -> None:
        self.state = GateState.DISARMED
        self.gate = Gate(robot, settings)
        self.fault: Exception | None = None
        self.is_orphaned = False
        self._settings = settings
        self._follower = follower
        self.pace: Callable[[], None] = lambda: None
        self._h = 1.0 / info.rate
        self._session_period = session_period
        self._setpoints = SetpointWatch(settings)
        self._measurements = MeasurementWatch(robot, settings, self._h, info.lag)
        self._n_resets = 0
        self._k = 0
        self._latched = 0
        self._sent = (self.gate.q_cmd, self.gate.dq_cmd)
        self._record: Record = np.zeros((), dtype=layout.status)
        for name in ("q_des", "q_meas", "dq_meas", "tau_meas", "sim_time"):
            self._record[name] = np.nan
        self._meas: FollowerState | None = None
        self._may_write = False
        self._stepped_ns: int | None = None
        self._stall_ns = int(max(3.0 * self._h, _SHORTEST_STALL) * 1e9)

    def step(
        self, setpoint: Record | None, now_ns: int, due_ns: int | None = None
    ) -> Record:
        """Run one period.

        Args:
            setpoint: The newest set-point of the session, None before the first.
            now_ns: Monotonic time, [ns].
            due_ns: When this period was due, [ns]; now when None. Steps are of one
                nominal period each, so the target is followed at evenly spaced times.

        Returns:
            The status record of this period; overwritten by the next call.
        """
        reasons = {*self._read(now_ns), *self._setpoints.take(setpoint, now_ns)}
        stepped_ns, self._stepped_ns = self._stepped_ns, now_ns
        if stepped_ns is not None and now_ns - stepped_ns > self._stall_ns:
            reasons.add(Reason.STALLED)
        newest = self._setpoints.newest
        request = Request.READY if newest is None else Request(int(newest["request"]))
        if self.is_orphaned:
            reasons.add(Reason.PEER_DIED)
        if request is Request.STOP and self.state is not GateState.STOPPED:
            reasons.add(Reason.OPERATOR_STOP)
        if self.state is not GateState.DISARMED:
            reasons.update(self._setpoints.check(now_ns))
            reasons.update(self._check_motion())
        self._move_state(reasons, request)
        q_des, dq_des, age = self._choose_target(
            now_ns, now_ns if due_ns is None else due_ns
        )
        self.gate.speed_scale = (
            self._settings.reduced_scale
            if newest is not None and newest["reduced"]
            else 1.0
        )
        leash = None
        if self._measurements.is_blocked and self._meas is not None:
            leash = self._meas.q
        if self._may_write:
            result = self.gate.step(q_des, self._h, age, leash, dq_des=dq_des)
            reasons.update(result.events)
            self._write(result.q_cmd, reasons)
        return self._report(reasons, q_des, now_ns)

    @property
    def is_cut_off(self) -> bool:
        """Whether a command could not be sent, so that none is any more."""
        return self.fault is not None and not self._may_write

    @property
    def is_at_rest(self) -> bool:
        """Whether the last command stood still, or none can be sent any more."""
        return self.gate.is_at_rest or not self._may_write

    def _read(self, now_ns: int) -> tuple[Reason, ...]:
        """Take the newest measurement if it can be used; say what is wrong with it."""
        try:
            state = self._follower.read()
        except Exception as err:  # noqa: BLE001 - a driver may raise anything
            self.fault = err
            return (Reason.FOLLOWER_FAULT,)
        reasons = self._measurements.check_state(state, now_ns)
        self._meas = state if not reasons else None
        return reasons

    def _check_motion(self) -> tuple[Reason, ...]:
        if self._meas is None:
            return ()
        return self._measurements.check_motion(
            self._meas,
            self.gate.q_cmd,
            self.gate.dq_cmd,
            is_following=self.state is not GateState.HOLD,
        )

    def _move_state(self, reasons: set[Reason], request: Request) -> None:
        """Let faults, then requests, move the state by the table."""
        before, newest = self.state, self._setpoints.newest
        # a reset pressed while the cause is still there is used up, not kept for later
        n_resets = 0 if newest is None else int(newest["n_resets"])
        is_reset, self._n_resets = n_resets > self._n_resets, n_resets
        stops, holds = reasons & STOP_REASONS, reasons & HOLD_REASONS
        if stops:
            self._apply(Event.STOP)
        elif holds:
            self._apply(Event.HOLD)
        else:
            self._apply_request(request, is_reset)
        has_tripped = self.state is not before and self.state in {
            GateState.HOLD,
            GateState.STOPPED,
        }
        if has_tripped:
            self._latched = to_bits(stops or holds)

    def _apply(self, event: Event) -> None:
        self.state = step_state(self.state, event)

    def _apply_request(self, request: Request, is_reset: bool) -> None:
        newest = self._setpoints.newest
        if self.state is GateState.STOPPED:
            # a reset frees only a gate whose operator asks for nothing else (E1)
            if is_reset and self.is_at_rest and request is not Request.MOVE:
                self._apply(Event.RESET)
        elif self.state is GateState.DISARMED:
            if newest is not None and request is not Request.DISARM and self._meas:
                self._arm(self._meas)
        elif request is Request.DISARM and self.is_at_rest:
            self._apply(Event.RELEASE)
            self._apply(Event.DISARM)
        elif request is Request.MOVE:
            self._apply(Event.ENGAGE)
        else:
            self._apply(Event.RELEASE)

    def _arm(self, meas: FollowerState) -> None:
        """Start from where the robot is; nothing is written before this."""
        self.gate.reset(meas.q)
        self._measurements.reset()
        self._may_write = True
        self._sent = (self.gate.q_cmd, self.gate.dq_cmd)
        self._apply(Event.ARM)

    def _choose_target(
        self, now_ns: int, due_ns: int
    ) -> tuple[Vec | None, Vec | None, float]:
        """What to ask of the limits: the extrapolated set-point, or braking."""
        newest = self._setpoints.newest
        if self.state is not GateState.ENGAGED or newest is None:
            return self._resync(), None, 0.0
        age = self._setpoints.compute_age(now_ns)
        age_ns = due_ns - int(newest["at_ns"])
        ahead = min(max(age_ns * 1e-9, 0.0), self._session_period)
        dq_des = np.nan_to_num(newest["dq_des"], nan=0.0)
        dq_des = np.minimum(np.maximum(dq_des, -self.gate.dq_max), self.gate.dq_max)
        q_des = newest["q_des"] + dq_des * ahead
        is_current = age_ns * 1e-9 <= 2.0 * self._session_period
        return q_des, dq_des if is_current else None, age

    def _resync(self) -> Vec | None:
        """After a lag the command comes back to where the robot is; else brake."""
        lagged = bool(self._latched >> Reason.LAG & 1)
        if self.state is GateState.HOLD and lagged and self._meas is not None:
            return self._meas.q
        return None

    def _write(self, q_cmd: Vec, reasons: set[Reason]) -> None:
        """Send a command; after one that could not be sent, none is computed either."""
        self.pace()
        try:
            self._follower.write(q_cmd)
        except Exception as err:  # noqa: BLE001 - a driver may raise anything
            self.fault = err
            self._may_write = False
            reasons.add(Reason.FOLLOWER_FAULT)
            self._apply(Event.STOP)
            self._latched = to_bits([Reason.FOLLOWER_FAULT])
        else:
            self._sent = (q_cmd, self.gate.dq_cmd)

    def _report(self, reasons: set[Reason], q_des: Vec | None, now_ns: int) -> Record:
        record, newest, meas = self._record, self._setpoints.newest, self._meas
        self._k += 1
        record["k"], record["stamp_ns"], record["state"] = self._k, now_ns, self.state
        record["reasons"], record["latched"] = to_bits(reasons), self._latched
        for reason in reasons:
            record["counts"][reason] += 1
        if newest is not None:
            record["setpoint_seq"] = newest["seq"]
            record["setpoint_ns"] = newest["stamp_ns"]
        record["q_des"] = np.nan if q_des is None else q_des
        record["q_cmd"], record["dq_cmd"] = self._sent
        record["speed_scale"] = self.gate.speed_scale
        if meas is not None:
            record["meas_ns"] = meas.stamp_ns
            record["sim_time"] = np.nan if meas.sim_time is None else meas.sim_time
            record["q_meas"], record["dq_meas"] = meas.q, meas.dq
            record["tau_meas"] = np.nan if meas.tau is None else meas.tau
            record["stop_reason"] = meas.stop_reason.encode()[:64]
        record["clearance"] = np.inf
        return record
