"""Bags that other libraries wrote come back as motion."""

import numpy as np
import pytest
from bagfiles import write_bag, write_poses_with_mcap_ros2
from played import make_leader, play, positions

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.settings.core import GripperSettings
from paprle.leaders.offline.config import BagSettings

T = np.arange(50) * 0.02


def say_pose(m, t):
    return m.pose(t, (0.1 * t, 0, 0))


def say_joints(m, t):
    return m.state(t, ["b", "finger", "a"], [np.cos(t), 0.02 * t, np.sin(t)])


def say_command(m, t):
    # the next point, and a brake that the next message replaces
    points = [(0.005, [t, -t]), (0.05, [9.0, 9.0])]
    return m.trajectory(t, ["a", "b"], points if t < T[-1] else points[:1])


POSES = {"/target": [(t, say_pose) for t in T]}
JOINTS = {"/joint_states": [(t, say_joints) for t in T]}


@pytest.mark.parametrize("storage", ["mcap", "db3", "bag"])
def test_poses_of_a_bag_with_one_topic_need_nothing(tmp_path, storage):
    leader = make_leader(write_bag(tmp_path / "bag", POSES, storage))

    t, samples = play(leader)

    assert leader.info.emits == "pose"
    assert not leader.info.is_absolute
    assert t[-1] == pytest.approx(T[-1], abs=0.006)
    assert positions(samples)[-1] == pytest.approx([0.1 * T[-1], 0, 0], abs=1e-9)


def test_a_lone_file_by_another_writer(tmp_path):
    rows = [(t, 0.1 * t, 0, 0) for t in T]
    path = write_poses_with_mcap_ros2(tmp_path / "a.mcap", "/hand", rows)

    _, samples = play(make_leader(path))

    assert positions(samples)[-1] == pytest.approx([0.1 * T[-1], 0, 0], abs=1e-9)


@pytest.mark.parametrize("storage", ["mcap", "bag"])
def test_joints_by_name_with_a_gripper(tmp_path, storage):
    gripper = GripperSettings(joint="finger", closed=0.0, open=0.04)
    leader = make_leader(
        write_bag(tmp_path / "bag", JOINTS, storage),
        bag=BagSettings(gripper=gripper),
        joints=("a", "b"),
    )

    _, samples = play(leader)
    last = samples[-1].limbs["hand"]

    assert leader.info.joint_names == {"hand": ("a", "b")}
    assert last.q == pytest.approx([np.sin(T[-1]), np.cos(T[-1])], abs=1e-4)
    assert last.opening == pytest.approx(T[-1] / 2, abs=1e-6)


def test_points_of_a_trajectory_count_until_the_next_message(tmp_path):
    said = {"/controller/joint_trajectory": [(t, say_command) for t in T]}
    leader = make_leader(write_bag(tmp_path / "bag", said))

    _, samples = play(leader)
    q = np.array([sample.limbs["hand"].q for sample in samples])

    assert np.abs(q).max() < 1.0
    assert q[-1] == pytest.approx([T[-1], -T[-1]])


def test_a_whole_trajectory_in_one_message(tmp_path):
    points = [(t, [t]) for t in T]
    said = {"/plan": [(0.0, lambda m, t: m.trajectory(t, ["a"], points))]}

    t, samples = play(make_leader(write_bag(tmp_path / "bag", said)))

    assert t[-1] == pytest.approx(T[-1], abs=0.006)
    assert samples[-1].limbs["hand"].q == pytest.approx([T[-1]])


def test_joy_is_dead_man_and_gripper(tmp_path):
    def say_joy(m, t):
        return m.joy(t, [0.0, 1.0 if t < 0.1 else 0.5], [0, int(t < 0.3 or t > 0.7)])

    said = POSES | {"/joy": [(t, say_joy) for t in T]}
    bag = BagSettings(joy="/joy", deadman=1, gripper_axis=1)
    leader = make_leader(write_bag(tmp_path / "bag", said), bag=bag)

    assert "20 rows without the dead-man left out" in leader.notes[0]
    assert "1 gaps" in leader.notes[0]
    _, samples = play(leader)
    assert samples[-1].limbs["hand"].opening == pytest.approx(0.75)


@pytest.mark.parametrize("untouched", [0.0, -1.0])
def test_a_trigger_counts_once_it_was_at_rest(tmp_path, untouched):
    def say_joy(m, t):
        return m.joy(t, [untouched if t < 0.4 else 1.0 if t < 0.6 else -1.0], [])

    said = POSES | {"/joy": [(t, say_joy) for t in T]}
    bag = BagSettings(joy="/joy", gripper_axis=0)
    _, samples = play(make_leader(write_bag(tmp_path / "bag", said), bag=bag))

    openings = [sample.limbs["hand"].opening for sample in samples]
    assert openings[0] == 1.0
    assert np.diff(openings).max() <= 0.0
    assert openings[-1] == pytest.approx(0.0)


def test_a_trigger_that_was_never_at_rest_is_named(tmp_path):
    def say_joy(m, t):
        return m.joy(t, [0.2], [])

    said = POSES | {"/joy": [(t, say_joy) for t in T]}
    bag = BagSettings(joy="/joy", gripper_axis=0)

    leader = make_leader(write_bag(tmp_path / "bag", said), bag=bag)

    assert any("the trigger was not at rest" in note for note in leader.notes)


def test_several_limbs_by_topic(tmp_path):
    said = {"/left": POSES["/target"], "/right": POSES["/target"]}
    path = write_bag(tmp_path / "bag", said)

    leader = make_leader(path, bag=BagSettings(topics={"l": "/left", "r": "/right"}))
    with pytest.raises(
        ConfigError, match=r"several: /left, /right.*leader\.bag\.topics"
    ):
        make_leader(path)

    assert leader.info.limbs == ("l", "r")


@pytest.mark.parametrize("skew", [0.3, -0.3, 0.03])
def test_hosts_with_clocks_of_their_own_are_brought_together(tmp_path, skew):
    def say_skewed(m, t):
        return m.pose(t, (0.1 * t, 0, 0), skew=skew)

    def say_joy(m, t):
        return m.joy(t, [], [int(t < 0.41)], skew=-skew)

    said = POSES | {"/other": [(t, say_skewed) for t in T]}
    said["/joy"] = [(t, say_joy) for t in T]
    topics = {"l": "/target", "r": "/other"}
    bag = BagSettings(topics=topics, joy="/joy", deadman=0)
    leader = make_leader(write_bag(tmp_path / "bag", said), bag=bag)

    _, samples = play(leader)

    apart = f"clocks of /joy, /other, /target are {2e3 * abs(skew):.0f} ms apart"
    assert sum(apart in note for note in leader.notes) == 2
    assert positions(samples, "l")[-1] == pytest.approx([0.04, 0, 0], abs=1e-9)
    np.testing.assert_allclose(positions(samples, "l"), positions(samples, "r"))


@pytest.mark.parametrize(
    ("said", "settings", "match"),
    [
        ({"/joy": [(0.0, lambda m, t: m.joy(t, [], []))]}, {}, r"got none.*/joy \[s"),
        (POSES, {"bag": BagSettings(topics={"a": "/no"})}, r"no such topic; in it: /"),
        (JOINTS, {"joints": ("c",)}, r"joints c on /joint_states, got a, b"),
        (POSES | JOINTS, {"bag": BagSettings(topics={"a": "/target"}, joy="/target")},
         r"expected sensor_msgs/msg/Joy on /target, got geometry"),
    ],
)  # fmt: skip
def test_the_error_lists_the_existing_topics(tmp_path, said, settings, match):
    path = write_bag(tmp_path / "bag", said)

    with pytest.raises((ConfigError, DeviceError), match=match):
        make_leader(path, **settings)


def test_a_bag_without_stamps_has_times_of_reception(tmp_path):
    def say(m, t):
        return m.state(t, ["a"], [t], is_stamped=False)

    path = write_bag(tmp_path / "bag", {"/joint_states": [(t, say) for t in T]})

    t, _ = play(make_leader(path))

    assert t[-1] == pytest.approx(T[-1], abs=0.006)


@pytest.mark.parametrize("storage", ["mcap", "bag", "db3"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_cut_bag_is_refused_and_says_what_helps(tmp_path, storage, share):
    path = write_bag(tmp_path / "bag", POSES, storage)
    file = path if storage == "bag" else next(path.glob(f"*.{storage}"))
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])

    with pytest.raises(DeviceError, match="expected"):
        make_leader(path)
