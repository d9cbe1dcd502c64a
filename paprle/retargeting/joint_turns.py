"""Bounds of leader joints, and whole turns toward the robot's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from paprle.contracts.kit.continuity import TURN, make_bounds, make_free_bounds
from paprle.contracts.types import LeaderInfo, Vec
from paprle.ipc.records import SampleView
from paprle.retargeting.limb_sources import POSE, Slot, find_width
from paprle.retargeting.rules.joints import JointsRule
from paprle.robot import RobotModel
from paprle.robot.chain import Limb


class _Link(NamedTuple):
    row: int
    column: int
    joint: int
    gain: float
    offset: float
    is_endless: bool


class JointTurns:
    """Joints of leaders that drive a robot's.

    Attributes:
        bounds: See ``make_free_bounds``, shape (k, j, 4).
    """

    def __init__(
        self, robot: RobotModel, leader: LeaderInfo, slots: Sequence[Sequence[Slot]]
    ) -> None:
        k, width = len(leader.limbs), find_width(leader)
        self.bounds = make_free_bounds(k, width)
        self._links: list[list[list[_Link]]] = []
        for limb, own in zip(robot.limbs.values(), slots, strict=True):
            links = [list(_list_links(slot, limb, k, width)) for slot in own]
            self._links.append([[x for x in one if x.is_endless] for one in links])
            for link in itertools.chain(*links):
                self.bounds[link.row, link.column] = _bound(robot, link)

    def find(
        self, sample: SampleView, q_cmd: Vec, choices: Mapping[int, int]
    ) -> Iterator[tuple[int, int, float]]:
        """Yield leader joints off by turns: limb, joint, turns to add."""
        for i, choice in choices.items():
            for link in self._links[i][choice] if choice >= 0 else ():
                asked = link.gain * sample.q[link.row, link.column] + link.offset
                off = float(q_cmd[link.joint] - asked) / TURN
                if turns := round(off) if math.isfinite(off) else 0:
                    yield link.row, link.column, link.gain * turns


def _list_links(slot: Slot, limb: Limb, k: int, width: int) -> Iterator[_Link]:
    if not isinstance(slot.rule, JointsRule) or not width:
        return
    rows = zip(slot.rule.source.tolist(), slot.rule.line.tolist(), strict=True)
    for i, (place, (gain, offset, *_)) in enumerate(rows):
        row, column = divmod(place - POSE * k, width)
        if 0 <= row < k and gain:
            is_endless = abs(gain) == 1.0 and math.isinf(limb.q_min[i])
            joint = int(limb.indices[i])
            yield _Link(row, column, joint, gain, offset, is_endless)


def _bound(robot: RobotModel, link: _Link) -> Vec:
    ends = np.array([robot.q_min[link.joint], robot.q_max[link.joint]])
    low, high = np.sort((ends - link.offset) / link.gain)
    return make_bounds(float(robot.dq_max[link.joint]) / abs(link.gain), low, high)
