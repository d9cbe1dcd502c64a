"""JointState of a bag: in parts, of two arms, of two publishers, with prefixes."""

import numpy as np
import pytest
from bagfiles import write_bag
from played import make_leader, play

from paprle.contracts.errors import DeviceError
from paprle.leaders.offline.config import BagSettings

T = np.arange(100) * 0.02
ARM = ("j1", "j2")


def q_of(t, sign=1.0):
    return np.array([sign * np.sin(t), np.cos(t)])


def say(names, which=slice(None), sign=1.0, at=lambda q: q):
    return lambda m, t: m.state(t, list(names), at(q_of(t, sign))[which])


def bag(tmp_path, *series):
    """Write series of (times, message) on one topic."""
    rows = [(t, make) for times, make in series for t in times]
    return write_bag(tmp_path / "bag", {"/joint_states": rows})


def joints_of(leader, limb="hand"):
    t, samples = play(leader)
    assert all(sample.valid for sample in samples)
    return t, np.array([sample.limbs[limb].q for sample in samples])


@pytest.mark.parametrize("order", [("j1", "j2"), ("j2", "j1")])
def test_joints_split_over_messages_are_merged_by_their_own_stamps(tmp_path, order):
    halves = {"j1": slice(0, 1), "j2": slice(1, 2)}
    path = bag(
        tmp_path,
        (T, say(order[:1], halves[order[0]])),
        (T + 0.008, say(order[1:], halves[order[1]])),
    )
    leader = make_leader(path, joints=ARM)

    t, q = joints_of(leader)

    inside = (t > 0.1) & (t < T[-1] - 0.1)
    late = 0.008 if order[0] == "j2" else 0.0  # rows have the stamps of j1
    want = np.array([q_of(x + late) for x in t])
    np.testing.assert_allclose(q[inside], want[inside], atol=1e-3)
    assert "rows merged from several messages" in leader.notes[0]


def test_a_joint_that_falls_silent_counts_as_missing(tmp_path):
    silent = (T < 0.6) | (T > 1.4)
    path = bag(
        tmp_path, (T, say(["j1"], slice(0, 1))), (T[silent], say(["j2"], slice(1, 2)))
    )

    leader = make_leader(path, joints=ARM, allow_loss=True)
    _, samples = play(leader)

    assert "with a joint silent for 0.25 s dropped" in leader.notes[0]
    assert not all(sample.valid for sample in samples)


def test_two_arms_that_take_turns_on_one_topic_are_two_limbs(tmp_path):
    path = bag(
        tmp_path,
        (T, say(["left_j1", "left_j2"])),
        (T + 0.003, say(["right_j1", "right_j2"], sign=-1.0)),
    )
    topics = {"left": "/joint_states", "right": "/joint_states"}
    leader = make_leader(path, bag=BagSettings(topics=topics))

    assert leader.info.joint_names == {
        "left": ("left_j1", "left_j2"),
        "right": ("right_j1", "right_j2"),
    }
    t, samples = play(leader)
    left = np.array([sample.limbs["left"].q for sample in samples])
    np.testing.assert_allclose(left[50:-50, 0], np.sin(t[50:-50]), atol=1e-3)


@pytest.mark.parametrize("prefix", ["left/", "left_", "/robot1/", "arm."])
def test_a_prefix_that_all_joints_share_is_left_out(tmp_path, prefix):
    path = bag(tmp_path, (T, say([prefix + name for name in ARM])))

    leader = make_leader(path, joints=ARM)

    assert leader.info.joint_names == {"hand": ARM}


def test_several_prefixes_are_refused_unless_the_limb_names_one(tmp_path):
    path = bag(
        tmp_path,
        (T, say(["left/j1", "left/j2"])),
        (T, say(["right/j1", "right/j2"], sign=-1.0)),
    )

    with pytest.raises(DeviceError, match=r"left/j1.*right/j1.*leader\.joints"):
        make_leader(path, joints=ARM)
    _, q = joints_of(make_leader(path, joints=ARM, limb="right"), "right")
    assert q[-1, 0] == pytest.approx(-np.sin(T[-1]), abs=1e-3)


@pytest.mark.parametrize(
    ("times", "change"),
    [
        (T[::5] + 0.01, lambda q: 0 * q),
        (T + 0.01, lambda q: q + 0.3),
        (T + 0.001, lambda q: q - 1.0),
        (T[::3] + 0.004, lambda q: np.array([q[0], 0.2])),
    ],
    ids=["zeros", "offset", "close in time", "one joint"],
)
def test_publishers_that_contradict_each_other_are_refused(tmp_path, times, change):
    path = bag(tmp_path, (T, say(ARM)), (times, say(ARM, at=change)))

    with pytest.raises(DeviceError, match="alternate between two motions"):
        make_leader(path)


@pytest.mark.parametrize("rate", [2.0, 4.0, 5.0, 10.0])
def test_slow_publishers_that_contradict_each_other_are_refused(tmp_path, rate):
    t = np.arange(0.0, 20.0, 1.0 / rate)
    other = t + 0.5 / rate, say(ARM, at=lambda q: q + 1.5)
    path = bag(tmp_path, (t, say(ARM)), other)

    with pytest.raises(DeviceError, match="alternate between two motions"):
        make_leader(path, max_gap=1.0)


def test_fast_motion_that_wraps_is_no_second_publisher(tmp_path):
    def say_fast(m, t):
        wrapped = np.pi + 0.02 * np.sin(40.0 * t)
        wrapped -= 2.0 * np.pi * (wrapped > np.pi)
        return m.state(t, list(ARM), [wrapped, 2.0 * np.sin(6.0 * t)])

    leader = make_leader(bag(tmp_path, (T, say_fast)))

    assert leader.info.joint_names == {"hand": ARM}


def test_a_second_publisher_that_agrees_is_taken(tmp_path):
    path = bag(tmp_path, (T, say(ARM)), (T + 0.005, say(ARM)))

    _, q = joints_of(make_leader(path))

    assert q[-1] == pytest.approx(q_of(T[-1] + 0.005), abs=1e-3)
