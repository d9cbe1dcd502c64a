"""Which presses of a dead-man count, and which axes: each of a press's ways to fail."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from lock_step import H_NS, PIPER

from paprle.contracts.kit.seen_at_rest import NEAR
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.ipc.records import make_layout, pack_sample
from paprle.session.inputs.deadman import DeadMan
from paprle.session.inputs.intake import Intake
from paprle.session.inputs.leaders import HELD_ON, _describe_loss

HELD, FREE, LOST = (True, True), (False, True), (True, False)


def follow(dead_man, *ticks):
    for is_engaged, is_good in ticks:
        dead_man.update(is_engaged=is_engaged, is_good=is_good)
    return dead_man.is_held


@pytest.mark.parametrize(
    ("ticks", "is_held"),
    [
        ((HELD, HELD), False),
        ((FREE, HELD), True),
        ((FREE, HELD, FREE), False),
        ((FREE, HELD, LOST), False),
        ((FREE, HELD, LOST, HELD), False),
        ((FREE, HELD, LOST, (False, False), HELD), False),
        ((FREE, LOST, HELD), False),
        ((FREE, HELD, LOST, FREE, HELD), True),
    ],
)
def test_a_dead_man_counts_after_a_release_that_was_seen(ticks, is_held):
    assert follow(DeadMan(has_deadman=True), *ticks) is is_held


def test_a_spent_press_counts_after_a_release():
    dead_man = DeadMan(has_deadman=True)
    follow(dead_man, FREE, HELD)

    dead_man.spend()

    assert not follow(dead_man, HELD)
    assert follow(dead_man, FREE, HELD)
    assert dead_man.n_presses == 2
    follow(dead_man, FREE)
    dead_man.spend()
    assert follow(dead_man, HELD), "it was released already"


def test_a_leader_without_one_is_in_use_whenever_it_is_good():
    dead_man = DeadMan(has_deadman=False)

    assert follow(dead_man, HELD)
    assert not follow(dead_man, LOST)
    assert follow(dead_man, HELD)
    assert dead_man.n_presses == 0, "what comes back is no press"
    dead_man.spend()
    assert follow(dead_man, HELD)


class Teller:
    """A leader whose samples an intake takes."""

    def __init__(self, **info):
        self.layout = make_layout(PIPER.info, LeaderInfo(limbs=("hand",), **info))
        self.intake, self.k = Intake(self.layout, 0.1), 0

    def tell(self, *, ticks=1, **sample):
        self.k += 1
        sample["limbs"] = {"hand": LimbCommand(**sample.pop("hand"))}
        made = LeaderSample(stamp_ns=self.k * H_NS, seq=self.k, **sample)
        self.intake.update(pack_sample(self.layout, made), self.k * H_NS)
        for _ in range(ticks - 1):
            self.k += 1
            self.intake.update(None, self.k * H_NS)
        return self.intake

    @property
    def is_usable(self):
        return self.intake.is_usable(self.k * H_NS)


POSE = {"T_leader_base_leader_eef": pin.SE3.Identity()}


@pytest.mark.parametrize(
    "how",
    [{"valid": False}, {"ticks": 40}, {"hand": {"T_leader_base_leader_eef": pin.SE3(
        np.eye(3), np.array([1.0, 0.0, 0.0]))}}],
    ids=["lost or guessed", "silence", "a leap"],
)  # fmt: skip
def test_a_press_that_was_lost_does_not_count_again(how):
    teller = Teller(has_deadman=True)
    teller.tell(hand=POSE, engaged=False)
    teller.tell(hand=POSE)
    assert teller.is_usable
    teller.tell(**{"hand": POSE, **how})
    for _ in range(50):
        teller.tell(**{"hand": POSE, **how, "valid": True, "ticks": 1})
        assert not teller.is_usable
    assert teller.intake.is_spent
    teller.tell(hand=how.get("hand", POSE), engaged=False)
    teller.tell(hand=how.get("hand", POSE))

    assert teller.is_usable


@pytest.mark.parametrize(
    ("ticks", "advice"),
    [
        (20, ""),
        (30, "a pause of 0.15 s; session.max_gap=0.25 gate.stale_after=0.25 bear it"),
        (60, "a pause of 0.30 s; session.max_gap=0.45 gate.stale_after=0.45 bear it"),
        (90, "a pause of 0.45 s"),
        (250, ""),
    ],
)
def test_loss_by_a_pause_within_a_press_names_the_settings_that_bear_it(ticks, advice):
    teller = Teller(has_deadman=True)
    teller.tell(hand=POSE, engaged=False)
    teller.tell(hand=POSE, ticks=ticks)
    intake = teller.tell(hand=POSE)

    why = _describe_loss(intake, teller.k * H_NS, is_far=False)
    assert intake.is_spent is (ticks > 20)
    assert why == f"{HELD_ON} {advice}".strip() or not intake.is_spent
    teller.tell(hand=POSE, engaged=False)
    assert not teller.tell(hand=POSE).pause


AXES = {"emits": "axes", "axes": {"hand": ("x", "y")}}


def read_axes(teller, x, **more):
    intake = teller.tell(hand={"axes": np.array([x, 0.5])}, **more)
    return intake.sample.axes[0].tolist()


@pytest.mark.parametrize("x", [-1.0, 0.5, 2 * NEAR, np.nan])
def test_an_axis_counts_once_it_was_at_rest(x):
    teller = Teller(**AXES)

    assert read_axes(teller, x) == [0.0, 0.0]
    assert read_axes(teller, 0.5 * NEAR) == [0.5 * NEAR, 0.0]
    assert read_axes(teller, -1.0) == [-1.0, 0.0]


@pytest.mark.parametrize("how", [{"valid": False}, {"ticks": 40}])
def test_an_axis_that_was_lost_counts_once_it_was_at_rest_again(how):
    teller = Teller(**AXES)
    read_axes(teller, 0.0)
    read_axes(teller, 1.0, **how)

    assert read_axes(teller, 1.0) == [0.0, 0.0]
    read_axes(teller, 0.0)
    assert read_axes(teller, 1.0) == [1.0, 0.0]


def test_the_axes_of_a_recording_count_from_the_start():
    teller = Teller(is_human=False, **AXES)

    assert read_axes(teller, -1.0) == [-1.0, 0.5]


@pytest.mark.parametrize("opening", [0.5, 0.0])
def test_a_trigger_counts_once_it_was_open(opening):
    teller = Teller(has_gripper=True, has_trigger=True)
    said = [
        float(teller.tell(hand={**POSE, "opening": at}).sample.opening[0])
        for at in (opening, 1.0, opening)
    ]

    assert np.isnan(said[0])
    assert said[1:] == [1.0, opening]


def test_an_opening_of_no_trigger_counts_from_the_start():
    teller = Teller(has_gripper=True)

    assert teller.tell(hand={**POSE, "opening": 0.5}).sample.opening[0] == 0.5
