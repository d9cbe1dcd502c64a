"""Faults of a running rig, as mappings ``{"fault": <kind>, …}``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from paprle_emulators.servo_rig.line_faults import LATE
from paprle_emulators.servo_rig.rig import ServoRig


@dataclass(frozen=True, slots=True)
class Undo:
    """End of a fault."""

    kind: str
    action: Callable[[], object]


class Faults:
    """Faults of lines and any servo."""

    def __init__(self, rig: ServoRig[Any], baud: int) -> None:
        """Set the lines' default rate, [Bd]."""
        self._rig = rig
        self._line_rate = baud
        self._undo: list[Undo] = []
        self.kinds: dict[str, Callable[[dict[str, Any]], None]] = {
            "lost": self._chance,
            "corrupted": self._chance,
            "duplicated": self._chance,
            "late": self._chance,
            "echo": self._chance,
            "noise": self._chance,
            "latency": self._latency,
            "wire": self._wire,
            "silent": self._silent,
            "stuck": self._stuck,
            "strength": self._strength,
        }

    def cause(self, command: Mapping[str, Any]) -> None:
        """Begin a fault ``{"fault": kind, …}``.

        Raises:
            ValueError: If invalid.
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
        """End faults of a kind, or all, in reverse order.

        Raises:
            ValueError: If unknown.
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
        """Return the ports of ``bus``, taken from a command.

        Raises:
            ValueError: If the limb is unknown.
        """
        bus = rest.pop("bus", None)
        if bus is None:
            return list(self._rig.line_faults)
        self.find_limb(bus)
        return [self._rig.find_port(bus)]

    def find_limb(self, name: str) -> Any:
        """Return a limb.

        Raises:
            ValueError: If unknown.
        """
        limbs = self._rig.limbs
        if name not in limbs:
            msg = f"fault: expected a limb of {', '.join(limbs)}, got '{name}'"
            raise ValueError(msg)
        return limbs[name]

    def find_servos(self, rest: dict[str, Any]) -> list[Any]:
        """Return the servos of ``limb``, ``joint`` and ``id``, taken from a command.

        Raises:
            ValueError: If none.
        """
        name = rest.pop("limb", None)
        joint, number = rest.pop("joint", None), rest.pop("id", None)
        if name is not None:
            self.find_limb(name)
        found = [
            servo
            for n, limb in self._rig.limbs.items()
            for spec, servo in zip(limb.spec.servos, limb.servos, strict=True)
            if name in (None, n)
            and joint in (None, spec.joint)
            and number in (None, spec.number)
        ]
        if not found:
            msg = f"fault: expected a joint or id of the rig, got '{joint or number}'"
            raise ValueError(msg)
        return found

    def remember(self, kind: str, action: Callable[[], object]) -> None:
        """Keep the end of a fault."""
        self._undo.append(Undo(kind, action))

    # -- lines ---------------------------------------------------------------------

    def _chance(self, rest: dict[str, Any]) -> None:
        kind, p = rest["kind"], float(rest.pop("p"))
        lateness = float(rest.pop("seconds", LATE)) if kind == "late" else None
        for port in self.find_lines(rest):
            line = self._rig.line_faults[port]
            setattr(line, kind, p)
            line.lateness = line.lateness if lateness is None else lateness
            self.remember(kind, lambda line=line: setattr(line, kind, 0.0))  # type: ignore[misc]

    def _latency(self, rest: dict[str, Any]) -> None:
        seconds = float(rest.pop("seconds"))
        self._set_line("latency", seconds, rest)

    def _wire(self, rest: dict[str, Any]) -> None:
        # spec: 8 data bits, a start and a stop bit
        self._set_line("byte_time", 10 / float(rest.pop("baud", self._line_rate)), rest)

    def _set_line(self, name: str, value: float, rest: dict[str, Any]) -> None:
        for port in self.find_lines(rest):
            line = self._rig.line_faults[port]
            setattr(line, name, value)
            self.remember(rest["kind"], lambda line=line: setattr(line, name, 0.0))  # type: ignore[misc]

    # -- servos --------------------------------------------------------------------

    def _silent(self, rest: dict[str, Any]) -> None:
        for servo in self.find_servos(rest):
            servo.is_silent = True
            self.remember("silent", partial(setattr, servo, "is_silent", False))

    def _stuck(self, rest: dict[str, Any]) -> None:
        value = rest.pop("value", None)
        for servo in self.find_servos(rest):
            servo.stuck = servo.position if value is None else int(value)
            self.remember("stuck", partial(setattr, servo, "stuck", None))

    def _strength(self, rest: dict[str, Any]) -> None:
        gain = float(rest.pop("gain"))
        if not gain > 0.0:
            raise ValueError(f"fault 'strength': expected a gain above 0, got {gain}")
        for servo in self.find_servos(rest):
            before, servo.strength = servo.strength, gain
            self.remember("strength", partial(setattr, servo, "strength", before))
