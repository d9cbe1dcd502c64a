"""Checks of slow motion: start, limits, stop."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from paprle.contracts.types import Vec
from paprle.gate.smoothing import compute_delay
from paprle.oracle import JudgedLimits, check_commands
from paprle.robot.chain import Limb
from paprle_lab.acceptance.check import Kit, Outcome
from paprle_lab.acceptance.rig import AcceptanceRig, MeasuredMotion

STANDS = 3.0  # [s] chosen: an arm that sinks or creeps shows it by then
STILL = 0.005, 0.001  # [rad], [m] chosen: three steps of a 12-bit encoder; a millimetre
STEP = 0.1, 0.01  # [rad], [m] chosen: 6° and a centimetre are seen, and hit nothing
_NEAR = 0.2  # chosen: share of a step that the measured one may differ by
_OTHERS = 0.02  # [rad or m] chosen: joints that are not asked sag or vibrate by less
_FASTER = 1.2  # spec: gate.overspeed_factor
_NOISE = 0.03, 0.005  # [rad/s], [m/s] chosen: a step of a 12-bit encoder within 50 ms
_WINDOW = 0.05  # [s] chosen: speeds are means over it
_SETTLE = 0.5  # [s] chosen: a servo is there by then
_LATE = 0.05  # [s] chosen: beside the lag that the gate counts on
_BEHIND = 0.01, 0.003  # [rad], [m] chosen: an arm sags by gravity, and has friction
_SPRINT = 0.3, 0.05  # [rad], [m] chosen: enough to reach a tenth of V before the stop
_WATCHED = 2.0  # [s] chosen: after Stop
_SLACK = 0.1  # [s] chosen: the servo's own settling
_SEEN = 0.005  # [m] chosen: the tip's way that a person sees


def pick(rig: AcceptanceRig, pair: tuple[float, float]) -> Vec:
    """Return one value for turning joints, the other for sliding ones."""
    return np.where(np.array(rig.units) == "m", pair[1], pair[0])


def measure_speeds(motion: MeasuredMotion) -> Vec:
    """Return mean speeds over 50 ms, shape (N, n)."""
    t, fresh = np.unique(motion.t, return_index=True)
    q = motion.q_meas[fresh]
    before = np.searchsorted(t, t - _WINDOW, side="right") - 1
    is_whole = before >= 0
    before = before[is_whole]
    dt = (t[is_whole] - t[before])[:, None]
    speeds: Vec = np.abs(q[is_whole] - q[before]) / np.maximum(dt, 1e-3)
    return speeds


def check_start(kit: Kit) -> Outcome:
    """Check that the robot rests when opened and held."""
    with kit.open_rig() as rig:
        rig.look(STANDS)
        first = rig.n_periods
        rig.stand(STANDS)
        parts = rig.list_motion(0, first), rig.list_motion(first)
        still = pick(rig, STILL)
        names, trouble = rig.robot.joint_names, rig.trouble
    problems = [trouble] if trouble else []
    figures = []
    for what, motion in zip(("before", "after"), parts, strict=True):
        moved = np.ptp(motion.q_meas, axis=0)
        worst = int(np.argmax(moved / still))
        unit = rig.units[worst]
        figures.append(
            f"{what} the first command {names[worst]} moved most: "
            f"{moved[worst]:.4f} {unit}"
        )
        problems += [
            f"{names[j]} moved by {moved[j]:.3f} {rig.units[j]} within "
            f"{STANDS:g} s {what} the first command, though nobody asked it to; "
            f"expected at most {still[j]:g}"
            for j in np.flatnonzero(~(moved <= still))
        ]
    if not kit.person.sees("Did the arm stay still while it was opened, and since?"):
        problems.append("the person saw the arm move when it was opened")
    return Outcome(figures=figures, problems=problems)


def go_home(rig: AcceptanceRig) -> list[str]:
    """Move home; return problems."""
    rig.look(0.1)
    if rig.go(rig.robot.home):
        rig.stand(_SETTLE)
        return []
    return [rig.trouble or describe_short(rig, rig.robot.home)]


def describe_short(rig: AcceptanceRig, goal: Vec) -> str:
    """Describe the joint farthest from its goal."""
    left = np.abs(goal - rig.motion.q_cmd[-1])
    worst = int(np.argmax(left))
    return (
        f"{rig.robot.joint_names[worst]} was held back {left[worst]:.3f} "
        f"{rig.units[worst]} before its goal: "
        + (rig.held or "look at `paprle collision` and at the limits")
    )


def check_limits(kit: Kit) -> Outcome:
    """Move each joint about home and back."""
    figures: list[str] = []
    with kit.open_rig() as rig:
        problems = go_home(rig)
        for limb in rig.robot.limbs.values() if not problems else ():
            for joint in limb.indices:
                problems += _swing(kit, rig, limb, int(joint), figures)
                if rig.trouble:
                    return Outcome(figures=figures, problems=problems)
        problems = problems or list(judge_motion(rig, figures))
    return Outcome(figures=figures, problems=problems)


def _swing(
    kit: Kit, rig: AcceptanceRig, limb: Limb, joint: int, figures: list[str]
) -> Iterator[str]:
    name, unit = rig.robot.joint_names[joint], rig.units[joint]
    first, step = rig.n_periods, choose_step(rig, joint, float(pick(rig, STEP)[joint]))
    goal = rig.robot.home.copy()
    goal[joint] += step
    has_arrived = rig.go(goal)
    if has_arrived:
        rig.stand(_SETTLE)
    motion = rig.list_motion(first)
    sent = motion.q_cmd[:, joint] - motion.q_cmd[0, joint]
    last = -1 if has_arrived else int(np.argmax(np.abs(sent)))
    moved = motion.q_meas[last] - motion.q_meas[0]
    figures.append(
        f"{name}: asked {sent[last]:+.3f}, measured {moved[joint]:+.3f} {unit}"
    )
    if abs(sent[last]) > 0.0:
        yield from judge_step(rig, joint, float(sent[last]), moved)
    if not has_arrived:
        yield rig.trouble or describe_short(rig, goal)
        return
    shown = describe_direction(limb, rig.robot.home, goal)
    if not kit.person.sees(f"{name}: {shown}. Did it?"):
        yield (
            f"{name}: the person did not see it move as asked ({shown}); its sign, "
            "its unit or its place in the order is wrong"
        )
    if not rig.go(rig.robot.home):
        yield rig.trouble or describe_short(rig, rig.robot.home)
    rig.stand(_SETTLE)


def choose_step(rig: AcceptanceRig, joint: int, size: float) -> float:
    """Return a step towards the farther limit, within half the room."""
    robot = rig.robot
    above = robot.q_max[joint] - robot.home[joint]
    below = robot.home[joint] - robot.q_min[joint]
    is_up = above >= 2.0 * size or above >= below
    step = min(size, 0.5 * max(above, below))
    return float(step if is_up else -step)


def judge_step(
    rig: AcceptanceRig, joint: int, step: float, moved: Vec
) -> Iterator[str]:
    """Yield problems of a joint's sign, unit and order."""
    name, unit = rig.robot.joint_names[joint], rig.units[joint]
    share = float(moved[joint]) / step
    got = f"expected {step:+.3f} {unit}, measured {moved[joint]:+.3f}"
    if share < -_NEAR:
        yield f"{name} moved the other way: {got}; its sign is wrong"
    elif share < _NEAR:
        yield f"{name} did not move: {got}"
    elif abs(share - 1.0) > _NEAR:
        yield (
            f"{name} moved by {share:.2f} of what was asked: {got}; is its unit right?"
        )
    others = np.abs(moved)
    others[joint] = 0.0
    yield from (
        f"{rig.robot.joint_names[j]} moved by {moved[j]:+.3f} while {name} was asked "
        "to; is the order of the joints right?"
        for j in np.flatnonzero(others > max(_OTHERS, _NEAR * abs(step)))
    )


def describe_direction(limb: Limb, q_from: Vec, q_to: Vec) -> str:
    """Describe the tip's motion in the base's axes."""
    T_base_0, T_base_1 = limb.fk(limb.take(q_from)), limb.fk(limb.take(q_to))
    way = T_base_1.translation - T_base_0.translation
    axis = int(np.argmax(np.abs(way)))
    if abs(way[axis]) >= _SEEN:
        words = (("forward", "backward"), ("left", "right"), ("up", "down"))[axis]
        told = words[0 if way[axis] > 0 else 1]
        return f"the tip of '{limb.name}' moves {told} by {1e3 * abs(way[axis]):.0f} mm"
    R_0_1 = T_base_0.rotation.T @ T_base_1.rotation
    angle = math.degrees(math.acos(min(1.0, max(-1.0, (np.trace(R_0_1) - 1.0) / 2.0))))
    turn = T_base_1.rotation @ T_base_0.rotation.T
    vector = np.array(
        [turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]
    )
    axis = int(np.argmax(np.abs(vector)))
    along = (("forward", "backward"), ("left", "right"), ("up", "down"))[axis]
    return (
        f"the hand of '{limb.name}' turns by {angle:.0f}°, as a screw that goes "
        f"{along[0 if vector[axis] > 0 else 1]}"
    )


def judge_motion(rig: AcceptanceRig, figures: list[str]) -> Iterator[str]:
    """Yield limits broken by commands or measurements."""
    motion, robot, names = rig.motion, rig.robot, rig.robot.joint_names
    sent = motion.q_cmd[motion.is_sent]
    if not len(sent):
        return
    verdict = check_commands(sent, JudgedLimits.of(robot.info, rig.h))
    figures.append(f"commands beyond a limit: {verdict.n_violations} of {len(sent)}")
    if not verdict.is_ok:
        yield f"what was sent broke a limit: {verdict}"
    fastest = measure_speeds(motion).max(axis=0)
    allowed = _FASTER * robot.dq_max + pick(rig, _NOISE)
    worst = int(np.argmax(fastest / robot.dq_max))
    figures.append(
        f"fastest for its limit: {names[worst]}, {fastest[worst]:.3f} "
        f"{rig.units[worst]}/s, limit {robot.dq_max[worst]:.3f}"
    )
    yield from (
        f"{names[j]} moved at {fastest[j]:.3f} {rig.units[j]}/s; expected at most "
        f"{allowed[j]:.3f}, a tenth of its limit and the noise of its sensor"
        for j in np.flatnonzero(fastest > allowed)
    )
    yield from _judge_lag(rig, motion, figures)


def _judge_lag(
    rig: AcceptanceRig, motion: MeasuredMotion, figures: list[str]
) -> Iterator[str]:
    robot, names = rig.robot, rig.robot.joint_names
    arms = np.concatenate([limb.indices for limb in robot.limbs.values()])
    gaps = np.abs(motion.q_cmd - motion.q_meas)[motion.is_sent].max(axis=0)
    counted = rig.info.lag + 2.0 * rig.h + _LATE
    allowed = robot.dq_max * counted + pick(rig, _BEHIND)
    worst = int(arms[np.argmax((gaps / allowed)[arms])])
    figures.append(
        f"farthest behind its command: {names[worst]}, {gaps[worst]:.4f} "
        f"{rig.units[worst]}"
    )
    yield from (
        f"{names[j]} stays {gaps[j]:.3f} {rig.units[j]} behind its command; "
        f"expected at most {allowed[j]:.3f}: it lags by more than the "
        f"{1e3 * rig.info.lag:.0f} ms that the gate counts on; "
        "measure its lag: paprle identify --only follower"
        for j in arms[(gaps > allowed)[arms]]
    )


def check_stop(kit: Kit) -> Outcome:
    """Press Stop while each limb's first joint moves."""
    with kit.open_rig() as rig:
        problems = go_home(rig)
        if problems:
            return Outcome(problems=problems)
        joints = [int(limb.indices[0]) for limb in rig.robot.limbs.values()]
        goal = rig.robot.home.copy()
        for joint in joints:
            goal[joint] += choose_step(rig, joint, float(pick(rig, _SPRINT)[joint]))
        nearly = 0.9 * rig.robot.dq_max[joints]
        if not rig.go(goal, lambda: bool((rig.speed[joints] >= nearly).any())):
            return Outcome(problems=[rig.trouble or describe_short(rig, goal)])
        before, first, speed = rig.motion, rig.n_periods, rig.speed
        rig.stop(_WATCHED)
        return judge_stop(rig, before, rig.list_motion(first), speed)


def judge_stop(
    rig: AcceptanceRig, before: MeasuredMotion, after: MeasuredMotion, speed: Vec
) -> Outcome:
    """Judge time and distance of a Stop."""
    robot, names = rig.robot, rig.robot.joint_names
    tick = 1.0 / rig.session.rate
    braking = float((robot.dq_max / robot.ddq_max).max())
    delay = tick + rig.h + 2.0 * compute_delay(robot.info, rig.h)
    rest = delay + braking + 3.0 * rig.info.lag + _SLACK
    way = speed * (delay + rig.info.lag + _WINDOW) + speed**2 / (2.0 * robot.ddq_max)
    way += pick(rig, _BEHIND)
    past = np.abs(after.q_meas - before.q_meas[-1])
    speeds = measure_speeds(after)
    t = np.unique(after.t)[-len(speeds) :] - before.t_cmd[-1]
    moving = t[(speeds > pick(rig, _NOISE)).any(axis=1)]
    stood = float(moving[-1]) if len(moving) else 0.0
    far = int(np.argmax(past.max(axis=0) / way))
    figures = [
        f"at rest {1e3 * stood:.0f} ms after Stop, allowed {1e3 * rest:.0f} ms",
        f"{names[far]} went {past[:, far].max():.4f} {rig.units[far]}, allowed "
        f"{way[far]:.4f}",
    ]
    problems = []
    if stood > rest:
        late = "still moved" if stood > _WATCHED - 2.0 * _WINDOW else "moved until"
        problems.append(
            f"the robot {late} {stood:.2f} s after Stop; expected rest within "
            f"{rest:.2f} s"
        )
    problems += [
        f"{names[j]} went on by {past[:, j].max():.3f} {rig.units[j]} after Stop; "
        f"expected at most {way[j]:.3f}"
        for j in np.flatnonzero(past.max(axis=0) > way)
    ]
    return Outcome(figures=figures, problems=problems)
