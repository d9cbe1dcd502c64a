"""The watch over ROS 1's master: it outlives whatever a master says, and tells."""

from __future__ import annotations

import socket
import time
import xmlrpc.client

import pytest
from ros_rig import wait_for

from paprle.hardware.ros.transports import rospy_graph
from paprle.hardware.ros.transports.rospy_graph import MasterWatch


class FakeMaster:
    """Answers as ``rosgraph.Master`` does; ``fails_with`` is what it raises instead."""

    def __init__(self):
        self.publishers = {"/cmd": ["/us"]}
        self.fails_with, self.uri = None, "http://127.0.0.1:1"

    def getSystemState(self):
        if self.fails_with is not None:
            raise self.fails_with
        return [[t, list(n)] for t, n in self.publishers.items()], [], []

    def lookupNode(self, node):  # noqa: ARG002
        return self.uri


@pytest.fixture
def master():
    return FakeMaster()


@pytest.fixture
def watch(master):
    with socket.socket() as alive:
        alive.bind(("127.0.0.1", 0))
        alive.listen()
        master.uri = f"http://127.0.0.1:{alive.getsockname()[1]}"
        watch = MasterWatch(master, period=0.005)
        yield watch
        watch.close()
        watch.close()


@pytest.mark.parametrize(
    "error",
    [
        xmlrpc.client.Fault(1, "bad"),
        xmlrpc.client.ResponseError(),
        RuntimeError("MasterException"),
        OSError("gone"),
    ],
)
def test_the_watch_outlives_whatever_the_master_says(master, watch, error):
    master.fails_with = error
    assert wait_for(lambda: watch.n_unanswered > 3, 5.0)
    master.publishers["/cmd"].append("/rogue")
    master.fails_with = None

    assert wait_for(lambda: watch.graph[0]["/cmd"] == {"/us", "/rogue"}, 5.0)


def test_a_master_that_stays_silent_is_told_until_it_answers(
    master, watch, monkeypatch
):
    assert not watch.trouble
    monkeypatch.setattr(rospy_graph, "_BLIND", 0.05)
    master.fails_with = OSError("gone")

    told = "ROS master silent for 0 s (OSError)"
    assert wait_for(lambda: told in watch.trouble, 5.0)
    monkeypatch.setattr(rospy_graph, "_BLIND", 2.0)
    master.fails_with = None
    n = watch.n_unanswered
    assert wait_for(lambda: not watch.trouble, 5.0)
    assert n > 0


def test_a_killed_node_does_not_count(master, watch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        master.uri = f"http://127.0.0.1:{closed.getsockname()[1]}"
        assert wait_for(lambda: not watch.graph[0]["/cmd"], 5.0)


def test_an_unanswered_start_is_an_error():
    master = FakeMaster()
    master.fails_with = OSError("gone")
    begin = time.monotonic()

    with pytest.raises(OSError, match="gone"):
        MasterWatch(master)
    assert time.monotonic() - begin < 5.0
