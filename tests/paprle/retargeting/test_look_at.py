"""A limb that carries a camera and watches another (requirements C3, C7, C9, 4.2)."""

import camera_arm as rig
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paprle.contracts.errors import ConfigError
from paprle.contracts.images import CameraInfo
from paprle.contracts.settings.core import IkSettings, LimbIkSettings
from paprle.contracts.settings.retarget import LimbRuleSettings, RetargetSettings
from paprle.contracts.types import LeaderInfo
from paprle.retargeting.camera_limb_solver import CalmSolver
from paprle.retargeting.retarget import Retargeting

DT_NS = 5_000_000
DT = DT_NS * 1e-9
HOME = rig.place(rig.ROBOT.home)
DEFAULT = rig.LOOK.motion


class Camera:
    """A camera whose limb does as it is asked, and a hand wherever one puts it."""

    def __init__(self, camera=rig.LOOK):
        self.rule = rig.pair(camera).slots[rig.CAMERA][0].rule
        self.sight = self.rule._sight
        self.T, self.t_ns = HOME.copy(), 0
        self.state = self.rule.begin(self.inputs({}))

    def inputs(self, advice):
        sample = rig.sample_of(stamp_ns=self.t_ns)
        return rig.inputs_of(rig.CAMERA, sample, self.T, advice)

    def step(self, advice=None, hand=None):
        """Return T_world_cam a tick later."""
        if hand is not None:
            self.T[rig.ARM, :3, 3] = hand
        self.t_ns += DT_NS
        asked, self.state = self.rule.apply(self.inputs(advice or {}), self.state)
        self.T[rig.CAMERA] = asked.T_base_eef
        return self.pose

    @property
    def pose(self):
        return self.sight.place_camera(self.T[rig.CAMERA])

    @property
    def hand(self):
        return (self.sight.T_world_of @ self.T[rig.ARM])[:3, 3]

    def run(self, n, advice=None):
        return np.array([self.step(advice) for _ in range(n)])


def bearing(T, p):
    """Angle from the camera's axis to a point, [rad]."""
    way = p - T[:3, 3]
    return np.arccos(np.clip(T[:3, 2] @ way / np.linalg.norm(way), -1, 1))


def roughness(poses):
    """Largest acceleration and jerk of positions, [m/s²], [m/s³]."""
    p = poses[:, :3, 3]
    size = [np.linalg.norm(np.diff(p, k, axis=0), axis=1).max() / DT**k for k in (2, 3)]
    return size[0], size[1]


def test_begins_where_the_command_stands_and_turns_to_the_hand():
    camera = Camera()
    start, hand = camera.pose, camera.hand + [0.2, 0.1, -0.3]

    first = camera.step(hand=camera.T[rig.ARM][:3, 3] + [0.2, 0.1, -0.3])
    last = camera.run(400)[-1]

    np.testing.assert_allclose(first, start, atol=1e-3)
    np.testing.assert_allclose(last[:3, 3], start[:3, 3], atol=1e-9)
    assert bearing(last, hand) < 1e-3
    assert abs(last[2, 0]) < 1e-3  # upright


def test_goes_where_it_is_advised_and_arrives():
    camera = Camera()
    goal = camera.pose[:3, 3] + [0.2, 0.1, -0.1]

    poses = camera.run(800, rig.advise(goal))

    np.testing.assert_allclose(poses[-1, :3, 3], goal, atol=1e-3)
    assert bearing(poses[-1], camera.hand) < 1e-3


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), slow=st.booleans())
def test_no_advice_and_no_hand_makes_it_rougher_than_allowed(seed, slow):
    rng = np.random.default_rng(seed)
    limits = (0.1, 0.1) if slow else (DEFAULT.max_acceleration, DEFAULT.max_jerk)
    motion = rig.with_motion(max_acceleration=limits[0], max_jerk=limits[1])
    camera = Camera(motion)
    poses = []
    for _ in range(15):
        age = rng.choice([0.0, 0.1, 9.0])
        advice = rig.advise(10.0 * rng.normal(size=3), age, valid=rng.random() > 0.2)
        hand = rng.normal(size=3)
        poses += [camera.step(advice, hand) for _ in range(20)]

    a, j = roughness(np.array(poses))
    turns = [
        pin.log3(A[:3, :3].T @ B[:3, :3])
        for A, B in zip(poses, poses[1:], strict=False)
    ]
    assert a <= limits[0] * (1 + 1e-6)
    assert j <= limits[1] * (1 + 1e-6)
    spin = np.linalg.norm(turns, axis=1).max() / DT
    assert spin <= DEFAULT.max_turn + 2 * DEFAULT.max_turn_acceleration * DT
    assert np.isfinite(poses).all()


@pytest.mark.parametrize(
    "last", [rig.advise([9.0] * 3, age=0.3), rig.advise([9.0] * 3, valid=False), {},
             rig.advise([np.nan] * 3)],
    ids=["stale", "taken back", "killed", "no number"],
)  # fmt: skip
def test_without_fresh_advice_it_comes_to_rest_and_goes_on_looking(last):
    camera = Camera()
    before = camera.run(120, rig.advise(camera.pose[:3, 3] + [0.3, 0.2, 0.0]))

    after = camera.run(500, last)
    moved = camera.step(last, camera.T[rig.ARM][:3, 3] + [0.0, 0.1, 0.0])
    looked = camera.run(300, last)[-1]

    a, j = roughness(np.concatenate([before, after]))
    assert a <= DEFAULT.max_acceleration * (1 + 1e-6)
    assert j <= DEFAULT.max_jerk * (1 + 1e-6)
    assert np.linalg.norm(after[-1, :3, 3] - after[-50, :3, 3]) < 1e-4
    assert np.linalg.norm(moved[:3, 3] - after[-1, :3, 3]) < 1e-4
    assert bearing(looked, camera.hand) < 1e-3


def test_an_arm_that_cannot_turn_its_camera_as_asked_keeps_it_where_it_is():
    retargeting = rig.pair()
    camera = rig.ROBOT.limbs["camera"]
    target, home = retargeting.make_target(), rig.ROBOT.home
    turned = HOME[rig.CAMERA].copy()
    turned[:3, :3] = turned[:3, :3] @ pin.exp3(np.array([0.0, 1.0, 0.0]))
    target.T[rig.CAMERA], target.is_asked[rig.CAMERA] = turned, True

    path = [home, home]
    for _ in range(40):
        path.append(retargeting.solve(target, path[-1], path[-1], DT).q_des)

    q = np.array([camera.take(row) for row in path])
    places = np.array([camera.fk(row).translation for row in q])
    bounds = 0.5 * rig.ROBOT.ddq_max[camera.indices]
    assert np.abs(q[-1] - q[0]).max() > 0.05
    assert (np.abs(np.diff(q, 2, axis=0)) / DT**2 < bounds).all()
    assert np.linalg.norm(places - HOME[rig.CAMERA][:3, 3], axis=1).max() < 2e-3


@pytest.mark.parametrize("point", [(0.0, 0.0, 0.0), (0.05, -0.02, 0.1)])
def test_a_camera_is_where_it_was_asked_to_be_to_the_nanometre_however_late_it_turns(
    point,
):
    camera, home = rig.ROBOT.limbs["camera"], rig.ROBOT.home
    point = np.array(point)
    solver = CalmSolver(
        rig.ROBOT, IkSettings(rotation_weight=0.01), 0.0, {"camera": point}
    )
    T = HOME.copy()
    p = T[rig.CAMERA, :3, :3] @ point + T[rig.CAMERA, :3, 3]
    R = T[rig.CAMERA, :3, :3] @ pin.exp3(np.array([0.0, 0.6, 0.0]))
    T[rig.CAMERA, :3, :3], T[rig.CAMERA, :3, 3] = R, p - R @ point

    is_asked, nowhere = np.array([False, True]), np.full(len(home), np.nan)
    q, path = home, []
    for _ in range(60):
        q, _, _ = solver.solve(T, is_asked, nowhere, q, q, DT)
        path.append(camera.fk(camera.take(q)))

    late = np.linalg.norm(pin.log3(path[30].rotation.T @ R))
    assert late > 0.1, "it was easy"
    off = np.array([T_base_eef.act(point) - p for T_base_eef in path])
    assert np.linalg.norm(off, axis=1).max() < 2e-9


def test_ik_settings_of_a_limb_apply_to_a_camera_limb():
    said = IkSettings(limbs={"camera": LimbIkSettings(rotation_weight=0.3)})
    settings = RetargetSettings(
        limbs={"arm": LimbRuleSettings(from_="hand"), "camera": rig.LOOK}
    )

    retargeting = Retargeting(rig.ROBOT, rig.HAND, settings, ik_settings=said)

    assert retargeting.ik.of_limb("camera").rotation_weight == 0.3
    assert retargeting.ik.of_limb("arm") == said.of_limb("arm")


def test_looks_where_the_hand_will_be():
    camera = Camera()
    camera.run(200)
    v = np.array([0.3, 0.0, 0.0])
    for _ in range(200):
        pose = camera.step(hand=camera.T[rig.ARM][:3, 3] + v * DT)

    assert bearing(pose, camera.hand + 0.3 * v) < 0.03
    assert bearing(pose, camera.hand) > 0.08


def test_a_view_straight_down_does_not_spin():
    camera = Camera()
    over = camera.T[rig.ARM][:3, 3].copy()
    above = (camera.sight.T_world_of @ [*over, 1.0])[:3] + [0.0, 0.0, 0.8]
    poses = list(camera.run(800, rig.advise(above)))
    for k in range(400):  # the hand goes round right below it
        around = 0.01 * np.array([np.cos(0.01 * k), np.sin(0.01 * k), 0.0])
        poses.append(camera.step(rig.advise(above), over + around))

    turns = [
        pin.log3(A[:3, :3].T @ B[:3, :3])
        for A, B in zip(poses[800:], poses[801:], strict=False)
    ]
    assert np.linalg.norm(turns, axis=1).max() / DT < 0.3
    assert bearing(poses[-1], camera.hand) < 0.05


def test_an_arm_that_does_not_come_along_is_waited_for():
    camera = Camera()
    start = camera.T[rig.CAMERA].copy()
    for _ in range(600):
        asked = camera.step(rig.advise([5.0, 5.0, 5.0]))
        camera.T[rig.CAMERA] = start  # it stands in spite of all

    assert np.linalg.norm(asked[:3, 3] - camera.pose[:3, 3]) < 0.25


def test_looks_with_the_camera_that_its_hand_carries():
    T = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([0.0, 0.05, 0.02]))
    info = CameraInfo(
        width=64,
        height=48,
        fps=30,
        encoding="rgb8",
        K=np.eye(3),
        link="camera_l6",
        T_link_cam=T,
    )

    sight = rig.pair(cameras={"wrist": info}).slots[rig.CAMERA][0].rule._sight

    # camera_optical stands 0.086 m before camera_l6
    np.testing.assert_allclose(
        sight.T_eef_cam[:3, 3], T.translation - [0, 0, 0.086], atol=1e-9
    )
    np.testing.assert_allclose(sight.T_eef_cam[:3, :3], T.rotation, atol=1e-9)


@pytest.mark.long
def test_a_stick_zooms_and_what_it_did_wears_off():
    pad = rig.STICK
    look = LimbRuleSettings(rule="look_at", of="arm", advice="viewpoint", zoom="hand/z")
    rule = (
        rig.pair(look, LimbRuleSettings(from_="hand"), leader=pad)
        .slots[rig.CAMERA][0]
        .rule
    )

    def distance(camera):
        return np.linalg.norm(camera.pose[:3, 3] - camera.hand)

    camera = Camera()
    camera.rule = rule
    goal = rig.advise(camera.pose[:3, 3])
    deflection = 0.0

    def inputs(advice):
        sample = rig.sample_of(stamp_ns=camera.t_ns, leader=pad)
        sample.axes[0] = 0.0, deflection
        return rig.inputs_of(rig.CAMERA, sample, camera.T, advice)

    camera.inputs = inputs
    before = distance(camera)
    deflection = -1.0
    camera.run(150, goal)
    deflection = np.nan  # a stick that says nothing is at rest
    camera.run(300, goal)
    near = distance(camera)
    camera.run(6000, goal)

    assert near == pytest.approx(before - 0.25, abs=0.08)
    assert near >= DEFAULT.nearest - 1e-3
    assert distance(camera) == pytest.approx(before, abs=0.03)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"of": "amr"}, "camera.of: expected a limb that a leader drives, got 'amr"),
        ({"of": "camera"}, "camera.of: expected a limb that a leader drives"),
        ({"of": "arm", "camera": "front"}, "camera: expected a camera on the hand"),
        ({"of": "arm", "zoom": "hand/z"}, "zoom: expected a leader's limb and its"),
    ],
)  # fmt: skip
def test_missing_names_are_refused(asked, says):
    with pytest.raises(ConfigError, match=says):
        rig.pair(LimbRuleSettings(rule="look_at", **asked))


def test_the_gripper_of_the_watched_limb_is_not_the_cameras():
    two = rig.load_robot("papras_7dof_2arm")
    hand = LeaderInfo(limbs=("hand",), has_gripper=True)
    limbs = {
        "right": LimbRuleSettings(from_="hand", alignment="view"),
        "left": LimbRuleSettings(rule="look_at", of="right"),
    }
    made = rig.Retargeting(two, hand, rig.RetargetSettings(limbs=limbs))

    names = list(two.limbs)
    grippers = [made.slots[names.index(limb)][0].gripper for limb in ("left", "right")]

    assert grippers[0] == -1
    assert grippers[1] >= 0
    assert made.describe() == (
        "hand drives left, looking at right; "
        "hand drives right, relative, scale 1, view axes"
    )
    assert made.pairing.list_driven("hand")[0][0] == "right"
    assert not made.needs_alignment
