"""A leader that listens to ROS: its contract, and what it makes of what it hears."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ros_memory import MemoryGraph

from paprle.contracts.errors import DeviceError
from paprle.hardware.ros.bus import LATCHED, BusError
from paprle.hardware.ros.joints import (
    Joints,
    Joy,
    Pose,
    encode_joints,
    encode_joy,
    encode_pose,
)
from paprle.hardware.ros.messages import JOINT_STATE, JOY, POSE_STAMPED
from paprle.hardware.ros.telemetry import TRANSFORMS, encode_transforms
from paprle.leaders.ros import leader as module
from paprle.leaders.ros.config import (
    GripperConfig,
    JoyConfig,
    LimbConfig,
    RosLeaderConfig,
)
from paprle.leaders.ros.leader import RosLeader
from paprle.testing import LeaderContract

UNIT = np.array([0.0, 0.0, 0.0, 1.0])
POSES = RosLeaderConfig(
    limbs={"hand": LimbConfig(topic="/pose")},
    joy=JoyConfig(deadman=1, start=2, end=3, gripper_axis=0),
    timeout=0.2,
)
JOINTS = RosLeaderConfig(
    limbs={
        "arm": LimbConfig(
            topic="/js",
            joints=("b", "a"),
            gripper=GripperConfig(joint="g", closed=0.8, open=0.0),
        )
    },
    timeout=0.2,
)


class Device:
    """A device on a graph in memory."""

    def __init__(self, graph):
        self.codec = graph.codec
        bus = graph.join("device")
        self._poses = bus.advertise("/pose", POSE_STAMPED)
        self._joints = bus.advertise("/js", JOINT_STATE)
        self._joys = bus.advertise("/joy", JOY)
        self._statics = bus.advertise("/tf_static", TRANSFORMS, LATCHED)

    def fix(self, parent, child, *row):
        transform = parent, child, np.array(row, float)
        self._statics.publish(encode_transforms(self.codec, [transform], 0))

    def pose(self, p=(0, 0, 0), quat_xyzw=UNIT, frame=""):
        pose = Pose(np.array(p, float), np.array(quat_xyzw, float), frame)
        self._poses.publish(encode_pose(self.codec, pose))

    def joints(self, **q):
        none = np.full(len(q), np.nan)
        joints = Joints(tuple(q), np.array(list(q.values())), none, none)
        self._joints.publish(encode_joints(self.codec, joints))

    def joy(self, *buttons, axes=(0.0,)):
        joy = Joy(np.array(axes), tuple(i in buttons for i in range(5)))
        self._joys.publish(encode_joy(self.codec, joy))

    def garbage(self):
        for publisher in (self._poses, self._joints, self._joys):
            publisher.publish(b"\x00\x01\x00\x00\x07")


@pytest.fixture
def graph():
    return MemoryGraph()


@pytest.fixture(autouse=True)
def in_memory(graph, monkeypatch):
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("leader"))


@pytest.fixture
def device(graph):
    return Device(graph)


def listen(graph, config, *speakers):
    """Open a leader while the device speaks."""
    graph.stepped[:] = speakers
    leader = RosLeader(config, graph.clock)
    leader.open()
    graph.stepped.clear()
    return leader


class TestRosLeader(LeaderContract):
    @pytest.fixture
    def clock(self, graph, device):
        self.device, self.graph = device, graph
        self.is_plugged = True
        graph.stepped.append(self._speak)
        return graph.clock

    def _speak(self):
        if self.is_plugged:
            self.device.pose((0.01, 0, 0))
            self.device.joy(1)

    def make_leader(self, clock):
        return RosLeader(POSES, clock)

    def stimulate(self, leader, clock):  # noqa: ARG002
        self._speak()

    def unplug(self, leader):  # noqa: ARG002
        self.is_plugged = False


def test_poses_and_buttons_become_a_sample(graph, device):
    leader = listen(graph, POSES, device.pose)
    device.pose((0.1, 0.2, 0.3), (0.0, 0.0, 0.99, 0.0))
    device.joy(1, 2, axes=(0.5,))

    sample = leader.latest()

    command = sample.limbs["hand"]
    np.testing.assert_allclose(
        command.T_leader_base_leader_eef.translation, [0.1, 0.2, 0.3]
    )
    assert command.opening == pytest.approx(0.75)
    assert (sample.engaged, sample.start, sample.end) == (True, True, False)
    assert sample.valid


def test_joints_are_found_by_name_whoever_else_speaks(graph, device):
    leader = listen(graph, JOINTS, lambda: device.joints(a=0.0, b=0.0, g=0.0))
    device.joints(other=9.0)
    device.joints(g=0.2, extra=7.0, a=1.0, b=2.0)

    command = leader.latest().limbs["arm"]

    np.testing.assert_array_equal(command.q, [2.0, 1.0])
    assert command.opening == pytest.approx(0.75)


def test_silence_is_not_valid_and_lets_go_of_the_buttons(graph, device):
    leader = listen(graph, POSES, device.pose)
    device.pose()
    device.joy(1)
    assert leader.latest().engaged
    for _ in range(60):
        graph.tick()
        device.pose()

    sample = leader.latest()

    assert not sample.engaged
    assert not sample.valid, "a Joy that fell silent was not released"
    device.joy()
    assert leader.latest().valid
    for _ in range(60):
        graph.tick()
    assert not leader.latest().valid


def test_asking_again_makes_no_new_sample(graph, device):
    leader = listen(graph, POSES, device.pose)
    device.joy(1)
    first = leader.latest()
    graph.tick()
    assert leader.latest().seq == first.seq
    device.pose((0.1, 0, 0))
    assert leader.latest().seq == first.seq + 1

    seqs = set()
    for _ in range(100):  # and then it is silent: let go, not valid, and no more
        graph.tick()
        seqs.add(leader.latest().seq)

    assert seqs <= set(range(first.seq + 1, first.seq + 4))


@pytest.mark.parametrize(
    "change",
    [
        lambda device: device.joy(1, 2),
        lambda device: device.joy(1, 3),
        lambda device: device.joy(),
        lambda device: device.joy(1, axes=(0.7,)),
        lambda device: device.pose((0, 0, 0.1)),
    ],
    ids=["start", "end", "let go", "axis", "pose"],
)
def test_any_change_makes_a_new_sample(graph, device, change):
    leader = listen(graph, POSES, device.pose)
    device.joy(1)
    before = leader.latest().seq
    graph.tick()
    change(device)

    assert leader.latest().seq == before + 1


def test_a_dead_man_let_go_for_want_of_messages_is_told_with_the_remedy(graph, device):
    leader = listen(graph, POSES, device.pose)

    def run(n, *buttons):
        told = []
        device.joy(*buttons)
        for _ in range(n):
            graph.tick()
            device.pose()
            leader.latest()
            told += leader.take_warnings()
        return told

    assert not run(60), "nobody held it"
    [text] = run(60, 1)
    assert "/joy: no Joy for 0.1 [s]" in text
    assert "autorepeat_rate, 50 [Hz]" in text
    assert not run(60, 1), "not with every press"


def test_invalid_poses_are_dropped_and_counted(graph, device):
    leader = listen(graph, POSES, device.pose)
    device.pose((0.1, 0, 0))
    before = leader.latest().limbs["hand"].T_leader_base_leader_eef
    for bad in ((0, 0, 0, 0), (0, 0, 0, 2), (np.nan, 0, 0, 1)):
        device.pose((0.2, 0, 0), bad)
    device.pose((np.inf, 0, 0))
    device.garbage()

    now = leader.latest().limbs["hand"].T_leader_base_leader_eef

    np.testing.assert_array_equal(now.homogeneous, before.homogeneous)
    assert leader.n_refused == 6  # one of them a Joy


def test_a_middleware_that_fails_makes_a_lost_leader_and_is_told_once(
    graph, device, monkeypatch
):
    leader = listen(graph, POSES, device.pose)
    device.joy(1)
    before = leader.latest()

    def fail():
        raise BusError("dds: the domain is gone")

    monkeypatch.setattr(leader._bus, "poll", fail)
    for _ in range(60):
        graph.tick()
        device.pose()
        assert leader.latest() is before, "it only grows old"

    [text] = [t for _ in range(3) for t in leader.take_warnings() if "dds" in t]
    assert text.startswith("leader 'ros': dds: the domain is gone; the leader is lost")
    leader.close()


def test_a_leader_opened_again_has_forgotten_its_failure(graph, device):
    leader = listen(graph, POSES, device.pose)
    leader._failure = "dds: the domain is gone"
    leader.close()

    graph.stepped[:] = [device.pose]
    leader.open()

    assert leader.latest().valid
    assert not leader.take_warnings()


def test_a_device_without_buttons_is_always_engaged(graph, device):
    leader = listen(graph, replace(POSES, joy=None), device.pose)
    sample = leader.latest()

    assert sample.engaged
    assert not sample.start
    assert not leader.info.has_gripper


def test_a_silent_topic_is_told_with_what_is_there_instead(graph):
    Device(graph)
    with pytest.raises(DeviceError) as caught:
        RosLeader(JOINTS, graph.clock).open()

    assert "joints b, a, g on /js" in str(caught.value)
    assert "/pose [geometry_msgs/msg/PoseStamped]" in str(caught.value)
    with pytest.raises(DeviceError, match=r"leader\.limbs"):
        RosLeader(RosLeaderConfig(), graph.clock).open()


@pytest.mark.parametrize(
    "make",
    [
        lambda: GripperConfig(joint="g", closed=1.0, open=1.0),
        lambda: LimbConfig(topic="/p", gripper=JOINTS.limbs["arm"].gripper),
        lambda: RosLeaderConfig(limbs={**POSES.limbs, **JOINTS.limbs}),
    ],
)
def test_configs_that_make_no_sense_are_refused(make):
    with pytest.raises(ValueError):
        make()


def hear(graph, device, p, frame):
    """Let the device say a pose; where the leader has it then, and what it tells."""
    leader = device.leader
    graph.tick()
    device.pose(p, frame=frame)
    command = leader.latest().limbs["hand"]
    return command.T_leader_base_leader_eef.translation, leader.take_warnings()


def test_a_frame_that_changes_mid_stream_is_refused_counted_and_told_once(
    graph, device
):
    device.leader = leader = listen(graph, POSES, lambda: device.pose(frame="base"))
    assert leader.notes == ["limb 'hand': poses in frame 'base'"]
    before, _ = hear(graph, device, (0.1, 0, 0), "base")

    told = []
    for _ in range(50):
        p, warnings = hear(graph, device, (0.4, 0, 0), "odom")
        np.testing.assert_array_equal(p, before)
        told += warnings

    assert leader.n_refused == 50
    assert not leader.latest().valid, "the refused poses do not count as fresh"
    [text] = told
    assert "'odom', and no static transform joins the two" in text


def test_a_frame_that_changes_mid_stream_is_transformed_by_tf_static(graph, device):
    device.leader = listen(graph, POSES, lambda: device.pose(frame="/base"))
    turn = np.sqrt(0.5)
    device.fix("base", "odom", 0.5, 0.0, 0.1, 0.0, 0.0, turn, turn)

    p, warnings = hear(graph, device, (0.2, 0, 0), "odom")

    np.testing.assert_allclose(p, [0.5, 0.2, 0.1], atol=1e-12)
    assert not warnings
    assert "1 from 'odom' by /tf_static" in device.leader.notes[0]


def test_poses_in_an_optical_frame_need_a_transform(graph, device):
    def speak():
        device.pose((0, 0, 1), frame="cam_optical_frame")

    with pytest.raises(DeviceError, match=r"leader\.base_frame=cam_optical_frame"):
        listen(graph, POSES, speak)

    asked = replace(POSES, base_frame="cam_optical_frame")
    leader = listen(graph, asked, speak)
    sample = leader.latest().limbs["hand"].T_leader_base_leader_eef
    np.testing.assert_array_equal(sample.translation, [0, 0, 1])

    device.fix("base", "cam_optical_frame", 0, 0, 0, -0.5, 0.5, -0.5, 0.5)
    sample = listen(graph, POSES, speak).latest().limbs["hand"]
    np.testing.assert_allclose(
        sample.T_leader_base_leader_eef.translation, [1, 0, 0], atol=1e-12
    )


def test_a_configured_frame_that_nothing_joins_is_refused_at_the_start(graph, device):
    asked = replace(POSES, base_frame="table")

    with pytest.raises(DeviceError, match=r"'table', got poses in 'map'"):
        listen(graph, asked, lambda: device.pose(frame="map"))


def test_joints_split_over_messages_are_merged_and_the_oldest_tells_the_age(
    graph, device
):
    def speak():
        device.joints(a=1.0)
        device.joints(b=2.0, g=0.0)

    leader = listen(graph, JOINTS, speak)
    sample = leader.latest()
    np.testing.assert_array_equal(sample.limbs["arm"].q, [2.0, 1.0])
    assert sample.valid

    for k in range(60):
        graph.tick()
        device.joints(a=1.0 + 0.001 * k)

    stale = leader.latest()
    assert not stale.valid, "b and g were silent"
    assert graph.clock() - stale.stamp_ns > 0.14e9
    device.joints(b=2.1, g=0.0)
    assert leader.latest().valid
    assert leader.latest().limbs["arm"].q[0] == pytest.approx(2.1)


@pytest.mark.parametrize("prefix", ["left/", "/left_", "robot."])
def test_a_prefix_that_all_joints_share_is_left_out(graph, device, prefix):
    names = {f"{prefix}a": 1.0, f"{prefix}b": 2.0, f"{prefix}g": 0.0}
    leader = listen(graph, JOINTS, lambda: device.joints(**names))

    np.testing.assert_array_equal(leader.latest().limbs["arm"].q, [2.0, 1.0])


def test_several_prefixes_are_refused_with_the_names_and_the_setting(graph, device):
    def speak():
        device.joints(**{"left/a": 1.0, "left/b": 2.0, "left/g": 0.0})
        device.joints(**{"right/a": 1.0, "right/b": 2.0, "right/g": 0.0})

    with pytest.raises(
        DeviceError, match=r"left/b.*right/b.*leader\.limbs\.arm\.joints"
    ):
        listen(graph, JOINTS, speak)


@pytest.mark.parametrize("other", [0.0, 0.3])
def test_publishers_that_contradict_each_other_are_refused_at_the_start(
    graph, device, other
):
    def speak():
        device.joints(a=1.0, b=2.0, g=0.0)
        device.joints(a=other, b=other, g=0.0)

    with pytest.raises(DeviceError, match="alternate between two motions"):
        listen(graph, JOINTS, speak)


def test_a_publisher_that_contradicts_later_ends_the_motion_and_is_told(graph, device):
    leader = listen(graph, JOINTS, lambda: device.joints(a=1.0, b=2.0, g=0.0))
    told = []
    for _ in range(60):
        graph.tick()
        device.joints(a=1.0, b=2.0, g=0.0)
        device.joints(a=0.0, b=0.0, g=0.0)
        leader.latest()
        told += leader.take_warnings()

    assert not leader.latest().valid
    [text] = told
    assert "two publishers" in text
