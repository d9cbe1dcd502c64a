"""Settings of Robotiq grippers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Le, Unit, doc

from paprle.contracts.settings.base import settings

STROKES: Mapping[str, float] = {"2f85": 0.085, "2f140": 0.140, "hande": 0.050}
"""Full opening of each model, [m]. spec: Robotiq's instruction manuals."""


@settings
class RobotiqSettings:
    """Model, line, speed and force of the grippers of all limbs that have one."""

    model: Annotated[
        Literal["none", "2f85", "2f140", "hande"], doc("none: it is another gripper.")
    ] = "none"
    port: Annotated[
        str,
        doc(
            "Serial port of a USB-RS485 adapter, for a single arm; empty: the URCap of "
            "a UR's controller (env=ur alone)."
        ),
    ] = ""
    ports: Annotated[
        Mapping[str, str],
        doc("The serial port of each limb by name, for robots of several arms."),
    ] = field(default_factory=dict)
    unit: Annotated[
        int, Ge(1), Le(247), doc("Modbus address of the gripper on a serial port.")
    ] = 9  # spec: as delivered
    speed: Annotated[
        float, Ge(0), Le(1), Unit("1"), doc("Share of its range of speeds.")
    ] = 1.0
    force: Annotated[
        float, Ge(0), Le(1), Unit("1"), doc("Share of its range of grips.")
    ] = 0.2  # chosen: 63 N of a 2F-85
    activates: Annotated[
        bool,
        doc(
            "Activate a gripper at the opening that is not: its fingers open and close "
            "fully. Without it, opening refuses."
        ),
    ] = False
