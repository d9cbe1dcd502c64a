"""Robot requests, answers and states of the control unit.

Source: ``robot_impl.cpp`` of libfranka.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paprle_emulators.franka.arm import Arm
from paprle_emulators.franka.models import compute_pose, make_urdf
from paprle_emulators.franka.protocol import (
    N_FLOATS,
    PLACES,
    Command,
    Flags,
    Generator,
    Mode,
    MoveStatus,
    Request,
    Status,
    pack_answer,
    pack_state,
)

_JOINT_IMPEDANCE, _CARTESIAN_IMPEDANCE = 0, 1  # spec: service_types.h, Move
_OTHER_CONTROLLER = 3  # spec: rbk_types.h
_JOINT_POSITION = 0  # spec: service_types.h, Move
_REJECTED_SETTER = 3  # spec: service_types.h, GetterSetterCommandBase, by safety
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
    )
)
_POSE_EVERY = 8  # chosen: cycles; the client of joint motion reads no pose
_FLANGE = PLACES["O_T_EE"]


class Unit:
    """Answers for one arm.

    Attributes:
        needs_manual: Errors that need recovery at the unit.
    """

    def __init__(self, arm: Arm) -> None:
        self.arm = arm
        self.needs_manual = False
        self._move: Request | None = None
        self._recovery: Request | None = None
        self._controller = _OTHER_CONTROLLER
        self._n_states = 0
        self._floats: npt.NDArray[np.float32] = np.zeros(N_FLOATS, dtype=np.float32)
        for name in ("F_T_EE", "EE_T_K", "F_T_NE", "NE_T_EE"):
            self._floats[PLACES[name]] = np.eye(4).ravel()

    def answer(self, request: Request) -> list[bytes]:
        """Return the answers to a request other than Connect.

        Raises:
            ValueError: If malformed or unknown.
        """
        command = Command(request.command)
        if command is Command.GET_ROBOT_MODEL:
            return [pack_answer(request, Status.SUCCESS, make_urdf().encode())]
        if command is Command.MOVE:
            return [pack_answer(request, self._start(request))]
        if command is Command.STOP_MOVE:
            return self._stop(request)
        if command is Command.AUTOMATIC_ERROR_RECOVERY:
            return self._recover(request)
        return [pack_answer(request, self._set(request, command))]

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
            answers.append(pack_answer(self._recovery, Status.SUCCESS))
            self._recovery = None
        return answers

    def pack_state(self, message_id: int) -> bytes:
        """Return a cycle's state."""
        arm, floats = self.arm, self._floats
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
            floats[PLACES[name]] = values
        if self._n_states % _POSE_EVERY == 0:
            floats[_FLANGE] = compute_pose(arm.q).T.ravel()
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
        return pack_state(message_id, floats, flags)

    def _start(self, request: Request) -> MoveStatus:
        controller, generator = request.read_move()
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
            return [pack_answer(request, _BY_SAFETY[Command.STOP_MOVE])]
        if self._move is None or self.arm.mode is not Mode.MOVE:
            return [pack_answer(request, Status.NOT_POSSIBLE)]
        self.arm.end()
        done = pack_answer(request, Status.SUCCESS)
        return [done, *self._end_move(MoveStatus.PREEMPTED)]

    def _recover(self, request: Request) -> list[bytes]:
        mode = self.arm.mode
        if mode is Mode.USER_STOPPED:
            return [pack_answer(request, _BY_SAFETY[Command.AUTOMATIC_ERROR_RECOVERY])]
        if mode is Mode.REFLEX and self.needs_manual:
            return [pack_answer(request, Status.MANUAL_RECOVERY)]
        if mode is Mode.IDLE:
            return [pack_answer(request, Status.SUCCESS)]
        if mode is not Mode.REFLEX:
            return [pack_answer(request, Status.NOT_POSSIBLE)]
        self.arm.recover()
        self._recovery = request
        return []

    def _set(self, request: Request, command: Command) -> int:
        if command not in _SETTERS:
            raise ValueError(f"request: expected a command, got {command}")
        if self.arm.mode is Mode.USER_STOPPED:
            return _REJECTED_SETTER
        if self.arm.mode is Mode.MOVE:
            return Status.NOT_POSSIBLE
        if command is Command.SET_COLLISION_BEHAVIOR:
            # lower and upper by acceleration, then lower and upper nominal
            self.arm.thresholds = request.read_doubles(28)[21:]
        return Status.SUCCESS

    def _end_move(self, status: MoveStatus) -> list[bytes]:
        request, self._move = self._move, None
        return [] if request is None else [pack_answer(request, status)]
