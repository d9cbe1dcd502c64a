"""Robot requests, answers and states of the control unit.

Source: ``robot_impl.cpp`` of libfranka.
"""

from __future__ import annotations

import numpy as np

from paprle_emulators.franka.arm import Arm
from paprle_emulators.franka.models import compute_pose, make_urdf
from paprle_emulators.franka.protocol import (
    Command,
    Flags,
    Generator,
    Mode,
    MoveStatus,
    Request,
    Status,
)
from paprle_emulators.franka.versions import REJECTED_SETTER

_JOINT_IMPEDANCE, _CARTESIAN_IMPEDANCE = 0, 1  # spec: service_types.h, Move
_OTHER_CONTROLLER = 3  # spec: rbk_types.h
_JOINT_POSITION = 0  # spec: service_types.h, Move
_FIXED = {
    Command.GET_ROBOT_MODEL: (Status.SUCCESS, make_urdf().encode()),
    Command.LOAD_MODEL_LIBRARY: (Status.NOT_POSSIBLE, b""),  # not emulated
    Command.GET_CARTESIAN_LIMIT: (Status.INVALID_ARGUMENT, bytes(8 * (3 + 16) + 1)),
}  # spec: service_types.h; a wall is its size, frame and activity
_BY_SAFETY = {
    Command.STOP_MOVE: Status.SAFETY,
    Command.AUTOMATIC_ERROR_RECOVERY: Status.SAFETY,
}
_SETTERS = frozenset(
    (
        Command.SET_COLLISION_BEHAVIOR,
        Command.SET_JOINT_IMPEDANCE,
        Command.SET_CARTESIAN_IMPEDANCE,
        Command.SET_GUIDING_MODE,
        Command.SET_EE_TO_K,
        Command.SET_NE_TO_EE,
        Command.SET_LOAD,
        Command.SET_FILTERS,
    )
)
_POSE_EVERY = 8  # chosen: cycles; the client of joint motion reads no pose


class Unit:
    """Answers for one arm.

    Attributes:
        version: Of the arm's model.
        needs_manual: Errors that need recovery at the unit.
    """

    def __init__(self, arm: Arm) -> None:
        self.arm, self.version = arm, arm.model.version
        self.needs_manual = False
        self._move: Request | None = None
        self._recovery: Request | None = None
        self._controller = _OTHER_CONTROLLER
        self._n_states = 0
        self._numbers = self.version.make_numbers()
        for name in ("F_T_EE", "EE_T_K", "F_T_NE", "NE_T_EE"):
            self._numbers[self.version.places[name]] = np.eye(4).ravel()

    def answer(self, request: Request) -> list[bytes]:
        """Return the answers to a request other than Connect.

        Raises:
            ValueError: If malformed or unknown.
        """
        command, pack = self.version.find_command(request), self.version.pack_answer
        if command in _FIXED:
            return [pack(request, *_FIXED[command])]
        if command is Command.MOVE:
            return [pack(request, self._start(request))]
        if command is Command.STOP_MOVE:
            return self._stop(request)
        if command is Command.AUTOMATIC_ERROR_RECOVERY:
            return self._recover(request)
        return [pack(request, self._set(request, command))]

    def finish(self) -> list[bytes]:
        """End a motion; return the answer."""
        self.arm.end()
        return self._end_move(MoveStatus.SUCCESS)

    def forget(self) -> None:
        """Drop a lost client's answers."""
        self._move = self._recovery = None

    def note_cycle(self) -> list[bytes]:
        """Return answers due after a cycle."""
        answers: list[bytes] = []
        if self._move is not None and self.arm.mode is not Mode.MOVE:
            is_reflex = self.arm.mode is Mode.REFLEX
            aborted = MoveStatus.REFLEX_ABORTED if is_reflex else MoveStatus.ABORTED
            if self.arm.mode is Mode.USER_STOPPED:
                aborted = MoveStatus.PREEMPTED_BY_SAFETY
            answers += self._end_move(aborted)
        if self._recovery is not None and self.arm.mode is not Mode.RECOVERY:
            answers.append(self.version.pack_answer(self._recovery, Status.SUCCESS))
            self._recovery = None
        return answers

    def pack_state(self, message_id: int) -> bytes:
        """Return a cycle's state."""
        arm, numbers, places = self.arm, self._numbers, self.version.places
        for name, values in (
            ("q", arm.q),
            ("q_d", arm.q_d),
            ("dq", arm.dq),
            ("dq_d", arm.dq_d),
            ("ddq_d", arm.ddq_d),
            ("theta", arm.q),
            ("dtheta", arm.dq),
            ("tau_ext_hat_filtered", arm.push_torque),
        ):
            numbers[places[name]] = values
        if self._n_states % _POSE_EVERY == 0:
            numbers[places["O_T_EE"]] = compute_pose(arm.q).T.ravel()
        self._n_states += 1
        is_moving = arm.mode is Mode.MOVE
        flags = Flags(
            generator=Generator.JOINT_POSITION if is_moving else Generator.IDLE,
            controller=self._controller if is_moving else _OTHER_CONTROLLER,
            errors=bytes(arm.errors),
            reflex_reason=bytes(arm.reflex_reason),
            mode=arm.mode,
            success_rate=arm.success_rate,
        )
        return self.version.pack_state(message_id, numbers, flags)

    def _start(self, request: Request) -> MoveStatus:
        controller, generator = self.version.read_move(request)
        if self.arm.mode is Mode.USER_STOPPED:
            return MoveStatus.REJECTED_BY_SAFETY
        if self.arm.mode is not Mode.IDLE or self._move is not None:
            return MoveStatus.NOT_POSSIBLE
        known = (_JOINT_IMPEDANCE, _CARTESIAN_IMPEDANCE)
        if generator != _JOINT_POSITION or controller not in known:
            return MoveStatus.INVALID_ARGUMENT
        self._move, self._controller = request, controller
        self.arm.start()
        return MoveStatus.MOTION_STARTED

    def _stop(self, request: Request) -> list[bytes]:
        if self.arm.mode is Mode.USER_STOPPED:
            return [self.version.pack_answer(request, _BY_SAFETY[Command.STOP_MOVE])]
        if self._move is None or self.arm.mode is not Mode.MOVE:
            return [self.version.pack_answer(request, Status.NOT_POSSIBLE)]
        self.arm.end()
        done = self.version.pack_answer(request, Status.SUCCESS)
        return [done, *self._end_move(MoveStatus.PREEMPTED)]

    def _recover(self, request: Request) -> list[bytes]:
        mode = self.arm.mode
        if mode is Mode.USER_STOPPED:
            return [
                self.version.pack_answer(
                    request, _BY_SAFETY[Command.AUTOMATIC_ERROR_RECOVERY]
                )
            ]
        if mode is Mode.REFLEX and self.needs_manual:
            return [self.version.pack_answer(request, Status.MANUAL_RECOVERY)]
        if mode is Mode.IDLE:
            return [self.version.pack_answer(request, Status.SUCCESS)]
        if mode is not Mode.REFLEX:
            return [self.version.pack_answer(request, Status.NOT_POSSIBLE)]
        self.arm.recover()
        self._recovery = request
        return []

    def _set(self, request: Request, command: Command) -> int:
        if command not in _SETTERS:
            raise ValueError(f"request: expected a command, got {command}")
        if self.arm.mode is Mode.USER_STOPPED:
            return REJECTED_SETTER
        if self.arm.mode is Mode.MOVE:
            return Status.NOT_POSSIBLE
        if command is Command.SET_COLLISION_BEHAVIOR:
            # lower and upper by acceleration, then lower and upper nominal
            self.arm.thresholds = request.read_doubles(28)[21:]
        return Status.SUCCESS

    def _end_move(self, status: MoveStatus) -> list[bytes]:
        request, self._move = self._move, None
        return [] if request is None else [self.version.pack_answer(request, status)]
