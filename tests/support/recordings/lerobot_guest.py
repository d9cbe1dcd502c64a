"""A program of a LeRobot user who drives our robot: run by the Python that has it.

python lerobot_guest.py killed|act COMMAND WORDS, words as JSON: prints what happened.
"""

import json
import math
import os
import signal
import sys
import time

import torch
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.act.modeling_act import ACTPolicy
from lerobot_robot_paprle import PaprleRobot, PaprleRobotConfig

try:
    from lerobot.utils import feature_utils as features
except ImportError:  # 0.4
    from lerobot.datasets import utils as features

FPS = 30


def name_error(call, *args):
    """Return the name of what a call raises."""
    try:
        call(*args)
    except Exception as error:  # noqa: BLE001 - whichever it is
        return type(error).__name__
    return ""


def kill(robot):
    """Kill the session behind a robot, and connect again."""
    robot.connect()
    action = {name: robot.get_observation()[name] for name in robot.action_features}
    robot.send_action(action)
    os.kill(robot._session._process.pid, signal.SIGKILL)
    time.sleep(0.5)
    told = {
        "killed": name_error(robot.get_observation),
        "sent": name_error(robot.send_action, action),
    }
    robot.connect()
    told["twice"] = name_error(robot.connect)
    again = robot.get_observation()
    told["is_back"] = all(math.isclose(again[n], action[n], abs_tol=3) for n in action)
    robot.disconnect()
    return told


def act(robot):
    """Let an untrained policy of LeRobot drive by joints and objects."""
    columns = {
        **features.hw_to_dataset_features(robot.action_features, "action"),
        **features.hw_to_dataset_features(robot.observation_features, "observation"),
        **robot.environment_features,
    }
    known = features.dataset_to_policy_features(columns)
    inputs = {name: one for name, one in known.items() if name != "action"}
    config = ACTConfig(
        input_features=inputs, output_features={"action": known["action"]},
        chunk_size=10, n_action_steps=10, dim_model=32, n_heads=2, device="cpu",
    )  # fmt: skip
    policy = ACTPolicy(config)
    robot.connect()
    begin = seen = robot.get_observation()
    for k in range(8 * FPS):
        frame = features.build_dataset_frame(columns, seen, "observation")
        batch = {name: torch.from_numpy(row)[None] for name, row in frame.items()}
        chosen = policy.select_action(batch)[0].tolist()
        share = 10.0 * math.sin(k / FPS)  # it knows nothing: degrees about the start
        asked = dict(zip(robot.action_features, chosen, strict=True))
        action = {n: begin[n] + share * math.tanh(asked[n]) for n in asked}
        robot.send_action(action)
        time.sleep(1.0 / FPS)
        seen = robot.get_observation()
    robot.disconnect()
    moved = max(abs(seen[name] - begin[name]) for name in robot.action_features)
    return {"inputs": {n: one.shape[0] for n, one in inputs.items()}, "moved": moved}


if __name__ == "__main__":
    config = PaprleRobotConfig(command=sys.argv[2], words=json.loads(sys.argv[3]))
    does = {"killed": kill, "act": act}[sys.argv[1]]
    sys.stdout.write(json.dumps(does(PaprleRobot(config))) + "\n")
