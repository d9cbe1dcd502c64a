"""Picture of the phone's page, in a headless browser.

    python -m benchmarks.pictures.phone [docs/phone.webp]

Needs chromium, and ``pip install 'paprle[quest]' playwright pillow``.
"""

from __future__ import annotations

import io
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from paprle.hardware.web.conversation import Told
from paprle.hardware.web.settings import WebSettings
from paprle.hardware.web.station import Station

ROOT = Path(__file__).resolve().parents[2]
SIZE = {"width": 390, "height": 780}  # [pixels] chosen: a phone of today
GAP = 16  # [pixels]
DRIVING = Told(
    state="ENGAGED", drives=True, rumble=0.4, contact=0.35, limit=0.2, clearance=0.0
)


def main(words: Sequence[str]) -> None:
    """Draw the picture."""
    path = Path(words[0]) if words else ROOT / "docs" / "phone.webp"
    station = Station(WebSettings(), "phone", ("hand",), time.monotonic_ns)
    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    station.open()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=browser_path, args=["--no-sandbox"]
            )
            page = browser.new_page(viewport=SIZE, device_scale_factor=1)
            page.goto(station.address)
            pictures = list(take_pictures(station, page))
            browser.close()
    finally:
        station.close()
    write(pictures, path)


def take_pictures(station: Station, page: Page) -> Sequence[Image.Image]:
    """Return screenshots of three states."""
    pictures = [shoot(station, page, Told(state="WAITING"), "Ready")]
    page.locator("#touch").click()
    page.locator("#hold").hover()
    page.mouse.down()
    pictures.append(shoot(station, page, DRIVING, "Driving"))
    page.mouse.up()
    pictures.append(shoot(station, page, Told(state="STOPPED"), "Stopped"))
    return pictures


def shoot(station: Station, page: Page, told: Told, word: str) -> Image.Image:
    """Return a screenshot once the page shows a word."""
    station.tell(told)
    page.get_by_text(word, exact=True).wait_for()
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def write(pictures: Sequence[Image.Image], path: Path) -> None:
    """Write pictures beside each other."""
    width = sum(one.width for one in pictures) + GAP * (len(pictures) - 1)
    whole = Image.new("RGB", (width, pictures[0].height), "white")
    x = 0
    for one in pictures:
        whole.paste(one, (x, 0))
        x += one.width + GAP
    whole.save(path, quality=85)


if __name__ == "__main__":
    main(sys.argv[1:])
