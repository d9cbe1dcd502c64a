"""A page that jogs a robot for a while, over the session's own web socket."""

from __future__ import annotations

import json
import re
import time

import numpy as np
from websockets.sync.client import connect

RATE = 30.0  # [Hz] of a page's pictures
_SLOWEST = 5.0  # [s] chosen: no page of a session answers later
_RELEASED = 1.0  # [s] chosen: a dead-man counts once it was seen released


def find_page(text):
    """Return base address and token of the page that a session named."""
    return re.search(r"open (http://\S+)/#(\S+)", text).groups()


def jog(address, limb, seconds, deflect):
    """Hold the dead-man for some seconds and push a limb by ``deflect(t)``, (7,)."""
    base, token = address
    with connect(
        f"{base.replace('http', 'ws')}/console",
        origin=base, subprotocols=["paprle", token], compression=None,
    ) as page:  # fmt: skip
        _say(page, {"type": "hello", "version": 1, "page": "test"})
        _say(page, {"type": "control", "wanted": True})
        _answer_clock(page, _SLOWEST, is_waited_for=True)
        begin = time.monotonic()
        seq = 0
        while (t := time.monotonic() - begin - _RELEASED) < seconds:
            seq += 1
            push = np.clip(deflect(t), -1.0, 1.0) if t > 0.0 else np.zeros(7)
            _say_hands(page, seq, limb, push.tolist(), is_held=t > 0.0)
            _answer_clock(page, 1.0 / RATE)
        _say_hands(page, seq + 1, limb, [0.0] * 7, is_held=False)
        time.sleep(0.5)


def _say(page, message):
    page.send(json.dumps(message))


def _say_hands(page, seq, limb, push, *, is_held):
    limbs = {limb: {"jog": push, "opening": 1.0}}
    now_ms = time.monotonic() * 1e3
    message = {"type": "hands", "seq": seq, "t": now_ms, "held": is_held}
    _say(page, message | {"press": int(is_held), "joints": [], "limbs": limbs})


def _answer_clock(page, seconds, *, is_waited_for=False):
    """Read what the session says for a time; answer its questions for the clock."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0.0:
        try:
            said = page.recv(timeout=left)
        except TimeoutError:
            return
        if isinstance(said, bytes):
            continue
        message = json.loads(said)
        if message.get("type") == "clock":
            now_ms = time.monotonic() * 1e3
            _say(page, {"type": "clock", "id": message["id"], "t": now_ms})
            if is_waited_for:
                return
