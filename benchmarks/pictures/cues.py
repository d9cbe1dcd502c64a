"""Picture of suggestions on an operator's page.

    python -m benchmarks.pictures.cues [docs/cues.webp]

Needs chromium, and ``pip install 'paprle[page,sim]' playwright pillow``.
"""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from browser import open_browser
from operator_page import Outlook
from PIL import Image

from benchmarks.shared_control.trial import TrialSession
from paprle.contracts.axes import compute_difference
from paprle.contracts.plugins import SessionView
from paprle.contracts.types import FollowerInfo, SessionState
from paprle.hosts.views.view import make_view
from paprle.ipc.process import WORKSPACE
from paprle.ipc.records import Record
from paprle.observers.view.config import ViewConfig
from paprle.observers.view.observer import View, find_port

_N_MOMENTS = 3
_ON_THE_WAY_NS = 1_000_000_000  # chosen: the hand moves, and is not there yet
_DIFFERENT = 0.15  # chosen: two arrows that are seen apart
_FOLLOWER, _LIMB = "papras_7dof", "arm"
_SCALE = 2  # pixels of the picture in one of the page
_SIZE = {"width": 1400, "height": 900, "device_scale_factor": _SCALE}
_STEPS = 300  # chosen: images until a browser without a graphics card has drawn
_PART = (640, 600)  # [px] chosen: of each moment, about the hand
_DRAWN = (400, 375)  # [px] chosen: three beside each other in a README
_QUALITY = 80  # chosen: clean edges


class Watched(TrialSession):
    """Trial that keeps three moments: on the way, above, and holding the block."""

    def __init__(self) -> None:
        super().__init__("continuous", 1)
        self.moments: list[SessionView] = []
        self._since_ns = 0

    def _open_devices(self) -> FollowerInfo:
        info = super()._open_devices()
        self.bodies = info.bodies
        return info

    def _tick(self, status: Record) -> tuple[Record, bool]:
        before = self.core.state
        setpoint, is_over = super()._tick(status)
        if before is SessionState.ENGAGED and self._newest is not None:
            self._keep(*self._newest)
        return setpoint, is_over

    def _keep(self, tick: Record, status: Record) -> None:
        now_ns = self.clock.now_ns
        said = {name: one.record for name, one in self._advised.read().items()}
        if not said or not all(record["valid"] for record in said.values()):
            return
        self._since_ns = self._since_ns or now_ns
        view = make_view(self.plan.layout, tick.copy(), status.copy(), now_ns, said)
        (record,), (D,) = said.values(), view.mappings.values()
        is_other = compute_difference(D[:, 0], record["D"][:, 0]) > _DIFFERENT
        is_moment = (
            now_ns - self._since_ns > _ON_THE_WAY_NS,
            is_other,
            is_other and bool(record["is_held"]),
        )
        if len(self.moments) < _N_MOMENTS and is_moment[len(self.moments)]:
            self.moments.append(view)


def main(words: Sequence[str]) -> int:
    """Play, show three moments, write the picture."""
    path = Path(words[0]) if words else WORKSPACE / "docs" / "cues.webp"
    session = Watched()
    session.play()
    moments = session.moments
    if len(moments) < _N_MOMENTS:
        sys.stderr.write(f"expected {_N_MOMENTS} moments, got {len(moments)}\n")
        return 1
    robot = session.plan.robot.info
    view = View(ViewConfig(port=find_port(18780), trail=0.0), robot, time.monotonic_ns)
    view.set_scene(session.bodies)
    view.open()
    try:
        parts = _shoot(view, moments)
    finally:
        view.close()
    sheet = Image.new("RGB", (len(parts) * _DRAWN[0], _DRAWN[1]))
    for k, part in enumerate(parts):
        sheet.paste(part.resize(_DRAWN), (k * _DRAWN[0], 0))
    sheet.save(path, quality=_QUALITY, method=6)
    sys.stdout.write(f"{path}: {path.stat().st_size / 1e3:.0f} kB\n")
    return 0


def _shoot(view: View, moments: Sequence[SessionView]) -> list[Image.Image]:
    parts, outlook = [], Outlook(_FOLLOWER)
    with open_browser(**_SIZE) as browser:
        browser.open(view.notes[0].removeprefix("open "))
        view.observe(moments[0])
        frame = browser.page.locator("#picture iframe")
        frame.wait_for(timeout=60_000)
        canvas = browser.page.frame_locator("#picture iframe").locator("canvas").first
        canvas.wait_for(timeout=60_000)
        box = canvas.bounding_box()
        for moment in moments:
            hand = outlook.find_eef(moment.q, _LIMB).translation
            x, y = (_SCALE * value for value in outlook.project(hand, box))
            for _ in range(_STEPS):
                view.observe(moment)
                browser.page.wait_for_timeout(20)
            whole = Image.open(io.BytesIO(browser.page.screenshot())).convert("RGB")
            left = round(min(max(x - _PART[0] / 2, 0), whole.width - _PART[0]))
            top = round(min(max(y - _PART[1] / 2, 0), whole.height - _PART[1]))
            parts.append(whole.crop((left, top, left + _PART[0], top + _PART[1])))
    return parts


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
