"""What a session does is told on ROS; independent decoders read it."""

import numpy as np
import pinocchio as pin
import pytest
from mcap_ros2._dynamic import generate_dynamic
from ros_memory import MemoryBus, MemoryGraph

import paprle.observers.ros.observer as module
from paprle.config import resolve
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.kit.motion_cues import CueSettings
from paprle.contracts.types import SessionState
from paprle.hardware.ros.bus import COMMANDS, LATCHED, SENSORS, UnknownTypeError
from paprle.hosts.plan import make_plan, make_robot
from paprle.observers.ros.config import RosObserverConfig
from paprle.observers.ros.observer import RosObserver
from paprle.testing.views import make_session_view

WORDS = ["leader=autopilot", "follower=piper", "env=kinematic"]
ROBOT = make_robot(resolve(WORDS)).info
DAY_NS = 1_700_000_000 * 10**9
ALL = {"command": True, "joint_states": True, "tf": True, "description": True}


def find_pose(q, parent, child):
    """T_parent_child by another way than the publisher's: all joints by name."""
    model = pin.buildModelFromUrdf(str(ROBOT.urdf_path))
    data, full = model.createData(), pin.neutral(model)
    for name, position in zip(ROBOT.joint_names, q, strict=True):
        full[model.joints[model.getJointId(name)].idx_q] = position
    full[model.joints[model.getJointId("joint8")].idx_q] = -q[6]
    pin.framesForwardKinematics(model, data, full)
    a, b = (data.oMf[model.getFrameId(link)] for link in (parent, child))
    return (a.inverse() * b).homogeneous


class Listener:
    """Reads all topics with the decoder of mcap-ros2-support."""

    def __init__(self, graph):
        self.graph, self.bus, self.heard = graph, graph.join("listener"), {}

    def listen(self):
        topics = self.bus.list_topics()
        for topic, kind in topics.items():
            decode = generate_dynamic(kind, self.bus.codec.describe(kind))[kind]
            heard = self.heard.setdefault(topic, [])
            qos = LATCHED if topic in ("/tf_static", "/robot_description") else SENSORS
            self.bus.subscribe(
                topic, kind, lambda data, d=decode, h=heard: h.append(d(data)), qos
            )
        return topics


@pytest.fixture
def graph():
    return MemoryGraph()


@pytest.fixture
def make(graph, monkeypatch):
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("us"))

    def make_publisher(**settings):
        config = RosObserverConfig(**settings)
        publisher = RosObserver(
            config, ROBOT, graph.clock, lambda: DAY_NS + graph.clock()
        )
        publisher.open()
        listener = Listener(graph)
        listener.listen()
        return publisher, listener

    return make_publisher


def make_report(t_ns, q, target=None, **fields):
    row = np.full(7, np.nan) if target is None else target
    values = {
        "captured_ns": t_ns - 2_000_000,
        "posted_ns": t_ns + 1_000_000,
        "computed_ns": 300_000,
        "targets": {"arm": row},
        "q_des": q,
        "q_cmd": q,
        "dq_cmd": 0 * q,
        "q": q,
        "dq": 0 * q,
    }
    return make_session_view(ROBOT, t_ns, **values | fields)


def to_matrix(pose):
    p, r = pose.position, pose.orientation
    return pin.XYZQUATToSE3(np.array([p.x, p.y, p.z, r.x, r.y, r.z, r.w])).homogeneous


Q = ROBOT.home + 0.1 * np.arange(1, 8) * [1, 1, 1, 1, 1, 1, 0.01]


def say(publisher, listener, *reports):
    for report in reports:
        publisher.observe(report)
    listener.bus.poll()
    return listener.heard


def test_target_actual_and_delays_of_the_evaluator(make):
    T = ROBOT.limbs[0]
    target = np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.6, 0.8])

    heard = say(*make(), make_report(5_000_000_000, Q, target))
    asked = heard["/paprle/arm/target_pose"][0]
    metric = heard["/paprle/arm/target_metric"][0]

    np.testing.assert_allclose(
        to_matrix(heard["/paprle/arm/actual_pose"][0].pose),
        find_pose(Q, T.base_link, T.eef_link),
        atol=1e-9,
    )
    assert asked.header.frame_id == T.base_link
    assert asked.header.stamp.sec == 1_700_000_004
    assert asked.header.stamp.nanosec == 998_000_000
    assert (asked.pose.position.x, asked.pose.orientation.z) == (0.1, 0.6)
    assert str(metric.header.stamp) == str(asked.header.stamp)
    assert metric.e2e_latency_ms_at_control == pytest.approx(3.0)
    assert metric.ik_solver_delay_ms == pytest.approx(0.3)
    assert heard["/paprle/arm/ik_delay_ms"][0].data == pytest.approx(0.3)


def test_errors_are_those_of_the_pairs(make):
    rng = np.random.default_rng(0)
    limb = ROBOT.limbs[0]
    T = pin.SE3(find_pose(Q, limb.base_link, limb.eef_link))
    publisher, listener = make()
    offsets = rng.normal(0, 0.01, (400, 3))
    angles = rng.uniform(0, 0.3, 400)
    for i, (offset, angle) in enumerate(zip(offsets, angles, strict=True)):
        wrong = pin.SE3(T.rotation @ pin.exp3(np.array([angle, 0, 0])), T.translation)
        wrong.translation = wrong.translation - offset
        row = pin.SE3ToXYZQUAT(wrong)
        report = make_report(10**9 + i * 19_000_000, Q, row)
        say(publisher, listener, report, report)  # told of twice, it counts once

    metric = listener.heard["/paprle/arm/metrics"][-1]
    n = metric.n_samples
    distances = 1e3 * np.linalg.norm(offsets[:n], axis=1)

    assert n > 390
    assert metric.position_rmse_mm == pytest.approx(np.sqrt((distances**2).mean()))
    assert metric.position_p95_mm == pytest.approx(np.percentile(distances, 95))
    assert metric.position_max_mm == pytest.approx(distances.max())
    assert metric.window_position_rmse_mm == pytest.approx(
        np.sqrt((distances[n - 264 : n] ** 2).mean())
    )
    assert metric.orientation_rmse_deg == pytest.approx(
        np.rad2deg(np.sqrt((angles[:n] ** 2).mean())), rel=1e-5
    )
    assert metric.error_y_mm == pytest.approx(1e3 * offsets[n - 1, 1])
    assert metric.rate_hz == pytest.approx(1 / 0.019)


def test_errors_begin_anew_with_an_episode_and_old_measurements_are_no_pairs(make):
    publisher, listener = make()
    row = np.array([9.0, 0, 0, 0, 0, 0, 1])
    good = np.concatenate([np.zeros(6), [1.0]])
    heard = say(
        publisher,
        listener,
        make_report(10**9, Q, row),
        make_report(2 * 10**9, Q, good, episode=1),
        make_report(3 * 10**9, Q, row, episode=1, measured_ns=2_800_000_000),
    )

    assert [m.n_samples for m in heard["/paprle/arm/metrics"]] == [1, 1, 1]
    assert heard["/paprle/arm/metrics"][-1].position_max_mm < 1000


def test_a_leader_of_joints_has_the_pose_they_lead_to_as_target(make):
    q_des = Q.copy()
    q_des[0] += 0.1
    limb = ROBOT.limbs[0]

    heard = say(*make(), make_report(10**9, Q, q_des=q_des))

    np.testing.assert_allclose(
        to_matrix(heard["/paprle/arm/target_pose"][0].pose),
        find_pose(q_des, limb.base_link, limb.eef_link),
        atol=1e-9,
    )


def test_no_target_while_nobody_drives(make):
    heard = say(*make(), make_report(10**9, Q, state=SessionState.WAITING))

    assert heard["/paprle/arm/target_pose"] == heard["/paprle/arm/metrics"] == []
    assert len(heard["/paprle/arm/actual_pose"]) == 1


def test_links_joints_and_description_on_request(make):
    publisher, listener = make(evaluator=False, frame_prefix="a/", **ALL)
    heard = say(publisher, listener, make_report(10**9, Q, q_cmd=Q + 1))
    model = pin.buildModelFromUrdf(str(ROBOT.urdf_path))
    links = {f.name for f in model.frames if f.type == pin.FrameType.BODY}

    moving, fixed = heard["/tf"][0].transforms, heard["/tf_static"][0].transforms
    for t in [*moving, *fixed]:
        p, r = t.transform.translation, t.transform.rotation
        got = pin.XYZQUATToSE3(np.array([p.x, p.y, p.z, r.x, r.y, r.z, r.w]))
        names = (
            name.removeprefix("a/") for name in (t.header.frame_id, t.child_frame_id)
        )
        np.testing.assert_allclose(got.homogeneous, find_pose(Q, *names), atol=1e-9)

    children = {t.child_frame_id for t in [*moving, *fixed]}
    assert len(children) == len(links) - 1  # all but the root, each once
    assert {t.child_frame_id for t in moving} == {f"a/link{i}" for i in range(1, 9)}
    assert heard["/robot_description"][0].data == ROBOT.urdf_path.read_text()
    assert list(heard["/joint_states"][0].position) == list(Q)
    assert list(heard["/paprle/command"][0].position) == list(Q + 1)
    assert not any(topic.startswith("/paprle/arm") for topic in heard)


def test_topics_of_an_unbuilt_package_are_left_out(make, monkeypatch, caplog):
    def advertise(bus, topic, typename, qos=COMMANDS):
        if typename.startswith("paprle_msgs"):
            raise UnknownTypeError(f"rclpy: expected the type {typename}, got none")
        return advertise_all(bus, topic, typename, qos)

    advertise_all = MemoryBus.advertise
    monkeypatch.setattr(MemoryBus, "advertise", advertise)
    row = np.array([0.1, 0.2, 0.3, 0.0, 0.0, 0.6, 0.8])
    publisher, listener = make()
    for t in (10**9, 2 * 10**9):
        heard = say(publisher, listener, make_report(t, Q, row))

    assert {topic.rpartition("/")[2] for topic in heard} == {
        "target_pose",
        "actual_pose",
        "ik_delay_ms",
    }
    assert "/paprle/arm/metrics is left out" in caplog.text
    assert "hardware/ros/paprle_msgs" in caplog.text


def test_only_what_is_asked_for_is_advertised(make):
    _, listener = make(evaluator=False)

    assert listener.bus.list_topics() == {}


def test_a_graph_that_cannot_be_joined_is_told(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rclpy", None)
    config = RosObserverConfig(transport="rclpy")

    with pytest.raises(DeviceError, match=r"observers\.ros: .*rclpy"):
        RosObserver(config, ROBOT, lambda: 0).open()


@pytest.mark.parametrize(
    "words",
    [["observers.ros={}"], ["observers.ros.domain=7"], ["observers.ros.tf=true"]],
)
def test_any_key_switches_it_on(words):
    assert resolve(WORDS).observers.ros is None
    assert isinstance(resolve([*WORDS, *words]).observers.ros, RosObserverConfig)


def test_an_observer_for_ros_needs_the_wall_clock():
    with pytest.raises(Exception, match=r"observers: expected session\.clock=wall"):
        make_plan(resolve([*WORDS, "observers.ros={}", "session.clock=virtual"]))


def test_cues_of_a_view_that_nobody_knows_are_refused():
    with pytest.raises(ConfigError, match=r"observers\.ros.*tool or world, not 'view'"):
        make_plan(resolve([*WORDS, "observers.ros.cues={attached: view}"]))


def test_directions_of_axes_are_published_as_markers_and_removed(make):
    publisher, listener = make(cues=CueSettings(), evaluator=False)
    column = np.array([1.0, 0, 0, 0, 1.0, 0, 0])
    driven = make_report(10**9, Q, mappings={"arm": column[:, None]})

    heard = say(publisher, listener, driven, make_report(2 * 10**9, Q))
    shown, gone = heard["/paprle/cues"]

    way = next(m for m in shown.markers if m.ns == "arm/active/way")
    tail, tip = ([p.x, p.y, p.z] for p in way.points)
    T = find_pose(Q, "base_link", "gripper_base")
    np.testing.assert_allclose(tail, T[:3, 3], atol=1e-9)
    np.testing.assert_allclose(tip, T[:3, 3] + 0.15 * T[:3, 0], atol=1e-9)
    assert way.header.frame_id == "base_link"
    assert (way.type, way.action) == (0, 0)
    color = way.color.r, way.color.g, way.color.b
    assert color == pytest.approx((0.01, 0.95, 0.97)), "bright cyan"
    assert len(next(m for m in shown.markers if m.ns == "arm/active/turn").points) > 9
    assert all(marker.action == 2 for marker in gone.markers)
