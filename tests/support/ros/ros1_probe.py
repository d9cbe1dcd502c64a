"""Publishes joint states over our rospy bus and prints what comes back as /tf.

python ros1_probe.py JOINT=POSITION …
"""

from __future__ import annotations

import json
import os
import sys

import numpy as np

from paprle.hardware.ros.joints import Joints, encode_joints
from paprle.hardware.ros.messages import JOINT_STATE, load_codec
from paprle.hardware.ros.transports.rospy_bus import RospyBus

TF = "tf2_msgs/msg/TFMessage"
CODEC = load_codec("noetic")
CODEC.register(TF, "geometry_msgs/TransformStamped[] transforms\n")


def main(words: list[str]) -> None:
    bus = RospyBus(CODEC, "probe")
    q = {name: float(text) for name, _, text in (w.partition("=") for w in words)}
    none = np.full(len(q), np.nan)
    found: dict[str, list[float]] = {}

    def take(data: bytes) -> None:
        for one in CODEC.decode(data, TF).transforms:
            p, r = one.transform.translation, one.transform.rotation
            key = f"{one.header.frame_id} {one.child_frame_id}"
            found[key.replace("/", "")] = [p.x, p.y, p.z, r.x, r.y, r.z, r.w]

    bus.subscribe("/tf", TF, take)
    publisher = bus.advertise("/joint_states", JOINT_STATE)
    stamp_ns = 10**9
    for _ in range(200):
        stamp_ns += 10**8
        joints = Joints(tuple(q), np.array(list(q.values())), none, none, stamp_ns)
        publisher.publish(encode_joints(CODEC, joints))
        if bus.wait_until(lambda: len(found) >= len(q), 0.05):
            break
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    bus.close()
    os._exit(0)  # rospy's own threads wait for nobody


if __name__ == "__main__":
    main(sys.argv[1:])
