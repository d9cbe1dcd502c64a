"""Every rig that is shipped, against emulated servos of its own."""

import time
from dataclasses import replace

import pytest
import yaml
from puppets import puppets, wait_for, wait_for_sample

from leaders.puppeteer.leader import Puppeteer
from paprle.config import resolve
from paprle.process import WORKSPACE
from paprle.testing import LeaderContract, check_sample

NAMES = sorted(p.stem for p in (WORKSPACE / "configs/leader").glob("puppeteer_*.yaml"))


@pytest.fixture(params=NAMES)
def shipped(request, tmp_path):
    """An emulated rig, and the config that drives it."""
    path = WORKSPACE / f"configs/leader/{request.param}.yaml"
    config = resolve([f"leader={request.param}", "follower=piper", "env=kinematic"])
    with puppets(tmp_path, yaml.safe_load(path.read_text())) as emulated:
        for limb in emulated.rig.limbs.values():
            for spec, servo in zip(limb.spec.servos, limb.servos, strict=True):
                servo.angle = spec.offset
        limbs = {
            name: replace(limb, port=emulated.port(name))
            for name, limb in config.leader.limbs.items()
        }
        yield emulated, replace(config.leader, limbs=limbs, timeout=0.03)


def test_it_says_where_all_its_joints_are(shipped):
    _, config = shipped
    leader = Puppeteer(config, time.monotonic_ns)
    try:
        leader.open()
        sample = wait_for_sample(leader)
    finally:
        leader.close()

    check_sample(leader.info, sample)
    assert all(abs(c.q).max() < 0.01 for c in sample.limbs.values())


@pytest.mark.nightly
class TestShipped(LeaderContract):
    @pytest.fixture(autouse=True)
    def start_rig(self, shipped):
        self.emulated, self.config = shipped

    def make_leader(self, clock):
        return Puppeteer(self.config, clock)

    def stimulate(self, leader, clock):
        now_ns = clock()

        def is_read():
            snapshots = [owner.latest() for owner in leader.owners.values()]
            return all(s and s.reading.stamp_ns >= now_ns for s in snapshots)

        wait_for(is_read, "a reading")

    def unplug(self, leader):  # noqa: ARG002
        for name in self.config.limbs:
            self.emulated.unplug(name)
