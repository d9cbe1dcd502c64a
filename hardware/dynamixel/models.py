"""Servo models.

Registers come from the SDK's control tables, whose unit of current is unusable.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.torque_map import Kind, TorqueMap
from paprle.hardware.serial_bus.register import Register

ERROR_BITS: Mapping[int, str] = {
    0x01: "input voltage out of range",
    0x04: "overheated",
    0x08: "encoder error",
    0x10: "electrical shock",
    0x20: "overloaded",
}
"""Bits of the register Hardware Error Status. spec: e-manual, X series, address 70."""

BAUD_RATES = (57600, 1_000_000, 4_000_000, 3_000_000, 2_000_000, 115200, 9600)
"""Rates to search for a lost servo, [bit/s]. spec: e-manual, register 8, Baud Rate."""

BAUD_CODES: Mapping[int, int] = {
    9600: 0,
    57600: 1,
    115200: 2,
    1_000_000: 3,
    2_000_000: 4,
    3_000_000: 5,
    4_000_000: 6,
}
"""Value of register 8 by rate in [bit/s]. spec: e-manual, X series, Baud Rate."""


@dataclass(frozen=True, slots=True)
class _Motor:
    """Motor data, in [A] a count and k in [N·m/A]."""

    current_unit: float
    stall_torque: float
    stall_current: float
    kind: Kind = "motor"
    torque_constant: float = 0.0

    @property
    def torques(self) -> TorqueMap:
        constant = self.torque_constant or self.stall_torque / self.stall_current
        return TorqueMap(self.kind, constant, self.stall_current)


# spec: emanual.robotis.com/docs/en/dxl/x/<model>/, all looked up: "Stall Torque" and
# its current at 5.0 V (330 M) or 12.0 V (others); unit of Present Current (126); notes
# at Current Limit (38) and Goal Current (102): the 330 size measures at its supply.
# spec: torque constants by ROBOTIS-GIT/dynamixel_hardware_interface, param/dxl_model,
# "Present Current" in N·m a count: xc330_t288_fw52 0.00096748, xc330_t181 0.00067095,
# xh540_w150 0.0045; its tables give none for the other models.
_MOTORS: Mapping[str, _Motor] = {
    "xl330-m077": _Motor(1.0e-3, 0.215, 1.47, "supply"),
    "xl330-m288": _Motor(1.0e-3, 0.52, 1.47, "supply"),
    "xc330-m181": _Motor(1.0e-3, 0.60, 1.80, "supply"),
    "xc330-m288": _Motor(1.0e-3, 0.93, 1.80, "supply"),
    "xc330-t181": _Motor(1.0e-3, 0.80, 0.88, "supply", 0.671),
    "xc330-t288": _Motor(1.0e-3, 1.00, 0.88, "supply", 0.967),
    "xl430-w250": _Motor(0.0, 1.5, 1.4),
    "xc430-w150": _Motor(0.0, 1.6, 1.4),
    "xc430-w240": _Motor(0.0, 1.9, 1.4),
    "xm430-w210": _Motor(2.69e-3, 3.0, 2.3),
    "xm430-w350": _Motor(2.69e-3, 4.1, 2.3),
    "xh430-w210": _Motor(2.69e-3, 2.5, 1.3),
    "xh430-w350": _Motor(2.69e-3, 3.4, 1.3),
    "xm540-w150": _Motor(2.69e-3, 7.3, 4.4),
    "xm540-w270": _Motor(2.69e-3, 10.6, 4.4),
    "xh540-w150": _Motor(2.69e-3, 7.1, 4.9, "motor", 1.673),
    "xh540-w270": _Motor(2.69e-3, 9.9, 4.9),
}


@dataclass(frozen=True, slots=True)
class Model:
    """A servo model.

    Attributes:
        number: Answer to a ping.
        registers: By the vendor's names.
        angle_unit: [rad] a count.
        zero_count: Count at angle 0.
        velocity_unit: [rad/s] a count.
        current_unit: [A] a count; 0: no current sensor.
        stall_torque: At the recommended voltage, [N·m].
    """

    name: str
    number: int
    registers: Mapping[str, Register]
    angle_unit: float
    zero_count: int
    velocity_unit: float
    current_unit: float
    torques: TorqueMap
    stall_torque: float

    @property
    def has_torque(self) -> bool:
        """Whether it controls its current."""
        return self.current_unit > 0.0

    def span(self, first: str, last: str) -> Register:
        """Return the block between two registers."""
        begin, end = self.registers[first], self.registers[last]
        return Register(begin.address, end.address + end.size - begin.address)


def model_names() -> tuple[str, ...]:
    """Return all names."""
    return tuple(_MOTORS)


def has_torque(name: str) -> bool:
    """Return whether a model controls its current."""
    motor = _MOTORS.get(name)
    return motor is not None and motor.current_unit > 0.0


def is_small(name: str) -> bool:
    """Return whether a model has the 330 size."""
    return name.partition("-")[0].endswith("330")


def find_stall_torque(name: str) -> float:
    """Return a model's stall torque, [N·m]."""
    return _MOTORS[name].stall_torque


def find_name(number: int) -> str:
    """Return a model's name by its number."""
    for name in _MOTORS:
        if _read_numbers().get(name) == number:
            return name
    return f"model number {number}"


@lru_cache(maxsize=64)
def find_model(name: str) -> Model:
    """Return a model by name.

    Raises:
        BusError: Unknown model.
    """
    motor = _MOTORS.get(name)
    if motor is None:
        known = ", ".join(_MOTORS)
        raise BusError(f"servo model: expected one of {known}, got '{name}'")
    sections = _read_sections(_file_name(name))
    kind = {row[0]: float(row[1]) for row in sections["type info"]}
    units = {row[0]: float(row[1]) for row in sections["unit info"]}
    span = kind["max_radian"] - kind["min_radian"]
    n_counts = (
        kind["value_of_max_radian_position"] - kind["value_of_min_radian_position"] + 1
    )
    return Model(
        name=name,
        number=_read_numbers()[name],
        registers={
            row[2]: Register(int(row[0]), int(row[1]))
            for row in sections["control table"]
        },
        angle_unit=2.0 * math.pi / n_counts if span > 6.0 else span / n_counts,
        zero_count=int(kind["value_of_zero_radian_position"]),
        velocity_unit=units["Present Velocity"],
        current_unit=motor.current_unit,
        torques=motor.torques,
        stall_torque=motor.stall_torque,
    )


def _file_name(name: str) -> str:
    return f"{name.replace('-', '_')}.model"


@lru_cache(maxsize=1)
def _read_numbers() -> Mapping[str, int]:
    rows = (line.split("\t") for line in _read_lines("dynamixel.model")[1:])
    return {
        row[1].removesuffix(".model").replace("_", "-"): int(row[0])
        for row in rows
        if len(row) == 2
    }


def _read_sections(file_name: str) -> Mapping[str, list[list[str]]]:
    sections: dict[str, list[list[str]]] = {}
    for line in _read_lines(file_name):
        if line.startswith("["):
            name = line.strip("[]")
            sections[name] = []
        elif line:
            sections[name].append(line.split("\t"))
    return {name: rows[1:] for name, rows in sections.items()}


def _read_lines(file_name: str) -> list[str]:
    path = files("dynamixel_easy_sdk") / "control_table" / file_name
    return [line.strip() for line in path.read_text("utf-8").splitlines()]
