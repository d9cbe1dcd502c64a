"""Poses of a bag are in one frame, or the bag is refused before anything moves."""

import numpy as np
import pinocchio as pin
import pytest
from bagfiles import write_bag
from played import make_leader, play, positions

from paprle.contracts.errors import DeviceError
from paprle.leaders.offline.config import BagSettings
from paprle_lab.evaluation.bags import BagTopics, measure_bag

T = np.arange(60) * 0.02
OPTICAL = (-0.5, 0.5, -0.5, 0.5)  # spec: REP 103: z forward, x right, as xyzw
TILTED = (0.1, -0.2, 0.3, np.sqrt(1.0 - 0.14))


def move(t):
    return np.array([0.1 * t, 0.02 * np.sin(t), 0.0])


def say_poses(*frames, T_first=None):
    """Poses of one motion, in each frame for its share of the time."""
    T_first = T_first or {}

    def say(m, t):
        frame = frames[min(int(t / T[-1] * len(frames)), len(frames) - 1)]
        pose = pin.SE3(np.eye(3), move(t))
        pose = T_first.get(frame, pin.SE3.Identity()).inverse() * pose
        return m.pose(
            t, pose.translation, pin.Quaternion(pose.rotation).coeffs(), frame=frame
        )

    return [(t, say) for t in T]


def fix(parent, child, p=(0, 0, 0), quat_xyzw=(0, 0, 0, 1)):
    return (0.0, lambda m, t: m.transform(t, parent, child, p, quat_xyzw))


@pytest.mark.parametrize("storage", ["mcap", "bag"])
def test_the_frame_of_poses_is_told(tmp_path, storage):
    leader = make_leader(write_bag(tmp_path / "bag", {"/p": say_poses("map")}, storage))

    assert any("poses in frame 'map'" in note for note in leader.notes)


@pytest.mark.parametrize("frames", [("base", "odom"), ("a", "b", "a"), ("", "base")])
def test_frames_that_nothing_joins_are_refused(tmp_path, frames):
    path = write_bag(tmp_path / "bag", {"/p": say_poses(*frames)})

    with pytest.raises(DeviceError, match=r"no static transform joins the two"):
        make_leader(path)


@pytest.mark.parametrize("storage", ["mcap", "bag", "db3"])
def test_poses_of_several_frames_are_brought_into_the_first(tmp_path, storage):
    T_base_odom = pin.XYZQUATToSE3(np.array([0.3, -0.1, 0.2, *TILTED]))
    said = {
        "/p": say_poses("base", "odom", T_first={"odom": T_base_odom}),
        "/tf_static": [
            fix("world", "base", (1, 2, 3), TILTED),
            fix("world", "odom", *split(world_of(T_base_odom))),
        ],
    }
    leader = make_leader(write_bag(tmp_path / "bag", said, storage))

    t, samples = play(leader)

    want = np.array([move(min(x, T[-1])) for x in t])
    np.testing.assert_allclose(positions(samples), want, atol=2e-4)
    assert any("30 from 'odom' by /tf_static" in note for note in leader.notes)


def world_of(T_base_odom):
    return pin.XYZQUATToSE3(np.array([1, 2, 3, *TILTED])) * T_base_odom


def split(pose):
    row = pin.SE3ToXYZQUAT(pose)
    return row[:3], row[3:]


@pytest.mark.parametrize(
    "frame",
    [
        "camera_color_optical_frame",
        "left/cam_optical_frame",
        "Optical_Frame",
        "camera_optical_link",
    ],
)
def test_an_optical_frame_that_nothing_places_is_refused(tmp_path, frame):
    said = {"/p": say_poses(frame)}

    with pytest.raises(DeviceError, match=r"leader\.bag\.base_frame="):
        make_leader(write_bag(tmp_path / "bag", said))
    asked = BagSettings(base_frame=frame)
    leader = make_leader(tmp_path / "bag", bag=asked)

    assert any(f"poses in frame '{frame}'" in note for note in leader.notes)


def test_an_optical_table_is_no_optical_frame(tmp_path):
    leader = make_leader(
        write_bag(tmp_path / "bag", {"/p": say_poses("optical_table")})
    )

    assert any("poses in frame 'optical_table'" in note for note in leader.notes)


def test_an_optical_frame_that_tf_static_places_is_transformed(tmp_path):
    frame = "camera_color_optical_frame"
    T_first = {frame: pin.XYZQUATToSE3(np.array([0.1, 0, 0.4, *OPTICAL]))}
    said = {
        "/p": say_poses(frame, T_first=T_first),
        "/tf_static": [
            fix("base", "camera_link", (0.1, 0, 0.4)),
            fix("camera_link", frame, (0, 0, 0), OPTICAL),
        ],
    }
    leader = make_leader(write_bag(tmp_path / "bag", said))

    _, samples = play(leader)

    np.testing.assert_allclose(positions(samples)[-1], move(T[-1]), atol=1e-5)
    assert any(f"60 from '{frame}'" in note for note in leader.notes)


def test_the_configured_frame_wins_and_is_refused_where_nothing_joins_it(tmp_path):
    T_first = {"map": pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.7]))}
    said = {
        "/p": say_poses("map", T_first=T_first),
        "/tf_static": [fix("/table", "map", (0, 0, 0.7))],
    }
    path = write_bag(tmp_path / "bag", said)
    leader = make_leader(path, bag=BagSettings(base_frame="table"))

    _, samples = play(leader)

    np.testing.assert_allclose(positions(samples)[-1], move(T[-1]), atol=1e-5)
    with pytest.raises(DeviceError, match=r"leader\.bag\.base_frame=shelf"):
        make_leader(path, bag=BagSettings(base_frame="shelf"))


@pytest.mark.parametrize("row", [(np.nan, 0, 0, 0, 0, 0, 1), (0, 0, 0, 0, 0, 0, 0)])
def test_an_invalid_transform_joins_nothing(tmp_path, row):
    said = {
        "/p": say_poses("base", "odom"),
        "/tf_static": [fix("base", "odom", row[:3], row[3:])],
    }

    with pytest.raises(DeviceError, match="no static transform"):
        make_leader(write_bag(tmp_path / "bag", said))


def test_two_topics_are_compared_in_the_frame_of_the_target(tmp_path):
    T_first = {"odom": pin.SE3(np.eye(3), np.array([0.5, 0.0, 0.0]))}
    said = {
        "/arm/target_pose": say_poses("base"),
        "/arm/actual_pose": say_poses("odom", T_first=T_first),
    }
    apart = measure_bag(write_bag(tmp_path / "apart", said), BagTopics())
    said["/tf_static"] = [fix("base", "odom", (0.5, 0, 0))]
    joined = measure_bag(write_bag(tmp_path / "joined", said), BagTopics())

    assert "no static transform" in apart.entry["error"]
    assert joined.limbs[0].figures["ate_mm"]["raw"]["max"] < 0.01
