"""Every reason to hold or to stop is told with what happened, whole."""

import pytest

from paprle.gate.reason_text import describe_reasons, list_words, name_reasons
from paprle.gate.reasons import HOLD_REASONS, STOP_REASONS, Reason, to_bits
from paprle.ipc.stop_reason import STOP_REASON, pack_stop_reason


@pytest.mark.parametrize("reason", sorted(HOLD_REASONS | STOP_REASONS))
def test_each_reason_says_what_happened(reason):
    told = describe_reasons(to_bits([reason]))

    assert told.startswith(f"{reason.name.lower()} (")
    assert len(told) > len(reason.name) + 10


def test_the_robots_own_words_take_the_place_of_ours():
    bits = to_bits([Reason.FOLLOWER_STOP])

    said = describe_reasons(bits, "2 publishers on /s, not 1; end the others")
    assert said == "follower_stop (2 publishers on /s, not 1); end the others"
    assert describe_reasons(bits, "emergency stop").endswith("; see to the robot")
    assert name_reasons(bits, "emergency stop") == "follower_stop (emergency stop)"


def test_the_robots_words_are_those_of_its_own_stop_alone():
    said = describe_reasons(to_bits([Reason.STATE_LOST]), "emergency stop")

    assert said == describe_reasons(to_bits([Reason.STATE_LOST]))


def test_a_stop_is_told_before_what_made_it_brake():
    bits = to_bits([Reason.STATE_STALE, Reason.STATE_LOST, Reason.VELOCITY])

    assert describe_reasons(bits).startswith("state_lost (")


@pytest.mark.parametrize("letter", ["a", "é", "…"])
def test_a_reason_too_long_is_cut_visibly_and_between_letters(letter):
    assert pack_stop_reason(letter * 20).decode() == letter * 20
    cut = pack_stop_reason(letter * 500)
    assert STOP_REASON - 3 <= len(cut) <= STOP_REASON
    assert set(cut.decode().removesuffix(" …")) == {letter}


def test_each_reason_has_words_for_whoever_watches():
    words = list_words(to_bits(Reason))

    assert len(set(words)) == len(Reason)
    assert all(words)
