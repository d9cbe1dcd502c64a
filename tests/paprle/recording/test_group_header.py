"""The header of several slow leaders tells the layout that their recording has."""

from __future__ import annotations

import pytest

from paprle.config import resolve
from paprle.contracts.kit.leader_group import merge_leaders
from paprle.contracts.types import LeaderInfo
from paprle.hosts.plan import make_robot
from paprle.ipc.records import make_layout
from paprle.recording.header import leader_from_dict, leader_to_dict


@pytest.mark.parametrize("rates", [(60, 60), (200, 200), (60, 200), (60,)])
def test_a_layout_is_found_again_from_the_header(rates):
    robot = make_robot(
        resolve(["leader=autopilot", "follower=piper", "env=kinematic"])
    ).info
    names = ("left", "right") if len(rates) == 2 else ("",)
    parts = {
        name: LeaderInfo(limbs=("hand",), rate=rate)
        for name, rate in zip(names, rates, strict=True)
    }
    leader = merge_leaders(parts)

    again = leader_from_dict(leader_to_dict(leader))

    assert make_layout(robot, again).sample == make_layout(robot, leader).sample


def test_the_header_of_a_group_tells_what_each_leader_is():
    parts = {
        "file": LeaderInfo(limbs=("arm",), is_absolute=True, is_human=False),
        "pad": LeaderInfo(limbs=("hand",), axes={"hand": ("x",)}, emits="axes"),
    }

    again = leader_from_dict(leader_to_dict(merge_leaders(parts)))

    assert again == merge_leaders(parts)
    assert again.parts == parts
