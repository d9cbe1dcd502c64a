"""Bus of servos that follow positions, for one thread.

Count 2048 after the homing offset is 0, counterclockwise positive in any drive mode.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from dynamixel_sdk import GroupSyncWrite

from paprle.hardware.dynamixel.errors import BusError, BusTimeout, ServoError
from paprle.hardware.dynamixel.line.group_read import GroupReads
from paprle.hardware.dynamixel.line.search import find_all_elsewhere
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.models import find_model
from paprle.hardware.dynamixel.position.inspection import PositionSpec
from paprle.hardware.dynamixel.position.servo import WATCHDOG, PositionServo
from paprle.hardware.dynamixel.twins import find_shadows, list_near
from paprle.hardware.goal_order import read_boottime
from paprle.hardware.serial_bus.goal_bus import GoalBus, Vec
from paprle.hardware.serial_bus.register import Register

_PAUSE = 0.5 * WATCHDOG  # chosen: after a longer one watchdogs are looked at
_SAME_PLACE = 0.05  # [rad] chosen: a goal that far from the one it holds is no jump
_AWAY = 1.0  # [s] chosen: a gate that goes on from the state has done so by then
_SILENT = (np.nan, np.nan, np.nan)


@dataclass(frozen=True, slots=True)
class Reading:
    """All servos at one instant, shape (n,), NaN for silent ones.

    Attributes:
        stamp_ns: Request time, [ns].
        angle: [rad].
        velocity: [rad/s].
        torque: By current, [N·m]; 0 if unmeasured.
    """

    stamp_ns: int
    angle: Vec
    velocity: Vec
    torque: Vec


class Bus(GoalBus[Wire, PositionServo, Reading]):
    """A bus and its servos.

    Attributes:
        n_stops: Host silences that tripped watchdogs.
    """

    def __init__(
        self, wire: Wire, specs: Sequence[PositionSpec], clock: Callable[[], int]
    ) -> None:
        """Begin closed.

        Raises:
            BusError: Unknown model.
        """
        servos = [PositionServo(spec, find_model(spec.model)) for spec in specs]
        super().__init__(wire, servos, clock)
        self.n_stops = 0
        self._reads = GroupReads(wire)
        self._assigned: tuple[int, ...] = ()
        self._heard = 0.0  # when the last request began that was answered
        self._angle: Vec = np.full(len(servos), np.nan)
        self._rest: Vec = self._angle
        self._has_rest = False
        self._muted: float | None = None  # since when, on the clock of silences

    def _find_strangers(self) -> list[str]:
        specs = [servo.spec for servo in self.servos]
        return find_shadows(self.wire, specs, list_near(specs))

    def _find_elsewhere(self, ids: Sequence[int]) -> list[str]:
        return find_all_elsewhere(self.wire, ids, "env.baud")

    def open(self, *, needs_all: bool = True) -> None:
        """Open the port and check the servos; torque stays.

        Args:
            needs_all: Else one suffices.

        Raises:
            BusError: All problems.
        """
        super().open(needs_all=needs_all)
        self._assign()
        self._reads.choose()

    def _assign(self) -> None:
        alive = [servo for servo in self.servos if servo.is_alive]
        self._assigned = tuple(servo.spec.id for servo in alive)
        self._reads.assign({servo.spec.id: servo.span for servo in alive})

    def hold(self) -> None:
        """Switch torque on in place, verified, then arm watchdogs.

        Raises:
            BusError: All problems; new torque is off again.
        """
        begun = [servo for servo in self.servos if not servo.is_on]
        super().hold()
        with self.wire.patiently():
            problems = self._arm(range(len(self.servos)))
            if problems:
                told = [servo.switch_off(self.wire) for servo in begun]
                listed = [*problems.values(), *(text for text in told if text)]
                raise BusError(listed)
        self._muted = None

    def _arm(self, places: Iterable[int]) -> dict[int, str]:
        self._heard = _find_time()  # they count from here
        values = {i: self.servos[i].watchdog for i in places}
        self._write_all("Bus Watchdog", values)
        problems = {}
        for i in values:
            try:
                self.servos[i].check_armed(self.wire)
            except (BusTimeout, ServoError) as err:
                problems[i] = str(err)
        return problems

    @property
    def _was_silent(self) -> bool:
        return bool(self.is_held.any()) and _find_time() - self._heard > _PAUSE

    def read(self) -> Reading | None:
        """Return all servos' state; None if none answers.

        Raises:
            BusTimeout: A long silence of all.
            BusError: Lost port.
        """
        if self._was_silent:
            self._go_on()
        begin = _find_time()
        reading = super().read()
        if reading is not None:
            self._heard = begin
        return reading

    def check_next(self) -> None:
        """Check the next servo, unless watchdogs come first.

        Raises:
            BusError: Lost port.
        """
        if not self._was_silent:
            super().check_next()

    def _go_on(self) -> None:
        held = [i for i, one in enumerate(self.servos) if one.is_held and one.is_alive]
        if not any(self.servos[i].has_tripped(self.wire) for i in held):
            return
        self.n_stops += 1
        self._rest = self._angle.copy()
        problems: dict[int, str] = {}
        with self.wire.patiently():
            for i in held:
                try:
                    self._rest[i] = self.servos[i].stay(self.wire)
                except (BusTimeout, ServoError) as err:
                    problems[i] = str(err)
            problems |= self._arm([i for i in held if i not in problems])
        for i, text in problems.items():
            self.servos[i].lose(f"{text}, and switch torque on again")
        self._muted, self._has_rest = _find_time(), True

    def take_rest(self) -> Vec | None:
        """Return new goals chosen by the servos, or None.

        Shape (n,), [rad].
        """
        if not self._has_rest or not np.isfinite(self._rest).all():
            return None
        self._has_rest = False
        return self._rest

    def _read_rows(self, alive: Sequence[PositionServo]) -> dict[int, bytes]:
        if tuple(servo.spec.id for servo in alive) != self._assigned:
            self._assign()
        return self._reads.read()

    def _decode(self, stamp_ns: int, rows: dict[int, bytes]) -> Reading:
        decoded = [
            servo.measure(rows[servo.spec.id]) if servo.spec.id in rows else _SILENT
            for servo in self.servos
        ]
        values = np.array(decoded, dtype=np.float64).T
        values.setflags(write=False)
        self._angle = values[0]
        return Reading(stamp_ns, values[0], values[1], values[2])

    def write_goals(self, angles: Vec) -> bool:
        """Send goals, shape (n,), [rad], to the servos that follow them.

        After a watchdog's stop only goals near the held ones are sent.

        Returns:
            Whether they were sent; else queued ones are void, too.

        Raises:
            BusError: Lost port.
        """
        held = [i for i, one in enumerate(self.servos) if one.is_held and one.is_alive]
        if self._was_silent:
            return False
        if self._muted is not None and not self._is_near(angles, held):
            return False
        self._muted = None
        goals = {i: self.servos[i].find_goal(float(angles[i])) for i in held}
        self._write_all("Goal Position", goals)
        return True

    def _is_near(self, angles: Vec, held: list[int]) -> bool:
        if np.all(np.abs(angles[held] - self._rest[held]) <= _SAME_PLACE):
            return True
        if self._muted is not None and _find_time() - self._muted > _AWAY:
            for i in held:
                self.servos[i].lose(
                    f"servo {self.servos[i].spec.id} on '{self.wire.path}': stopped by "
                    "its watchdog while this computer paused, and sent elsewhere since;"
                    " look at the computer's load, and switch torque on again"
                )
        return False

    def _write_all(self, name: str, values: dict[int, int]) -> None:
        groups: dict[Register, GroupSyncWrite] = {}
        for i, value in values.items():
            at = self.servos[i].register(name)
            if at not in groups:
                groups[at] = GroupSyncWrite(
                    self.wire.port, self.wire.packets, at.address, at.size
                )
            data = value.to_bytes(at.size, "little", signed=value < 0)
            groups[at].addParam(self.servos[i].spec.id, data)
        for group in groups.values():
            self.wire.run(group, "txPacket")

    def _switch_all_off(self) -> None:
        self._write_all("Torque Enable", dict.fromkeys(range(len(self.servos)), 0))

    def close(self) -> None:
        """Close the port and end watchdogs; torque and goals stay."""
        if self.is_held.any():
            try:
                held = [i for i, servo in enumerate(self.servos) if servo.is_held]
                self._write_all("Bus Watchdog", dict.fromkeys(held, 0))
            except BusError:
                pass  # it is gone: their watchdogs stop them, which holds them, too
        super().close()


def _find_time() -> float:
    return 1e-9 * read_boottime()
