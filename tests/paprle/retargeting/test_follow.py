"""A limb follows an object that is seen, from where both were then (X15)."""

import camera_arm as rig
import numpy as np
import pad_session
import pinocchio as pin
import pytest

from paprle.advisors.markers.advisor import ADVICE
from paprle.config import resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.session_view import Advice
from paprle.contracts.settings.retarget import LimbRuleSettings, LookSettings
from paprle.hosts.plan import make_plan

DT_NS = 5_000_000
DT = DT_NS * 1e-9
HOME = rig.place(rig.ROBOT.home)
MOTION = LookSettings()
TAG = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.2, 1.0), np.array([0.6, 0.1, 0.3]))
ARM = LimbRuleSettings(rule="follow", from_="hand", object="tags.3")
HOLDS = LimbRuleSettings(rule="hold")
WORDS = (
    "follower=piper",
    "env=kinematic",
    "retarget.limbs.arm={rule: follow, object: tags.3, from: hand}",
)


def tell(T, age=0.0, number=3):
    record = np.zeros((), dtype=ADVICE)
    record["id"], record["pose"], record["valid"] = -1, np.nan, True
    record["id"][0], record["pose"][0] = number, pin.SE3ToXYZQUAT(T)
    return {"tags": Advice(record, age)}


class Limb:
    """A limb that does as it is asked, and a tag wherever one puts it."""

    def __init__(self, arm=ARM, dt_ns=DT_NS):
        self.rule = rig.pair(HOLDS, arm).slots[rig.ARM][0].rule
        self.T, self.t_ns, self.dt_ns = HOME.copy(), 0, dt_ns
        self.state = self.rule.begin(self.inputs({}))

    def inputs(self, advice, placed=None):
        sample = rig.sample_of(stamp_ns=self.t_ns)
        inputs = rig.inputs_of(rig.ARM, sample, self.T, advice)
        return inputs._replace(placed=placed or {})

    def run(self, seconds, T=None, **said):
        """Return poses of the target while the tag is there, or not seen."""
        poses = []
        for _ in range(round(seconds * 1e9 / self.dt_ns)):
            self.t_ns += self.dt_ns
            advice = {} if T is None else tell(T, **said)
            asked, self.state = self.rule.apply(self.inputs(advice), self.state)
            poses.append(asked.T_base_eef.copy())
        return np.array(poses)


def moved(xyz=(0.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0), T=TAG):
    """A tag that was moved and turned in the world's axes."""
    return pin.SE3(pin.rpy.rpyToMatrix(*rpy) @ T.rotation, T.translation + xyz)


def test_the_first_sight_moves_nothing_and_its_motion_moves_the_limb():
    limb = Limb()
    np.testing.assert_allclose(limb.run(0.5, TAG)[-1], HOME[rig.ARM], atol=1e-12)

    asked = limb.run(4.0, moved((0.1, -0.05, 0.08), (0.0, 0.0, 0.5)))[-1]
    np.testing.assert_allclose(
        asked[:3, 3] - HOME[rig.ARM, :3, 3], [0.1, -0.05, 0.08], atol=1e-5
    )
    turn = asked[:3, :3] @ HOME[rig.ARM, :3, :3].T
    np.testing.assert_allclose(turn, pin.rpy.rpyToMatrix(0, 0, 0.5), atol=1e-5)


def test_no_leap_of_a_tag_is_faster_than_allowed_and_none_is_overshot():
    limb = Limb()
    limb.run(0.1, TAG)
    poses = limb.run(4.0, moved((0.0, 0.3, 0.0), (0.8, 0.0, 0.0)))
    v = np.diff(poses[:, :3, 3], axis=0) / DT
    a = np.diff(v, axis=0) / DT

    assert np.linalg.norm(v, axis=1).max() <= MOTION.max_speed + 1e-6
    assert np.linalg.norm(a, axis=1).max() <= MOTION.max_acceleration + 1e-6
    assert poses[:, 1, 3].max() <= HOME[rig.ARM, 1, 3] + 0.3 + 1e-3
    turns = [
        pin.log3(B[:3, :3] @ A[:3, :3].T)
        for A, B in zip(poses[:-1], poses[1:], strict=True)
    ]
    assert np.linalg.norm(turns, axis=1).max() / DT <= MOTION.max_turn + 1e-6


@pytest.mark.parametrize("said", [{"age": 0.3}, {"number": 4}])
def test_a_tag_that_is_not_seen_leaves_it_at_rest_and_is_followed_anew(said):
    limb = Limb()
    limb.run(0.1, TAG)
    limb.run(0.3, moved((0.2, 0.0, 0.0)))
    poses = limb.run(2.0, moved((0.2, 0.0, 0.0)), **said)

    assert np.abs(poses[-1] - poses[-100]).max() < 1e-9, "it rests"
    a = np.diff(poses[:, :3, 3], 2, axis=0) / DT**2
    assert np.linalg.norm(a, axis=1).max() <= MOTION.max_acceleration + 1e-6
    elsewhere = moved((-0.3, 0.2, 0.1))
    np.testing.assert_allclose(limb.run(0.5, elsewhere)[-1], poses[-1], atol=1e-12)
    after = limb.run(3.0, moved((0.0, 0.05, 0.0), T=elsewhere))[-1]
    np.testing.assert_allclose(
        after[:3, 3] - poses[-1, :3, 3], [0.0, 0.05, 0.0], atol=1e-5
    )


def test_the_end_is_the_same_at_any_rate_and_no_farther_than_allowed():
    ends = []
    for dt_ns in (5_000_000, 20_000_000):
        limb = Limb(dt_ns=dt_ns)
        limb.run(0.1, TAG)
        ends.append(limb.run(8.0, moved((0.0, 0.0, 9.0)))[-1])

    np.testing.assert_allclose(ends[0], ends[1], atol=1e-4)
    travelled = ends[0][:3, 3] - HOME[rig.ARM, :3, 3]
    assert np.linalg.norm(travelled) == pytest.approx(1.5, abs=1e-4)


def test_an_object_that_an_operator_drags_is_followed_and_let_go_of_when_taken_away():
    limb = Limb(ARM.__class__(rule="follow", from_="hand", object="cup"))

    def drag(xyz, seconds):
        said = {} if xyz is None else {"cup": np.array([*xyz, 0.0, 0.0, 0.0, 1.0])}
        for _ in range(round(seconds * 1e9 / DT_NS)):
            limb.t_ns += DT_NS
            asked, limb.state = limb.rule.apply(limb.inputs({}, said), limb.state)
        return asked.T_base_eef[:3, 3] - HOME[rig.ARM, :3, 3]

    drag((0.5, 0.0, 0.2), 0.1)
    np.testing.assert_allclose(drag((0.5, 0.1, 0.2), 3.0), [0.0, 0.1, 0.0], atol=1e-5)
    drag((0.5, 0.4, 0.2), 0.2)
    rested = drag(None, 2.0)
    assert rested[1] < 0.3, "it did not go on to where the cup was"
    np.testing.assert_allclose(drag((0.9, 0.9, 0.9), 0.5), rested, atol=1e-12)


def test_invalid_numbers_are_not_followed():
    limb = Limb()
    limb.run(0.1, TAG)
    broken = tell(TAG)
    broken["tags"].record["pose"][0, 0] = np.nan
    asked, _ = limb.rule.apply(limb.inputs(broken), limb.state)

    np.testing.assert_allclose(asked.T_base_eef, HOME[rig.ARM], atol=1e-12)


@pytest.mark.parametrize("name", ["tags.3", "cup", "tags.three"])
def test_an_object_that_nobody_tells_of_is_refused(name):
    words = (WORDS[0], WORDS[1], WORDS[2].replace("tags.3", name))
    with pytest.raises(ConfigError, match=r"retarget\.limbs\.arm\.object: expected"):
        make_plan(resolve(["leader=gamepad", *words]))


@pytest.mark.nightly
@pytest.mark.long
def test_a_session_follows_a_tag_while_the_dead_man_is_held(tmp_path):
    cell = tmp_path / "cell.yaml"
    row = "[{{id: 3, xyz: [0.4, {:.4f}, 0.1], quat_xyzw: [0, 0, 0, 1]}}]"
    cell.write_text(row.format(0.0))

    def script(t):
        if t > 0.5:  # at 0.05 m/s for two seconds
            cell.write_text(row.format(0.05 * min(t - 0.5, 2.0)))
        return {}

    tags = f"advisors.tags={{type: markers, poses: {cell}, rate: 50}}"
    played = pad_session.PadSession(script, 4.0, *WORDS, tags).run()

    end = played.t < 4.0
    way = played.p[end] - played.p[0]
    np.testing.assert_allclose(way[-1], [0.0, 0.1, 0.0], atol=2e-3)
    assert np.abs(way[played.t[end] < 0.5]).max() < 1e-4, "before it moves"
