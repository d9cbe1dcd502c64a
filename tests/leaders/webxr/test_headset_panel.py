"""The state of a session as a headset's display shows it."""

from __future__ import annotations

import time

import numpy as np
import pytest
from headset_eye import look, start
from iwer import load_runtime, open_phone
from phones import TLS_ADDRESS, wait_until

from paprle.contracts.types import SessionState
from paprle.leaders.webxr.config import WebxrConfig
from paprle.leaders.webxr.leader import Webxr
from paprle.testing.samples import make_feedback

pytestmark = [pytest.mark.timed]
PLACE = np.array([-0.02, -0.40, -1.0])  # [m] on the panel, beside its words
RED = {SessionState.ENGAGED: 0x1B, SessionState.CLUTCHED: 0x8A}
RED |= {SessionState.STOPPED: 0xB3, SessionState.HOMING: 0x6A}


def read_panel(opened):
    """Return the red channel where the panel is, 0 … 255."""
    image, K = look(opened)
    x, y = K[:2, :2] @ (PLACE[:2] * (1, -1) / -PLACE[2]) + K[:2, 2]
    column, row = round(x), round(y)
    return float(np.median(image[row - 1 : row + 2, column - 1 : column + 2]))


def test_the_headset_shows_the_state_of_the_session(tmp_path):
    leader = Webxr(
        WebxrConfig(listen=TLS_ADDRESS, certificate=str(tmp_path)), time.monotonic_ns
    )
    leader.open()
    address = leader.notes[0].removeprefix("open ")
    try:
        with open_phone(load_runtime(tmp_path), address, kind="headset") as opened:
            start(opened)
            for state, red in RED.items():
                leader.apply(make_feedback(state))
                wait_until(lambda red=red: abs(read_panel(opened) - red) < 8)
            assert opened.errors == []
    finally:
        leader.close()
