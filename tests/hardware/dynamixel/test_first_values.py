"""First values of emulated servos against figures of the e-manual."""

from __future__ import annotations

import pytest

from paprle_emulators.dynamixel.models import find_model
from paprle_emulators.dynamixel.table import ControlTable

pytest.importorskip("dynamixel_sdk")
NAMES = ("Shutdown", "Velocity I Gain", "Velocity P Gain", "Position P Gain")
MANUAL = {
    "xl330-m077": (53, 400, 40, 400),
    "xl330-m288": (53, 1600, 180, 400),
    "xc330-m288": (52, 1600, 50, 1100),
    "xc330-t181": (52, 1200, 40, 900),
    "xc330-t288": (52, 1200, 40, 900),
    "xl430-w250": (52, 1000, 100, 640),
    "xc430-w150": (52, 1920, 100, 460),
    "xm430-w210": (52, 1920, 100, 800),
    "xh430-w210": (52, 1920, 100, 900),
    "xm540-w150": (52, 1920, 100, 800),
    "xh540-w150": (52, 1920, 100, 800),
}


@pytest.mark.parametrize("name", MANUAL)
def test_a_servo_has_the_first_values_of_its_manual(name):
    table = ControlTable(find_model(name))

    assert tuple(table.get(one) for one in NAMES) == MANUAL[name]
