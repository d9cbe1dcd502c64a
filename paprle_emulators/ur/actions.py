"""Effects of the control script's commands.

Force mode and contacts are models of ours: an arm gives way in proportion to a force,
and a contact is a force from the ``wrench`` order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from paprle_emulators.ur.arm import Goal, Motion
from paprle_emulators.ur.commands import Command
from paprle_emulators.ur.kinematics import from_pose_vector, to_pose_vector
from paprle_emulators.ur.models import Vec, compute_flange
from paprle_emulators.ur.script import Script, ScriptError, Steps

DT = 0.002  # [s] spec: control cycle of e-series
_CONTACT = 10.0  # [N] chosen: UR names no figure
_GIVES_WAY = np.array([0.005] * 3 + [0.05] * 3)
"""[m/(s·N)], [rad/(s·N·m)] chosen: of force mode."""
_FORCE_RATE = 2.0  # [m/s²], [rad/s²] chosen: of force mode
_JOG_STOP, _CONTACT_STOP = 1.2, 3.0  # [m/s²] spec: the script's
_SPEED, _RATE = 0.25, 1.2  # [m/s], [m/s²] spec: movel's defaults


def _set_servo(script: Script, q: Vec) -> None:
    if script.arm.motion is Motion.FREE:
        raise ScriptError("servoj in teach mode; end_teach_mode comes first")
    numbers = script.read(0, 11)
    goal = Goal(q, numbers[9], numbers[10])
    script.begin(lambda: script.arm.servo(goal))


def _servo_tool(script: Script) -> None:
    _set_servo(script, script.need_joints(script.read(0)))


def _speed(script: Script) -> None:
    dq, rate = script.read(0), float(script.read(6, 1)[0])
    script.is_speeding_tool = False
    script.begin(lambda: script.arm.speed(dq, rate))


def _speed_tool(script: Script) -> None:
    twist, rate = script.read(0), float(script.read(6, 1)[0])
    script.is_speeding_tool = True
    script.begin(lambda: script.arm.tool_speed(twist, rate))


def _force(script: Script) -> None:
    chosen = np.array([script.read_int(k) for k in range(2, 8)]) != 0
    frame, wrench, limits = script.read(0), script.read(6), script.read(12)
    turn = from_pose_vector(frame)[:3, :3]
    if not np.any(chosen):
        raise ScriptError("force_mode without a compliant axis is not emulated")

    def give_way() -> Steps:
        while True:
            felt = _turn(turn.T, script.host.felt)
            speeds = np.clip(_GIVES_WAY * (wrench + felt), -limits, limits)
            twist = _turn(turn, np.where(chosen, speeds, 0.0))
            script.begin(partial(script.arm.tool_speed, twist, _FORCE_RATE))
            yield

    script.start_thread("force", give_way())


def _turn(turn: Vec, vector: Vec) -> Vec:
    return np.concatenate([turn @ vector[:3], turn @ vector[3:]])


def _set_payload(script: Script) -> None:
    mass, *centre = script.read(0, 4)
    script.host.payload = mass
    told = ", ".join(f"{value:.4f}" for value in centre)
    script.host.note(f"set_payload {mass:.3f} kg at [{told}] m")


def _set_tool(script: Script) -> None:
    script.arm.tool = from_pose_vector(script.read(0))


def _teach(script: Script) -> None:
    if script.arm.motion is not Motion.HOLD:
        raise ScriptError(f"teach_mode while the arm moves ({script.arm.motion.value})")
    script.host.note("teach mode")
    script.begin(script.arm.free)


def _end_teach(script: Script) -> None:
    if script.arm.motion is Motion.FREE:
        script.host.note("end of teach mode")
        script.arm.stop()
    script.forget_motion()


def _freedrive(script: Script) -> None:
    if any(script.read_int(k) == 0 for k in range(1, 7)):
        raise ScriptError("freedrive_mode with held axes is not emulated")
    _teach(script)


def _set_watchdog(script: Script) -> None:
    script.min_rate = float(script.read(0, 1)[0])


def _write_joints(script: Script, near: Vec | None) -> None:
    script.write(script.need_joints(script.read(0), near))


def _write_has_joints(script: Script, near: Vec | None) -> None:
    script.answer(1, script.find_joints(script.read(0), near) is not None)


def _check_joints(script: Script) -> None:
    limit = script.arm.model.q_max
    script.answer(1, bool((np.abs(script.read(0)) <= limit).all()))


def _write_history(script: Script) -> None:
    script.write(find_before(script, script.read_int(1)))


def find_before(script: Script, steps: int) -> Vec:
    """Return the measured joints some cycles ago."""
    return script.history[-1 - min(max(steps, 0), len(script.history) - 1)]


def _write_transformed(script: Script) -> None:
    one, other = (from_pose_vector(script.read(k)) for k in (0, 6))
    script.write(to_pose_vector(one @ other))


def _write_forward(script: Script) -> None:
    arm = script.arm
    script.write(to_pose_vector(compute_flange(arm.model, arm.q) @ arm.tool))


def _write_forward_of(script: Script) -> None:
    tool = from_pose_vector(script.read(6))
    flange = compute_flange(script.arm.model, script.read(0))
    script.write(to_pose_vector(flange @ tool))


def _write_flange(script: Script) -> None:
    script.write(to_pose_vector(compute_flange(script.arm.model, script.arm.q)))


def _feel(script: Script, direction: Vec) -> bool:
    """Return whether a force acts against a direction."""
    way = direction[:3] if np.any(direction) else script.arm.find_twist()[:3]
    length = float(np.linalg.norm(way))
    return length > 0.0 and float(-script.host.felt[:3] @ way) > _CONTACT * length


def _watch_contact(script: Script) -> None:
    direction = script.read(0)
    script.contact = 0

    def watch() -> Steps:
        while _feel(script, direction):
            yield
        while not _feel(script, direction):
            yield
        script.contact = 1
        script.internal = _leave_contact(script)

    script.start_thread("contact", watch())


def _leave_contact(script: Script) -> Steps:
    if script.kill_thread("move"):
        script.tell_progress(-1)
    yield from _go_back(script)


def _go_back(script: Script) -> Steps:
    q = find_before(script, 1)
    yield from script.stop(_CONTACT_STOP, is_line=True)
    flange = compute_flange(script.arm.model, q) @ script.arm.tool
    yield from script.move_line(to_pose_vector(flange), _SPEED, _RATE)


def _stop_watching(script: Script) -> None:
    script.kill_thread("contact")
    script.answer(1, script.contact)


def _do_nothing(_script: Script) -> None:
    """Take a setting without effect on the model."""


def _start(script: Script, steps: Steps) -> Steps:
    """Run a move, or a thread of it where its client does not wait."""
    if script.kill_thread("move"):
        script.tell_progress(-1)
    if script.read_int(1) != 1:
        yield from steps
        return

    def run() -> Steps:
        script.tell_progress(0)
        yield from steps
        script.tell_progress(-1)

    script.start_thread("move", run())


def _move_joints(script: Script) -> Steps:
    speed, rate = script.read(6, 2)
    yield from _start(script, script.move_joints(script.read(0), speed, rate))


def _move_joints_to(script: Script) -> Steps:
    speed, rate = script.read(6, 2)
    q = script.need_joints(script.read(0))
    yield from _start(script, script.move_joints(q, speed, rate))


def _move_line(script: Script) -> Steps:
    speed, rate = script.read(6, 2)
    yield from _start(script, script.move_line(script.read(0), speed, rate))


def _move_line_to(script: Script) -> Steps:
    speed, rate = script.read(6, 2)
    end = compute_flange(script.arm.model, script.read(0)) @ script.arm.tool
    yield from _start(script, script.move_line(to_pose_vector(end), speed, rate))


def _move_path(script: Script) -> Steps:
    yield from _start(script, _follow(script))


def _follow(script: Script) -> Steps:
    is_told = script.read_int(1) == 1
    for point in script.path:
        if is_told and point.progress >= 0:
            script.tell_progress(point.progress)
        if point.kind == "movec":
            raise ScriptError("movec is not emulated")
        if point.kind == "movej":
            near = script.need_joints(point.values) if point.is_pose else point.values
            yield from script.move_joints(near, point.speed, point.rate)
            continue
        end = point.values
        if not point.is_pose:
            flange = compute_flange(script.arm.model, end)
            end = to_pose_vector(flange @ script.arm.tool)
        yield from script.move_line(end, point.speed, point.rate)


def _stop(script: Script, *, is_line: bool) -> Steps:
    rate = float(script.read(0, 1)[0])
    if script.kill_thread("move"):
        script.tell_progress(-1)
    stop = script.stop(rate, is_line=is_line)
    if script.read_int(1) == 1:
        script.start_thread("stop", stop)
        return
    yield from stop


def _stop_speed(script: Script) -> Steps:
    rate = float(script.read(0, 1)[0])
    yield from script.stop(rate, is_line=script.is_speeding_tool)


def _stop_servo(script: Script) -> Steps:
    yield from script.stop(float(script.read(0, 1)[0]), is_line=False)


def _stop_force(script: Script) -> Steps:
    script.kill_thread("force")
    yield from script.stop(10.0, is_line=True)  # spec: the script's


def _jog(script: Script) -> None:
    speeds, feature, rate = script.read(0), *script.read(6, 2)
    custom = from_pose_vector(script.read(8))

    def jog() -> Steps:
        frames = {0: np.eye(4), 1: script.arm.pose, 2: custom}
        turn = frames.get(int(feature), custom)[:3, :3]
        while True:
            twist = _turn(turn, speeds)
            script.begin(partial(script.arm.tool_speed, twist, rate))
            yield

    script.start_thread("jog", jog())


def _stop_jog(script: Script) -> Steps:
    script.kill_thread("jog")
    yield from script.stop(_JOG_STOP, is_line=True)


def _move_until_contact(script: Script) -> Steps:
    twist, direction, rate = script.read(0), script.read(6), script.read(12, 1)[0]
    while not _feel(script, direction if np.any(direction) else twist):
        script.begin(lambda: script.arm.tool_speed(twist, rate))
        yield
    yield from _go_back(script)


ACTIONS: Mapping[Command, Callable[[Script], None]] = {
    Command.FORCE_MODE: _force,
    Command.ZERO_FTSENSOR: lambda script: script.host.zero_force(),
    Command.SPEEDJ: _speed,
    Command.SPEEDL: _speed_tool,
    Command.SERVOJ: lambda script: _set_servo(script, script.read(0)),
    Command.SERVOL: _servo_tool,
    Command.SET_PAYLOAD: _set_payload,
    Command.SET_TARGET_PAYLOAD: _set_payload,
    Command.TEACH_MODE: _teach,
    Command.END_TEACH_MODE: _end_teach,
    Command.FREEDRIVE: _freedrive,
    Command.END_FREEDRIVE: _end_teach,
    Command.FREEDRIVE_STATUS: lambda script: script.answer(1, 0),
    Command.FORCE_DAMPING: _do_nothing,
    Command.FORCE_GAIN: _do_nothing,
    Command.TOOL_CONTACT: lambda s: s.answer(1, _feel(s, s.read(0))),
    Command.STEP_TIME: lambda script: script.write(np.array([DT])),
    Command.JOINT_HISTORY: _write_history,
    Command.SET_TCP: _set_tool,
    Command.INVERSE: lambda script: _write_joints(script, None),
    Command.INVERSE_NEAR: lambda script: _write_joints(script, script.read(6)),
    Command.HAS_INVERSE: lambda script: _write_has_joints(script, None),
    Command.HAS_INVERSE_NEAR: lambda script: _write_has_joints(script, script.read(6)),
    Command.IS_POSE_SAFE: lambda script: _write_has_joints(script, None),
    Command.IS_JOINTS_SAFE: _check_joints,
    Command.PROTECTIVE_STOP: lambda script: script.host.stop_protectively(),
    Command.WATCHDOG: _set_watchdog,
    Command.POSE_TRANS: _write_transformed,
    Command.TCP_OFFSET: lambda s: s.write(to_pose_vector(s.arm.tool)),
    Command.FORWARD: _write_forward,
    Command.FORWARD_OF: _write_forward_of,
    Command.IS_STEADY: lambda script: script.answer(1, script.arm.is_at_rest),
    Command.FLANGE_POSE: _write_flange,
    Command.START_JOG: _jog,
    Command.START_CONTACT: _watch_contact,
    Command.STOP_CONTACT: _stop_watching,
    Command.READ_CONTACT: lambda script: script.answer(1, script.contact),
}
"""Commands that take one cycle."""

ONGOING: Mapping[Command, Callable[[Script], Steps]] = {
    Command.MOVEJ: _move_joints,
    Command.MOVEJ_IK: _move_joints_to,
    Command.MOVEL: _move_line,
    Command.MOVEL_FK: _move_line_to,
    Command.FORCE_MODE_STOP: _stop_force,
    Command.SPEED_STOP: _stop_speed,
    Command.SERVO_STOP: _stop_servo,
    Command.STOPL: lambda script: _stop(script, is_line=True),
    Command.STOPJ: lambda script: _stop(script, is_line=False),
    Command.STOP_JOG: _stop_jog,
    Command.MOVE_PATH: _move_path,
    Command.MOVE_UNTIL_CONTACT: _move_until_contact,
}
"""Commands that take as long as their motion."""
