"""An SO-100 with the calibration that LeRobot makes of it."""

from __future__ import annotations

import time

from emulated_feetech import run_feetech
from so101_arm import load_robot

from paprle.followers.feetech.config import FeetechConfig
from paprle.followers.feetech.follower import FeetechFollower


def test_a_calibrated_so100_is_opened_as_shipped(tmp_path):
    with run_feetech(tmp_path / "ports", "so100") as rig:
        config = FeetechConfig(port=rig.port("follower"))
        follower = FeetechFollower(config, load_robot("so100"), time.monotonic_ns)
        try:
            follower.open()
            assert len(follower.read().q) == 6
        finally:
            follower.close("hold")
