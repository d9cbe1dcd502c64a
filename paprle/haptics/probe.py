"""Motion of a rig for ``paprle.haptics.identify``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import Leader
from paprle.contracts.types import Feedback, GateState, SessionState, Vec
from paprle.gate.controller import GateController
from paprle.haptics.haptics import Haptics
from paprle.haptics.identify import (
    FollowerLag,
    Motor,
    fit_drive,
    fit_lag,
    fit_motor,
    make_tones,
)
from paprle.ipc.loop import DeadlineLoop
from paprle.ipc.records import Layout, Record, Request
from paprle.robot import RobotModel

_SWING = 0.06  # [rad] chosen: a few degrees tell a lag, and hit nothing
_LIMP = 3.0  # [s] chosen: an arm that falls hangs still by then
_FAR = 1.2  # [rad] chosen: a joint that swings farther is pushed by somebody
_SPEED = 3.0  # [rad/s] chosen: viscous friction shows beside dry friction
_PUSH_RISE = 0.3  # [1/s] chosen: the cap is reached in three seconds
_SETTLE, _MEASURE = 2.0, 8.0  # [s] chosen: several periods of the slower tone
_FADE = 1.0  # [s] chosen: the tones end as softly as they begin
_BRAKING_TIME = 5.0  # [s] chosen: longer than any arm needs from V to rest
_READY_TIME = 3.0  # [s] chosen: a follower that is not ready by then says why
_USUAL_DELAY = 0.012  # [s] chosen: the default of feedback.rig.loop_delay
_ENOUGH = 0.7  # chosen: share of the time in which the gate has to follow
_RATE = 400.0  # [Hz] chosen: the default of feedback.rate
_VALID_FOR_NS = 100_000_000  # spec: safety.md A1, T_stale

_Row = tuple[int, int, Vec, Vec, Vec]
"""Times of sending and measuring, [ns]; command, position and effort."""


def probe_follower(
    controller: GateController,
    robot: RobotModel,
    layout: Layout,
    loop: DeadlineLoop,
    clock: Callable[[], int] = time.monotonic_ns,
) -> dict[str, FollowerLag]:
    """Return the lags of all arm joints, moved through the gate.

    Raises:
        DeviceError: If the gate does not let it move.
    """
    joints = np.concatenate([limb.indices for limb in robot.limbs.values()])
    try:
        rows, state = _swing(controller, layout, joints, loop, clock)
    finally:
        _brake(controller, loop, clock)
    measured = len(rows) * 1e-9 * loop.period_ns
    if measured < _ENOUGH * _MEASURE:
        raise DeviceError(
            f"follower: expected the gate to follow for {_MEASURE:g} [s], got "
            f"{measured:.1f}, then {state.name}; run a session with it first"
        ) from controller.fault
    return _fit_lags(rows, robot, joints)


def _swing(
    controller: GateController,
    layout: Layout,
    joints: Vec,
    loop: DeadlineLoop,
    clock: Callable[[], int],
) -> tuple[list[_Row], GateState]:
    middle: Vec | None = None
    rows: list[_Row] = []
    begin_ns, state = clock(), GateState.DISARMED
    setpoint: Record = np.zeros((), dtype=layout.setpoint)
    duration = _READY_TIME + _SETTLE + _MEASURE + _FADE
    for now_ns, due_ns in _tick(loop, duration, clock):
        status = controller.step(setpoint if setpoint["seq"] else None, now_ns, due_ns)
        state = GateState(int(status["state"]))
        t = 1e-9 * (now_ns - begin_ns) - _READY_TIME
        if state is GateState.STOPPED:
            break
        middle = status["q_cmd"].copy() if middle is None or t < -2.0 else middle
        _ask(setpoint, now_ns, middle, joints, t)
        if state is GateState.HOLD:  # it may go on once it has been asked to be ready
            setpoint["request"] = Request.READY
        is_steady = _SETTLE < t <= _SETTLE + _MEASURE
        if is_steady and state is GateState.ENGAGED:
            stamps = int(status["stamp_ns"]) or now_ns, int(status["meas_ns"])
            q_cmd, q_meas = status["q_cmd"].copy(), status["q_meas"].copy()
            rows.append((*stamps, q_cmd, q_meas, status["tau_meas"].copy()))
    return rows, state


def _brake(
    controller: GateController, loop: DeadlineLoop, clock: Callable[[], int]
) -> None:
    controller.is_orphaned = True
    loop.wait()
    for now_ns, due_ns in _tick(loop, _BRAKING_TIME, clock):
        controller.step(None, now_ns, due_ns)
        if controller.is_at_rest:
            return


def _tick(
    loop: DeadlineLoop, duration: float, clock: Callable[[], int]
) -> Iterator[tuple[int, int]]:
    end_ns = clock() + round(1e9 * duration)
    while (now_ns := clock()) < end_ns:
        yield now_ns, loop.deadline_ns
        loop.wait()


def _ask(setpoint: Record, now_ns: int, middle: Vec, joints: Vec, t: float) -> None:
    setpoint["session_id"], setpoint["seq"] = 1, setpoint["seq"] + 1
    setpoint["stamp_ns"] = setpoint["at_ns"] = setpoint["source_ns"] = now_ns
    setpoint["valid_for_ns"] = _VALID_FOR_NS
    setpoint["request"] = Request.MOVE if t > -1.0 else Request.READY
    setpoint["q_des"] = middle
    left = min(max((_SETTLE + _MEASURE + _FADE - t) / _FADE, 0.0), 1.0)
    setpoint["q_des"][joints] += left * make_tones(max(t, 0.0), _SWING)


def _fit_lags(
    rows: list[_Row], robot: RobotModel, joints: Vec
) -> dict[str, FollowerLag]:
    sent, measured = (np.array([row[i] for row in rows]) for i in (0, 1))
    q_cmd, q_meas, tau = (np.array([row[i] for row in rows]) for i in (2, 3, 4))
    t_cmd, t_meas = (1e-9 * (stamps - sent[0]) for stamps in (sent, measured))
    is_new = np.diff(t_meas, prepend=-1.0) > 0.0
    found = {}
    for j in joints:
        if np.ptp(q_cmd[:, j]) <= _SWING / 2.0:
            continue
        lag = fit_lag(t_cmd, q_cmd[:, j], t_meas, q_meas[:, j])
        rows_j = (values[is_new, j] for values in (q_cmd, q_meas, tau))
        stiffness = fit_drive(t_meas[is_new], *rows_j)
        found[robot.joint_names[j]] = lag._replace(stiffness=stiffness)
    return found


def probe_leader(
    leader: Leader, haptics: Haptics, limb: str, joint: int
) -> tuple[Motor, float]:
    """Return a joint's parameters, and the 95 % age of its samples, [s].

    Raises:
        DeviceError: If it does not report its joints, or is moved too far.
    """
    at = next(one for one in haptics.limbs if one.name == limb)
    caps, middle = haptics.joints.caps[at.rows], np.empty(0)
    # half of what F2 allows a spring in a loop of a usual delay
    stiffness = 0.25 * haptics.joints.damping[at.rows] / _USUAL_DELAY
    ages: list[float] = []
    push, rows = 0.0, list[tuple[float, float, float, float]]()
    loop, clock = DeadlineLoop(_RATE), time.monotonic_ns
    begin_ns = clock()
    for now_ns, _ in _tick(loop, _LIMP + _SETTLE + _MEASURE, clock):
        q, dq, age = _read(leader, limb, at.rows, now_ns)
        ages.append(age)
        t = 1e-9 * (now_ns - begin_ns) - _LIMP
        if t < 0.0:
            middle = q
            leader.apply(_make_feedback({}, now_ns))
            continue
        if np.abs(q - middle).max() > _FAR:
            leader.apply(_make_feedback({}, now_ns))
            raise DeviceError(
                f"{at.joint_names[joint]}: expected it to stay within {_FAR:g} [rad], "
                "got farther; keep your hands off, and let the arm hang freely"
            )
        rise = _PUSH_RISE if abs(dq[joint]) < _SPEED else -10.0 * _PUSH_RISE
        push = min(max(push + rise * caps[joint] / _RATE, 0.0), caps[joint])
        tau = stiffness * (middle - q)
        tau[joint] += float(make_tones(t, push))
        tau = np.clip(tau, -caps, caps)
        leader.apply(_make_feedback({limb: tau}, now_ns))
        if t > _SETTLE:
            rows.append((t, float(tau[joint]), float(q[joint]), float(dq[joint])))
    leader.apply(_make_feedback({}, time.monotonic_ns()))
    columns = np.array(rows).T
    motor = fit_motor(columns[0], columns[1], columns[2], columns[3])
    return motor, float(np.percentile(ages, 95.0))


def _read(
    leader: Leader, limb: str, rows: slice, now_ns: int
) -> tuple[Vec, Vec, float]:
    sample = leader.latest()
    state = None if sample is None else sample.leader_state
    if sample is None or state is None or state.dq is None:
        raise DeviceError(f"leader: expected measured joints of '{limb}', got none")
    return state.q[rows], state.dq[rows], 1e-9 * (now_ns - sample.stamp_ns)


def _make_feedback(tau: dict[str, Vec], now_ns: int) -> Feedback:
    return Feedback(
        stamp_ns=now_ns,
        state=SessionState.WAITING,
        episode=0,
        is_engaged=False,
        tau=tau,
    )
