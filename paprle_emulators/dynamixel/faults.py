"""Faults of a Dynamixel rig."""

from __future__ import annotations

from typing import Any

from paprle_emulators.dynamixel.bus import BAUDS, DELAY_UNIT
from paprle_emulators.dynamixel.rig import Rig
from paprle_emulators.dynamixel.servo import (
    AMBIENT,
    OVERLOADED,
)
from paprle_emulators.servo_rig.faults import Faults

OUTAGE = 0.2  # chosen: a brown-out long enough for a servo to start again [s]
HOT = 10.0  # chosen: above the limit [°C]


class RigFaults(Faults):
    """Faults of a rig by name."""

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig, rig.spec.baud)
        self._servo_rig = rig
        self.kinds |= {
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
        }

    def _overheat(self, rest: dict[str, Any]) -> None:
        value = rest.pop("temperature", None)
        for servo in self.find_servos(rest):
            limit = servo.table.get("Temperature Limit") + HOT
            servo.temperature = limit if value is None else float(value)
            servo.check_limits()
            self.remember(
                "overheat",
                lambda s=servo: setattr(s, "temperature", AMBIENT),  # type: ignore[misc]
            )

    def _overload(self, rest: dict[str, Any]) -> None:
        for servo in self.find_servos(rest):
            servo.fail(OVERLOADED)

    def _hardware_error(self, rest: dict[str, Any]) -> None:
        bits = int(rest.pop("bits"))
        for servo in self.find_servos(rest):
            servo.fail(bits)

    def _voltage(self, rest: dict[str, Any]) -> None:
        value = float(rest.pop("volts"))
        for servo in self.find_servos(rest):
            servo.voltage = value
            servo.check_limits()
            self.remember("voltage", servo.restore_supply)

    def _brownout(self, rest: dict[str, Any]) -> None:
        seconds = float(rest.pop("seconds", OUTAGE))
        for servo in self.find_servos(rest):
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
        servos = set(map(id, self.find_servos(rest)))
        for limb in self._servo_rig.limbs.values():
            for index, servo in enumerate(limb.servos):
                if id(servo) in servos:
                    before = limb.mount(index, sign, offset)
                    self.remember(
                        "mounting",
                        lambda a=limb, i=index, b=before: a.mount(i, *b),  # type: ignore[misc]
                    )

    def _set_register(self, name: str, value: int, rest: dict[str, Any]) -> None:
        register = f"{name}"
        for servo in self.find_servos(rest):
            before = servo.table.get(register)
            servo.table.put(register, value)
            self.remember(
                rest["kind"],
                lambda s=servo, b=before: s.table.put(register, b),  # type: ignore[misc]
            )
