"""A cable that is pulled while an arm is opened ends the opening in a bounded time."""

import time

import pytest

from paprle.hardware.ur.arm import UrArm, UrSettings
from paprle.hardware.vendor_arm.states import ArmError

pytestmark = pytest.mark.process
LONGEST = 10.0  # [s] three waits of the driver and of ur_rtde


class Pulled(UrArm):
    """Its cable goes before its control, or before its program, is set up."""

    pull = None
    at = ""

    def _check_remote(self):
        if self.at == "control":
            self.pull()
        super()._check_remote()

    def _set_up(self):
        if self.at == "program":
            self.pull()
        super()._set_up()


@pytest.mark.parametrize("at", ["control", "program"])
def test_opening_raises_and_closing_returns(arm, clock, at):
    driver = Pulled(UrSettings(host=arm.host, rate=250.0), clock)
    driver.pull, driver.at = lambda: arm.do("unplug"), at
    begin = time.monotonic()

    with pytest.raises(ArmError):
        driver.open()
    driver.close(is_powerless=False)

    assert time.monotonic() - begin < LONGEST
