"""Every rig of ``configs/leader/puppeteer_*.yaml``: config, mechanism and bus agree."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cells import spread
from emulated_puppeteers import PuppeteerContract, run_emulated

from paprle.config import Resolved, resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.types import SessionState
from paprle.hardware.dynamixel.models import find_model
from paprle.hosts import check
from paprle.leaders.puppeteer.checks import find_mistakes
from paprle.testing.clock import ManualClock

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
RIGS = sorted(path.stem for path in (ROOT / "configs/leader").glob("puppeteer_*.yaml"))


@cache
def tree_of(rig: str) -> dict:
    return yaml.safe_load((ROOT / f"configs/leader/{rig}.yaml").read_text())


PAIRS = [(rig, bus) for rig in RIGS for bus in tree_of(rig)["belongs_to"]]
LIMBS = [(rig, limb) for rig in RIGS for limb in tree_of(rig)["limbs"]]


@cache
def resolved(rig: str, follower: str) -> Resolved:
    return resolve([f"leader={rig}", f"follower={follower}", "env=mujoco"])


def settings_of(rig: str):
    return resolved(rig, tree_of(rig)["belongs_to"][0]).leader


def joints_of(settings) -> dict[str, ET.Element]:
    """Movable joints of a URDF, from the base to the trigger."""
    joints = ET.parse(settings.urdf).getroot().findall("joint")
    return {j.get("name"): j for j in joints if j.get("type") != "fixed"}


def servos_of(settings) -> dict:
    gripper = settings.gripper
    return dict(settings.servos) | ({gripper.joint: gripper} if gripper else {})


@pytest.mark.parametrize(("rig", "follower"), spread(PAIRS, *PAIRS[1::2]))
def test_the_rig_drives_its_follower_joint_by_joint(rig, follower):
    told = check(resolved(rig, follower)).told

    assert "joint by joint (built alike)" in told
    limbs = yaml.safe_load((ROOT / f"configs/follower/{follower}.yaml").read_text())
    assert list(settings_of(rig).limbs) == list(limbs["limbs"])


@pytest.mark.parametrize(("rig", "follower"), PAIRS)
def test_the_kind_alone_means_this_rig(rig, follower):
    args = ["leader=puppeteer", f"follower={follower}", "env=kinematic"]

    assert resolve(args).leader_name == rig


@pytest.mark.parametrize("rig", ["puppeteer_ur5", "puppeteer_omy"])
def test_another_arm_is_driven_by_its_pose(rig):
    told = check(resolved(rig, "papras_7dof")).told

    assert "relative (6 joints against 7)" in told


@pytest.mark.parametrize("rig", RIGS)
def test_a_wrong_key_is_told_with_its_place(rig):
    limb = next(iter(tree_of(rig)["limbs"]))
    wrong = f"leader.limbs.{limb}.prot=/dev/ttyUSB7"
    follower = tree_of(rig)["belongs_to"][0]

    with pytest.raises(ConfigError, match=rf"limbs\.{limb}.*prot"):
        resolve([f"leader={rig}", f"follower={follower}", "env=mujoco", wrong])


@pytest.mark.parametrize("rig", RIGS)
def test_nothing_is_wrong_with_it(rig):
    assert find_mistakes(settings_of(rig)) == []


@pytest.mark.parametrize(("rig", "limb"), LIMBS)
def test_each_joint_of_its_urdf_has_a_servo_in_order(rig, limb):
    settings = settings_of(rig).limbs[limb]
    servos = servos_of(settings)

    assert list(servos) == list(joints_of(settings))
    ids = [servo.id for servo in servos.values()]
    assert ids == list(range(ids[0], ids[0] + len(ids)))


@pytest.mark.parametrize(("rig", "limb"), LIMBS)
def test_the_urdf_knows_what_its_servos_can_do(rig, limb):
    settings = settings_of(rig).limbs[limb]
    joints = joints_of(settings)

    for name, servo in servos_of(settings).items():
        model = find_model(servo.model)
        assert model.has_torque, name
        effort = float(joints[name].find("limit").get("effort"))
        assert effort == pytest.approx(model.stall_torque * servo.gear), name
        friction = float(joints[name].find("dynamics").get("friction"))
        assert 0 < friction < 0.1 * effort


@pytest.mark.parametrize(("rig", "limb"), LIMBS)
def test_no_joint_passes_the_end_of_its_servo_s_turn(rig, limb):
    settings = settings_of(rig).limbs[limb]
    joints = joints_of(settings)

    for name, servo in servos_of(settings).items():
        limit = joints[name].find("limit")
        ends = [float(limit.get("lower")), float(limit.get("upper"))]
        angles = servo.sign * servo.gear * np.array(ends) + servo.offset
        assert np.abs(angles).max() < np.pi, name


@pytest.mark.parametrize(("rig", "follower"), PAIRS)
def test_the_rig_rests_where_its_follower_is_at_home(rig, follower):
    robot = yaml.safe_load((ROOT / f"configs/follower/{follower}.yaml").read_text())

    for name, limb in settings_of(rig).limbs.items():
        joints = joints_of(limb)
        assert list(limb.reset_q) == robot["limbs"][name]["home"]
        for q, joint in zip(limb.reset_q, joints.values(), strict=False):
            limit = joint.find("limit")
            low, high = float(limit.get("lower")), float(limit.get("upper"))
            assert low + 0.1 < q < high - 0.1


@pytest.mark.parametrize("rig", RIGS)
def test_the_rigs_trigger_opens_within_its_range(rig):
    grippers = [limb.gripper for limb in settings_of(rig).limbs.values()]

    assert any(grippers), "without one nobody can give the start signal"
    for limb in settings_of(rig).limbs.values():
        if limb.gripper is not None:
            limit = joints_of(limb)[limb.gripper.joint].find("limit")
            low, high = float(limit.get("lower")), float(limit.get("upper"))
            assert low <= limb.gripper.closed < limb.gripper.open <= high


@pytest.mark.parametrize("rig", RIGS)
def test_the_rigs_buses_are_quick_enough_for_its_rate(rig):
    """A sync read of ten bytes and a sync write of two, with every byte on the wire."""
    settings = settings_of(rig)
    ports = itertools.groupby(
        sorted(settings.limbs.values(), key=lambda limb: limb.port),
        key=lambda limb: limb.port,
    )
    for port, limbs in ports:
        n = sum(len(servos_of(limb)) for limb in limbs)
        # spec: protocol 2.0: instruction, status of each, instruction; 10 bit a byte
        n_bytes = (14 + n) + 21 * n + (14 + 3 * n)
        on_wire = n_bytes * 10 / settings.baud
        # chosen: half of the period is the host's and the adapter's
        assert on_wire < 0.5 / settings.rate, port


def config_on(emulated, rig):
    """The rig's own config with the emulated ports, patient with a busy machine."""
    names = [f"leader={rig}", f"follower={tree_of(rig)['belongs_to'][0]}", "env=mujoco"]
    ports = emulated.server.describe()["overrides"]
    return resolve([*names, *ports, "leader.timeout=0.1"]).leader


@pytest.fixture
def emulated(rig, tmp_path):
    """The rig on emulated buses, its arms at rest."""
    tree = tree_of(rig)
    with run_emulated(tmp_path, tree) as running:
        for name, limb in settings_of(rig).limbs.items():
            gripper = limb.gripper
            q = [*limb.reset_q, *([0.5 * gripper.open] if gripper else [])]
            for servo, value in zip(servos_of(limb).values(), q, strict=True):
                angle = servo.sign * servo.gear * value + servo.offset
                running.servo(servo.id, name).angle = angle
        yield running


@pytest.mark.nightly
@pytest.mark.parametrize("rig", RIGS)
class TestShippedRig(PuppeteerContract):
    @pytest.fixture(autouse=True)
    def start_rig(self, rig, emulated):
        self.emulated, self.config = emulated, config_on(emulated, rig)
        self.limb = next(iter(self.config.limbs))

    def unplug(self, leader):  # noqa: ARG002
        self.emulated.unplug(self.limb)


@pytest.mark.parametrize("rig", spread(RIGS, *RIGS[::2]))
def test_the_servos_report_where_the_joints_are_and_the_rig_keeps_the_contract(
    rig, emulated
):
    """What holds for any leader, on one emulator; nightly, each has one of its own."""
    contract, clock = TestShippedRig(), ManualClock()
    contract.emulated, contract.config = emulated, config_on(emulated, rig)
    contract.limb = next(iter(contract.config.limbs))
    contract.test_says_what_it_is_before_it_is_opened(clock)
    leader = contract.make_leader(clock)
    leader.open()
    try:
        sample = contract.first(leader, clock)
        check_pose(rig, sample)
        contract.test_samples_are_what_it_declared(leader, clock)
        contract.test_stamps_and_sequence_never_go_back(leader, clock)
        contract.test_takes_feedback_it_cannot_render(leader, clock)
        for state in SessionState:
            contract.test_takes_feedback_of_any_state(leader, clock, state)
        contract.test_unplugged_device_goes_stale_or_invalid(leader, clock)
    finally:
        leader.close()
    leader.close()


def check_pose(rig, sample):
    for name, limb in settings_of(rig).limbs.items():
        command = sample.limbs[name]
        assert command.q == pytest.approx(np.array(limb.reset_q), abs=2e-3)
        opening = None if limb.gripper is None else pytest.approx(0.5, abs=5e-3)
        assert command.opening == opening
