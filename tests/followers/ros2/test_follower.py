"""The follower behind ROS: its contract, and what it refuses before arming."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ros_memory import MemoryBus, MemoryGraph, MemoryRobot, make_config
from ros_rig import load_robot

from paprle.contracts.errors import DeviceError
from paprle.followers.ros2 import follower as module
from paprle.followers.ros2.config import CommandConfig
from paprle.followers.ros2.follower import RosFollower
from paprle.hardware.ros.bus import COMMANDS, LATCHED, BusError
from paprle.hardware.ros.joints import Joints, encode_bool, encode_joints
from paprle.hardware.ros.messages import BOOL, FLOATS, JOINT_STATE, JOINT_TRAJECTORY
from paprle.testing import FollowerContract

PIPER = load_robot("piper")
CONFIG = make_config(**{"env.timeout": 0.5})


class GraphClock:
    """The contract's clock: the robot's time passes with it."""

    def __init__(self, graph):
        self._graph = graph

    def __call__(self):
        return self._graph.clock()

    def advance(self, dt):
        for _ in range(round(dt / 0.0025)):
            self._graph.tick()


@pytest.fixture
def graph():
    return MemoryGraph()


@pytest.fixture(autouse=True)
def in_memory(graph, monkeypatch):
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("gate"))


@pytest.fixture
def rig(graph):
    return MemoryRobot(graph)


def make(graph, config=CONFIG, robot=PIPER):
    return RosFollower(config, robot, graph.clock)


class TestRosFollower(FollowerContract):
    tolerance = 0.02

    @pytest.fixture
    def clock(self, graph, rig):
        self.rig = rig
        return GraphClock(graph)

    def make_follower(self, clock):
        return RosFollower(CONFIG, PIPER, clock)

    def unplug(self, follower):  # noqa: ARG002
        self.rig.robot.switch("paused", is_on=True)


@pytest.mark.parametrize("fault", ["reordered", "no_velocities", "zero_velocities"])
def test_states_are_read_by_name_and_velocities_found(graph, rig, fault):
    rig.robot.switch(fault, is_on=True)
    follower = make(graph)
    follower.open()
    q = follower.read().q
    for k in range(100):
        follower.write(q + 0.001 * k)
        graph.tick()
        graph.tick()

    state = follower.read()

    np.testing.assert_allclose(state.q[:6], rig.q[:6], atol=2e-3)
    np.testing.assert_allclose(state.dq, 0.2, rtol=0.05)


@pytest.mark.parametrize("fault, why", [("degrees", "degrees"), ("nan", "limits")])
def test_positions_that_cannot_be_are_refused_before_arming(graph, rig, fault, why):
    rig.robot.switch(fault, is_on=True)

    with pytest.raises(DeviceError, match=why):
        make(graph).open()
    assert not rig.log.all("command")


def test_a_robot_that_is_not_there_is_told_with_what_is_there_instead(graph):
    other = graph.join("other")
    other.advertise("/robot7/joint_states", JOINT_STATE)

    with pytest.raises(DeviceError) as caught:
        make(graph).open()

    text = str(caught.value)
    assert "expected states of joint1, joint2" in text
    assert "JointTrajectory on /arm_controller/joint_trajectory" in text
    assert "found: /robot7/joint_states [sensor_msgs/msg/JointState]" in text


def test_joints_may_come_from_several_topics_and_strangers_do_not_matter(graph, rig):
    rig.robot.switch("silent", is_on=True)
    hands = graph.join("hands")
    arm, hand = (
        hands.advertise(topic, JOINT_STATE) for topic in ("/arm/states", "/hand/states")
    )
    none = np.full(1, np.nan)

    def speak():
        for i, name in enumerate((*PIPER.joint_names, "someone_else")):
            publisher = hand if name == "joint7" else arm
            joints = Joints((name,), np.array([0.01 * i]), none, none)
            publisher.publish(encode_joints(graph.codec, joints))

    graph.stepped.append(speak)
    config = replace(CONFIG, states=("/arm/states", "/hand/states"))
    follower = make(graph, config)
    follower.open()

    np.testing.assert_allclose(follower.read().q, 0.01 * np.arange(7))
    assert follower.read().tau is None


def test_the_state_is_as_old_as_its_oldest_joint(graph, rig):
    follower = make(graph)
    follower.open()
    begin = follower.read().stamp_ns
    rig.robot.switch("silent", is_on=True)
    talker = graph.join("talker")
    publisher = talker.advertise("/joint_states", JOINT_STATE)
    none = np.full(1, np.nan)
    for _ in range(20):
        joints = Joints(("joint1",), np.zeros(1), none, none)
        publisher.publish(encode_joints(graph.codec, joints))
        graph.tick()

    assert follower.read().stamp_ns <= begin + 5_000_000


@pytest.mark.parametrize(
    "fault, what", [("rogue", "/arm_controller"), ("twice", "2 p")]
)
def test_a_second_publisher_is_refused_before_arming_and_stops_later(
    graph, rig, fault, what
):
    follower = make(graph)
    follower.open()
    assert not follower.read().stop_reason
    rig.robot.switch(fault, is_on=True)
    for _ in range(50):
        graph.tick()

    assert what in follower.read().stop_reason
    follower.close("hold")
    with pytest.raises(DeviceError, match="publisher.*killed less than 20 s ago"):
        make(graph).open()


def test_a_robot_that_says_it_is_stopped_is_believed(graph):
    rig = MemoryRobot(graph, running="/running")
    follower = make(graph, replace(CONFIG, running_topic="/running"))
    follower.open()
    assert not follower.read().stop_reason
    rig.robot.switch("protective_stop", is_on=True)

    assert "/running" in follower.read().stop_reason
    rig.robot.switch("protective_stop", is_on=False)
    assert not follower.read().stop_reason


def test_a_running_topic_that_says_nothing_is_refused(graph, rig):  # noqa: ARG001
    config = replace(CONFIG, running_topic="/running")

    with pytest.raises(DeviceError, match="expected a Bool on /running.*latched"):
        make(graph, config).open()


def test_missing_run_state_stops_the_robot(graph, rig):  # noqa: ARG001
    pendant = graph.join("pendant")
    running = pendant.advertise("/running", BOOL, LATCHED)
    running.publish(encode_bool(graph.codec, True))
    follower = make(graph, replace(CONFIG, running_topic="/running"))
    follower.open()
    assert not follower.read().stop_reason

    pendant.close()
    graph.tick(0.2)

    assert "nobody says whether it runs: /running" in follower.read().stop_reason


def test_a_controller_that_goes_stops_it_and_finds_no_command_on_its_return(graph, rig):
    follower = make(graph)
    follower.open()
    q = follower.read().q.copy()
    arm = [r for r in graph.readers if r.topic.startswith("/arm_controller")]
    for reader in arm:
        graph.readers.remove(reader)
    graph.tick(0.2)

    said = follower.read().stop_reason
    assert said.startswith("nobody takes /arm_controller/joint_trajectory; start")
    graph.readers += arm
    graph.tick(0.2)
    assert not follower.read().stop_reason
    follower.write(q + 0.1)
    graph.tick()
    graph.tick(0.1)
    np.testing.assert_allclose(rig.q[:6], q[:6], atol=1e-6)
    follower.write(q + 0.005)  # armed anew, from where it stands
    graph.tick()
    graph.tick(0.1)
    np.testing.assert_allclose(rig.q[:6], q[:6] + 0.005, atol=1e-3)


@pytest.mark.usefixtures("rig")
def test_a_graph_that_is_not_known_stops_it(graph, monkeypatch):
    follower = make(graph)
    follower.open()
    why = "ROS master silent for 2 s"
    monkeypatch.setattr(MemoryBus, "trouble", why, raising=False)
    graph.tick(0.2)
    assert follower.read().stop_reason == why
    monkeypatch.undo()
    graph.tick(0.2)

    assert not follower.read().stop_reason


@pytest.mark.usefixtures("rig")
def test_subscribers_to_commands_are_logged_at_the_start(graph, caplog):
    graph.join("recorder").subscribe(
        "/arm_controller/joint_trajectory", JOINT_TRAJECTORY, print, COMMANDS
    )
    make(graph).open()

    assert "/arm_controller/joint_trajectory: recorder, robot" in caplog.text


@pytest.mark.parametrize(
    "rate, state_rate, is_fit",
    [
        (200.0, None, False),
        (100.0, None, False),
        (50.0, None, True),
        (200.0, 50.0, True),
    ],
)
def test_states_that_are_too_seldom_are_refused(graph, rate, state_rate, is_fit):
    MemoryRobot(graph, every=8)  # 50 a second
    follower = make(graph, replace(CONFIG, rate=rate, state_rate=state_rate))

    if is_fit:
        follower.open()
    else:
        with pytest.raises(DeviceError, match=r"set env\.state_rate=50"):
            follower.open()


def test_the_shipped_config_lives_with_the_states_of_its_maker(monkeypatch):
    graph = MemoryGraph("noetic")
    MemoryRobot(graph, every=8, env="ros1_sim")  # 50 a second, piper_moveit_config
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("gate"))
    follower = make(graph, make_config(env="ros1_sim"))
    info = follower.open()
    oldest = max(3.0 / min(info.rate, info.state_rate), 0.02)  # L3
    ages = []
    for _ in range(200):
        graph.tick()
        ages.append((graph.clock() - follower.read().stamp_ns) * 1e-9)

    assert 0.01 < max(ages) <= oldest / 1.5


def test_a_second_publisher_of_the_dead_is_waited_for(graph, rig):
    rig.robot.switch("twice", is_on=True)
    t_ns = graph.clock() + 800_000_000

    def leave():
        if graph.clock() >= t_ns:
            rig.robot.switch("twice", is_on=False)

    graph.stepped.append(leave)
    make(graph).open()

    assert graph.clock() >= t_ns


def test_a_robot_without_a_brake_of_its_own_needs_its_flag(graph, rig):
    commands = {
        name: replace(command, kind="positions")
        for name, command in CONFIG.commands.items()
    }
    rig.robot.close()
    taken = []
    robot = graph.join("robot")
    for command in commands.values():
        robot.subscribe(command.topic, FLOATS, taken.append)
    states = robot.advertise("/joint_states", JOINT_STATE)
    zero = np.zeros(7)
    joints = Joints(PIPER.joint_names, zero, zero, zero)
    graph.stepped.append(lambda: states.publish(encode_joints(graph.codec, joints)))
    config = replace(CONFIG, commands=commands)

    follower = make(graph, config)

    assert not follower.open().has_unattended_stop
    follower.write(zero)
    robot.poll()
    assert len(taken) == 2


def test_names_and_scales_are_those_of_the_driver(graph):
    taken = []
    robot = graph.join("robot")
    states = robot.advertise("/ns/js", JOINT_STATE)
    robot.subscribe("/ns/ctrl", JOINT_STATE, taken.append)
    names = tuple(f"left_{n}" for n in PIPER.joint_names[:6]) + ("grip",)
    q = np.array([0, 1.5, -1, 0, 0, 0, 0.04])
    joints = Joints(names, q, np.zeros(7), np.ones(7))
    graph.stepped.append(lambda: states.publish(encode_joints(graph.codec, joints)))
    config = replace(
        CONFIG,
        namespace="/ns",
        states=("/js",),
        joint_prefix="left_",
        joint_names={"joint7": "grip"},
        joint_scale={"joint7": 2.0},
        commands={
            "all": CommandConfig(
                topic="/ctrl", kind="joint_state", joints=PIPER.joint_names
            )
        },
    )
    follower = make(graph, config)
    follower.open()
    state = follower.read()

    assert state.q[6] == pytest.approx(0.02)
    assert state.tau is not None
    follower.write(state.q)
    robot.poll()
    (data,) = taken
    message = graph.codec.decode(data, JOINT_STATE)
    assert tuple(message.name) == names
    np.testing.assert_allclose(message.position, q)


@pytest.mark.parametrize(
    "change, why",
    [
        ({"commands": {}}, "each joint in one topic"),
        ({"commands": {"leg": CommandConfig(topic="/x")}}, "commands.leg"),
        (
            {"commands": {"x": CommandConfig(topic="/x", joints=("joint9",))}},
            "joint9",
        ),
        ({"joint_names": {"elbow": "e"}}, "elbow"),
    ],
)
def test_a_config_that_does_not_fit_the_robot_is_refused(graph, change, why):
    with pytest.raises(DeviceError, match=why):
        make(graph, replace(CONFIG, **change)).open()


@pytest.mark.usefixtures("rig")
def test_garbage_on_a_state_topic_is_counted_and_harmless(graph):
    follower = make(graph)
    follower.open()
    before = follower.read()
    liar = graph.join("liar")
    publisher = liar.advertise("/joint_states", JOINT_STATE)
    for data in (b"", b"\x00\x01\x00\x00", bytes(200), b"\xff" * 64):
        publisher.publish(data)

    np.testing.assert_array_equal(follower.read().q, before.q)
    assert follower._remote.states.n_refused == 4


@pytest.mark.usefixtures("rig")
def test_a_bus_that_fails_is_a_device_that_fails(graph):
    follower = make(graph)
    follower.open()
    state = follower.read()

    def broken(*_):
        raise BusError("gone")

    follower._bus.poll = broken
    with pytest.raises(DeviceError, match="gone"):
        follower.read()
    follower._remote.send = broken
    with pytest.raises(DeviceError, match="gone"):
        follower.write(state.q)
