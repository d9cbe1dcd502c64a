"""Leaders that ``new-leader`` has not seen, against the emulated truth (issue 38)."""

import time

import numpy as np
import pinocchio as pin
import pytest
import yaml
from cells import spread
from emulated_puppeteers import run_emulated, wait_for_sample
from leader_operator import Operator, talk
from printed_leaders import make_printed

from paprle.cli.doctor import resolve_leader
from paprle.hosts.factories import make_leader
from paprle.leaders.puppeteer.servo_search import PuppeteerServos
from paprle_lab.onboarding.leader.new_leader import LeaderRequest, make_new_leader

pytestmark = [pytest.mark.long, pytest.mark.timed]

PRINTED = make_printed()


def make_tree(leader):
    """The emulated rig: servos without links, at whatever angles."""
    ids = leader.ids or list(range(1, len(leader.models) + 1))
    servos = {
        f"j{i}": {"id": number, "model": model, "twin": leader.twins.get(i)}
        for i, (number, model) in enumerate(zip(ids, leader.models, strict=True))
    }
    limb = {"port": "bus", "servos": servos}
    return {"baud": leader.baud, "limbs": {"arm": limb}}


def find_poses(path, names, rows):
    """Poses of the hand in the written URDF, shape (t, 4, 4)."""
    tree = yaml.safe_load(path.read_text())["limbs"]["arm"]
    model = pin.buildModelFromUrdf(tree["urdf"])
    data, frame = model.createData(), model.getFrameId(tree["eef_link"])
    poses = []
    for row in rows:
        q = pin.neutral(model)
        for name, value in zip(names, row, strict=True):
            q[model.joints[model.getJointId(name)].idx_q] = value
        pin.framesForwardKinematics(model, data, q)
        poses.append(data.oMf[frame].homogeneous)
    return np.array(poses)


def read_through_driver(path, operator, postures):
    """Joint positions by the real driver with the written settings."""
    leader = make_leader(resolve_leader([f"leader={path}", "leader.timeout=0.03"]))
    leader.open()
    try:
        rows, openings = [], []
        for posture in postures:
            operator.show(posture)
            now_ns = time.monotonic_ns() + 50_000_000
            sample = wait_for_sample(leader, lambda s, at=now_ns: s.stamp_ns > at)
            rows.append(sample.limbs["arm"].q)
            openings.append(sample.limbs["arm"].opening)
    finally:
        leader.close()
    return np.array(rows), openings


@pytest.mark.parametrize("name", spread(PRINTED, "gello_ur5e", "koch"))
def test_an_unseen_leader_is_where_it_is(name, tmp_path):
    leader = PRINTED[name]
    rng = np.random.default_rng(sum(map(ord, name)))
    with run_emulated(tmp_path / "rig", make_tree(leader)) as emulated:
        limb = emulated.rig.limbs["arm"]
        operator = Operator(leader, limb.servos, limb.twins, rng)
        notes = []
        request = LeaderRequest(
            name=name, out=tmp_path, port=emulated.port("arm"), **leader.options
        )

        talk(make_new_leader(request, PuppeteerServos(), notes.append), operator)

        path = tmp_path / f"{name}.yaml"
        n = leader.n
        postures = np.array(
            [
                operator.home
                + np.append(rng.uniform(-1.2, 1.2, n), np.zeros(len(operator.home) - n))
                for _ in range(20)
            ]
        )
        operator.show(operator.home)
        operator.power_up()
        rows, openings = read_through_driver(path, operator, [operator.home, *postures])
    names = list(yaml.safe_load(path.read_text())["limbs"]["arm"]["servos"])
    judge(leader, find_poses(path, names, [np.zeros(n), *rows[1:]]), postures[:, :n])
    if operator.has_gripper:
        assert openings[0] == pytest.approx(0.0, abs=0.01)


def judge(leader, poses, postures):
    """Compare the ways of the hand from zero with the truth's."""
    zero = leader.find_pose(np.zeros(leader.n))
    for pose, q in zip(poses[1:], postures, strict=True):
        truth = leader.find_pose(q)
        far = np.linalg.norm(pose[:3, 3] - truth[:3, 3])
        turned = pose[:3, :3] @ poses[0][:3, :3].T
        wanted = truth[:3, :3] @ zero[:3, :3].T
        off = np.degrees(np.linalg.norm(pin.log3(turned @ wanted.T)))
        assert far < 2e-3, (far, q)
        assert off < 1.0, (off, q)
