"""The page by measure: clipped text, controls on each other, contrast, sizes."""

from __future__ import annotations

from pathlib import Path

TAP = 44.0  # [px] spec: WCAG 2.1, 2.5.5
CONTRAST = 4.5  # spec: WCAG 2.1 AA, 1.4.3
LARGE = 3.0  # spec: likewise, from 24 px, or 18.66 px bold

SIZES = {
    "laptop": (1280, 720, False),
    "desk": (1920, 1080, False),
    "tablet": (820, 1180, True),
    "phone": (390, 844, True),
}

_HERE = Path(__file__).parent
_MEASURE = (_HERE / "page_measures.js").read_text(encoding="utf-8")
_COVERED = (_HERE / "page_covered.js").read_text(encoding="utf-8")


def judge_page(page, *, is_touch):
    """Return what is wrong with the page as it stands."""
    measured = page.evaluate(_MEASURE)
    found = list(measured["overlaps"])
    for row in measured["rows"]:
        found += judge_row(row, is_touch=is_touch)
    wide, width = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    if wide > width:
        found.append(f"the page is {wide} px wide in {width} px")
    return found


def judge_row(row, *, is_touch):
    """Return what is wrong with one text or control."""
    name, found = f"{row['kind']} {row['name'][:40]!r}", []
    least = LARGE if row["isLarge"] else CONTRAST
    if row["ratio"] is not None and not row["isOff"] and row["ratio"] < least:
        found.append(f"{name}: contrast {row['ratio']:.2f}")
    if row["isClipped"]:
        found.append(f"{name}: text is clipped")
    if is_touch and row["isControl"]:
        for way, size in (("high", row["height"]), ("wide", row["width"])):
            if size < TAP - 0.5:
                found.append(f"{name}: {size:.0f} px {way}")
    return found


def find_covered(page, selectors):
    """Return which elements are out of the window or covered."""
    return page.evaluate(_COVERED, list(selectors))
