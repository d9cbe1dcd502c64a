from __future__ import annotations

import pytest
from lock_step import LockStep


@pytest.fixture
def lock_step():
    made = []

    def make(*args, **kwargs):
        made.append(LockStep(*args, **kwargs))
        return made[-1]

    yield make
    for session in made:
        if session.follower.sent:
            verdict = session.judge()
            assert verdict.is_ok, str(verdict)
