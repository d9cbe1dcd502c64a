"""Goals of Kinova's arm, taken by actionlib of Debian; prints what became of them."""

from __future__ import annotations

import importlib
import json
import math
import os
import sys
import time

import numpy as np
from genpy_action import make_action

from paprle.hardware.ros.goals import ACTIONS, Goals
from paprle.hardware.ros.messages import load_codec
from paprle.hardware.ros.transports.rospy_bus import RospyBus

NAME = "/j2s7s300_driver/joints_action/joint_angles"
KIND = "kinova_joints"


def main() -> None:
    codec = load_codec("noetic")
    bus = RospyBus(codec, "probe")
    actionlib = importlib.import_module("actionlib")
    taken: list[float] = []
    ended: list[str] = []

    def execute(goal):
        """An arm that needs a second for a goal, unless another one comes."""
        taken.append(goal.angles.joint2)
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            if server.is_preempt_requested():
                ended.append("preempted")
                server.set_preempted()
                return
            time.sleep(0.005)
        ended.append("succeeded")
        server.set_succeeded()

    action = make_action("ArmJointAngles")
    server = actionlib.SimpleActionServer(NAME, action, execute, auto_start=False)
    server.start()
    publisher = bus.advertise_action(NAME, ACTIONS[KIND])
    is_there = bus.wait_until(lambda: publisher.count_matched() > 0, 10.0)
    goals = Goals(publisher, codec, KIND, time.monotonic_ns, 0.0)
    begin = time.monotonic()
    while (t := time.monotonic() - begin) < 2.5:  # half a second of motion, then rest
        q = np.full(7, math.radians(90.0 + 20.0 * min(t, 0.5)))
        goals.send(q)
        time.sleep(0.01)
    said = {"is_there": is_there, "taken": taken, "ended": ended}
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()
    time.sleep(0.1)
    os._exit(0)  # rospy's own threads wait for nobody


if __name__ == "__main__":
    main()
