"""Faults of a Feetech rig."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from paprle_emulators.feetech.bus import BAUDS, DELAY_UNIT
from paprle_emulators.feetech.foreign import Write
from paprle_emulators.feetech.protection import AMBIENT, OVERLOAD
from paprle_emulators.feetech.registers import BY_NAME, encode
from paprle_emulators.feetech.rig import Limb, Rig, count
from paprle_emulators.feetech.servo import Servo
from paprle_emulators.servo_rig.faults import Faults

TURN = 2 * math.pi
FOREIGN_PERIOD = 0.02  # chosen: a loop of LeRobot at 50 Hz [s]
OUTAGE = 0.2  # chosen: a brown-out long enough for a servo to start again [s]
HOT = 10.0  # chosen: above the limit [°C]


class RigFaults(Faults):
    """Faults of a rig by name."""

    def __init__(self, rig: Rig) -> None:
        super().__init__(rig, BAUDS[0])
        self._servo_rig = rig
        self.kinds |= {
            "overheat": self._overheat,
            "overload": self._overload,
            "voltage": self._voltage,
            "brownout": self._brownout,
            "status": self._status,
            "mounting": self._mounting,
            "turned": self._turned,
            "swapped": self._swapped,
            "foreign": self._foreign,
            "duplicate_id": partial(self._put, "ID", "of"),
            "wrong_model": partial(self._put, "Model_Number", "number"),
            "status_level": partial(self._put, "Response_Status_Level", "level"),
            "register": self._register,
            "return_delay": self._return_delay,
            "baud": self._set_baud,
        }

    def _overheat(self, rest: dict[str, Any]) -> None:
        value = rest.pop("temperature", None)
        for servo in self.find_servos(rest):
            limit = servo.memory.get("Max_Temperature_Limit") + HOT
            own = servo.protection
            own.temperature = limit if value is None else float(value)
            own.check(servo.voltage)
            self.remember("overheat", partial(setattr, own, "temperature", AMBIENT))

    def _overload(self, rest: dict[str, Any]) -> None:
        for servo in self.find_servos(rest):
            servo.protection.raise_bits(OVERLOAD)

    def _status(self, rest: dict[str, Any]) -> None:
        bits = int(rest.pop("bits"))
        for servo in self.find_servos(rest):
            own = servo.protection
            own.forced = bits
            own.raise_bits(bits)
            self.remember("status", partial(setattr, own, "forced", 0))

    def _voltage(self, rest: dict[str, Any]) -> None:
        value = float(rest.pop("volts"))
        for servo in self.find_servos(rest):
            before, servo.voltage = servo.voltage, value
            servo.protection.check(value)
            self.remember("voltage", partial(setattr, servo, "voltage", before))

    def _brownout(self, rest: dict[str, Any]) -> None:
        seconds = float(rest.pop("seconds", OUTAGE))
        for servo in self.find_servos(rest):
            servo.voltage = 0.0
            self._servo_rig.plan(seconds, servo.restore_supply)

    def _mounting(self, rest: dict[str, Any]) -> None:
        sign, offset = int(rest.pop("sign", 1)), float(rest.pop("offset", 0.0))
        if sign not in (-1, 1):
            raise ValueError(f"fault 'mounting': expected sign 1 or -1, got {sign}")
        for limb, index in self._find_places(rest):
            at = float(limb.list_angles()[0][index] - sign * limb.arm.q[index])
            before = limb.mount(index, sign, at + offset)
            self.remember("mounting", partial(limb.mount, index, *before))

    def _turned(self, rest: dict[str, Any]) -> None:
        turns = int(rest.pop("turns", 1))
        for limb, index in self._find_places(rest):
            angle = limb.list_angles()[0][index]
            sign = limb.signs[index]
            place = angle + turns * TURN - sign * float(limb.arm.q[index])
            before = limb.mount(index, sign, place)
            limb.servos[index].power_up()
            self.remember("turned", partial(limb.mount, index, *before))

    def _swapped(self, rest: dict[str, Any]) -> None:
        other = str(rest.pop("with"))
        for limb, index in self._find_places(rest):
            first = limb.servos[index]
            second = limb.servos[limb.joints.index(other)]
            numbers = first.number, second.number
            for servo, number in zip((second, first), numbers, strict=True):
                servo.memory.keep("ID", number)
            for servo, number in zip((first, second), numbers, strict=True):
                self.remember("swapped", partial(servo.memory.keep, "ID", number))

    def _foreign(self, rest: dict[str, Any]) -> None:
        period = float(rest.pop("period", FOREIGN_PERIOD))
        goals = dict(rest.pop("goals", {}))
        for port in self.find_lines(rest):
            limb, write = self._servo_rig.limbs[port], None
            for joint, q in goals.items():
                spec = limb.spec.servos[limb.joints.index(joint)]
                goal = BY_NAME["Goal_Position"]
                data = encode(goal, count(spec, float(q)))
                write = Write(spec.number, goal.address, data)
            master = self._servo_rig.foreign[port]
            master.come(period, write)
            self.remember("foreign", master.leave)

    def _find_places(self, rest: dict[str, Any]) -> list[tuple[Limb, int]]:
        servos = set(map(id, self.find_servos(rest)))
        return [
            (limb, index)
            for limb in self._servo_rig.limbs.values()
            for index, servo in enumerate(limb.servos)
            if id(servo) in servos
        ]

    def _return_delay(self, rest: dict[str, Any]) -> None:
        self._set(
            "Return_Delay_Time", round(float(rest.pop("seconds")) / DELAY_UNIT), rest
        )

    def _set_baud(self, rest: dict[str, Any]) -> None:
        rate = int(rest.pop("rate"))
        if rate not in BAUDS:
            raise ValueError(f"fault 'baud': expected one of {BAUDS}, got {rate}")
        self._set("Baud_Rate", BAUDS.index(rate), rest)

    def _register(self, rest: dict[str, Any]) -> None:
        name, value = str(rest.pop("name")), int(rest.pop("value"))
        own = BY_NAME.get(name)
        if own is None or not own.low <= value <= own.high:
            wanted = f"{own.low} to {own.high}" if own else "a register's name"
            msg = f"fault 'register': expected {wanted}, got {name} {value}"
            raise ValueError(msg)
        self._set(name, value, rest)

    def _put(self, register: str, argument: str, rest: dict[str, Any]) -> None:
        self._set(register, int(rest.pop(argument)), rest)

    def _set(self, register: str, value: int, rest: dict[str, Any]) -> None:
        for servo in self.find_servos(rest):
            before = servo.memory.get(register)
            servo.memory.keep(register, value)
            servo.refresh()
            undo = partial(self._restore, servo, register, before)
            self.remember(rest["kind"], undo)

    def _restore(self, servo: Servo, register: str, value: int) -> None:
        servo.memory.keep(register, value)
        servo.refresh()
