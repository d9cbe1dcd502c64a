"""A follower behind its own gate, without a leader."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.config import Resolved
from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Follower
from paprle.contracts.types import GateState, Vec
from paprle.gate.controller import GateController
from paprle.gate.reason_text import describe_reasons
from paprle.gate.reasons import Reason, to_bits
from paprle.hosts.factories import list_objects
from paprle.hosts.plan import make_follower, make_robot
from paprle.hosts.processes.open_follower import open_follower
from paprle.ipc.loop import DeadlineLoop, Promoter
from paprle.ipc.records import Record, Request, make_gate_layout
from paprle.ipc.stop_reason import read_stop_reason
from paprle.robot import RobotModel

SCALE = 0.1  # spec: issue 38, requirement 7: limits at a tenth of speed
_VALID_FOR_NS = 100_000_000  # [ns] spec: safety.md A1, T_stale
_FRESH_NS = 20_000_000  # [ns] spec: safety.md amendments, L3
_BRAKING_TIME = 5.0  # [s] chosen: longer than any arm needs from V to rest
_PATIENCE = 5.0  # [s] chosen: beside the time that a move takes at its speed
_AT_GOAL = 1e-3  # [rad or m] chosen: below what anybody sees
_PASSING = to_bits((Reason.STALLED, Reason.STATE_STALE, Reason.COMMAND_STALE))
"""Reasons of a hold after which a busy machine may go on."""


class Period(NamedTuple):
    """A period of the gate; stamps in [s]."""

    t: float
    t_cmd: float
    q_cmd: Vec
    dq_cmd: Vec
    q_meas: Vec
    tau: Vec
    is_sent: bool


class MeasuredMotion(NamedTuple):
    """Measured periods of a rig, arrays of shape (N,) or (N, n).

    Attributes:
        t: Measurement, [s].
        t_cmd: Command, [s].
    """

    t: Vec
    t_cmd: Vec
    q_cmd: Vec
    dq_cmd: Vec
    q_meas: Vec
    tau: Vec
    is_sent: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Clock and sleep, replaced in tests."""

    clock: Callable[[], int] = time.monotonic_ns
    sleep: Callable[[float], None] = time.sleep  # noqa: TID251 - the loop waits


def slow_down(resolved: Resolved, robot: RobotModel, scale: float) -> Resolved:
    """Return a config with scaled speed and acceleration limits."""
    names = robot.joint_names
    limits = replace(
        resolved.robot.limits,
        dq_max=dict(zip(names, (scale * robot.dq_max).tolist(), strict=True)),
        ddq_max_joints=dict(zip(names, (scale * robot.ddq_max).tolist(), strict=True)),
    )
    return replace(resolved, robot=replace(resolved.robot, limits=limits))


class AcceptanceRig:
    """An opened follower, its gate, and all periods.

    Attributes:
        robot: With scaled limits.
        units: By joint.
        trouble: Reason of the gate's stop or hold.
        held: Reason of the last hold, for a while.
    """

    def __init__(
        self,
        resolved: Resolved,
        make: Callable[..., Follower] = make_follower,
        timing: Timing | None = None,
        scale: float = SCALE,
    ) -> None:
        timing = timing or Timing()
        slow = slow_down(resolved, make_robot(resolved), scale)
        self.robot = make_robot(slow)
        self.settings, self.session = slow.gate, slow.session
        self.trouble = self.held = ""
        sliding = self.robot.info.sliding
        self.units = ["m" if j in sliding else "rad" for j in self.robot.joint_names]
        self._clock, self._is_armed = timing.clock, False
        is_live = timing.clock is time.monotonic_ns
        # states that a driver's thread receives late are old
        self._promoter = Promoter() if is_live else None
        self._rows: list[Period] = []
        layout = make_gate_layout(self.robot.info, list_objects(slow))
        self._setpoint: Record = np.zeros((), dtype=layout.setpoint)
        self._follower = make(slow, self.robot, timing.clock)
        self.info, self.notes = open_follower(slow, self._follower, self.robot.info)
        self.notes += self._follower.notes
        self.h = 1.0 / self.info.rate
        self._loop = DeadlineLoop(self.info.rate, timing.clock, timing.sleep)
        period = 1.0 / slow.session.rate
        self._controller = GateController(
            self.robot, slow.gate, self._follower, self.info, layout, period
        )
        if self._promoter is not None:
            self._promoter.look()
        try:
            self._wait_for_state()
        except BaseException:
            self._follower.close("hold")
            raise

    def _wait_for_state(self) -> None:
        end_ns = self._clock() + round(1e9 * _PATIENCE)
        while (now_ns := self._clock()) < end_ns:
            if now_ns - self._follower.read().stamp_ns < _FRESH_NS:
                return
            self._loop.wait()

    def __enter__(self) -> AcceptanceRig:
        return self

    def __exit__(self, *_: object) -> None:
        """Brake to rest, and leave the robot holding."""
        try:
            self._controller.is_orphaned = True
            end_ns = self._clock() + round(1e9 * _BRAKING_TIME)
            while not self._controller.is_at_rest and self._clock() < end_ns:
                self._step(None)
        finally:
            self._follower.close("hold")

    @property
    def motion(self) -> MeasuredMotion:
        """All periods so far."""
        return self.list_motion(0)

    def list_motion(self, first: int, last: int | None = None) -> MeasuredMotion:
        """Return the measured periods from ``first`` to ``last``.

        Raises:
            DeviceError: If there is none.
        """
        rows = [row for row in self._rows[first:last] if np.isfinite(row.q_meas).all()]
        if not rows:
            raise DeviceError(
                "follower: expected measured positions, got none; "
                f"{self.trouble or 'look at its connection'}"
            )
        return MeasuredMotion(*(np.array(column) for column in zip(*rows, strict=True)))

    @property
    def n_periods(self) -> int:
        """Number of periods so far."""
        return len(self._rows)

    @property
    def q(self) -> Vec:
        """Newest measured positions, shape (n,)."""
        return self._rows[-1].q_meas

    def look(self, duration: float) -> None:
        """Measure for a time [s] without a command."""
        self._spend(duration, None)

    def stand(self, duration: float) -> None:
        """Hold the position for a time [s]."""
        self._spend(duration, Request.READY)

    def stop(self, duration: float) -> None:
        """Press Stop and measure for a time [s]."""
        self._spend(duration, Request.STOP)

    def _spend(self, duration: float, request: Request | None) -> None:
        end_ns = self._clock() + round(1e9 * duration)
        while self._clock() < end_ns:
            self._step(request)

    def go(self, q: Vec, is_enough: Callable[[], bool] | None = None) -> bool:
        """Move to q (n,) or until ``is_enough``; return whether reached."""
        self._step(Request.READY)
        far = np.abs(q - self._rows[-1].q_cmd) / self.robot.dq_max
        patience = _PATIENCE + 2.0 * float(np.nan_to_num(far).max())
        end_ns = self._clock() + round(1e9 * patience)
        while self._clock() < end_ns and not self.trouble:
            self._step(Request.MOVE, q)
            if is_enough is not None and is_enough():
                return True
            left = np.abs(q - self._rows[-1].q_cmd).max()
            if left < _AT_GOAL and not self.speed.any():
                return True
        return False

    @property
    def speed(self) -> Vec:
        """Speed of the last command, shape (n,)."""
        speed: Vec = np.abs(self._rows[-1].dq_cmd)
        return speed

    def _step(self, request: Request | None, q: Vec | None = None) -> None:
        if self._promoter is not None:
            self._promoter.look()
        now_ns, setpoint = self._clock(), self._setpoint
        if request is not None:
            state = self._controller.state
            setpoint["session_id"], setpoint["seq"] = 1, setpoint["seq"] + 1
            setpoint["stamp_ns"] = setpoint["at_ns"] = setpoint["source_ns"] = now_ns
            setpoint["valid_for_ns"] = _VALID_FOR_NS
            is_held = state is GateState.HOLD and request == Request.MOVE
            setpoint["request"] = Request.READY if is_held else request
            if q is not None:
                setpoint["q_des"] = q
            elif self._rows:
                setpoint["q_des"] = self._rows[-1].q_meas
        given = setpoint if request is not None else None
        status = self._controller.step(given, now_ns, self._loop.deadline_ns)
        self._note(status, now_ns)
        if request is not Request.STOP:
            self._look_for_trouble(status)
        self._loop.wait()

    def _note(self, status: Record, now_ns: int) -> None:
        state = self._controller.state
        self._is_armed |= state in {GateState.READY, GateState.ENGAGED}
        self._rows.append(
            Period(
                t=1e-9 * int(status["meas_ns"]),
                t_cmd=1e-9 * now_ns,
                q_cmd=status["q_cmd"].copy(),
                dq_cmd=status["dq_cmd"].copy(),
                q_meas=status["q_meas"].copy(),
                tau=status["tau_meas"].copy(),
                is_sent=self._is_armed and state is not GateState.DISARMED,
            )
        )

    def _look_for_trouble(self, status: Record) -> None:
        state, latched = GateState(int(status["state"])), int(status["latched"])
        if state is GateState.HOLD and not latched & ~_PASSING:
            self.held = describe_reasons(latched)
        elif state in {GateState.STOPPED, GateState.HOLD}:
            fault = self._controller.fault
            told = read_stop_reason(status) if fault is None else f": {fault}"
            told = describe_reasons(latched, told) + (told if fault else "")
            self.trouble = self.trouble or told
