"""What opens the phone's page stands in no file."""

from __future__ import annotations

import pytest

from paprle.config import resolve
from paprle.hosts.virtual import VirtualSession

WORDS = ["follower=piper", "env=kinematic", "session.clock=virtual"]


@pytest.mark.parametrize("leader", ["arpose", "webxr"])
def test_the_token_of_a_page_is_not_in_the_header_of_a_recording(leader, tmp_path):
    words = [f"leader={leader}", *WORDS, f"record.dir={tmp_path}"]

    session = VirtualSession(resolve(words))
    try:
        (opened,) = session.plan.leaders.values()
        assert any("#" in note for note in opened.notes), "the operator is told"
        assert session.recorder is not None
        assert not any("#" in note for note in session._notes)
    finally:
        for one in session.plan.leaders.values():
            one.close()
