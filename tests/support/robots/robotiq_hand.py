"""Robots that carry a Robotiq gripper, and judges of what reached the gripper."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

OPENED, CLOSED = 3, 230  # [counts] spec: docs/robotiq.md, of the 2F-85
STROKE = 0.085  # [m] spec: docs/robotiq.md
FINGER, KNUCKLE = STROKE / 2, 0.8  # [m], [rad] travel of a finger, and of a linkage
GO = "GTO 1"  # a goal that it is to follow
FIRMLY = 25  # [counts] spec: docs/robotiq.md, from where the fingers meet to 255
COUNTS = (CLOSED - OPENED) / FINGER  # [1/m] of one finger
LATE = 0.1  # [s] chosen: a goal waits for the next question, and a shared machine


def carry(robot):
    """Return a robot of one limb with a 2F-85 in place of its own gripper."""
    (limb,) = robot.limbs
    hand = limb.gripper
    at = robot.joint_names.index(hand.joint)
    travel = FINGER if hand.joint in robot.sliding else KNUCKLE
    q_min, q_max, home = robot.q_min.copy(), robot.q_max.copy(), robot.home.copy()
    q_min[at], q_max[at], home[at] = 0.0, travel, travel
    hand = replace(hand, closed=0.0, open=travel)
    return replace(
        robot,
        name=f"{robot.name}_2f85",
        q_min=q_min,
        q_max=q_max,
        home=home,
        limbs=(replace(limb, gripper=hand),),
    )


def read_events(log):
    """Return what an emulated gripper on a serial line noted, with stamps, [ns]."""
    rows = [row.split(",", 2) for row in log.read_text().splitlines()]
    return [(int(at), text) for _, at, text in rows]


def check_hand(events, speed):
    """Judge what reached a gripper: activated once, led to and fro, no fault.

    ``speed`` is the fastest of a finger, [m/s].
    """
    texts = [text for _, text in events]
    assert texts.count("gripper: activation begins") == 1
    assert texts.count("gripper: activated") == 1
    assert not [text for text in texts if "fault" in text or "no power" in text]
    found = [(at, re.search(r"\bPOS (\d+)", text)) for at, text in events if GO in text]
    goals = np.array([(at * 1e-9, int(goal[1])) for at, goal in found if goal])
    assert goals[0, 1] == OPENED
    assert goals[:, 1].max() >= CLOSED / 2
    assert len(goals) > 40, "it follows"
    passed, steps = np.abs(np.diff(goals, axis=0)).T
    assert np.all(steps <= FIRMLY + COUNTS * speed * (passed + LATE)), "as V allows"
