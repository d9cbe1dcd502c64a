"""Which bus is taken, on which network, and what is said of it."""

from __future__ import annotations

import importlib.util
import sys

import pytest
from fake_rclpy import FakeRclpy
from ros_rig import choose_domain, need_dds

from paprle.hardware.ros.bus import NEWEST, BusError, UnknownTypeError
from paprle.hardware.ros.messages import JOINT_STATE
from paprle.hardware.ros.transports.choice import (
    NodeSettings,
    choose_transport,
    open_bus,
)
from paprle.hardware.ros.transports.dds_network import (
    find_domain,
    find_network,
    make_config,
)

OURS = f"{sys.version_info.major}.{sys.version_info.minor}"
DISCOVERY = (
    "ROS_LOCALHOST_ONLY",
    "ROS_AUTOMATIC_DISCOVERY_RANGE",
    "ROS_STATIC_PEERS",
    "ROS_DOMAIN_ID",
)


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in DISCOVERY:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def without_bus():
    """Our rclpy bus, imported anew, and forgotten afterwards."""
    name = "paprle.hardware.ros.transports.rclpy_bus"
    sys.modules.pop(name, None)
    yield
    sys.modules.pop(name, None)


@pytest.fixture
def rclpy(monkeypatch, without_bus):  # noqa: ARG001
    graph = FakeRclpy()
    graph.install(monkeypatch)
    return graph


def source_broken_ros(tmp_path, monkeypatch, python, text):
    """Put an rclpy on the path that is built for another Python."""
    folder = tmp_path / f"lib/python{python}/site-packages"
    (folder / "rclpy").mkdir(parents=True)
    (folder / "rclpy/__init__.py").write_text(text)
    for name in [n for n in sys.modules if n.partition(".")[0] == "rclpy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(folder))


BROKEN = (
    "from rclpy import _rclpy_pybind11",
    "raise ImportError('undefined symbol: _Py_Dealloc')",
)


def test_auto_takes_rclpy_where_it_can_be_imported(rclpy):  # noqa: ARG001
    assert choose_transport(NodeSettings()) == "rclpy"


def test_auto_takes_dds_where_there_is_no_ros(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "rclpy", None)

    assert choose_transport(NodeSettings()) == "dds"
    assert not caplog.text, "nothing is amiss"


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.usefixtures("without_bus")
def test_auto_takes_dds_where_ros_is_of_another_python(
    tmp_path, monkeypatch, caplog, text
):
    source_broken_ros(tmp_path, monkeypatch, "3.9", text)

    assert choose_transport(NodeSettings()) == "dds"
    assert "_rclpy_pybind11" in caplog.text or "undefined symbol" in caplog.text
    assert f"is for Python 3.9, this is Python {OURS}" in caplog.text


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.usefixtures("without_bus")
def test_rclpy_of_another_python_is_told_with_both_versions(
    tmp_path, monkeypatch, text
):
    source_broken_ros(tmp_path, monkeypatch, "3.9", text)

    with pytest.raises(BusError, match=f"Python 3.9, this is Python {OURS}"):
        open_bus(NodeSettings(transport="rclpy"), "n")


def test_a_transport_that_is_not_installed_says_how_to_install_it():
    if importlib.util.find_spec("rclpy") is not None:
        pytest.skip("it is installed")
    with pytest.raises(BusError, match=r"rclpy.*setup\.bash"):
        open_bus(NodeSettings(transport="rclpy"), "n")


def test_zenoh_has_its_place_and_says_what_to_use_instead():
    settings = NodeSettings(transport="zenoh")

    with pytest.raises(BusError, match="not built yet; .*RMW_IMPLEMENTATION=rmw_z"):
        open_bus(settings, "n")


def test_a_transport_fits_its_distribution():
    assert choose_transport(NodeSettings(distro="noetic")) == "rospy"
    for distro, transport in (("noetic", "dds"), ("jazzy", "rospy")):
        with pytest.raises(BusError, match="transport"):
            choose_transport(NodeSettings(distro=distro, transport=transport))


@pytest.mark.parametrize(
    "settings",
    [
        {"transport": "rclpy", "interface": "loopback"},
        {"transport": "auto", "peers": ("10.0.0.2",)},
        {"transport": "rospy", "distro": "noetic", "interface": "eth0"},
    ],
)
def test_a_network_that_a_transport_cannot_keep_to_is_refused(rclpy, settings):  # noqa: ARG001
    with pytest.raises(BusError, match=r"expected interface=auto.*got interface="):
        choose_transport(NodeSettings(**settings))


def test_the_choice_is_said_with_domain_and_network(monkeypatch, caplog, rclpy):  # noqa: ARG001
    need_dds()
    domain = choose_domain()
    settings = NodeSettings(transport="dds", domain=domain, interface="loopback")
    open_bus(settings, "n").close()
    said = f"ROS jazzy over dds as n: domain {domain}, interface loopback"
    assert said in caplog.text
    monkeypatch.setenv("ROS_DOMAIN_ID", "17")
    open_bus(NodeSettings(distro="humble"), "n").close()
    assert "ROS humble over rclpy as n: domain 17, network as" in caplog.text


def test_the_network_is_chosen_by_config(monkeypatch):
    def configure(interface="auto", *peers):
        return make_config(find_network(interface, peers))

    assert configure() == "", "what ROS itself would use"
    loopback = configure("loopback")
    assert "address='127.0.0.1'" in loopback
    assert "<AllowMulticast>false" in loopback
    assert 'name="eth7"' in configure("eth7")
    assert 'address="10.0.0.1"' in configure("10.0.0.1")
    assert '<Peer address="10.0.0.2"/>' in configure("auto", "10.0.0.2")
    assert '<Peer address="a\'&lt;b&gt;"/>' in configure("auto", "a'<b>")
    monkeypatch.setenv("ROS_DOMAIN_ID", "17")
    assert (find_domain(None), find_domain(3)) == (17, 3)
    monkeypatch.setenv("ROS_DOMAIN_ID", "x")
    with pytest.raises(BusError, match="ROS_DOMAIN_ID"):
        find_domain(None)


def test_ros_s_own_variables_count_where_the_config_leaves_it_to_ros(monkeypatch):
    monkeypatch.setenv("ROS_LOCALHOST_ONLY", "1")
    assert find_network("auto", ()).interface == "loopback"
    assert "ROS_LOCALHOST_ONLY" in find_network("auto", ()).describe()
    assert find_network("eth7", ()).interface == "eth7", "the config wins"

    monkeypatch.setenv("ROS_LOCALHOST_ONLY", "0")
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    local = make_config(find_network("auto", ()))
    assert "<AllowMulticast>false" in local
    assert '<Peers><Peer address="127.0.0.1"/></Peers>' in local
    assert "this host alone" in find_network("auto", ()).describe()

    monkeypatch.setenv("ROS_STATIC_PEERS", "10.0.0.2; robot.local")
    peers = make_config(find_network("auto", ()))
    assert '"10.0.0.2"' in peers and '"robot.local"' in peers and "false" in peers
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SUBNET")
    assert "<AllowMulticast>default" in make_config(find_network("auto", ()))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "SYSTEM_DEFAULT")
    assert make_config(find_network("auto", ())) == ""
    for nobody in ("OFF", "local"):
        monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", nobody)
        with pytest.raises(BusError, match="ROS_AUTOMATIC_DISCOVERY_RANGE"):
            find_network("auto", ())


def test_another_of_our_own_nodes_counts_over_rclpy(rclpy):
    bus = open_bus(NodeSettings(transport="rclpy"), "paprle_gate")
    for topic in ("/cmd", "/cmd", "/alone"):
        bus.advertise(topic, JOINT_STATE)
    bus.subscribe("/cmd", JOINT_STATE, print)
    assert bus.count_publishers("/cmd") == bus.count_subscribers("/cmd") == 0

    rclpy.add("publishers", "paprle_gate", "/cmd")  # a second session: the same name
    rclpy.add("subscriptions", "controller_manager", "/cmd")
    rclpy.add("publishers", "rogue", "/alone")

    assert bus.count_publishers("/cmd") == 1
    assert bus.count_subscribers("/cmd") == 1
    assert bus.count_publishers("/alone") == 1


def test_a_type_that_is_not_built_is_told_apart(rclpy):  # noqa: ARG001
    bus = open_bus(NodeSettings(transport="rclpy"), "n")

    with pytest.raises(UnknownTypeError, match="workspace that has paprle_msgs"):
        bus.advertise("/x", "paprle_msgs/msg/TargetMetric")


def test_a_poll_over_rclpy_leaves_nothing_behind(rclpy):
    """Its executor ends after every round: a full queue would stay full for ever."""
    bus, got = open_bus(NodeSettings(transport="rclpy"), "n"), []
    bus.subscribe("/joint_states", JOINT_STATE, got.append)
    talker = rclpy.add("publishers", "robot", "/joint_states")

    for k in range(300):
        talker.publish(k)
    bus.poll()
    for k in range(300, 306):
        talker.publish(k)
        if k % 2:
            bus.poll()
            assert got[-1] == k, "the newest of those that had come"

    assert got[0] == 300 - 64
    assert not rclpy.readers[0][1]


def test_of_a_level_the_newest_message_alone_is_kept(rclpy):
    bus, got = open_bus(NodeSettings(transport="rclpy"), "n"), []
    bus.subscribe("/joint_states", JOINT_STATE, got.append, NEWEST)
    talker = rclpy.add("publishers", "robot", "/joint_states")

    for k in range(5):
        talker.publish(k)
    bus.poll()

    assert got == [4]


def test_rclpy_says_when_a_message_was_sent_or_else_when_it_came(rclpy):
    bus, got = open_bus(NodeSettings(transport="rclpy"), "n"), []
    bus.subscribe("/x", JOINT_STATE, lambda _: got.append(bus.source_ns))
    talker = rclpy.add("publishers", "robot", "/x")

    for stamps in ((49, 50), (0, 51), (0, 0), (None, None)):
        rclpy.source_ns, rclpy.received_ns = stamps
        talker.publish(b"")
    bus.poll()

    assert got == [49, 51, 0, 0]
