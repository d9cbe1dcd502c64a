"""A note at the page of a session is a touch of where the arm rests."""

from __future__ import annotations

import json
import re
import time

import numpy as np
import pytest
from terminal import TerminalSession
from websockets.sync.client import connect

from paprle_lab.calibration.recorded_touches import read_touches

pytestmark = [pytest.mark.process, pytest.mark.nightly]


def write_note(session, text):
    base, token = re.search(r"open (http://\S+)/#(\S+)", session.text()).groups()
    with connect(
        f"{base.replace('http', 'ws')}/console",
        origin=base, subprotocols=["paprle", token], compression=None,
    ) as page:  # fmt: skip
        for message in (
            {"type": "hello", "version": 1, "page": "test"},
            {"type": "control", "wanted": True},
            {"type": "note", "text": text},
        ):
            page.send(json.dumps(message))
        time.sleep(1.0)


def test_a_note_at_the_page_is_a_touch_where_the_arm_rests(tmp_path):
    words = ["leader=keyboard", "follower=ur5e", "env=kinematic", "console=on"]
    words += ["session.view=true", "observers.view.scene=false"]
    words += ["observers.view.port=18891"]
    session = TerminalSession(words, tmp_path / "out", {})
    try:
        session.wait_for("press Enter", 90.0)
        session.press(b"\r")
        session.wait_for("ENGAGED", 60.0)
        for key in b"ww":
            session.press(bytes([key]))
            time.sleep(0.7)
        time.sleep(1.0)
        write_note(session, "touch tip")
        session.press(b"q")
        session.wait_gone()
    finally:
        session.end()

    (touch,) = read_touches([session.out / "episode_000000.mcap"]).touches
    assert (touch.limb, touch.point) == ("arm", "tip")
    p = session.episode().target["arm"][1][-1, :3]
    np.testing.assert_allclose(touch.T_base_eef.translation, p, atol=1e-3)
