"""A group of leaders keeps every field of its parts, or declares it per part."""

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from paprle.contracts.axes import AxisSpeeds
from paprle.contracts.kit.leader_group import PER_PART, find_part, merge_leaders
from paprle.contracts.kit.sampling import Sampling
from paprle.contracts.types import LeaderArm, LeaderInfo

PLAIN = LeaderInfo(limbs=("hand",), axes={"hand": ("x",)}, is_human=False, rate=50.0)
ARM = LeaderArm(
    urdf_path=Path("arm.urdf"),
    base_link="base",
    eef_link="eef",
    joint_names=("j",),
    gripper=None,
    R_base=np.eye(3),
)
OTHER = {
    "limbs": ("hand", "foot"),
    "emits": "axes",
    "joint_names": {"hand": ("a", "b")},
    "axes": {"hand": ("x", "y")},
    "axis_speeds": AxisSpeeds(0.2, 0.3, 0.4),
    "is_absolute": True,
    "relative": frozenset({"hand"}),
    "is_human": True,
    "is_measured": True,
    "is_far": True,
    "is_stamped_on_arrival": True,
    "has_gripper": True,
    "has_deadman": True,
    "has_trigger": True,
    "has_buttons": True,
    "renders": "torque",
    "rate": 500.0,
    "sampling": Sampling("ordered", 0.15),
    "look_ahead": 0.3,
    "arms": {"hand": ARM},
    "engage_hint": "press the trigger",
    "robot": "piper",
    "motion": {"hand": np.zeros((2, 1))},
    "path": {"hand": np.zeros((2, 8))},
    "n_ahead": 7,
    "reposture": "auto",
}
"""A value of each field that ``PLAIN`` does not have."""
NAMES = [field.name for field in fields(LeaderInfo) if field.name != "parts"]


NEEDED = {"relative": {"is_absolute": True}}
"""Values of other fields without which a field says nothing."""


def make_plain(name):
    return replace(PLAIN, **NEEDED.get(name, {}))


def make_other(name):
    """Return a leader that differs from the plain one in this field."""
    return replace(make_plain(name), **{name: OTHER[name]})


@pytest.mark.parametrize("name", NAMES)
def test_each_field_of_a_part_is_merged_or_declared_per_part(name):
    assert name in OTHER, f"give an example of LeaderInfo.{name}"
    plain = merge_leaders({"a": PLAIN, "b": make_plain(name)})

    merged = merge_leaders({"a": PLAIN, "b": make_other(name)})

    is_merged = getattr(merged, name) != getattr(plain, name)
    assert is_merged != (name in PER_PART), "neither, or both"


@pytest.mark.parametrize("name", sorted(PER_PART))
def test_a_value_shared_by_all_parts_is_the_groups(name):
    same = make_other(name)

    merged = merge_leaders({"a": same, "b": same})

    assert getattr(merged, name) == OTHER[name]
    assert find_part(merged, "b.hand") == ("b", same)


def test_limbs_of_a_group_are_absolute_where_their_own_leader_is():
    file = replace(PLAIN, is_absolute=True)

    group = merge_leaders({"file": file, "phone": PLAIN})

    assert group.emits_places("file.hand")
    assert not group.emits_places("phone.hand")
