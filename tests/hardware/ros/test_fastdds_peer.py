"""Fast DDS, the library under rmw_fastrtps, hears us and is heard, in nine types."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from ros_rig import MUST_RUN, choose_domain, skip_or_fail

from paprle.hardware.ros.bus import Qos
from paprle.hardware.ros.joints import Joints, Trajectory, encode_joints
from paprle.hardware.ros.messages import JOINT_STATE, JOINT_TRAJECTORY, load_codec
from paprle.hardware.ros.trajectories import encode_trajectory

if not MUST_RUN:
    pytest.importorskip("cyclonedds")

from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy
from cyclonedds.qos import Qos as DdsQos

from paprle.hardware.ros.transports.dds import DdsBus
from paprle.hardware.ros.transports.dds_types import mangle_type

SOURCE = Path(__file__).parents[2] / "support/ros/fastdds_peer.cpp"
CODEC = load_codec("jazzy")
DEEP = Qos(depth=64)
N = 20


def make_examples():
    """Return bytes of the nine types, none of them all zeros where they have fields."""
    rng = np.random.default_rng(1)
    three, names = rng.normal(size=3), tuple(f"joint{i}" for i in range(7))
    q = rng.normal(size=(5, 7))
    header = CODEC.make_header(1_234_567_890, "base")
    xyz = CODEC.make("geometry_msgs/msg/Vector3", x=three[0], y=three[1], z=three[2])
    point = CODEC.make("geometry_msgs/msg/Point", x=three[0], y=1.0, z=-2.0)
    made = {
        "std_msgs/msg/Float64MultiArray": {"data": q[0]},
        "geometry_msgs/msg/PoseStamped": {
            "header": header,
            "pose": CODEC.make("geometry_msgs/msg/Pose", position=point),
        },
        "geometry_msgs/msg/TwistStamped": {
            "header": header,
            "twist": CODEC.make("geometry_msgs/msg/Twist", linear=xyz, angular=xyz),
        },
        "geometry_msgs/msg/WrenchStamped": {
            "header": header,
            "wrench": CODEC.make("geometry_msgs/msg/Wrench", force=xyz, torque=xyz),
        },
        "sensor_msgs/msg/Image": {
            "header": header,
            "height": 12,
            "width": 16,
            "encoding": "rgb8",
            "step": 48,
            "data": rng.integers(0, 256, 12 * 48, dtype=np.uint8),
        },
        "std_msgs/msg/Bool": {"data": True},
        "std_msgs/msg/Empty": {},
    }
    examples = {t: CODEC.encode(CODEC.make(t, **f), t) for t, f in made.items()}
    joints = Joints(names, q[0], q[1], q[2], 99)
    trajectory = Trajectory(names, np.arange(1.0, 6.0), q, q)
    examples[JOINT_STATE] = encode_joints(CODEC, joints)
    examples[JOINT_TRAJECTORY] = encode_trajectory(CODEC, trajectory)
    return examples


EXAMPLES = make_examples()


def topic_of(typename):
    return "/" + typename.replace("/", "_")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if shutil.which("g++") is None or not Path("/usr/include/fastdds").is_dir():
        skip_or_fail("Fast DDS is not here: apt-get install libfastrtps-dev g++")
    path = tmp_path_factory.mktemp("peer") / "fastdds_peer"
    words = [
        "g++",
        "-std=c++17",
        "-o",
        str(path),
        str(SOURCE),
        "-lfastrtps",
        "-lfastcdr",
    ]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return path


class Peer:
    """The other side: what it hears on a topic it says on the topic with _back."""

    def __init__(self, program, topic, type_name, kind="reliable"):
        words = [f"rt{topic}", f"rt{topic}_back", type_name, kind]
        self.process = subprocess.Popen(
            [program, str(choose_domain()), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def end(self):
        """Return how many writers and messages it has met."""
        out, _ = self.process.communicate("\n", timeout=20)
        words = out.split()
        return int(words[words.index("writers") + 1]), int(words[-1])


@pytest.fixture
def bus():
    bus = DdsBus(CODEC, "paprle", domain=choose_domain(), interface="loopback")
    yield bus
    bus.close()


def dds_name(typename):
    return mangle_type(typename).replace(".", "::")


@pytest.mark.nightly
def test_nine_types_there_and_back(program, bus):
    back = {typename: [] for typename in EXAMPLES}
    publishers = {}
    for typename, heard in back.items():
        topic = topic_of(typename)
        publishers[typename] = bus.advertise(topic, typename, DEEP)
        bus.subscribe(f"{topic}_back", typename, heard.append, DEEP)
    peers = [Peer(program, topic_of(t), dds_name(t)) for t in EXAMPLES]
    assert bus.wait_matched(list(publishers.values()), 20.0)
    backs = [f"{topic_of(t)}_back" for t in EXAMPLES]
    assert bus.wait_until(lambda: all(map(bus.count_publishers, backs)), 10.0)
    bus.wait_until(lambda: False, 0.5)  # until their writers know our readers
    for _ in range(N):
        for typename, publisher in publishers.items():
            publisher.publish(EXAMPLES[typename])
        bus.poll()
    bus.wait_until(lambda: all(len(heard) == N for heard in back.values()), 10.0)

    assert [peer.end() for peer in peers] == [(1, N)] * len(EXAMPLES)
    for typename, heard in back.items():
        assert len(heard) == N, typename
        sent = CODEC.decode(EXAMPLES[typename], typename)
        for data in heard:  # padding is undefined: values are compared, not bytes
            assert repr(CODEC.decode(data, typename)) == repr(sent)


def test_mismatched_endpoints_do_not_match(program, bus):
    """Another type, a best-effort writer, and XCDR2 are not heard by ROS either."""
    data = EXAMPLES[JOINT_STATE]
    other_type = bus.advertise("/type", JOINT_STATE)
    unreliable = bus.advertise("/effort", JOINT_STATE, Qos(reliable=False))
    control = bus.advertise("/control", JOINT_STATE)
    control_peer = Peer(program, "/control", dds_name(JOINT_STATE))
    topic = bus._make_topic("rt/xcdr2", JOINT_STATE)
    xcdr2 = DataWriter(
        bus._joined(),
        topic,
        DdsQos(
            Policy.Reliability.Reliable(10**9),
            Policy.DataRepresentation(use_xcdrv2_representation=True),
        ),
    )
    peers = [
        Peer(program, "/type", "sensor_msgs::msg::JointState"),
        Peer(program, "/effort", dds_name(JOINT_STATE)),
        Peer(program, "/xcdr2", dds_name(JOINT_STATE)),
    ]
    topics = ("/type", "/effort", "/xcdr2")
    assert bus.wait_until(lambda: all(map(bus.count_subscribers, topics)), 20.0)
    assert bus.wait_matched([control], 10.0)
    for publisher in (other_type, unreliable, control):
        publisher.publish(data)
    bus.wait_until(lambda: False, 0.5)

    assert not other_type.count_matched()
    assert not unreliable.count_matched()
    assert not xcdr2.get_matched_subscriptions()
    assert [peer.end()[1] for peer in peers] == [0, 0, 0]
    assert control_peer.end() == (1, 1)
