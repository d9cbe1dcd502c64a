"""Servo models: motor, gear and registers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TICKS = 4096  # spec: e-manual, resolution of the X series [pulse/rev]
CENTRE = 2048  # spec: e-manual, pulse of zero angle
RAD_PER_TICK = 2 * math.pi / TICKS
VELOCITY_UNIT = 0.229 * 2 * math.pi / 60  # spec: e-manual, 0.229 rev/min, [rad/s]
PWM_MAX = 885  # spec: e-manual, PWM limit, 100 %
RPM = 2 * math.pi / 60
FIRMWARE = 50  # chosen: of servos larger than the 330; nothing here depends on it
SMALL_FIRMWARE = 51
"""Firmware of the 330 size. chosen: that with which its Bus Watchdog does not stop the
motor (forum.robotis.com/t/4814), and before 52, which moves indirect data."""


@dataclass(frozen=True, slots=True)
class ServoModel:
    """One model of servo.

    Attributes:
        voltage: [V].
        stall_torque: [N·m].
        stall_current: [A].
        no_load_speed: [rad/s].
        current_unit: Of registers, [A]; None: not measured.
        voltage_limits: Initial, [0.1 V].
        temperature_limit: Initial, [°C].
        inertia: At the horn, [kg·m²].
        coulomb: At the horn, [N·m].
        viscous: At the horn, [N·m·s/rad].
        backlash: Whole width, [rad].
    """

    name: str
    number: int
    voltage: float
    stall_torque: float
    stall_current: float
    no_load_speed: float
    current_unit: float | None
    current_limit: int
    velocity_limit: int
    voltage_limits: tuple[int, int]
    temperature_limit: int
    gains: tuple[int, int, int, int, int]
    shutdown: int
    pwm_slope: int
    inertia: float
    coulomb: float
    viscous: float
    backlash: float
    measures_supply: bool = False

    @property
    def torque_constant(self) -> float:
        """Torque per motor current, at the horn, [N·m/A]."""
        return CONSTANTS.get(self.name, self.stall_torque / self.stall_current)

    def make_torque(self, current: float) -> float:
        """Return the torque of a standing motor, [N·m].

        The 330 size registers the supply's current [A]: motor current² / stall current.
        """
        if self.measures_supply:
            motor = math.sqrt(abs(current) * self.stall_current)
            return math.copysign(self.torque_constant * motor, current)
        return self.torque_constant * current

    def draw_current(self, torque: float) -> float:
        """Return the registered current at a torque, [A]."""
        motor = torque / self.torque_constant
        if self.measures_supply:
            return math.copysign(motor * motor / self.stall_current, motor)
        return motor

    @property
    def is_small(self) -> bool:
        """Whether of the 330 size."""
        return self.name.split("-")[0].endswith("330")

    @property
    def firmware(self) -> int:
        """Default version."""
        return SMALL_FIRMWARE if self.is_small else FIRMWARE

    @property
    def modes(self) -> tuple[int, ...]:
        """Supported operating modes."""
        return (0, 1, 3, 4, 5, 16) if self.current_unit else (1, 3, 4, 16)


@dataclass(frozen=True, slots=True)
class Family:
    """Common properties of a size; units: :class:`ServoModel`."""

    voltage: float
    stall_current: float
    current_unit: float | None
    current_limit: int
    voltage_limits: tuple[int, int]
    temperature_limit: int
    gains: tuple[int, int, int, int, int]
    rotor: float  # inertia of the rotor before the gear [kg·m²]
    coulomb: float  # by stall torque [1]
    viscous: float  # by stall torque and no-load speed [1]
    backlash: float  # [rad]
    shutdown: int = 52
    pwm_slope: int = 0


# measured: Rhoban's BAM, bam/params/xl330/m1.json: armature 0.0020 kg·m² (288.4:1),
# friction 0.018 N·m and 0.0059 N·m·s/rad of an XL330-M288; others of the size by gear
SMALL: Mapping[str, Any] = {"rotor": 2.4e-8, "coulomb": 0.035, "viscous": 0.12}
# measured: Rhoban's BAM, bam/params/mx64/m1.json: armature 0.012 kg·m² behind 200:1,
# friction 0.09 N·m and 0.012 N·m·s/rad; the XM430's rotor is half of that
LARGE: Mapping[str, Any] = {"rotor": 1.0e-7, "coulomb": 0.015, "viscous": 0.02}
WIDE = math.radians(0.25)  # spec: e-manual of the 430 series, backlash 15 arcmin
# chosen: small gears are given no figure; that of the MX-28, 20 arcmin
LOOSE = math.radians(0.33)

# spec: e-manual, initial values of the control table, gains as in ServoModel
G330 = (1600, 180, 0, 0, 400)
G330T = (1200, 40, 0, 0, 900)
G330M = (1600, 50, 500, 0, 1100)
G800 = (1920, 100, 0, 0, 800)
G900 = (1920, 100, 0, 0, 900)
GAINS = {
    "xl330-m077": (400, 40, 0, 400, 400),
    "xl430-w250": (1000, 100, 4000, 0, 640),
    "xc430-w150": (1920, 100, 0, 0, 460),
    "xc430-w240": (1920, 100, 0, 0, 700),
}

# spec: e-manual of each series
XL330 = Family(
    5.0, 1.47, 0.001, 1750, (35, 70), 70, G330,
    backlash=LOOSE, shutdown=53, pwm_slope=140, **SMALL,
)  # fmt: skip
XC330M = Family(
    5.0, 1.80, 0.001, 2352, (35, 70), 70, G330M,
    backlash=LOOSE, pwm_slope=140, **SMALL,
)  # fmt: skip
XC330T = Family(
    12.0, 0.88, 0.001, 910, (55, 140), 70, G330T,
    backlash=LOOSE, pwm_slope=255, **SMALL,
)  # fmt: skip
XL430 = Family(12.0, 1.4, None, 0, (60, 140), 72, G800, backlash=WIDE, **SMALL)
XC430 = Family(12.0, 1.4, None, 0, (60, 160), 80, G800, backlash=WIDE, **SMALL)
XM430 = Family(12.0, 2.3, 0.00269, 1193, (95, 160), 80, G800, backlash=WIDE, **LARGE)
XH430 = Family(12.0, 1.3, 0.00269, 648, (95, 160), 80, G900, backlash=WIDE, **LARGE)
XH430V = Family(24.0, 0.7, 0.00134, 689, (110, 300), 80, G900, backlash=WIDE, **LARGE)
XM540 = Family(12.0, 4.4, 0.00269, 2047, (95, 160), 80, G800, backlash=WIDE, **LARGE)
XH540 = Family(12.0, 4.9, 0.00269, 2047, (95, 160), 80, G800, backlash=WIDE, **LARGE)

# spec: ROBOTIS-GIT/dynamixel_hardware_interface, param/dxl_model, N·m by ampere
CONSTANTS = {"xc330-t181": 0.671, "xc330-t288": 0.967, "xh540-w150": 1.673}

# spec: e-manual of each model: number, gear, stall torque [N·m], no-load speed
# [rev/min], velocity limit [0.229 rev/min]
MODELS: Mapping[str, tuple[Family, int, float, float, float, int]] = {
    "xl330-m077": (XL330, 1190, 77.5, 0.215, 383, 1620),
    "xl330-m288": (XL330, 1200, 288.4, 0.52, 103, 445),
    "xc330-m181": (XC330M, 1230, 180.6, 0.60, 129, 590),
    "xc330-m288": (XC330M, 1240, 288.35, 0.93, 81, 350),
    "xc330-t181": (XC330T, 1210, 180.6, 0.80, 113, 510),
    "xc330-t288": (XC330T, 1220, 288.35, 1.00, 71, 320),
    "xl430-w250": (XL430, 1060, 258.5, 1.5, 61, 265),
    "xc430-w150": (XC430, 1070, 150.0, 1.6, 106, 460),
    "xc430-w240": (XC430, 1080, 245.2, 1.9, 70, 306),
    "xm430-w210": (XM430, 1030, 212.6, 3.0, 77, 330),
    "xm430-w350": (XM430, 1020, 353.5, 4.1, 46, 200),
    "xh430-w210": (XH430, 1010, 212.6, 2.5, 50, 220),
    "xh430-w350": (XH430, 1000, 353.5, 3.4, 30, 135),
    "xh430-v210": (XH430V, 1050, 212.6, 2.6, 52, 235),
    "xh430-v350": (XH430V, 1040, 353.5, 3.3, 31, 140),
    "xm540-w150": (XM540, 1130, 152.3, 7.3, 53, 230),
    "xm540-w270": (XM540, 1120, 272.5, 10.6, 30, 128),
    "xh540-w150": (XH540, 1110, 152.3, 7.1, 70, 310),
    "xh540-w270": (XH540, 1100, 272.5, 9.9, 39, 167),
}


@cache
def find_model(name: str) -> ServoModel:
    """Return a model by name.

    Raises:
        ValueError: If unknown.
    """
    if name not in MODELS:
        msg = f"servo model: expected one of {', '.join(MODELS)}, got '{name}'"
        raise ValueError(msg)
    family, number, gear, torque, speed, velocity_limit = MODELS[name]
    no_load = speed * RPM
    return ServoModel(
        name=name,
        number=number,
        voltage=family.voltage,
        stall_torque=torque,
        stall_current=family.stall_current,
        no_load_speed=no_load,
        current_unit=family.current_unit,
        current_limit=family.current_limit,
        velocity_limit=velocity_limit,
        voltage_limits=family.voltage_limits,
        temperature_limit=family.temperature_limit,
        gains=GAINS.get(name, family.gains),
        shutdown=family.shutdown,
        pwm_slope=family.pwm_slope,
        inertia=family.rotor * gear**2,
        coulomb=family.coulomb * torque,
        viscous=family.viscous * torque / no_load,
        backlash=family.backlash,
        measures_supply=family in {XL330, XC330M, XC330T},
    )


@dataclass(frozen=True, slots=True)
class Item:
    """Address and width of a register."""

    name: str
    address: int
    size: int


@cache
def read_items(name: str) -> tuple[Item, ...]:
    """Return a model's registers, by the vendor's table.

    Raises:
        ModuleNotFoundError: If the vendor's package is missing.
    """
    spec = find_spec("dynamixel_easy_sdk")
    if spec is None or not spec.submodule_search_locations:
        msg = (
            "dynamixel emulator: expected the vendor's control tables, got no package "
            "'dynamixel_easy_sdk'; pip install 'paprle-emulators[dynamixel]'"
        )
        raise ModuleNotFoundError(msg)
    folder = Path(spec.submodule_search_locations[0]) / "control_table"
    text = (folder / f"{name.replace('-', '_')}.model").read_text()
    rows = text.split("[control table]")[1].split("\n")[2:]
    fields = [row.split("\t") for row in rows if row.strip()]
    return tuple(
        Item(title.strip(), int(address), int(size))
        for address, size, title in fields
        if not title.strip().endswith((" Write", " Read"))
    )
