"""Markers in the images of a session's camera, which are drawn here by projection."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from drawn_markers import HEIGHT, PLACED, SIZE, T_WORLD_CAM, WIDTH, K, project
from retargeting import load_robot

from paprle.advisors.admc.advisor import Admc
from paprle.advisors.admc.config import AdmcConfig
from paprle.advisors.markers.advisor import Markers
from paprle.advisors.markers.config import MarkersConfig
from paprle.contracts.errors import ConfigError
from paprle.contracts.images import CameraInfo, Frame
from paprle.contracts.kit.named_objects import find_object
from paprle.contracts.session_view import Advice
from paprle.contracts.urdf.link_poses import LinkPoses
from paprle.testing import AdvisorContract, ManualClock, make_session_view

cv2 = pytest.importorskip("cv2")

ROBOT = load_robot("papras_7dof").info
STANDS = CameraInfo(
    width=WIDTH, height=HEIGHT, fps=30.0, encoding="mono8", K=K, link="",
    T_link_cam=T_WORLD_CAM,
)  # fmt: skip
KEEP = 2.0  # [s]
ALL, FEW = project(PLACED), project({3: PLACED[3]})


class Table:
    """A camera above a table, and who looks for markers in its images."""

    def __init__(self, info=STANDS, **settings):
        self.clock = ManualClock()
        config = MarkersConfig(camera="top", size=SIZE, keep=KEEP, **settings)
        self.advisor = Markers(config, ROBOT, {"top": info}, self.clock)
        self.advisor.open()

    def look(self, data, after=0.1, late=0.04, **view):
        """Show it an image, or the last one again; return what it says."""
        self.clock.advance(after)
        if data is not None:
            self.frame = Frame(self.clock() - round(late * 1e9), data)
        shown = make_session_view(ROBOT, self.clock(), **view)
        return self.advisor.advise(shown, {"top": self.frame})

    def find(self, record, name, age=0.0):
        said = {"tags": Advice(record, age)}
        return find_object(make_session_view(ROBOT, self.clock(), advice=said), name)


def encode(picture, encoding):
    if encoding == "mono8":
        return picture.tobytes()
    colours = cv2.cvtColor(picture, cv2.COLOR_GRAY2RGB)
    if encoding == "rgb8":
        return colours.tobytes()
    return cv2.imencode(f".{encoding}", colours)[1].tobytes()


def check_places(record, T_world_cam):
    assert record["id"].tolist()[:4] == [3, 17, 40, -1]
    for row, T_cam_marker in enumerate(PLACED.values()):
        off = (T_world_cam * T_cam_marker).actInv(pin.XYZQUATToSE3(record["pose"][row]))
        assert np.linalg.norm(off.translation) < 0.002
        assert np.rad2deg(np.linalg.norm(pin.log3(off.rotation))) < 0.5


@pytest.mark.parametrize("encoding", ["mono8", "rgb8", "png", "jpeg"])
def test_places_are_those_before_the_camera_and_stamps_those_of_its_image(encoding):
    table = Table(replace(STANDS, encoding=encoding))

    said = table.look(encode(ALL, encoding))

    check_places(said, T_WORLD_CAM)
    assert said["valid"]
    assert said["based_on_ns"] == said["seen_ns"][0] == table.clock() - 40_000_000


def test_a_camera_on_the_robot_is_where_the_robot_was_measured():
    q = ROBOT.home + 0.1
    T_link_cam = pin.SE3(pin.rpy.rpyToMatrix(0.1, 0.2, 0.3), np.array([0.05, 0, 0]))
    link = ROBOT.limbs[0].eef_link
    links = LinkPoses(ROBOT)
    links.update(q)
    table = Table(replace(STANDS, link=link, T_link_cam=T_link_cam))

    check_places(table.look(ALL.tobytes(), q=q), links.place(link) * T_link_cam)


def test_a_marker_that_is_hidden_stays_where_it_was_for_a_while():
    table = Table()
    table.look(ALL.tobytes())

    hidden = table.look(FEW.tobytes(), 0.9 * KEEP)
    gone = table.look(FEW.tobytes(), 0.2 * KEEP)

    assert hidden["id"].tolist()[:3] == [3, 17, 40]
    assert table.find(hidden, "tags.17").age == pytest.approx(0.9 * KEEP + 0.04, 0.2)
    assert table.find(hidden, "tags.3").age == pytest.approx(0.24, abs=0.25)
    assert gone["id"].tolist()[:2] == [3, -1]


def test_a_camera_that_falls_silent_says_nothing_in_the_end():
    table = Table()

    said = [table.look(ALL.tobytes())]
    said += [table.look(None, 0.2 * KEEP) for _ in range(6)]

    assert [bool(one["valid"]) for one in said] == [True] * 5 + [False] * 2


def test_an_image_that_cannot_be_read_takes_nothing_back_and_is_told_once():
    table = Table(replace(STANDS, encoding="jpeg"))
    table.look(encode(ALL, "jpeg"))

    said = [table.look(b"cut")["valid"] for _ in range(3)]

    assert said == [True] * 3
    (warning,) = table.advisor.take_warnings()
    assert "camera 'top': expected jpeg, got 3 other bytes" in warning


@pytest.mark.parametrize(
    ("info", "message"),
    [
        (None, r"expected a camera of the session \(none\), got 'top'"),
        (replace(STANDS, K=np.full((3, 3), np.nan)), "expected a calibrated camera"),
        (replace(STANDS, encoding="depth16", depth_unit=0.001), "of depth16"),
    ],
    ids=["unknown", "uncalibrated", "depth"],
)
def test_a_camera_that_says_nothing_of_places_is_refused(info, message):
    cameras = {} if info is None else {"top": info}

    with pytest.raises(ConfigError, match=message):
        Markers(MarkersConfig(camera="top"), ROBOT, cameras, int)


@pytest.mark.parametrize("name", ["tags.4", "tags", "tags.", "others.3", "3", "tags.x"])
def test_an_unseen_marker_has_no_pose(name):
    table = Table()

    assert table.find(table.look(ALL.tobytes()), name) is None


def test_old_advice_says_nothing_of_objects():
    table = Table()
    said = table.look(ALL.tobytes())

    assert table.find(said, "tags.3") is not None
    assert table.find(said, "tags.3", age=1.5) is None


def test_marked_objects_are_grasped_and_stay_held_while_the_hand_hides_them():
    """AdaptiX on a real table: block and target are markers that a camera sees."""
    config = AdmcConfig(
        forward="x", point=(-0.02, 0, 0), object="tags.3", target="tags.17"
    )
    links = LinkPoses(ROBOT)
    limb = ROBOT.limbs[0]
    home = ROBOT.home.copy()
    links.update(home)
    p_grasp = links.place(limb.eef_link).act(np.array(config.point))
    # the camera is hung up so that marker 3 lies between the fingers
    T = pin.SE3(np.eye(3), p_grasp) * PLACED[3].inverse()
    table = Table(replace(STANDS, T_link_cam=T))
    advisor = Admc(config, ROBOT, {}, table.clock)
    advisor.open()

    def ask(data, after, **view):
        record = table.look(data, after)
        said = {"tags": Advice(record, 0.0)}
        view = make_session_view(ROBOT, table.clock(), advice=said, **view)
        return advisor.advise(view, {})

    squeezed, stalled = home.copy(), home.copy()
    squeezed[-1], stalled[-1] = limb.gripper.closed, 0.7 * limb.gripper.closed
    fist = {"q": stalled, "q_cmd": squeezed}
    away = {name: row.copy() for name, row in fist.items()}
    for row in away.values():
        row[0] += 1.0  # the arm turns aside with what it holds

    before = ask(ALL.tobytes(), 0.1)
    taken = ask(ALL.tobytes(), 0.1, **fist)
    hidden = project({17: PLACED[17]}).tobytes()
    brought = ask(hidden, 1.0, **away)
    advisor.close()

    np.testing.assert_allclose(before["goal"], p_grasp + [0, 0, 0.01], atol=0.002)
    assert not before["is_held"]
    assert taken["is_held"]
    assert brought["valid"]
    assert brought["is_held"]
    target = (T * PLACED[17]).translation
    np.testing.assert_allclose(brought["goal"], target + [0, 0, 0.03], atol=0.003)


class TestMarkersOfACamera(AdvisorContract):
    robot = ROBOT

    def make_advisor(self, clock):
        config = MarkersConfig(camera="top", size=SIZE)
        return Markers(config, ROBOT, {"top": STANDS}, clock)
