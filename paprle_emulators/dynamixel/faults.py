"""Faults of a running rig, and their ends.

A fault is a mapping ``{"fault": <kind>, …}``. Line faults take ``bus`` (a limb on it;
default: all), servo faults ``limb`` and ``joint`` or ``id`` (default: all).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from paprle_emulators.dynamixel.bus import BAUDS, DELAY_UNIT
from paprle_emulators.dynamixel.line_faults import LATE
from paprle_emulators.dynamixel.rig import Rig
from paprle_emulators.dynamixel.servo import (
    AMBIENT,
    OVERLOADED,
    Servo,
)

OUTAGE = 0.2  # chosen: a brown-out long enough for a servo to start again [s]
HOT = 10.0  # chosen: above the limit [°C]


@dataclass(frozen=True, slots=True)
class Undo:
    """End of a fault."""

    kind: str
    action: Callable[[], None]


class RigFaults:
    """Faults of a rig by name."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._undo: list[Undo] = []
        self.kinds: Mapping[str, Callable[[dict[str, Any]], None]] = {
            "lost": self._chance,
            "corrupted": self._chance,
            "duplicated": self._chance,
            "late": self._chance,
            "latency": self._latency,
            "wire": self._wire,
            "silent": self._silent,
            "stuck": self._stuck,
            "overheat": self._overheat,
            "overload": self._overload,
            "hardware_error": self._hardware_error,
            "voltage": self._voltage,
            "brownout": self._brownout,
            "duplicate_id": self._duplicate_id,
            "wrong_model": self._wrong_model,
            "return_delay": self._return_delay,
            "status_level": self._status_level,
            "baud": self._baud,
            "mounting": self._mounting,
            "strength": self._strength,
        }

    def cause(self, command: Mapping[str, Any]) -> None:
        """Begin a fault ``{"fault": kind, …}``.

        Raises:
            ValueError: If kind or argument is unknown.
        """
        rest = dict(command)
        kind = rest.pop("fault")
        if kind not in self.kinds:
            msg = f"fault: expected one of {', '.join(self.kinds)}, got '{kind}'"
            raise ValueError(msg)
        rest["kind"] = kind
        try:
            self.kinds[kind](rest)
        except KeyError as error:
            msg = f"fault '{kind}': expected {error}, got {dict(command)}"
            raise ValueError(msg) from error
        del rest["kind"]
        if rest:
            msg = f"fault '{kind}': expected no '{', '.join(rest)}'; see the README"
            raise ValueError(msg)

    def clear(self, kind: str | None = None) -> None:
        """End all faults, or those of a kind, in reverse order.

        Raises:
            ValueError: If the kind is unknown.
        """
        if kind is not None and kind not in self.kinds:
            msg = f"clear: expected one of {', '.join(self.kinds)}, got '{kind}'"
            raise ValueError(msg)
        for undo in reversed(self._undo):
            if kind in (None, undo.kind):
                undo.action()
        self._undo = [one for one in self._undo if kind not in (None, one.kind)]

    # -- whom it meets -------------------------------------------------------------

    def find_lines(self, rest: dict[str, Any]) -> list[str]:
        """Return the ports of ``bus``, removed from a command.

        Raises:
            ValueError: If the limb is unknown.
        """
        bus = rest.pop("bus", None)
        if bus is None:
            return list(self._rig.buses)
        return [self._find_limb(bus).spec.port]

    def _find_limb(self, name: str) -> Any:
        limbs = self._rig.limbs
        if name not in limbs:
            msg = f"fault: expected a limb of {', '.join(limbs)}, got '{name}'"
            raise ValueError(msg)
        return limbs[name]

    def find_servos(self, rest: dict[str, Any]) -> list[Servo]:
        """Return the servos of ``limb``, ``joint`` and ``id``, removed from a command.

        Raises:
            ValueError: If there are none.
        """
        name = rest.pop("limb", None)
        joint, number = rest.pop("joint", None), rest.pop("id", None)
        limbs = self._rig.limbs.values() if name is None else [self._find_limb(name)]
        found = [
            servo
            for limb in limbs
            for spec, servo in zip(limb.spec.servos, limb.servos, strict=True)
            if joint in (None, spec.joint) and number in (None, spec.number)
        ]
        if not found:
            msg = f"fault: expected a joint or id of the rig, got '{joint or number}'"
            raise ValueError(msg)
        return found

    def _each(self, rest: dict[str, Any]) -> Iterator[Servo]:
        yield from self.find_servos(rest)

    def _remember(self, kind: str, action: Callable[[], None]) -> None:
        self._undo.append(Undo(kind, action))

    # -- lines ---------------------------------------------------------------------

    def _chance(self, rest: dict[str, Any]) -> None:
        kind, p = rest["kind"], float(rest.pop("p"))
        lateness = float(rest.pop("seconds", LATE)) if kind == "late" else None
        for port in self.find_lines(rest):
            line = self._rig.line_faults[port]
            setattr(line, kind, p)
            line.lateness = line.lateness if lateness is None else lateness
            self._remember(kind, lambda line=line: setattr(line, kind, 0.0))  # type: ignore[misc]

    def _latency(self, rest: dict[str, Any]) -> None:
        seconds = float(rest.pop("seconds"))
        self._set_line("latency", seconds, rest)

    def _wire(self, rest: dict[str, Any]) -> None:
        # spec: 8 data bits, a start and a stop bit
        self._set_line(
            "byte_time", 10 / float(rest.pop("baud", self._rig.spec.baud)), rest
        )

    def _set_line(self, name: str, value: float, rest: dict[str, Any]) -> None:
        for port in self.find_lines(rest):
            line = self._rig.line_faults[port]
            setattr(line, name, value)
            self._remember(rest["kind"], lambda line=line: setattr(line, name, 0.0))  # type: ignore[misc]

    # -- servos --------------------------------------------------------------------

    def _silent(self, rest: dict[str, Any]) -> None:
        for servo in self._each(rest):
            servo.is_silent = True
            self._remember("silent", lambda s=servo: setattr(s, "is_silent", False))  # type: ignore[misc]

    def _stuck(self, rest: dict[str, Any]) -> None:
        value = rest.pop("value", None)
        for servo in self._each(rest):
            servo.stuck = servo.position if value is None else int(value)
            self._remember("stuck", lambda s=servo: setattr(s, "stuck", None))  # type: ignore[misc]

    def _overheat(self, rest: dict[str, Any]) -> None:
        value = rest.pop("temperature", None)
        for servo in self._each(rest):
            limit = servo.table.get("Temperature Limit") + HOT
            servo.temperature = limit if value is None else float(value)
            servo.check_limits()
            self._remember(
                "overheat",
                lambda s=servo: setattr(s, "temperature", AMBIENT),  # type: ignore[misc]
            )

    def _overload(self, rest: dict[str, Any]) -> None:
        for servo in self._each(rest):
            servo.fail(OVERLOADED)

    def _hardware_error(self, rest: dict[str, Any]) -> None:
        bits = int(rest.pop("bits"))
        for servo in self._each(rest):
            servo.fail(bits)

    def _voltage(self, rest: dict[str, Any]) -> None:
        value = float(rest.pop("volts"))
        for servo in self._each(rest):
            servo.voltage = value
            servo.check_limits()
            self._remember("voltage", servo.restore_supply)

    def _strength(self, rest: dict[str, Any]) -> None:
        gain = float(rest.pop("gain"))
        if not gain > 0.0:
            raise ValueError(f"fault 'strength': expected a gain above 0, got {gain}")
        for servo in self._each(rest):
            before, servo.strength = servo.strength, gain
            self._remember("strength", partial(setattr, servo, "strength", before))

    def _brownout(self, rest: dict[str, Any]) -> None:
        seconds = float(rest.pop("seconds", OUTAGE))
        for servo in self._each(rest):
            servo.voltage = 0.0
            servo.reboot()
            self._rig.plan(seconds, servo.restore_supply)

    def _duplicate_id(self, rest: dict[str, Any]) -> None:
        number = int(rest.pop("of"))
        self._set_register("ID", number, rest)

    def _wrong_model(self, rest: dict[str, Any]) -> None:
        self._set_register("Model Number", int(rest.pop("number")), rest)

    def _return_delay(self, rest: dict[str, Any]) -> None:
        value = round(float(rest.pop("seconds")) / DELAY_UNIT)
        self._set_register("Return Delay Time", value, rest)

    def _status_level(self, rest: dict[str, Any]) -> None:
        self._set_register("Status Return Level", int(rest.pop("level")), rest)

    def _baud(self, rest: dict[str, Any]) -> None:
        rate = int(rest.pop("rate"))
        if rate not in BAUDS:
            msg = f"fault 'baud': expected one of {BAUDS}, got {rate}"
            raise ValueError(msg)
        self._set_register("Baud Rate", BAUDS.index(rate), rest)

    def _mounting(self, rest: dict[str, Any]) -> None:
        sign, offset = int(rest.pop("sign")), float(rest.pop("offset"))
        if sign not in (-1, 1):
            raise ValueError(f"fault 'mounting': expected sign 1 or -1, got {sign}")
        servos = set(map(id, self._each(rest)))
        for limb in self._rig.limbs.values():
            for index, servo in enumerate(limb.servos):
                if id(servo) in servos:
                    before = limb.mount(index, sign, offset)
                    self._remember(
                        "mounting",
                        lambda a=limb, i=index, b=before: a.mount(i, *b),  # type: ignore[misc]
                    )

    def _set_register(self, name: str, value: int, rest: dict[str, Any]) -> None:
        register = f"{name}"
        for servo in self._each(rest):
            before = servo.table.get(register)
            servo.table.put(register, value)
            self._remember(
                rest["kind"],
                lambda s=servo, b=before: s.table.put(register, b),  # type: ignore[misc]
            )
