"""Capture times of uneven messages."""

from __future__ import annotations

import numpy as np
import pytest
from ros_memory import DAY_NS, MemoryGraph

from paprle.hardware.ros.joints import Joints, Pose, encode_joints, encode_pose
from paprle.hardware.ros.messages import JOINT_STATE, POSE_STAMPED
from paprle.leaders.ros import leader as module
from paprle.leaders.ros.captures import Captures
from paprle.leaders.ros.config import LimbConfig, RosLeaderConfig
from paprle.leaders.ros.leader import RosLeader

PERIOD, LONGEST = 10_000_000, 0.1  # [ns], [s]
WALL = 1_790_000_000_000_000_000  # [ns] a time of day
rng = np.random.default_rng(3)
DRIFT = 1_100_000  # [ns] a clock may drift by 0.5 ms in a second, and this is two
WAITS = np.concatenate([[0], rng.integers(0, 9_000_000, 199)])  # [ns], one waits none


def run(headers, sources, arrivals):
    captures = Captures(1, LONGEST)
    found = []
    for header, source, now in zip(headers, sources, arrivals, strict=True):
        captures.note([0], int(header), int(source), int(now))
        assert captures.arrived_ns == now
        found.append(captures.captured_ns)
    return np.array(found)


@pytest.mark.parametrize("clock", [WALL, WALL - 10**15, WALL + 10**15])
def test_captures_are_as_even_as_the_senders_stamps(clock):
    sent = np.arange(200) * PERIOD
    arrivals = 5 * PERIOD + sent + WAITS

    found = run(clock + sent, np.zeros(200), arrivals)

    assert np.abs(np.diff(found) - PERIOD).max() < DRIFT
    assert (found <= arrivals).all()


@pytest.mark.parametrize(
    "header", [0, 10**9, WALL], ids=["none", "simulated", "frozen"]
)
def test_without_a_header_that_advances_the_middlewares_stamps_count(header):
    sent = np.arange(200) * PERIOD
    arrivals = 5 * PERIOD + sent + WAITS

    found = run(np.full(200, header), WALL + sent, arrivals)

    assert np.abs(np.diff(found[2:]) - PERIOD).max() < DRIFT


def test_without_any_stamp_arrivals_count():
    arrivals = 5 * PERIOD + np.arange(200) * PERIOD + WAITS

    found = run(np.zeros(200), np.zeros(200), arrivals)

    assert (found == arrivals).all()


@pytest.mark.parametrize("rate", [0.5, 0.9, 2.0])
def test_a_clock_of_another_rate_stays_behind_by_the_bound_at_most(rate):
    arrivals = 5 * PERIOD + np.arange(2000) * PERIOD

    found = run(WALL + rate * (arrivals - arrivals[0]), np.zeros(2000), arrivals)

    assert (arrivals - found).max() <= LONGEST * 1e9
    assert (np.diff(found) > 0).all()
    assert np.diff(found)[-1000:].mean() == pytest.approx(PERIOD, rel=0.01)


def test_a_clock_that_is_set_back_begins_anew():
    sent = np.arange(200) * PERIOD
    headers = WALL + sent - np.where(sent > sent[100], 3_600_000_000_000, 0)

    found = run(headers, np.zeros(200), sent + PERIOD)

    assert np.abs(np.diff(found) - PERIOD).max() < DRIFT


def test_the_oldest_of_several_streams_is_told():
    captures = Captures(2, LONGEST)
    captures.note([0, 1], 0, 0, 1000)
    captures.note([1], 0, 0, 2000)

    assert (captures.arrived_ns, captures.captured_ns) == (1000, 1000)


def make_pose(codec, stamp_ns):
    pose = Pose(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), stamp_ns=stamp_ns)
    return encode_pose(codec, pose)


def make_joints(codec, stamp_ns):
    none = np.full(2, np.nan)
    joints = Joints(("a", "b"), np.array([1.0, 2.0]), none, none, stamp_ns)
    return encode_joints(codec, joints)


@pytest.mark.parametrize(
    ("kind", "encode", "joints"),
    [(POSE_STAMPED, make_pose, ()), (JOINT_STATE, make_joints, ("b", "a"))],
    ids=["pose", "joints"],
)
def test_a_leaders_samples_are_even_where_messages_are_not(
    kind, encode, joints, monkeypatch
):
    graph = MemoryGraph()
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("leader"))
    publisher = graph.join("device").advertise("/arm", kind)
    sent_ns, stamps = DAY_NS, []
    graph.stepped[:] = [lambda: publisher.publish(encode(graph.codec, sent_ns))]
    limb = LimbConfig(topic="/arm", joints=joints)
    leader = RosLeader(RosLeaderConfig(limbs={"arm": limb}, timeout=0.2), graph.clock)
    leader.open()
    graph.stepped.clear()

    for late in [0.0, 0.006, 0.001, 0.009, 0.004, 0.002, 0.008, 0.0] * 5:
        sent_ns += PERIOD
        graph.tick(late)
        publisher.publish(encode(graph.codec, sent_ns))
        stamps.append(leader.latest().stamp_ns)
        graph.tick(0.01 - late)

    leader.close()
    assert np.abs(np.diff(stamps) - PERIOD).max() < 300_000
