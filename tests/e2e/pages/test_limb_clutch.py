"""A limb that others lead is held at the page, and the recording says so."""

from __future__ import annotations

import json
import re
import time

import numpy as np
import pytest
from running import RunningSession, judge
from websockets.sync.client import connect

pytestmark = [
    pytest.mark.process,
    pytest.mark.nightly,
    pytest.mark.timeout(180),
]

LIMBS = ("left", "right")
WORDS = ["leader=mix", "follower=papras_7dof_2arm", "env=kinematic", "console=on"]
WORDS += ["observers.view.scene=false", "observers.view.port=18880"]
BRAKED = 1.0  # [s] longer than 100 ms and V/A of any joint
HELD = 1.0  # [s]


def lead(limb):
    drawn = {"type": "autopilot", "laps": 100, "size": 0.04, "speed": 0.08}
    words = [f"leaders.{limb}.{key}={value}" for key, value in drawn.items()]
    rule = {"rule": "relative", "from": f"{limb}.hand"}
    return words + [f"retarget.limbs.{limb}.{key}={rule[key]}" for key in rule]


def act(session, *messages):
    """Say these things at the page, a pause between each two."""
    base, token = re.search(r"open (http://\S+)/#(\S+)", session.text()).groups()
    with connect(
        f"{base.replace('http', 'ws')}/console",
        origin=base, subprotocols=["paprle", token], compression=None,
    ) as page:  # fmt: skip
        hello = {"type": "hello", "version": 1, "page": "test"}
        control = {"type": "control", "wanted": True}
        for message in (hello, control, *messages):
            page.send(json.dumps(message))
            if message["type"] == "clutch":
                time.sleep(BRAKED + HELD)


def test_one_limb_is_held_while_the_other_goes_on(tmp_path):
    words = [*WORDS, *(word for limb in LIMBS for word in lead(limb))]
    session = RunningSession(words, tmp_path / "out")
    try:
        session.wait_for("ENGAGED", 120.0)
        held, free = (
            {"type": "clutch", "limb": "left", "held": is_held}
            for is_held in (True, False)
        )
        act(session, held, free)
        session.kill("session", 2)
        session.process.wait(60)
    finally:
        session.end()

    episode = session.episode()
    told = [e for e in episode.events if e["event"] == "driver" and e["limb"] == "left"]
    assert [event["leader"] for event in told] == ["", "left.hand"]
    began, ended = (event["t_ns"] for event in told)
    assert ended - began > HELD * 1e9
    stamps, robot = episode.gate["stamp_ns"].astype(np.int64), episode.robot_info
    rows = (stamps > began + BRAKED * 1e9) & (stamps < ended)
    speeds = {
        limb.name: np.abs(
            episode.gate["dq_cmd"][rows][
                :, [robot.joint_names.index(name) for name in limb.joint_names]
            ]
        ).max()
        for limb in robot.limbs
    }
    assert speeds["left"] == 0.0
    assert speeds["right"] > 0.01
    assert judge(episode).is_ok
