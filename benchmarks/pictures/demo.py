"""README's moving picture: an operator at a session's page.

    python -m benchmarks.pictures.demo [docs/demo.webp]

Films a live session of ``leader=web``, shortening still times. Needs chromium, and
``pip install 'paprle[page]' playwright pillow``.
"""

from __future__ import annotations

import base64
import io
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from operator_page import PATIENT, Operator, Outlook, operate
from PIL import Image

from paprle.ipc.process import WORKSPACE

FOLLOWER, LIMB = "piper", "arm"
DOWN, FAR = 0, -0.1  # [m] along the arrow that points down: the hand goes up
TASK = "pick up the block"
_PORT = 18680
_SIZE = {"width": 1120, "height": 640}  # chosen: the panel beside the picture
_FPS = 6  # chosen: smooth enough, and small
_LONGEST = 0.7  # [s] chosen: what stands still is read, and no more
_LAST = 2.0  # [s] chosen: before it begins again
_SETTLED = 4000  # [ms] chosen: until the list of episodes is drawn
_MOVES = 60  # [pixels] chosen: fewer that change are a light that flickers
_QUALITY = 70  # chosen: no edge of an arm looks torn
_MOST_BYTES = 1_500_000  # chosen: a README opens at once


class Shot(NamedTuple):
    """Page at a time, [s]."""

    t: float
    image: Image.Image


def main(words: Sequence[str]) -> int:
    """Run, film and write the picture."""
    path = Path(words[0]) if words else WORKSPACE / "docs" / "demo.webp"
    outlook = Outlook(FOLLOWER)
    settings = [f"observers.view.port={_PORT}", *PATIENT]
    with (
        tempfile.TemporaryDirectory() as folder,
        operate(folder, FOLLOWER, *settings, **_SIZE) as operator,
    ):
        operator.wait_for_picture()
        operator.wait_for_handle(outlook, LIMB, DOWN)
        shots = _film(operator)
        _play(operator, outlook)
        operator.page.wait_for_timeout(_SETTLED)
    frames, lasts = _cut(shots)
    frames[0].save(
        path,
        save_all=True,
        append_images=frames[1:],
        duration=lasts,
        loop=0,
        quality=_QUALITY,
        method=6,
    )
    size = path.stat().st_size
    sys.stdout.write(f"{path}: {len(frames)} frames, {size / 1e6:.2f} MB\n")
    return 0 if size <= _MOST_BYTES else 1


def _play(operator: Operator, outlook: Outlook) -> None:
    page = operator.page
    operator.drag(outlook, LIMB, DOWN, FAR)
    operator.let_go()
    operator.drive(["PageDown"], 0.6)
    page.locator("[data-press=stop]").click()
    operator.see("Stopped")
    operator.press.up("m")
    page.wait_for_timeout(1500)
    page.get_by_role("button", name="Release").click()
    operator.see("Ready", 60.0)
    page.locator("#task").fill(TASK)
    page.get_by_role("button", name="Set", exact=True).click()
    page.get_by_text(f"task: {TASK}").wait_for()
    operator.drive(["ArrowUp", "PageDown"], 1.0)
    operator.let_go()
    page.get_by_role("button", name="Success").click()
    row = page.locator("#episodes li").first
    row.filter(has_text="success").wait_for(timeout=30_000)
    row.evaluate("row => row.scrollIntoView()")


def _film(operator: Operator) -> list[Shot]:
    shots: list[Shot] = []
    session = operator.page.context.new_cdp_session(operator.page)

    def take(event: dict[str, Any]) -> None:
        image = Image.open(io.BytesIO(base64.b64decode(event["data"])))
        shots.append(Shot(event["metadata"]["timestamp"], image.convert("RGB")))
        session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

    session.on("Page.screencastFrame", take)
    session.send("Page.startScreencast", {"format": "png"})
    return shots


def _cut(shots: Sequence[Shot]) -> tuple[list[Image.Image], list[int]]:
    kept = [shots[0]]
    for shot in shots[1:]:
        off = np.abs(np.asarray(shot.image, int) - np.asarray(kept[-1].image, int))
        is_new = np.count_nonzero(off.max(axis=2) > 32) > _MOVES
        if is_new and shot.t - kept[-1].t >= 1 / _FPS:
            kept.append(shot)
    lasts = np.diff([shot.t for shot in kept], append=kept[-1].t + _LAST)
    lasts[:-1] = np.minimum(lasts[:-1], _LONGEST)
    return [shot.image for shot in kept], [round(1000 * last) for last in lasts]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
