"""Gripper at the flange, with its thread and connection.

RS485 takes milliseconds a word; port 503 spares the arm's targets.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from paprle.hardware.vendor_arm.states import ArmError

_PERIOD = 0.05  # [s] chosen: two words of RS485, and time for others
_STROKES = {"xarm": 0.085, "bio": 0.079}  # [m] spec: 0 … 850 pulses; 71 … 150 mm
_FASTEST = {"xarm": 5000, "bio": 4000}  # spec: user manual
_BIO_CLOSED = 71  # [mm] spec: user manual
_STEP = 1e-4  # [m] spec: a pulse; less is not sent again
_MANY = 5  # chosen: failures in a row, a quarter of a second


class Gripper:
    """Opening in and out, [m].

    Attributes:
        opening: Measured, [m].
        speed: [m/s].
        failure: Reason for disobedience, or "".
    """

    def __init__(self, api: Any, kind: str) -> None:
        """Take an open ``XArmAPI``, closed in the end, and ``kind``, xarm or bio."""
        self._api, self._kind = api, kind
        self._goal: float | None = None
        self._must_end = threading.Event()
        self._thread: threading.Thread | None = None
        self._n_failed = 0
        self.opening = self.speed = 0.0
        self.failure = ""

    def open(self) -> None:
        """Power on without motion, and start the thread.

        Raises:
            ArmError: Silent or erroneous.
        """
        api = self._api
        api.set_rs485_use_503_port(True)  # old firmware has no such port
        if self._kind == "xarm":
            codes = [api.set_gripper_enable(True), api.set_gripper_mode(0)]
            codes.append(api.set_gripper_speed(_FASTEST["xarm"]))
        else:
            codes = [api.set_bio_gripper_enable(True)]
            codes.append(api.set_bio_gripper_speed(_FASTEST["bio"]))
        opening = self._measure()
        if any(codes) or opening is None:
            raise ArmError(
                f"gripper '{self._kind}': expected it to answer, got codes "
                f"{', '.join(map(str, codes))}; look at its cable, or set env.gripper"
            )
        self.opening = opening
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def write(self, opening: float) -> None:
        """Set an opening, [m]; never waits."""
        self._goal = min(max(opening, 0.0), _STROKES[self._kind])

    def close(self) -> None:
        """End the thread; repeatable."""
        self._must_end.set()
        if self._thread is not None:
            self._thread.join(2.0)
            self._thread = None
        self._api.disconnect()

    def _run(self) -> None:
        at, sent = time.monotonic(), -1.0
        while not self._must_end.wait(_PERIOD):
            goal, self._goal = self._goal, None
            if goal is not None and abs(goal - sent) >= _STEP:
                self._command(goal)
                sent = goal
            opening, now = self._measure(), time.monotonic()
            self._n_failed = 0 if opening is not None else self._n_failed + 1
            if opening is not None:
                self.speed = (opening - self.opening) / (now - at)
                self.opening, at = opening, now
            is_lost = self._n_failed >= _MANY
            self.failure = "gripper: it does not answer or has an error" * is_lost

    def _command(self, opening: float) -> None:
        if self._kind == "xarm":
            pulses = round(1e4 * opening)
            self._api.set_gripper_position(pulses, wait=False, no_check=True)
        else:
            self._api.set_bio_gripper_position(
                _BIO_CLOSED + round(1e3 * opening),
                speed=_FASTEST["bio"],
                wait=False,
                is_g2=False,
                no_check=True,
            )

    def _measure(self) -> float | None:
        if self._kind == "xarm":
            found = self._api.get_gripper_position(check_baud=False)
        else:
            found = self._api.get_bio_gripper_g2_position(check_baud=False)
        if not isinstance(found, tuple) or found[0] != 0 or found[1] is None:
            return None
        if self._kind == "xarm":
            return 1e-4 * float(found[1])
        return 1e-3 * (float(found[1]) - _BIO_CLOSED)
