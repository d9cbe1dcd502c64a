"""STS3215 models."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

TICKS = 4096  # spec: memory table, steps per turn
CENTRE = 2048  # spec: memory table, middle of the range [ticks]
RAD_PER_TICK = 2 * math.pi / TICKS
KG_CM = 9.80665 / 100  # spec: definition of the kilopond centimetre [N·m]
RPM = 2 * math.pi / 60
REFERENCE_GEAR = 345  # of the servo that was identified
# measured: Rhoban's BAM, params/feetech_sts3215_7_4V/m1.json, at the horn
ARMATURE, FRICTION, VISCOUS = 0.0261, 0.0515, 0.060
DRAG = 0.02  # chosen: friction behind the gear's backlash; it ends free play [N·m]
# measured: kscalelabs/sysid, data/feetech/STS_3215_12V_20250317, by oscilloscope, duty
# by P and error [1/rad]; Rhoban's BAM has 0.166
DUTY_PER_P = 0.165
MOST_DUTY = 0.97  # measured: Rhoban's BAM, by oscilloscope
BACKLASH = math.radians(0.87)  # measured: robonine.com, testing of the STS3215


@dataclass(frozen=True, slots=True)
class ServoModel:
    """One model of servo.

    Attributes:
        voltage: [V].
        gear: Motor turns per horn turn.
        stall_torque: [N·m].
        stall_current: [A].
        no_load_speed: [rad/s].
        voltage_limits: Initial, [0.1 V].
    """

    name: str
    voltage: float
    gear: float
    stall_torque: float
    stall_current: float
    no_load_speed: float
    voltage_limits: tuple[int, int]

    @property
    def _share(self) -> float:
        return self.gear / REFERENCE_GEAR

    @property
    def inertia(self) -> float:
        """Rotor and gear at the horn, [kg·m²]."""
        return ARMATURE * self._share**2

    @property
    def coulomb(self) -> float:
        """Friction before the backlash, [N·m]."""
        return FRICTION * self._share

    @property
    def viscous(self) -> float:
        """Friction at the horn, [N·m·s/rad]."""
        return VISCOUS * self._share**2

    @property
    def velocity_limit(self) -> int:
        """First Maximum_Velocity_Limit, in 50 ticks/s."""
        return round(68 / self._share)


def scale(name: str, gear: float) -> ServoModel:
    """Return a 7.4 V C001 with another gear."""
    share = gear / REFERENCE_GEAR
    return ServoModel(
        name, 7.4, gear, 19.5 * KG_CM * share, 2.0, 50 * RPM / share, (40, 80)
    )


# spec: Feetech's figures of C001 (SO-ARM100-101-Parallel-Gripper's issue 5, SO-ARM100's
# issue 174) and C018 (SO-ARM100's issues 132 and 134): torque and current at stall
# measured: no-load speed, SO-ARM100's issue 134 and Rhoban's BAM (7.4 V, 5.3 rad/s)
MODELS: Mapping[str, ServoModel] = {
    one.name: one
    for one in (
        scale("sts3215-c001", 345),
        ServoModel("sts3215-c018", 12.0, 345, 30.0 * KG_CM, 2.7, 46 * RPM, (40, 140)),
        scale("sts3215-c044", 191),
        scale("sts3215-c046", 147),
    )
}
