"""Goals of a gripper, taken by actionlib of Debian; prints what it was given."""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading
import time

from genpy_action import make_action

from paprle.hardware.ros.joints import encode_gripper
from paprle.hardware.ros.messages import GRIPPER_ACTION, load_codec
from paprle.hardware.ros.transports.rospy_bus import RospyBus

NAME = "/gripper_controller/gripper_cmd"


def main() -> None:
    codec = load_codec("noetic")
    bus = RospyBus(codec, "probe")
    actionlib = importlib.import_module("actionlib")
    taken: list[float] = []
    event = threading.Event()

    def execute(goal):
        taken.append(goal.command.position)
        event.set()
        server.set_succeeded()

    server = actionlib.SimpleActionServer(
        NAME, make_action(), execute, auto_start=False
    )
    server.start()
    goals = bus.advertise_action(NAME, GRIPPER_ACTION)
    is_there = bus.wait_until(lambda: goals.count_matched() > 0, 10.0)
    for position in (0.01, 0.035):
        event.clear()
        goals.publish(encode_gripper(codec, position))
        event.wait(5.0)
    sys.stdout.write(json.dumps({"is_there": is_there, "taken": taken}) + "\n")
    sys.stdout.flush()
    time.sleep(0.1)
    os._exit(0)  # rospy's own threads wait for nobody


if __name__ == "__main__":
    main()
