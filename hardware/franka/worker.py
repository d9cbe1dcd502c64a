"""Process of one arm, with its loop at 1 kHz.

    python -m paprle.hardware.franka.worker FD ADDRESS RATE WATCHDOG TORQUE FORCE

``pylibfranka`` holds the GIL while it waits. Destroying a failed motion may end the
process, so it is kept; a new one begins in a new image. The process brakes without
goals, ends the motion after the watchdog's time, and ends with its owner.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import socket
import sys
import time
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from paprle.hardware.franka.limits import FR3
from paprle.hardware.franka.messages import (
    EVERY,
    LONGEST,
    Errors,
    Failure,
    Mode,
    Note,
    Order,
    State,
    pack_news,
    unpack_order,
)
from paprle.hardware.franka.stream import Stream

Vec = npt.NDArray[np.float64]

_MOST_BRAKING_NS = 1_000_000_000  # [ns] chosen: 2.6 rad/s at 8 rad/s² is 0.33 s
_PRIORITY = 60  # chosen: above the control loops' 50, whose periods are longer
_FD_END = 1024  # chosen: above any descriptor of this process
_MODES = {
    "Other": Mode.OTHER,
    "Idle": Mode.IDLE,
    "Move": Mode.MOVE,
    "Guiding": Mode.GUIDING,
    "Reflex": Mode.REFLEX,
    "UserStopped": Mode.USER_STOPPED,
    "AutomaticErrorRecovery": Mode.RECOVERY,
}  # spec: pylibfranka, RobotMode


class Worker:
    """One connection."""

    def __init__(self, node: socket.socket, words: list[str]) -> None:
        self._node = node
        self._node.setblocking(False)
        address, rate, watchdog, torque, force = words
        self._address, self._rate = address, float(rate)
        self._watchdog_ns = round(float(watchdog) * 1e9)
        self._thresholds = float(torque), float(force)
        self._sdk: Any = None
        self._robot: Any = None
        self._dead_motion: Any = None
        self._modes: dict[Any, Mode] = {}
        self._orders: set[Order] = set()
        self._goals: list[Vec] = []
        self._heard_ns = time.monotonic_ns()
        self._n_states = 0
        self._cause = ""
        self._told: Errors | None = None
        self._is_owned = True

    def run(self) -> None:
        """Serve until the owner or the connection is gone."""
        try:
            self._sdk = importlib.import_module("pylibfranka")
            self._connect()
            while self._is_owned:
                self._idle()
        except Exception as err:  # noqa: BLE001 - whatever the SDK raises ends it
            self._send(pack_news(Failure(f"{type(err).__name__}: {_shorten(err)}")))

    def _connect(self) -> None:
        sdk = self._sdk
        self._modes = {getattr(sdk.RobotMode, k): v for k, v in _MODES.items()}
        self._robot = sdk.Robot(self._address, sdk.RealtimeConfig.kIgnore)

    def _idle(self) -> None:
        state = self._robot.read_once()
        self._publish(state, None)
        self._listen()
        self._goals.clear()
        mode = self._modes.get(state.robot_mode, Mode.OTHER)
        orders, self._orders = self._orders, set()
        try:
            if Order.RECOVER in orders and mode is Mode.REFLEX:
                self._robot.automatic_error_recovery()
            elif Order.START in orders and mode is Mode.IDLE:
                self._move()
        except (self._sdk.CommandException, self._sdk.ControlException) as err:
            self._send(pack_news(Note(_shorten(err))))

    def _move(self) -> None:
        if self._dead_motion is not None:
            self._begin_anew()
        sdk, robot = self._sdk, self._robot
        torque, force = self._thresholds
        if torque > 0:
            robot.set_collision_behavior(
                [torque] * 7, [torque] * 7, [force] * 6, [force] * 6
            )
        motion = robot.start_joint_position_control(sdk.ControllerMode.JointImpedance)
        self._cause, self._heard_ns = "", time.monotonic_ns()
        gc.disable()
        try:
            self._stream(motion)
        except sdk.ControlException as err:
            self._dead_motion, self._cause = motion, _shorten(err)
        except BaseException:
            self._dead_motion = motion
            raise
        finally:
            gc.enable()

    def _stream(self, motion: Any) -> None:
        state, _ = motion.readOnce()
        stream = Stream(np.array(state.q_d), self._rate, FR3)
        command = self._sdk.JointPositions(stream.q.tolist())
        motion.writeOnce(command)
        end_ns = 0
        while True:
            state, elapsed = motion.readOnce()
            stream.note_unit(
                round(1e3 * elapsed.to_sec()),
                np.array(state.q_d),
                np.array(state.dq_d),
                np.array(state.ddq_d),
            )
            command.q = stream.step().tolist()
            now = time.monotonic_ns()
            if end_ns and (stream.is_resting or now > end_ns):
                command.motion_finished = True
                motion.writeOnce(command)
                return
            motion.writeOnce(command)
            self._publish(state, stream)
            self._listen()
            if not end_ns and self._has_to_end(now):
                end_ns = now + _MOST_BRAKING_NS
            if end_ns:
                stream.halt()
            else:
                for goal in self._goals:
                    stream.take(goal)
            self._goals.clear()

    def _has_to_end(self, now: int) -> bool:
        is_asked = Order.END in self._orders
        self._orders.clear()
        is_silent = now - self._heard_ns > self._watchdog_ns
        return is_asked or is_silent or not self._is_owned

    def _listen(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._is_owned:
                data = self._receive()
                if not data:
                    self._is_owned = False
                    return
                self._heard_ns = time.monotonic_ns()
                order, goal = unpack_order(data)
                if goal is not None:
                    self._goals.append(goal)
                else:
                    self._orders.add(order)

    def _receive(self) -> bytes:
        try:
            return self._node.recv(LONGEST)
        except ConnectionError:  # it left with unread states
            return b""

    def _publish(self, state: Any, stream: Stream | None) -> None:
        self._n_states += 1
        if self._n_states % EVERY:
            return
        now, last = state.current_errors, state.last_motion_errors
        cause = self._cause or (str(last) if last else "")
        errors = Errors(str(now) if now else "", cause)
        if errors != self._told and self._send(pack_news(errors)):
            self._told = errors
        q = np.array(state.q)
        news = State(
            stamp_ns=time.monotonic_ns(),
            device_ms=round(1e3 * state.time.to_sec()),
            mode=self._modes.get(state.robot_mode, Mode.OTHER),
            is_streaming=stream is not None,
            success_rate=state.control_command_success_rate,
            n_resets=0 if stream is None else stream.n_resets,
            q=q,
            dq=np.array(state.dq),
            tau=np.array(state.tau_ext_hat_filtered),
            end=q if stream is None else stream.end,
        )
        self._send(pack_news(news))

    def _send(self, data: bytes) -> bool:
        try:
            self._node.send(data)
        except BlockingIOError:  # an owner that stands; the newest is lost
            return False
        except OSError:
            self._is_owned = False
        return True

    def _begin_anew(self) -> NoReturn:
        fd = self._node.fileno()
        os.closerange(3, fd)
        os.closerange(fd + 1, _FD_END)  # the unit sees the connection end
        os.set_inheritable(fd, True)
        os.execv(sys.executable, [sys.executable, "-m", __spec__.name, *sys.argv[1:]])


def _shorten(err: Exception) -> str:
    return " ".join(str(err).replace("libfranka:", "").split())


def main(words: list[str]) -> None:
    """Serve one arm."""
    with contextlib.suppress(OSError, AttributeError):  # late where it is refused
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    worker = Worker(socket.socket(fileno=int(words[0])), words[1:])
    worker.run()
    # a motion that ended by an error must not be destroyed
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
