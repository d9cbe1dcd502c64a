"""Which arms are there: the whole table, and what it says of a rig."""

import itertools

import pytest

from paprle.leaders.puppeteer.gestures.presence import (
    TRANSITIONS,
    ArmPresence,
    Event,
    Look,
    Presence,
)

MS = 1_000_000
LONG = 501 * MS
LOOKS = {
    Event.ANSWERS: (0, True, False),
    Event.ANSWERS_WHILE_ENGAGED: (0, True, True),
    Event.LAGS: (LONG, True, False),
    Event.IS_SILENT: (0, False, False),
}
"""Age [ns], whether it answers, whether the session drives, by what they amount to."""

EXPECTED = {
    # state: after ANSWERS, ANSWERS_WHILE_ENGAGED, LAGS, IS_SILENT
    "UNSEEN": ("PRESENT", "PRESENT", "STALE", "ABSENT"),
    "PRESENT": ("PRESENT", "PRESENT", "STALE", "ABSENT"),
    "STALE": ("PRESENT", "RETURNING", "STALE", "ABSENT"),
    "ABSENT": ("PRESENT", "RETURNING", "STALE", "ABSENT"),
    "RETURNING": ("PRESENT", "RETURNING", "STALE", "ABSENT"),
}


class Rig:
    """Two arms on two ports, on a clock of our own; every look is a new reading."""

    def __init__(self):
        self.presence, self.seq, self.now_ns = ArmPresence(["left", "right"]), 0, LONG

    def look(self, left=(0, True), right=(0, True), *, is_engaged=False):
        """Accept ages [ns] and answers of both arms; returns whether one is due."""
        self.seq += 1
        self.now_ns += 5 * MS
        looks = {
            arm: Look(self.seq, self.now_ns - age_ns, is_answering)
            for arm, (age_ns, is_answering) in {"left": left, "right": right}.items()
        }
        return self.presence.update(looks, is_engaged=is_engaged)


@pytest.mark.parametrize(
    ("state", "event"),
    list(itertools.product(Presence, Event)),
    ids=lambda one: one.name,
)
def test_every_event_in_every_state_leads_where_the_table_says(state, event):
    rig = Rig()
    rig.presence.states["left"] = state
    age_ns, is_answering, is_engaged = LOOKS[event]

    rig.look(left=(age_ns, is_answering), is_engaged=is_engaged)

    expected = Presence[EXPECTED[state.name][list(Event).index(event)]]
    assert rig.presence.states["left"] is expected
    assert TRANSITIONS[state, event] is expected
    assert ("left" in rig.presence.lost) == (expected is not Presence.PRESENT)


def test_table_has_no_other_entries():
    assert set(TRANSITIONS) == set(itertools.product(Presence, Event))


def test_an_arm_is_not_lost_before_its_first_reading():
    assert Rig().presence.lost == frozenset()


def test_silence_outweighs_age():
    rig = Rig()

    rig.look(left=(LONG, False))

    assert rig.presence.states["left"] is Presence.ABSENT


@pytest.mark.parametrize(("age_ns", "is_lost"), [(500 * MS, False), (LONG, True)])
def test_an_arm_half_a_second_behind_the_others_is_stale(age_ns, is_lost):
    rig = Rig()

    rig.look(left=(age_ns, True))

    assert ("left" in rig.presence.lost) == is_lost


def test_an_arm_that_returns_stays_out_until_the_session_stops_driving():
    rig = Rig()
    rig.look()
    rig.look(left=(0, False), is_engaged=True)

    rig.look(is_engaged=True)
    assert rig.presence.lost == {"left"}

    rig.look(is_engaged=False)
    assert rig.presence.lost == frozenset()


def test_a_sample_is_due_when_every_arm_has_something_new():
    presence = ArmPresence(["left", "right"])

    def is_due(left, right):
        looks = {"left": Look(left, 0, True), "right": Look(right, 0, True)}
        return presence.update(looks, is_engaged=False)

    assert is_due(1, 1)
    assert not is_due(1, 1)
    assert not is_due(2, 1)
    assert is_due(2, 2)


def test_a_lost_arm_is_not_waited_for():
    rig = Rig()
    rig.look()
    rig.look(right=(0, False))
    looks = {"left": Look(rig.seq + 1, 0, True), "right": Look(rig.seq, 0, False)}

    assert rig.presence.update(looks, is_engaged=False)


@pytest.mark.parametrize("is_answering", [True, False], ids=["returns", "is_lost"])
def test_a_sample_is_due_at_once_when_an_arm_is_lost_or_returns(is_answering):
    rig = Rig()
    rig.look()
    if is_answering:
        rig.look(right=(0, False))
    looks = {
        "left": Look(rig.seq, 0, True),
        "right": Look(rig.seq + 1, 0, is_answering),
    }

    assert rig.presence.update(looks, is_engaged=False)


def test_no_sample_is_due_without_any_arm():
    rig = Rig()
    rig.look()

    assert rig.look((0, False), (0, False))
    assert not rig.look((0, False), (0, False))
