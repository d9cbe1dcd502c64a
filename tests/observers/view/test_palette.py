"""Colours of the picture stay apart for all eyes, on the light and the dark picture.

Eyes: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of
Color Vision Deficiency", IEEE TVCG 15 (6), 2009, table 1, severity 1.0. Differences:
CIEDE2000 (Sharma, Wu and Dalal, Color Research and Application 30 (1), 2005).
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from paprle.contracts.kit.motion_cues import COLOURS
from paprle.observers.view.drawing import palette
from paprle.observers.view.drawing.proximity_colours import choose

EYES = {
    "normal": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
GROUNDS = {"light": (255, 255, 255), "dark": (20, 20, 20)}
LEAST = 15.0  # chosen: six times what an eye sees side by side
SEEN = 8.0  # chosen: likewise, from the ground, which surrounds it
_XYZ = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                 [0.0193339, 0.1191920, 0.9503041]])  # spec: sRGB, D65  # fmt: skip
_WHITE = _XYZ.sum(axis=1)
OPAQUE = {
    "trail": palette.TRAIL,
    "near": palette.NEAR,
    "kept": palette.KEPT,
    "force": palette.FORCE,
    "object": palette.OBJECT,
    "gone": palette.GONE,
    **{role: tuple(255 * np.array(part)) for role, part in COLOURS.items()},
}
SHEER = {
    "ghost": (palette.GHOST, palette.GHOST_OPACITY),
    "predicted": (palette.PREDICTED, palette.GHOST_OPACITY),
    "around": (palette.AROUND, palette.AROUND_OPACITY),
}


def make_lab(rgb, eye="normal"):
    """Return CIE L*a*b* of a colour, 0 … 255, as an eye sees it."""
    part = np.asarray(rgb, float) / 255.0
    linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    xyz = _XYZ @ np.clip(np.array(EYES[eye]) @ linear, 0.0, 1.0) / _WHITE
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def compute_difference(one, other):
    """Return CIEDE2000 of two colours in CIE L*a*b*."""
    (L1, a1, b1), (L2, a2, b2) = one, other
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean**7 / (mean**7 + 25.0**7))
    C1, C2 = np.hypot(stretch * a1, b1), np.hypot(stretch * a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, stretch * a)) for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180.0) % 360.0 - 180.0 if C1 * C2 > 0.0 else 0.0
    L, C, h = (L1 + L2) / 2, (C1 + C2) / 2, np.radians(h1 + turn / 2)
    T = (
        1 - 0.17 * np.cos(h - np.radians(30)) + 0.24 * np.cos(2 * h)
        + 0.32 * np.cos(3 * h + np.radians(6)) - 0.20 * np.cos(4 * h - np.radians(63))
    )  # fmt: skip
    lightness = (L2 - L1) / (1 + 0.015 * (L - 50) ** 2 / np.sqrt(20 + (L - 50) ** 2))
    chroma = (C2 - C1) / (1 + 0.045 * C)
    hue = 2 * np.sqrt(C1 * C2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * C * T)
    around_blue = np.exp(-((((np.degrees(h) % 360.0) - 275) / 25) ** 2))
    twist = -2 * np.sqrt(C**7 / (C**7 + 25.0**7)) * np.sin(np.radians(60 * around_blue))
    return np.sqrt(lightness**2 + chroma**2 + hue**2 + twist * chroma * hue)


def blend(ground):
    """Return what is drawn, by name, as it is seen on a ground."""
    sheer = {
        name: tuple(share * np.array(colour) + (1 - share) * np.array(ground))
        for name, (colour, share) in SHEER.items()
    }
    return OPAQUE | sheer


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((50.0, 2.5, 0.0), (50.0, 0.0, -2.5), 4.3065),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
        ((90.8027, -2.0831, 1.4410), (91.1528, -1.6435, 0.0447), 1.4441),
    ],
)
def test_the_difference_is_that_of_its_authors_table(one, other, difference):
    assert compute_difference(one, other) == pytest.approx(difference, abs=1e-4)


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("ground", GROUNDS)
def test_no_two_things_look_alike(ground, eye):
    seen = {n: make_lab(c, eye) for n, c in blend(GROUNDS[ground]).items()}
    pairs = {
        pair: compute_difference(seen[pair[0]], seen[pair[1]])
        for pair in itertools.combinations(seen, 2)
    }

    assert {pair: round(d, 1) for pair, d in pairs.items() if d < LEAST} == {}


@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("ground", GROUNDS)
def test_all_is_seen_on_its_ground(ground, eye):
    below = make_lab(GROUNDS[ground], eye)
    seen = {
        name: compute_difference(make_lab(colour, eye), below)
        for name, colour in blend(GROUNDS[ground]).items()
    }

    assert {name: round(d, 1) for name, d in seen.items() if d < SEEN} == {}


def test_near_bodies_have_two_colours_and_no_mixture():
    shares = np.linspace(0.0, 1.0, 101)

    colours = [choose(share) for share in shares]

    assert set(colours) == {palette.NEAR, palette.KEPT}
    assert (colours[0], colours[-1]) == (palette.NEAR, palette.KEPT)
    assert sum(a != b for a, b in itertools.pairwise(colours)) == 1
