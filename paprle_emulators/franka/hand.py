"""Emulated Franka Hand."""

from __future__ import annotations

from dataclasses import dataclass

from paprle_emulators.franka.protocol import HandCommand, HandStatus, Request

MAX_WIDTH = 0.08  # [m] spec: Franka Hand, product manual
_MAX_SPEED = 0.05  # [m/s] spec: product manual, of each finger
_HOMING_SPEED = 0.02  # [m/s] chosen
_ARRIVED = 1e-4  # [m] chosen


@dataclass(slots=True)
class _Motion:
    request: Request
    target: float
    speed: float
    inner: float = 0.0
    outer: float = 0.0
    grasps: bool = False


class Hand:
    """Two fingers.

    Attributes:
        width: [m].
        obstacle: Width of an object, if any.
        is_homed: Widest opening is known.
    """

    def __init__(self) -> None:
        self.width, self.obstacle = MAX_WIDTH, None  # type: float, float | None
        self.holds, self.is_homed = False, True
        self.answers: list[tuple[Request, HandStatus]] = []
        self._motion: _Motion | None = None

    def take(self, request: Request) -> None:
        """Take a request other than Connect.

        Raises:
            ValueError: If malformed.
        """
        command = request.command
        if command == HandCommand.STOP:
            self._end(HandStatus.ABORTED)
            self.answers.append((request, HandStatus.SUCCESS))
            return
        if command == HandCommand.HOMING:
            motion = _Motion(request, MAX_WIDTH, _HOMING_SPEED)
        elif command == HandCommand.MOVE:
            width, speed = request.read_doubles(2)
            motion = _Motion(request, float(width), float(speed))
        elif command == HandCommand.GRASP:
            width, inner, outer, speed, _force = map(float, request.read_doubles(5))
            motion = _Motion(request, width, speed, inner, outer, grasps=True)
        else:
            raise ValueError(f"hand: expected a command, got {command}")
        self._end(HandStatus.ABORTED)
        is_inside = 0.0 <= motion.target <= MAX_WIDTH and motion.speed > 0
        if not is_inside or not (self.is_homed or command == HandCommand.HOMING):
            self.answers.append((request, HandStatus.FAIL))
            return
        self.holds, self._motion = False, motion

    def step(self, dt: float) -> None:
        """Advance dt [s]."""
        motion = self._motion
        if motion is None:
            return
        most = min(motion.speed, 2 * _MAX_SPEED) * dt
        way = min(max(motion.target - self.width, -most), most)
        width = self.width + way
        is_blocked = self.obstacle is not None and way < 0 and width < self.obstacle
        if is_blocked and self.obstacle is not None:
            width = max(self.obstacle, min(self.width, self.obstacle))
        self.width = width
        if motion.grasps and (is_blocked or abs(width - motion.target) < _ARRIVED):
            low, high = motion.target - motion.inner, motion.target + motion.outer
            self.holds = is_blocked and low <= width <= high
            self._end(
                HandStatus.SUCCESS if low <= width <= high else HandStatus.UNSUCCESSFUL
            )
        elif is_blocked:
            self._end(HandStatus.UNSUCCESSFUL)
        elif abs(width - motion.target) < _ARRIVED:
            self.is_homed = self.is_homed or motion.request.command == 1
            self._end(HandStatus.SUCCESS)

    def forget(self) -> None:
        """Restart, not homed."""
        self._motion, self.holds, self.is_homed = None, False, False
        self.answers.clear()

    def _end(self, status: HandStatus) -> None:
        if self._motion is not None:
            self.answers.append((self._motion.request, status))
        self._motion = None
