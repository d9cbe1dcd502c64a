"""Half an hour at the page, drawn by the processor, with the product's own settings."""

from __future__ import annotations

import os
import time
from itertools import cycle

import pytest
from operator_page import operate

pytestmark = [
    pytest.mark.process,
    pytest.mark.sim,
    pytest.mark.timed,
    pytest.mark.nightly,
    pytest.mark.timeout(2400),
]

MINUTES = float(os.environ.get("PAGE_MINUTES", "30"))
TURN = 1.0  # [s] a key is held
LOOK = 0.1  # [s] between looks at the state
LOADED = 5.0  # [s] until a newcomer has seen the robot


def test_the_page_drives_for_half_an_hour_without_a_pause(tmp_path):
    port = "observers.view.port=18482"
    with operate(tmp_path, "piper", port, width=1280, height=720) as operator:
        page, press = operator.page, operator.press
        operator.wait_for_picture()
        page.wait_for_timeout(1000 * LOADED)
        operator.hold()
        assert operator.n_pauses == 0, operator.session.text()
        end, next_ = time.monotonic() + 60.0 * MINUTES, 0.0
        keys, key = cycle(("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight")), ""
        while (now := time.monotonic()) < end:
            word, left = operator.word(), end - now
            # held at the edge of its reach, with the reason, it needs no other press
            assert word in {"Driving", "Held"}, f"{word}, {left:.0f} s before the end"
            if now > next_:
                if key:
                    press.up(key)
                key, next_ = next(keys), now + TURN
                press.down(key)
            page.wait_for_timeout(1000 * LOOK)
        press.up(key)
        operator.let_go()
        assert not operator.browser.errors
