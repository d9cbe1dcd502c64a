"""Hand at the flange, in its own process.

The SDK's calls last as long as a motion; only the newest goal waits.
"""

from __future__ import annotations

import struct
import time

from paprle.hardware.franka.messages import LONGEST
from paprle.hardware.franka.process import DeviceProcess
from paprle.hardware.vendor_arm.states import ArmError

MAX_WIDTH = 0.08  # [m] spec: Franka Hand, product manual
STATE = struct.Struct("<q?d")  # chosen: stamp [ns], it has failed, width [m]
GOAL = struct.Struct("<d")  # chosen: width [m]
_FIRST_TIME = 15.0  # [s] chosen: Python, the SDK, and its 1 s for a connection
_POLL = 0.01  # [s] chosen
_STEP = 5e-4  # [m] chosen: less is not sent again
_WORKER = "paprle.hardware.franka.hand_worker"


class Hand:
    """Width in and out, [m].

    Attributes:
        width: Measured, [m].
        speed: [m/s].
        failure: Reason for disobedience, or "".
    """

    def __init__(self, model: str, host: str, force: float) -> None:
        """Describe a hand of an arm's model; ``force`` of grasps, [N]."""
        self._host, self._words = host, (model, host, str(force))
        self._process: DeviceProcess | None = None
        self._stamp_ns = 0
        self._sent = -1.0
        self.width = self.speed = 0.0
        self.failure = ""

    def open(self) -> None:
        """Connect without motion.

        Raises:
            ArmError: No answer.
        """
        self._process = DeviceProcess(_WORKER, self._words)
        end = time.monotonic() + _FIRST_TIME
        while not self._stamp_ns and not self.failure and time.monotonic() < end:
            self.read()
            time.sleep(_POLL)
        if not self._stamp_ns:
            raise ArmError(
                f"hand of '{self._host}': expected it to answer, got "
                f"{self.failure or 'no state'}; look at its cable, or set "
                "env.hand=false"
            )

    def read(self) -> None:
        """Take arrived messages."""
        process = self._process
        if process is None:
            return
        for data in process.receive():
            if len(data) != STATE.size:
                self.failure = f"hand: {data[:LONGEST].decode(errors='replace')}"
                continue
            stamp, has_failed, width = STATE.unpack(data)
            if self._stamp_ns:
                dt = max(1e-9 * (stamp - self._stamp_ns), 1e-3)
                self.speed = (width - self.width) / dt
            self._stamp_ns, self.width = stamp, width
            self.failure = "hand: it does not take its command" * has_failed
        if not process.is_alive and not self.failure:
            self.failure = "hand: its process has ended"

    def write(self, width: float) -> None:
        """Set a width, [m]; never waits."""
        width = min(max(width, 0.0), MAX_WIDTH)
        if self._process is not None and abs(width - self._sent) >= _STEP:
            self._process.send(GOAL.pack(width))
            self._sent = width

    def close(self) -> None:
        """End its process; repeatable."""
        if self._process is not None:
            self._process.close()
            self._process = None
