"""A leader of Feetech servos through ``new-leader``, against the emulated truth."""

import time

import numpy as np
import pinocchio as pin
import pytest
import yaml
from emulated_puppeteers import wait_for_sample
from feetech_rig import running_feetech
from leader_operator import Operator, talk
from printed_leaders import PrintedLeader

from paprle.cli.doctor import resolve_leader
from paprle.contracts.errors import DeviceError
from paprle.hosts.factories import make_leader
from paprle.ipc.process import WORKSPACE
from paprle.leaders.puppeteer.servo_search import PuppeteerServos
from paprle_emulators.feetech.config import find_rig
from paprle_lab.onboarding.leader.new_leader import LeaderRequest, make_new_leader

pytest.importorskip("scservo_sdk")

pytestmark = [pytest.mark.nightly, pytest.mark.process, pytest.mark.timed]

SERVOS = find_rig("so101_leader").limbs[0].servos
URDF = WORKSPACE / "urdf/so101/robot.urdf"
CLOSED = SERVOS[-1].stops[0] + 0.02


class Arm:
    """The published URDF of the arm, as truth."""

    def __init__(self):
        self.model = pin.buildModelFromUrdf(str(URDF))
        self.names = [servo.joint for servo in SERVOS]

    def find_frames(self, q):
        data, full = self.model.createData(), pin.neutral(self.model)
        for name, value in zip(self.names, q, strict=False):
            full[self.model.joints[self.model.getJointId(name)].idx_q] = value
        pin.framesForwardKinematics(self.model, data, full)
        frames = [data.oMi[self.model.getJointId(name)] for name in self.names[:5]]
        hand = data.oMf[self.model.getFrameId("gripper_frame_link")]
        return [frame.homogeneous for frame in (*frames, hand)]


class Hand(Operator):
    """A person who moves the emulated arm, as ``new-leader`` asks."""

    def __init__(self, leader, rig):
        self.leader, self.rig, self.servos = leader, rig, SERVOS
        self.error, self.still = np.zeros(len(SERVOS)), ()
        self.home = np.append(leader.home, CLOSED)
        self.asked, self.answers = [], {}

    def show(self, q):
        """Take the arm there by hand, and hold it still."""
        self.q = np.array(q, dtype=float)
        names = [servo.joint for servo in SERVOS]
        self.rig.send(cmd="pose", joints=dict(zip(names, self.q.tolist(), strict=True)))
        end, last = time.monotonic() + 20.0, None
        while time.monotonic() < end:
            state = self.rig.state("leader")
            seen = dict(zip(state["joints"], state["q"], strict=True))
            place = np.array([seen[name] for name in names])
            is_still = last is not None and np.abs(place - last).max() < 1e-3
            if is_still and np.abs(place - self.q).max() < 0.02:
                return
            last = place
            time.sleep(0.1)
        raise AssertionError(f"never at {self.q}: {place}")


def make_truth():
    arm = Arm()
    return PrintedLeader(arm.find_frames, {"like": "so101"}, [], [0.0] * 5)


def test_servos_as_delivered_are_refused_with_the_verb_that_sets_them_up(tmp_path):
    with running_feetech("rig=so101_leader", "setup=factory") as rig:
        request = LeaderRequest(
            name="my_arm", out=tmp_path, port=rig.ports["leader"], like="so101"
        )

        with pytest.raises(DeviceError, match="paprle setup-servos"):
            next(make_new_leader(request, PuppeteerServos(), print))

    assert not list(tmp_path.iterdir())


@pytest.mark.timeout(400)
def test_an_arm_of_feetech_servos_is_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_LEROBOT_CALIBRATION", str(tmp_path / "calibration"))
    truth, rng = make_truth(), np.random.default_rng(5)
    with running_feetech("rig=so101_leader") as rig:
        hand = Hand(truth, rig)
        request = LeaderRequest(
            name="my_arm", out=tmp_path, port=rig.ports["leader"], **truth.options
        )
        talk(make_new_leader(request, PuppeteerServos(), print), hand)

        path = tmp_path / "my_arm.yaml"
        leader = make_leader(resolve_leader([f"leader={path}"]))
        leader.open()
        try:
            for _ in range(8):
                q = np.append(rng.uniform(-1.0, 1.0, 5), CLOSED + rng.uniform(0.0, 0.9))
                hand.show(q)
                now_ns = time.monotonic_ns() + 50_000_000
                sample = wait_for_sample(leader, lambda s, at=now_ns: s.stamp_ns > at)
                judge(path, sample.limbs["arm"].q, truth, rig)
        finally:
            leader.close()


def judge(path, q, truth, rig):
    """Compare the written leader's hand with the truth's."""
    tree = yaml.safe_load(path.read_text())["limbs"]["arm"]
    model = pin.buildModelFromUrdf(tree["urdf"])
    data, full = model.createData(), pin.neutral(model)
    for name, value in zip(tree["servos"], q, strict=True):
        full[model.joints[model.getJointId(name)].idx_q] = value
    pin.framesForwardKinematics(model, data, full)
    found = data.oMf[model.getFrameId(tree["eef_link"])].homogeneous
    state = rig.state("leader")
    places = dict(zip(state["joints"], state["q"], strict=True))
    wanted = truth.find_pose([places[servo.joint] for servo in SERVOS])
    assert np.linalg.norm(found[:3, 3] - wanted[:3, 3]) < 2e-3
    off = pin.log3(found[:3, :3] @ wanted[:3, :3].T)
    assert np.degrees(np.linalg.norm(off)) < 1.0
