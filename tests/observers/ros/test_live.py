"""A live session tells a graph of itself, and needs nobody to tell it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ros_rig import choose_domain, need_dds

from paprle.hardware.ros.bus import LATCHED
from paprle.hardware.ros.transports.choice import NodeSettings, open_bus
from paprle.ipc.process import WORKSPACE

TOPICS = {
    "/paprle/arm/target_pose": "geometry_msgs/msg/PoseStamped",
    "/paprle/arm/metrics": "paprle_msgs/msg/TrackingMetrics",
    "/tf": "tf2_msgs/msg/TFMessage",
    "/robot_description": "std_msgs/msg/String",
}


def find_publisher(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for child in children:
        if (
            b"paprle.hosts.processes.observer"
            in Path(f"/proc/{child}/cmdline").read_bytes()
        ):
            return int(child)
    return None


@pytest.mark.nightly
def test_a_session_is_heard_over_dds_and_outlives_its_publisher():
    need_dds()
    domain = choose_domain()
    words = ["leader=autopilot", "follower=piper", "env=kinematic"]
    words += ["observers.ros.transport=dds", "observers.ros.interface=loopback"]
    words += [f"observers.ros.domain={domain}", "observers.ros.tf=true"]
    words += ["observers.ros.description=true", "session.episodes=2"]
    session = subprocess.Popen(
        [sys.executable, "run.py", *words],
        cwd=WORKSPACE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    settings = NodeSettings(transport="dds", domain=domain, interface="loopback")
    bus = open_bus(settings, "listener")
    heard: set[str] = set()
    try:
        for topic, kind in TOPICS.items():
            qos = {"qos": LATCHED} if topic == "/robot_description" else {}
            bus.subscribe(topic, kind, lambda _, t=topic: heard.add(t), **qos)
        assert bus.wait_until(lambda: heard == set(TOPICS), 60.0), heard
        os.kill(find_publisher(session.pid), signal.SIGKILL)
        time.sleep(1.0)
        assert session.poll() is None
        said, _ = session.communicate(timeout=60)
    finally:
        session.kill()
        bus.close()

    assert session.returncode == 0, said
    assert "observer:ros: the process ended" in said
