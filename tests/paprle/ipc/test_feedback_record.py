"""What the session tells one of several leaders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paprle.contracts.kit.leader_group import list_rows
from paprle.contracts.types import Feedback, LeaderInfo, SessionState
from paprle.ipc.feedback_record import (
    MOST_WORDS,
    pack_feedback,
    unpack_feedback,
)

INFOS = {"left": LeaderInfo(limbs=("arm",)), "both": LeaderInfo(limbs=("a", "b"))}
ROWS = list_rows(INFOS)


@pytest.mark.parametrize(
    ("driver", "left", "both"),
    [
        ([0, 1, 2], (True,), (True, True)),
        ([-1, -1, 2], (False,), (False, True)),
        ([0, 0, -1], (True,), (False, False)),
        ([-1, -1, -1], (False,), (False, False)),
    ],
)
def test_a_leader_is_engaged_while_one_of_its_own_limbs_drives(driver, left, both):
    said = Feedback(stamp_ns=7, state=SessionState.ENGAGED, episode=3, is_engaged=True)
    record = pack_feedback(said, np.array(driver))

    for name, drives in (("left", left), ("both", both)):
        heard = unpack_feedback(record, ROWS[name])
        assert heard.drives == drives
        assert heard.is_engaged == any(drives)
        assert (heard.stamp_ns, heard.state, heard.episode) == (7, said.state, 3)


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_recording_is_in_the_feedback(is_recorded):
    said = Feedback(
        stamp_ns=7, state=SessionState.ENGAGED, episode=3, is_engaged=True,
        is_recorded=is_recorded,
    )  # fmt: skip

    heard = unpack_feedback(pack_feedback(said, np.array([0])), ROWS["left"])

    assert heard.is_recorded is is_recorded


def test_no_limb_is_engaged_outside_an_engaged_session():
    said = Feedback(stamp_ns=7, state=SessionState.WAITING, episode=0, is_engaged=False)

    heard = unpack_feedback(pack_feedback(said, np.array([0, 1, 2])), ROWS["both"])

    assert not heard.is_engaged


def test_a_reason_of_standing_crosses_cut_to_one_sentence():
    said = Feedback(stamp_ns=7, state=SessionState.ENGAGED, episode=0, is_engaged=True)
    driver = np.array([0, 1, 2])
    for reason in ("", "arm kept clear of itself: link2 and link6", "é" * 300):
        record = pack_feedback(replace(said, standing=reason), driver)
        heard = unpack_feedback(record, ROWS["both"]).standing
        assert reason.startswith(heard)
        assert len(heard.encode()) >= min(len(reason.encode()), MOST_WORDS - 1)
