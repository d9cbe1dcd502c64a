"""LeRobot's own SO-101 classes on two ports: run by the Python that has it.

python lerobot_arms.py learn FOLLOWER LEADER: keeps as files what the servos hold, as
``lerobot-calibrate`` does, so that none of its commands asks.
python lerobot_arms.py lead FOLLOWER LEADER SECONDS: leads, and prints what happened.
"""

import json
import sys
import time

from lerobot.robots.so_follower import SO101Follower, SO101FollowerConfig
from lerobot.teleoperators.so_leader import SO101Leader, SO101LeaderConfig

RATE = 60.0  # [Hz] spec: lerobot-teleoperate


def make(follower, leader):
    """Return follower and leader as LeRobot's commands make them."""
    return (
        SO101Follower(SO101FollowerConfig(port=follower, id="emulated")),
        SO101Leader(SO101LeaderConfig(port=leader, id="emulated")),
    )


def learn(arm):
    """Keep what the servos hold under the arm's id."""
    arm.bus.connect()
    arm.calibration = arm.bus.read_calibration()
    arm._save_calibration()
    arm.bus.disconnect()


def lead(follower, leader, seconds):
    """Return cycles, exceptions by their text, and how far the follower was off."""
    told = {"cycles": 0, "exceptions": [], "travel": {}, "late": 0}
    low, high = {}, {}
    leader.connect()
    follower.connect()
    end = due = time.monotonic()
    end += seconds
    while due < end:
        try:
            action = leader.get_action()
            follower.send_action(action)
            seen = follower.get_observation()
        except Exception as error:  # noqa: BLE001 - each is counted
            told["exceptions"].append(f"{type(error).__name__}: {error}")
            continue
        for name, value in seen.items():
            low[name] = min(value, low.get(name, value))
            high[name] = max(value, high.get(name, value))
        told["cycles"] += 1
        due += 1.0 / RATE
        pause = due - time.monotonic()
        told["late"] += pause < 0.0
        time.sleep(max(pause, 0.0))
    told["travel"] = {name: high[name] - low[name] for name in high}
    told["off"] = {name: abs(seen[name] - action[name]) for name in seen}
    follower.disconnect()
    leader.disconnect()
    return told


if __name__ == "__main__":
    arms = make(*sys.argv[2:4])
    if sys.argv[1] == "learn":
        for arm in arms:
            learn(arm)
    else:
        sys.stdout.write(json.dumps(lead(*arms, float(sys.argv[4]))) + "\n")
