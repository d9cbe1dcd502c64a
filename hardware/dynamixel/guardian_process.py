"""Process that switches torque off 0.1 s after its driver's silence.

    python -I -S guardian_process.py '{"port": FD, "memory": FD, "silence": 0.1, …}'

Standard input ends with the driver; a byte there is a goodbye.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

STATE = struct.Struct("=Q?")
"""Record of the other process: its count, and whether torque may be on."""

READY_AT = STATE.size
"""Offset of the guardian's own ready flag."""

SIZE = READY_AT + 1
"""Of both, [bytes]."""

_PRIORITY = 45  # chosen: above ordinary processes, below the control loops' 50
_LOOK = 0.02  # [s] chosen: a fifth of the silence
_ANSWER = 0.02  # [s] chosen: twice what an adapter and a busy host take
_PATIENCE = 1.0  # [s] chosen: who has not answered by then has no cable or no power
_CHUNK = 4096  # chosen: more than all servos of a bus answer at once


class Guardian:
    """Watcher of one process and its bus."""

    def __init__(self, order: Mapping[str, Any], life: int) -> None:
        """Take ``life``, a descriptor that ends with the driver."""
        self._port, self._life = int(order["port"]), life
        self._silence = float(order["silence"])
        self._off = bytes.fromhex(order["off"])
        self._asks = {
            int(name): (bytes.fromhex(ask), [bytes.fromhex(one) for one in answers])
            for name, (ask, answers) in order["asks"].items()
        }
        self._memory = mmap.mmap(int(order["memory"]), SIZE)

    def watch(self) -> int:
        """Watch to the end; return 0 if all servos are off."""
        self._memory[READY_AT] = 1
        last, since = -1, time.monotonic()
        while True:
            if select.select([self._life], [], [], _LOOK)[0]:
                if os.read(self._life, 1):
                    return 0
                return self._switch_off(lambda: False)
            beats, is_armed = STATE.unpack(self._memory[: STATE.size])
            now = time.monotonic()
            if beats != last:
                last, since = beats, now
            elif is_armed and now - since >= self._silence:
                self._switch_off(partial(self._is_back, last))
                since = time.monotonic()

    def _is_back(self, beats: int) -> bool:
        has_ended = bool(select.select([self._life], [], [], 0)[0])
        now: int = STATE.unpack(self._memory[: STATE.size])[0]
        return has_ended or now != beats

    def _switch_off(self, is_over: Callable[[], bool]) -> int:
        waiting = dict(self._asks)
        end = time.monotonic() + _PATIENCE
        try:
            while waiting and time.monotonic() < end and not is_over():
                self._send(self._off)
                for servo, (ask, answers) in list(waiting.items()):
                    if is_over() or self._ask(ask, answers):
                        del waiting[servo]
        except OSError as err:
            _complain(f"the port failed with '{err}'")
            return 1
        if waiting and not is_over():
            names = ", ".join(map(str, waiting))
            _complain(f"torque of servos {names} is not seen to be off")
            return 1
        return 0

    def _ask(self, ask: bytes, answers: list[bytes]) -> bool:
        while select.select([self._port], [], [], 0)[0]:
            self._take()
        self._send(ask)
        come, end = b"", time.monotonic() + _ANSWER
        while (left := end - time.monotonic()) > 0.0:
            if select.select([self._port], [], [], left)[0]:
                come += self._take()
            if any(answer in come for answer in answers):
                return True
        return False

    def _take(self) -> bytes:
        data = b""
        with contextlib.suppress(BlockingIOError):  # the other process was quicker
            data = os.read(self._port, _CHUNK)
        if not data and is_hung_up(self._port):
            raise OSError("hung up")
        return data

    def _send(self, data: bytes) -> None:
        while data:
            select.select([], [self._port], [], _ANSWER)
            with contextlib.suppress(BlockingIOError):
                data = data[os.write(self._port, data) :]


def is_hung_up(port: int) -> bool:
    """Return whether a serial device is gone."""
    poll = select.poll()
    poll.register(port, select.POLLIN)
    gone = select.POLLHUP | select.POLLERR | select.POLLNVAL
    return any(events & gone for _, events in poll.poll(0))


def _complain(text: str) -> None:
    sys.stderr.write(f"guardian of the servos: {text}; cut their power\n")


def main(words: list[str]) -> int:
    """Watch; return the exit code."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    return Guardian(json.loads(words[0]), sys.stdin.fileno()).watch()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
