"""Robotiq gripper on its thread.

It activates only at opening: activation moves the fingers.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Protocol

from paprle.hardware.robotiq.models import MODELS
from paprle.hardware.robotiq.status import (
    ACTIVATED,
    CLOSING_CONTACT,
    OPENING_CONTACT,
    Status,
)
from paprle.hardware.vendor_arm.states import ArmError

_PERIOD = 0.02  # [s] chosen: of the 5 ms in which the gripper's registers are new
_LOST_TIME = 0.25  # [s] chosen: a few answers in a row
_HUNG_TIME = 1.0  # [s] chosen: a host that stood still answers before it
_GREETING_TIME = 1.0  # [s] chosen: before it moves anything, a busy machine may wait
_ACTIVATION_TIME = 10.0  # [s] chosen: fingers that open and close fully take some 4 s
_RESET_TIME = 0.1  # [s] chosen: several cycles of the gripper
_POLL = 0.05  # [s] chosen
_JOIN = 3.0  # [s] chosen: connecting takes 1 s at most


class Line(Protocol):
    """Line to a gripper, for one thread at a time."""

    name: str

    def reach(self) -> None:
        """Connect or reconnect."""

    def read(self) -> Status:
        """Return the status."""

    def move(self, position: int, speed: int, force: int) -> None:
        """Move the fingers to a position."""

    def set_active(self, *, is_active: bool) -> None:
        """Activate, with motion, or reset."""

    def close(self) -> None:
        """Disconnect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GripperSettings:
    """Settings of a gripper and its joint.

    Attributes:
        model: Of ``MODELS``.
        closed: Joint's, [m] or [rad].
        opened: Likewise.
        speed: Share of range, 0 … 1.
        force: Share of range, 0 … 1.
        activates: Activation is permitted.
    """

    model: str
    closed: float
    opened: float
    speed: float = 1.0
    force: float = 0.2
    activates: bool = False


class Gripper:
    """Gripper as a joint; ``open`` first.

    Attributes:
        q: Measured, [m] or [rad].
        dq: [m/s] or [rad/s].
        tau: Grip on an object, negative if closing, [N].
    """

    def __init__(self, line: Line, settings: GripperSettings) -> None:
        self._line, self._settings = line, settings
        self._model = MODELS[settings.model]
        self._goal: float | None = None
        self._sent: int | None = None
        self._must_end = threading.Event()
        self._thread: threading.Thread | None = None
        self._heard = 0.0
        self.q = settings.opened
        self.dq = self.tau = 0.0
        self._failure = ""

    @property
    def failure(self) -> str:
        """Reason for disobedience, or ""."""
        silence = time.monotonic() - self._heard
        is_hung = self._thread is not None and silence > _HUNG_TIME
        hung = f"gripper: {self._line.name}: its line hangs; look at the adapter"
        return self._failure or (hung if is_hung else "")

    def open(self) -> None:
        """Reach it and start its thread; fingers move if permitted.

        Raises:
            ArmError: Silent, faulty, or inactive.
        """
        status = self._greet()
        if status.state != ACTIVATED and self._settings.activates:
            status = self._activate(status)
        if status.trouble:
            raise ArmError(f"{self._line.name}: {status.trouble}")
        self._heard = time.monotonic()
        self._note(status, 0.0)
        self.dq = 0.0
        name = self._line.name
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def examine(self) -> tuple[bool, str]:
        """Examine a closed gripper without motion.

        Returns:
            Whether it is well, with a sentence.
        """
        try:
            status = self._greet()
        except ArmError as err:
            return False, str(err)
        finally:
            self._line.close()
        words = status.trouble or f"position {status.position} of 255"
        if status.current is not None:
            words += f", motor at {status.current:.2f} [A]"
        return not status.trouble, f"{self._line.name}: {words}"

    def write(self, q: float) -> None:
        """Set the joint's position, [m] or [rad]; never waits."""
        self._goal = q

    def close(self) -> None:
        """End the thread; fingers hold; repeatable."""
        self._must_end.set()
        if self._thread is not None:
            self._thread.join(_JOIN)
            self._thread = None
        self._line.close()

    def _greet(self) -> Status:
        self._line.reach()
        end = time.monotonic() + _GREETING_TIME
        while True:
            try:
                return self._line.read()
            except ArmError:
                if time.monotonic() > end:
                    raise
                self._line.reach()  # pymodbus closes it after a few silences

    def _activate(self, status: Status) -> Status:
        line = self._line
        line.set_active(is_active=False)
        time.sleep(_RESET_TIME)
        line.set_active(is_active=True)
        self._heard = time.monotonic()
        end = self._heard + _ACTIVATION_TIME
        while time.monotonic() < end:
            time.sleep(_POLL)
            status = self._read_patiently(status)
            if status.state == ACTIVATED:
                return status
        raise ArmError(
            f"{line.name}: expected it activated in {_ACTIVATION_TIME:.0f} [s], got "
            f"state {status.state}, fault 0x{status.fault:02X}; clear its fingers' way"
        )

    def _read_patiently(self, last: Status) -> Status:
        try:
            last, self._heard = self._line.read(), time.monotonic()
        except ArmError:
            if time.monotonic() - self._heard > _GREETING_TIME:
                raise
            self._line.reach()  # likewise
        return last

    def _run(self) -> None:
        is_connected = True
        while not self._must_end.wait(_PERIOD):
            try:
                if not is_connected:
                    self._line.reach()
                    is_connected = True
                self._serve()
            except ArmError as err:
                is_connected = False
                self._sent = None
                if time.monotonic() - self._heard > _LOST_TIME:
                    self._failure = f"gripper: {err}"

    def _serve(self) -> None:
        goal, self._goal = self._goal, None
        if goal is not None and not self._failure:
            self._move(goal)
        status, now = self._line.read(), time.monotonic()
        self._note(status, now - self._heard)
        self._heard = now
        self._failure = f"gripper: {status.trouble}" if status.trouble else ""
        if self._failure:
            self._sent = None

    def _move(self, q: float) -> None:
        settings = self._settings
        share = (q - settings.closed) / (settings.opened - settings.closed)
        counts = self._model.to_counts(share * self._model.stroke)
        if counts == self._sent:
            return
        speed, force = round(255 * settings.speed), round(255 * settings.force)
        self._line.move(counts, speed, force)
        self._sent = counts

    def _note(self, status: Status, dt: float) -> None:
        settings, model = self._settings, self._model
        share = model.to_opening(status.position) / model.stroke
        q = settings.closed + share * (settings.opened - settings.closed)
        self.dq = (q - self.q) / dt if dt > 0.0 else 0.0
        self.q = q
        grip = model.to_force(settings.force)
        signs = {OPENING_CONTACT: grip, CLOSING_CONTACT: -grip}
        self.tau = signs.get(status.contact, 0.0)
