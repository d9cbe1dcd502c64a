"""Publishes a posture by observers.ros over rospy; prints what Debian's rospy reads.

python ros1_publisher_probe.py ROBOT
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time

import numpy as np

from paprle.config import resolve
from paprle.hosts.plan import make_robot
from paprle.observers.ros.config import RosObserverConfig
from paprle.observers.ros.observer import RosObserver
from paprle.testing.views import make_session_view

CONFIG = RosObserverConfig(
    distro="noetic", joint_states=True, tf=True, description=True, command=True
)


def to_list(T):
    p, r = T.translation, T.rotation
    return [p.x, p.y, p.z, r.x, r.y, r.z, r.w]


def main(name: str) -> None:
    words = ["leader=autopilot", f"follower={name}", "env=kinematic"]
    robot = make_robot(resolve(words)).info
    publisher = RosObserver(CONFIG, robot, time.monotonic_ns)
    publisher.open()
    rospy = importlib.import_module("rospy")
    types = {
        package: importlib.import_module(f"{package}.msg")
        for package in ("tf2_msgs", "geometry_msgs", "std_msgs", "sensor_msgs")
    }
    found: dict[str, dict[str, list[float]]] = {}
    heard: dict[str, str] = {}

    def take(message, topic):
        for one in message.transforms:
            key = f"{one.header.frame_id} {one.child_frame_id}".replace("/", "")
            found.setdefault(topic, {})[key] = to_list(one.transform)

    def keep(message, topic):
        heard[topic] = str(message._type)

    for topic in ("tf", "tf_static", "tf_judge", "tf_static_judge"):
        rospy.Subscriber(f"/{topic}", types["tf2_msgs"].TFMessage, take, topic)
    for topic, package, kind in (
        ("/robot_description", "std_msgs", "String"),
        ("/paprle/arm/target_pose", "geometry_msgs", "PoseStamped"),
        ("/paprle/arm/actual_pose", "geometry_msgs", "PoseStamped"),
        ("/paprle/arm/ik_delay_ms", "std_msgs", "Float64"),
        ("/paprle/command", "sensor_msgs", "JointState"),
    ):
        rospy.Subscriber(topic, getattr(types[package], kind), keep, topic)
    q = robot.home + 0.05 * np.arange(1, len(robot.joint_names) + 1)
    q = np.clip(q, robot.q_min, robot.q_max)
    end = time.monotonic() + 20.0
    while time.monotonic() < end and (len(found) < 4 or len(heard) < 5):
        now_ns = time.monotonic_ns()
        publisher.observe(make_report(now_ns, q, robot))
        time.sleep(0.05)
    sys.stdout.write(json.dumps({"tf": found, "heard": heard}) + "\n")
    sys.stdout.flush()
    publisher.close()
    os._exit(0)  # rospy's own threads wait for nobody


def make_report(now_ns, q, robot):
    identity = np.array([0, 0, 0, 0, 0, 0, 1.0])
    targets = {limb.name: identity for limb in robot.limbs}
    return make_session_view(
        robot, now_ns, targets=targets, q_des=q, q_cmd=q, dq_cmd=0 * q, q=q, dq=0 * q
    )


if __name__ == "__main__":
    main(sys.argv[1])
