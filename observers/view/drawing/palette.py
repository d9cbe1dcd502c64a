"""Colours of the picture, apart for people too who see two kinds of colour.

Chosen by search: pairs differ by 15 or more in CIEDE2000 for trichromats, protanopes,
deuteranopes and tritanopes, on the light and the dark picture, with the colours of
motion cues (``tests/observers/view/test_palette.py``). ``page/style.css`` has the same.
"""

from __future__ import annotations

Color = tuple[int, int, int]

GHOST: Color = (37, 109, 244)
PREDICTED: Color = (0, 65, 18)
GHOST_OPACITY = 0.6  # chosen: the robot is seen through it
TRAIL: Color = (255, 125, 26)
NEAR: Color = (232, 255, 6)
KEPT: Color = (212, 24, 17)
FORCE: Color = (134, 83, 245)
OBJECT: Color = (129, 109, 143)
AROUND: Color = (214, 195, 169)
AROUND_OPACITY = 0.8  # chosen: the robot shows through it
GONE: Color = (152, 21, 64)
"""A camera without image; its empty frame shows it too."""
