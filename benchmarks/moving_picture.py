"""Make the README's moving picture: the page of a session, frame by frame.

    python -m benchmarks.moving_picture [docs/demo.webp]

The demo is run on a virtual clock, so that its recording is the same every time. Each
frame of it is given to the observer ``view``, as the leader ``web`` would have it,
whose page a headless browser shows.

It needs chromium, and ``pip install 'paprle[view]' playwright pillow``.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from observers.view.config import ViewConfig
from observers.view.observer import View, find_port
from paprle.config import resolve
from paprle.contracts.plugins import SessionView
from paprle.contracts.types import GateState, SessionState
from paprle.hosts.virtual import VirtualSession
from paprle.recording.reader import Episode
from paprle.testing.views import make_session_view

DEMO = ("leader=autopilot", "follower=piper", "env=mujoco", "session.episodes=1")
ROOT = Path(__file__).resolve().parents[1]
_FPS = 8  # chosen: smooth enough, and small
_SIZE = (1120, 600)  # chosen: a small window, with the panel beside the picture
_PATIENCE = 60_000  # [ms] chosen: a browser without a graphics card
_DRAWN = 0.25  # [s] chosen: until a frame has reached the page and is drawn
_QUALITY = 78  # chosen: no edge of an arm looks torn
_NEWS = {
    "leader": {"hint": "hold the page's button (m)", "hands": ["arm"], "emits": "pose"},
    "note": "",
    "episode": "ep 1",
    "recording": "REC",
    "folder": "demo",
    "task": "draw a circle",
}
_MOST_BYTES = 1_500_000  # chosen: a README opens at once


def main(words: Sequence[str]) -> int:
    """Run the demo, shoot its page, write the picture."""
    path = Path(words[0]) if words else ROOT / "docs" / "demo.webp"
    with tempfile.TemporaryDirectory() as folder:
        session = VirtualSession(
            resolve([*DEMO, "session.clock=virtual", f"record.dir={folder}"])
        )
        session.run()
        episode = Episode.open(Path(folder))
    view = View(ViewConfig(port=find_port(8080)), episode.robot_info, time.monotonic_ns)
    view.open()
    try:
        frames = _shoot(view, list(_list_views(episode)))
    finally:
        view.close()
    frames[0].save(
        path,
        save_all=True,
        append_images=frames[1:],
        duration=round(1000 / _FPS),
        loop=0,
        quality=_QUALITY,
        method=6,
    )
    size = path.stat().st_size
    sys.stdout.write(f"{path}: {len(frames)} frames, {size / 1e6:.2f} MB\n")
    return 0 if size <= _MOST_BYTES else 1


def _list_views(episode: Episode) -> Iterator[SessionView]:
    """Yield what an observer would have been told, at the rate of the picture."""
    ticks, gate = episode.ticks, episode.gate
    stamps = gate["stamp_ns"].astype(np.int64)
    limbs = [limb.name for limb in episode.robot_info.limbs]
    for stamp_ns in range(int(stamps[0]), int(stamps[-1]), round(1e9 / _FPS)):
        row = gate[min(int(np.searchsorted(stamps, stamp_ns)), len(gate) - 1)]
        at = int(np.searchsorted(ticks["stamp_ns"].astype(np.int64), stamp_ns))
        tick = ticks[min(at, len(ticks) - 1)]
        view = make_session_view(episode.robot_info, stamp_ns)
        yield replace(
            view,
            state=SessionState(int(tick["state"])),
            q=row["q_meas"],
            q_cmd=row["q_cmd"],
            q_des=tick["q_des"],
            targets=dict(zip(limbs, tick["target"], strict=True)),
            clearance=float(row["clearance"]),
            gate_state=GateState(int(row["state"])),
            news=_NEWS,
        )


def _shoot(view: View, views: Sequence[SessionView]) -> list[Image.Image]:
    """Return a picture of the page for each view."""
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_path,
            args=["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
            + ["--no-sandbox"],
        )
        width, height = _SIZE
        page = browser.new_page(viewport={"width": width, "height": height})
        view.observe(views[0])
        _open(page, view.notes[0].split()[-1])
        page.keyboard.down("m")
        frames = []
        for shown in views:
            view.observe(shown)
            time.sleep(_DRAWN)
            data = page.screenshot(timeout=_PATIENCE)
            frames.append(Image.open(io.BytesIO(data)).convert("RGB"))
        browser.close()
    return frames


def _open(page: Page, address: str) -> None:
    """Open the page once it is served, and close what only this browser says."""
    end = time.monotonic() + _PATIENCE * 1e-3
    while time.monotonic() < end:
        try:
            page.goto(address)
            break
        except Exception:  # noqa: BLE001 - it is not served yet
            time.sleep(0.2)
    scene = page.frame_locator("#picture iframe")
    scene.locator("canvas").first.wait_for(timeout=_PATIENCE)
    time.sleep(8.0)
    notice = scene.locator(".mantine-Notification-closeButton")
    for button in notice.all():
        button.click()
    time.sleep(1.0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
