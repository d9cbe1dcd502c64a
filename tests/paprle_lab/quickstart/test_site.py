"""Ports and calibrations of the last time are kept beside what a site has already."""

import pytest
import yaml

from paprle.config.folders import Folder
from paprle.contracts.errors import ConfigError
from paprle_lab.quickstart.rig import Arm, Rig
from paprle_lab.quickstart.site import read_last, store

LEADER = Arm(port="/dev/a", calibration="/x/leader.json")
FOLLOWER = Arm(port="/dev/b")


@pytest.fixture
def site(tmp_path):
    return Folder(tmp_path / "site", "site")


def test_a_stored_rig_is_read_again(site):
    rig = Rig(leader=LEADER, follower=FOLLOWER)

    written = store(rig, site)

    assert read_last(site) == rig
    assert sorted(site.path.rglob("*.yaml")) == sorted(written)


def test_other_settings_of_the_site_stay(site):
    path = site.path / "follower/so101.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("limits: {ddq_max: 3.0}\nenvs: {feetech: {rate: 100, port: old}}\n")

    store(Rig(follower=FOLLOWER), site)

    tree = yaml.safe_load(path.read_text())
    assert tree["limits"] == {"ddq_max": 3.0}
    assert tree["envs"]["feetech"] == {
        "rate": 100, "port": "/dev/b", "calibration": "",
    }  # fmt: skip


def test_emulated_and_simulated_arms_leave_no_trace(site):
    emulated = Arm(port="/dev/pts/1", is_emulated=True)

    assert store(Rig(leader=emulated, follower=emulated), site) == []
    assert store(Rig(), site) == []
    assert not site.path.exists()


def test_without_a_site_there_is_no_last_time(site):
    assert read_last(site) == Rig()


def test_a_damaged_file_is_refused(site):
    path = site.path / "leader/so101.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("limbs: [")

    with pytest.raises(ConfigError, match=r"site/leader/so101\.yaml"):
        read_last(site)
