"""The gate process: reads, watches, decides, limits and writes each period.

It alone writes to the follower, and reads no clock itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from paprle.contracts.gate_status import GateStatus
from paprle.contracts.plugins import Follower
from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import (
    FollowerInfo,
    FollowerState,
    GateState,
    RobotInfo,
    Vec,
)
from paprle.gate.gate import Gate, GateResult, find_arm_joints
from paprle.gate.reasons import (
    HOLD_REASONS,
    STOP_REASONS,
    Reason,
    from_bits,
    to_bits,
)
from paprle.gate.setpoint_interpolator import Reference
from paprle.gate.smoothing import compute_delay
from paprle.gate.stalls import Stalls
from paprle.gate.standstill import Standstill
from paprle.gate.states import GateEvent, step_state
from paprle.gate.watchdogs import MeasurementWatch, SetpointWatch
from paprle.ipc.held import pack_held
from paprle.ipc.records import (
    HeadCodec,
    Layout,
    Record,
    Request,
)
from paprle.ipc.stop_reason import pack_stop_reason
from paprle.robot import RobotModel

_STOP_BITS, _HOLD_BITS = to_bits(STOP_REASONS), to_bits(HOLD_REASONS)
# Python 3.11 takes 0.1 µs to find a member of an enum, and a period needs ten
_DISARMED, _, _ENGAGED, _HOLD, _STOPPED = GateState
_DISARM, _READY, _MOVE, _STOP = Request
_TOOL_SHARE = 0.8  # chosen: a tool in motion swings by less
_STALLED, _FAULT = 1 << Reason.STALLED, 1 << Reason.FOLLOWER_FAULT


class GateController:
    """The gate with its watches, state and follower.

    Attributes:
        is_orphaned: The session is gone: brake and latch.
        pace: Called before each command; waits in real time (T1) and returns the time
            since boot, [ns]; None in virtual time.
    """

    def __init__(
        self,
        robot: RobotModel | RobotInfo,
        settings: GateSettings,
        follower: Follower,
        info: FollowerInfo,
        layout: Layout,
        session_period: float,
    ) -> None:
        self.state = _DISARMED
        self._h = 1.0 / info.rate
        settings = _limit_tools(settings, info)
        self.gate = Gate(robot, settings, h=self._h, allow_no_bodies=True)
        self.fault: Exception | None = None
        self.is_orphaned = False
        self._settings = settings
        self._follower = follower
        self.pace: Callable[[], int | None] = lambda: None
        self._setpoints = SetpointWatch(settings)
        description = robot if isinstance(robot, RobotInfo) else robot.info
        self._turns = np.isinf(description.q_min) & np.isinf(description.q_max)
        self._has_turns = bool(self._turns.any())
        self._measurements = MeasurementWatch(
            description, settings, self._h, info.lag, 1.0 / info.state_rate, info.sag
        )
        self._n_resets = 0
        self._k = 0
        self._latched = 0
        self._sent = (self.gate.q_cmd, self.gate.dq_cmd)
        self._record: Record = np.zeros((), dtype=layout.status)
        self._codec = HeadCodec(GateStatus, layout.status)
        self._columns: dict[str, Vec] = {
            name: self._record[name]
            for name in (
                *("q_des", "q_cmd", "dq_cmd", "q_meas", "dq_meas", "tau_meas"),
                "objects",
            )
        }
        self._objects = self._columns["objects"]
        for column in self._columns.values():
            column[:] = np.nan
        self._counts = self._record["counts"]
        self._kept_by = b""
        self._meas_ns, self._sim_time = 0, math.nan
        self._delay = compute_delay(description, self._h)
        self._reference = Reference(robot.dq_max, robot.ddq_max, session_period)
        self._is_following = False
        self._meas: FollowerState | None = None
        self._shown: FollowerState | None = None
        self._q_held: Vec | None = None
        self._may_write = False
        self._stalls = Stalls(self._h, settings.latch_after)
        self._standstill = Standstill(
            find_arm_joints(description), settings.lag_bound, settings.latch_after
        )

    def step(
        self,
        setpoint: Record | None,
        now_ns: int,
        due_ns: int | None = None,
        boot_ns: int | None = None,
    ) -> Record:
        """Run one period.

        Times are monotonic, [ns]: ``due_ns`` is when it was due, ``boot_ns`` counts
        suspensions, too; None: ``now_ns``. A period with ``STALLED`` sends nothing;
        motion after it begins at rest.

        Returns:
            The status record, overwritten by the next call.
        """
        found = to_bits(self._setpoints.update(setpoint, now_ns))
        found |= self._collect_faults(now_ns, now_ns if boot_ns is None else boot_ns)
        self._move_state(found)
        due_ns = now_ns if due_ns is None else due_ns
        q_des, dq_des, age = self._choose_target(now_ns, due_ns)
        newest, clearance = self._setpoints.newest, math.inf
        self.gate.reduce(newest is not None and newest.reduced)
        if self._may_write and not self._standstill.is_awaited:
            result = self._limit(q_des, dq_des, age)
            clearance = result.clearance
            found |= to_bits(result.events) | self._write(result.q_cmd)
        return self._report(found, q_des, clearance, now_ns)

    @property
    def is_cut_off(self) -> bool:
        """Whether sending failed, which ends commands."""
        return self.fault is not None and not self._may_write

    @property
    def is_at_rest(self) -> bool:
        """Whether the last command stood, or none can be sent."""
        is_moving = self._standstill.is_awaited or not self.gate.is_at_rest
        return not (is_moving and self._may_write)

    @property
    def _request(self) -> int:
        newest = self._setpoints.newest
        return int(_READY) if newest is None else newest.request

    def _collect_faults(self, now_ns: int, boot_ns: int) -> int:
        found = self._read(now_ns)
        found |= self._check_stall(now_ns, boot_ns)
        found = self._stalls.excuse(found, now_ns, is_heard=self._meas is not None)
        if self.is_orphaned:
            found |= 1 << Reason.PEER_DIED
        if self._request == _STOP and self.state is not _STOPPED:
            found |= 1 << Reason.OPERATOR_STOP
        if self.state is not _DISARMED:
            found |= to_bits(self._setpoints.check(now_ns)) | self._check_motion()
        return found

    def _check_stall(self, now_ns: int, boot_ns: int) -> int:
        found, standstill = self._stalls.look(now_ns, boot_ns), self._standstill
        if found and self._may_write and not self.is_at_rest:
            self._rest_at(self._sent[0] if self._q_held is None else self._q_held)
            standstill.wait(now_ns)
        elif standstill.is_awaited and standstill.look(self._meas) and self._meas:
            held = self.gate.q_cmd if self._q_held is None else self._q_held
            self._rest_at(standstill.choose(held, self._meas.q))
        if standstill.is_awaited:
            found |= _STALLED | standstill.is_overdue(now_ns) << Reason.OVERSPEED
        # to a robot that was armed a long one was silence, too
        return found if self.state is not _DISARMED else found & _STALLED

    def _rest_at(self, q: Vec) -> None:
        self.gate.reset(q)
        self._measurements.reset()
        self._sent = (self.gate.q_cmd, self.gate.dq_cmd)

    def _read(self, now_ns: int) -> int:
        try:
            state = self._follower.read()
        except Exception as err:  # noqa: BLE001 - a driver may raise anything
            self.fault = err
            self._meas = self._shown = None
            return _FAULT
        self._q_held = state.q_held
        if self._has_turns:
            state = self._unwrap(state)
        found = to_bits(self._measurements.check_state(state, now_ns))
        self._meas = self._shown = None if found else state
        if state.stop_reason:
            self._shown = state if self._is_known(state, now_ns) else None
            self._record["stop_reason"] = pack_stop_reason(state.stop_reason)
        return found

    def _is_known(self, state: FollowerState, now_ns: int) -> bool:
        """Return whether a stopped robot's place may be shown, and kept."""
        is_fresh = (now_ns - state.stamp_ns) * 1e-9 <= self._settings.state_latch_after
        has_size = state.q.shape == state.dq.shape == self._columns["q_meas"].shape
        return is_fresh and has_size and bool(np.isfinite([state.q, state.dq]).all())

    def _unwrap(self, state: FollowerState) -> FollowerState:
        # Many drivers report their angles between −π and π.
        if not self._may_write or state.q.shape != self._turns.shape:
            return state
        off = self.gate.q_cmd - state.q
        turns = np.where(self._turns & np.isfinite(off), np.round(off / math.tau), 0.0)
        return replace(state, q=state.q + math.tau * turns) if turns.any() else state

    def _check_motion(self) -> int:
        if self._meas is None or self._standstill.is_awaited:
            return 0
        return to_bits(
            self._measurements.check_motion(
                self.gate.q_cmd,
                self.gate.dq_cmd,
                is_following=self.state is not _HOLD,
            )
        )

    def _move_state(self, found: int) -> None:
        before, newest = self.state, self._setpoints.newest
        # a reset pressed while the cause is still there is used up, not kept for later
        n_resets = 0 if newest is None else newest.n_resets
        is_reset, self._n_resets = n_resets > self._n_resets, n_resets
        stops, holds = found & _STOP_BITS, found & _HOLD_BITS
        if stops:
            self._apply(GateEvent.STOP)
        elif holds:
            self._apply(GateEvent.HOLD)
        else:
            self._apply_request(is_reset)
        has_tripped = self.state is not before and self.state in {_HOLD, _STOPPED}
        if has_tripped:
            self._latched = stops | found & _STALLED if stops else holds

    def _apply(self, event: GateEvent) -> None:
        self.state = step_state(self.state, event)

    def _apply_request(self, is_reset: bool) -> None:
        newest, request = self._setpoints.newest, self._request
        if self.state is _STOPPED:
            # a reset frees only a gate whose operator asks for nothing else (E1)
            if is_reset and self.is_at_rest and request != _MOVE:
                self._apply(GateEvent.RESET)
        elif self.state is _DISARMED:
            if newest is not None and request != _DISARM and self._meas:
                self._arm(self._meas)
        elif request == _DISARM and self.is_at_rest:
            self._apply(GateEvent.RELEASE)
            self._apply(GateEvent.DISARM)
        elif request == _MOVE:
            self._apply(GateEvent.ENGAGE)
        else:
            self._apply(GateEvent.RELEASE)

    def _arm(self, meas: FollowerState) -> None:
        self._rest_at(meas.q)
        self._may_write = True
        self._apply(GateEvent.ARM)

    def _choose_target(
        self, now_ns: int, due_ns: int
    ) -> tuple[Vec | None, Vec | None, float]:
        newest, reference = self._setpoints.newest, self._reference
        if self.state is not _ENGAGED or newest is None:
            self._is_following = False
            return self._resync(), None, 0.0
        due = due_ns * 1e-9 + self._delay  # what is sent is that late
        if not self._is_following:
            self._is_following = True
            begin = self.gate.q_limited, self.gate.dq_limited
            reference.start(*begin, due - self._h)
        q_des, dq_des = self._setpoints.q_des, self._setpoints.dq_des
        q_limited, at = self.gate.q_limited, newest.at_ns * 1e-9
        reference.follow(q_des, dq_des, q_limited, at, due)
        return reference.q, reference.dq, self._setpoints.compute_age(now_ns)

    def _resync(self) -> Vec | None:
        lagged = bool(self._latched >> Reason.LAG & 1)
        if self.state is _HOLD and lagged and self._meas is not None:
            return self._meas.q
        return None

    def _limit(self, q_des: Vec | None, dq_des: Vec | None, age: float) -> GateResult:
        return self.gate.step(
            q_des,
            self._h,
            age,
            None if self._meas is None else self._meas.q,
            dq_des=dq_des,
            is_blocked=self._measurements.is_blocked,
        )

    def _write(self, q_cmd: Vec) -> int:
        left_ns = self.pace()
        if left_ns is not None and self._stalls.has_passed(left_ns):
            return _STALLED  # made before a stall, it would move a robot that stands
        try:
            self._follower.write(q_cmd)
        except Exception as err:  # noqa: BLE001 - a driver may raise anything
            self.fault = err
            self._may_write = False
            self._apply(GateEvent.STOP)
            self._latched = _FAULT
            return _FAULT
        self._sent = (q_cmd, self.gate.dq_cmd)
        return 0

    def _report(
        self, found: int, q_des: Vec | None, clearance: float, now_ns: int
    ) -> Record:
        newest, meas, columns = self._setpoints.newest, self._shown, self._columns
        self._k += 1
        if meas is not None:
            self._meas_ns = meas.stamp_ns
            self._sim_time = math.nan if meas.sim_time is None else meas.sim_time
            columns["q_meas"][...], columns["dq_meas"][...] = meas.q, meas.dq
            columns["tau_meas"][...] = math.nan if meas.tau is None else meas.tau
            if meas.objects is not None and meas.objects.shape == self._objects.shape:
                self._objects[...] = meas.objects
        columns["q_des"][...] = math.nan if q_des is None else q_des
        columns["q_cmd"][...], columns["dq_cmd"][...] = self._sent
        kept_by = self.gate.kept_by.tobytes()
        if kept_by != self._kept_by:
            self._kept_by = kept_by
            self._record["held"] = pack_held(self.gate.held)
        for reason in from_bits(found):
            self._counts[reason] += 1
        self._codec.write(
            self._record,
            self._k,
            now_ns,
            self.state,
            found,
            self._latched,
            0 if newest is None else newest.seq,
            0 if newest is None else newest.stamp_ns,
            self._meas_ns,
            self._sim_time,
            self.gate.speed_scale,
            clearance,
        )
        return self._record


def _limit_tools(settings: GateSettings, info: FollowerInfo) -> GateSettings:
    most = _TOOL_SHARE * info.tool_speed
    own = math.inf if settings.tool_speed is None else settings.tool_speed
    return settings if own <= most else replace(settings, tool_speed=most)
