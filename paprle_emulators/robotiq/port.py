"""A gripper on a pseudo-terminal, in real time; frames end by silence."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
import tty

from paprle_emulators.robotiq.gripper import EmulatedGripper
from paprle_emulators.robotiq.rtu import RtuGripper

_STEP = 0.005  # [s] spec: the gripper's registers are new every 5 ms
_GAP = 0.002  # [s] spec: 1.75 ms of silence end a frame
_MOST_LATE = 0.1  # [s] chosen: after a longer pause of the machine, time is dropped
_DELAY = 0.002  # [s] chosen: from the end of a question to its answer
_CHUNK = 512  # [bytes] chosen: two of the longest frames


class GripperPort:
    """The terminal at ``path``."""

    def __init__(self, path: str, gripper: EmulatedGripper, unit: int) -> None:
        """Plug it in; ``run`` serves.

        Raises:
            OSError: If the name is taken.
        """
        self.path, self._gripper = path, gripper
        self._rtu = RtuGripper(gripper, unit)
        self._lock = threading.RLock()  # orders come from another thread
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._master = self._slave = -1
        self._silent_until = 0.0
        self._n_damaged = 0
        self.plug()

    def plug(self) -> None:
        """Plug it in again."""
        with self._lock:
            self.unplug()
            self._master, self._slave = os.openpty()
            tty.setraw(self._slave)
            os.set_blocking(self._master, False)
            os.symlink(os.ttyname(self._slave), self.path)  # noqa: PTH211 - as below

    def unplug(self) -> None:
        """Disappear; clients read an error."""
        with self._lock:
            master, slave = self._master, self._slave
            self._master = self._slave = -1
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)  # noqa: PTH108 - a link, not what it names
            for end in (slave, master):
                if end >= 0:
                    os.close(end)

    def fall_silent(self, time: float = 1.0) -> None:
        """Answer nothing for a time, [s]."""
        self._silent_until = _now() + float(time)

    def damage(self, count: int = 1) -> None:
        """Flip a bit in the next answers."""
        self._n_damaged = int(count)

    def run(self) -> None:
        """Serve in a thread until ``close``."""
        self._thread = threading.Thread(target=self._keep_on, name="emulated gripper")
        self._thread.start()

    def close(self) -> None:
        """Stop and disappear."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()
        self.unplug()

    def _keep_on(self) -> None:
        then = _now()
        while not self._end.is_set():
            with self._lock:
                frame = self._take()
            now = _now()
            with self._lock:
                self._gripper.step(min(now - then, _MOST_LATE))
                then = now
                if frame and now > self._silent_until:
                    self._put(self._rtu.answer(frame))

    def _take(self) -> bytes:
        frame, wait = b"", _STEP
        while self._master >= 0:
            if not select.select([self._master], [], [], wait)[0]:
                return frame
            try:
                frame += os.read(self._master, _CHUNK)
            except OSError:
                return b""
            wait = _GAP
        time.sleep(_STEP)
        return b""

    def _put(self, answer: bytes) -> None:
        if not answer:
            return
        time.sleep(_DELAY)
        if self._n_damaged > 0:
            self._n_damaged -= 1
            answer = answer[:3] + bytes((answer[3] ^ 0x10,)) + answer[4:]
        with contextlib.suppress(OSError):
            os.write(self._master, answer)


def _now() -> float:
    return time.monotonic()
