"""How much of an asked motion is cut."""

import numpy as np
import pytest

from paprle.tracking.findings import Saturation
from paprle.tracking.saturation import find_share


@pytest.mark.parametrize(
    ("asked", "sent", "share"),
    [
        ([1.0, 0.0], [0.88, 0.0], 0.12),
        ([1.0, 0.0], [0.0, 1.0], 1.0),
        ([1.0, 0.0], [-1.0, 0.0], 1.0),
        ([1.0, 0.0], [1.5, 0.0], 0.0),
        ([0.0, 0.0], [1.0, 0.0], 0.0),
    ],
    ids=["less", "aside", "back", "catching up", "nothing asked"],
)
def test_the_share_is_what_the_command_did_not_go_of_the_asked_way(asked, sent, share):
    assert find_share(np.array(asked), np.array(sent)) == pytest.approx(share)


def test_a_cut_is_reported_in_the_words_of_a_person():
    assert str(Saturation("velocity of joint2", 0.12)) == "velocity of joint2, 12 %"
    assert (
        str(Saturation("velocity of joint2", 0.0)) == "velocity of joint2, catching up"
    )
