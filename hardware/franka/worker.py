"""Process of one arm, with its loop at 1 kHz.

    python -m paprle.hardware.franka.worker FD MODEL ADDRESS RATE WATCHDOG TORQUE FORCE

The SDKs hold the GIL while they wait. Destroying a failed motion of ``pylibfranka`` may
end the process, so it is kept; a new one begins in a new image. The process brakes
without goals, ends the motion after the watchdog's time, and ends with its owner.
"""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

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
from paprle.hardware.franka.models import MODELS
from paprle.hardware.franka.sdks import (
    Connection,
    Ended,
    OtherVersion,
    Refused,
    connect,
    shorten,
)
from paprle.hardware.franka.stream import Stream

Vec = npt.NDArray[np.float64]

_MOST_BRAKING_NS = 1_000_000_000  # [ns] chosen: 2.6 rad/s at 8 rad/s² is 0.33 s
_PRIORITY = 60  # chosen: above the control loops' 50, whose periods are longer
_FD_END = 1024  # chosen: above any descriptor of this process


class Worker:
    """One connection."""

    def __init__(self, node: socket.socket, words: list[str]) -> None:
        self._node = node
        self._node.setblocking(False)
        model, address, rate, watchdog, torque, force = words
        self._model, self._address, self._rate = MODELS[model], address, float(rate)
        self._watchdog_ns = round(float(watchdog) * 1e9)
        self._thresholds = float(torque), float(force)
        self._orders: set[Order] = set()
        self._goals: list[Vec] = []
        self._heard_ns = time.monotonic_ns()
        self._n_states = 0
        self._cause = ""
        self._told: Errors | None = None
        self._is_owned = True
        self._modes: Mapping[Any, Mode] = {}
        self._stream: Stream | None = None
        self._state: Any = None
        self._end_ns = 0

    def run(self) -> None:
        """Serve until the owner or the connection is gone."""
        try:
            robot = connect(self._model, self._address)
            self._modes = robot.modes
            while self._is_owned:
                self._idle(robot)
        except OtherVersion as err:
            self._send(pack_news(Failure(str(err), err.version)))
        except Exception as err:  # noqa: BLE001 - whatever the SDK raises ends it
            self._send(pack_news(Failure(f"{type(err).__name__}: {shorten(err)}")))

    def _idle(self, robot: Connection) -> None:
        state = robot.read()
        self._publish(state)
        self._listen()
        self._goals.clear()
        mode = self._modes.get(state.robot_mode, Mode.OTHER)
        orders, self._orders = self._orders, set()
        try:
            if Order.RECOVER in orders and mode is Mode.REFLEX:
                robot.recover()
            elif Order.START in orders and mode is Mode.IDLE:
                self._move(robot)
        except Refused as err:
            self._send(pack_news(Note(str(err))))

    def _move(self, robot: Connection) -> None:
        if robot.needs_new_image:
            self._begin_anew()
        torque, force = self._thresholds
        if torque > 0:
            robot.set_thresholds(torque, force)
        self._cause, self._heard_ns, self._end_ns = "", time.monotonic_ns(), 0
        gc.disable()
        try:
            robot.stream(self._step, self._attend)
        except Ended as err:
            self._cause = str(err)
        finally:
            self._stream = None
            gc.enable()

    def _step(self, state: Any, n: int) -> tuple[list[float], bool]:
        self._state, stream = state, self._stream
        if stream is None:
            limits = self._model.limits
            self._stream = stream = Stream(np.array(state.q_d), self._rate, limits)
            return stream.q.tolist(), False
        stream.note_unit(
            n, np.array(state.q_d), np.array(state.dq_d), np.array(state.ddq_d)
        )
        q = stream.step().tolist()
        is_over = time.monotonic_ns() > self._end_ns or stream.is_resting
        return q, bool(self._end_ns) and is_over

    def _attend(self) -> None:
        stream = self._stream
        if stream is None:
            return
        self._publish(self._state)
        self._listen()
        now = time.monotonic_ns()
        if not self._end_ns and self._has_to_end(now):
            self._end_ns = now + _MOST_BRAKING_NS
        if self._end_ns:
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

    def _publish(self, state: Any) -> None:
        stream = self._stream
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
