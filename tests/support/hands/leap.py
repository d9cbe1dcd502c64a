"""Recordings of a Leap Motion, as hands before a camera with perfect depth."""

from __future__ import annotations

import json

import numpy as np

from paprle.hardware.hand.frames import Hand
from paprle_emulators.hand.model import CENTRE, FOCAL

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_RATE = 113.0  # [Hz] of the recording
_AWAY = 0.6  # [m] from the camera
_WRIST = 0.055  # [m] behind the middle of the palm


def read_leap(text):
    """Return stamps [ns], hands and how much each grabs, for each frame."""
    film = json.loads(_decompress(text.strip()))
    rows = []
    for k, frame in enumerate(film["frames"]):
        hands, grabs = (), None
        if frame.get("hands") and len(frame.get("pointables", ())) == 5:
            hands = (_make_hand(frame["hands"][0], frame["pointables"]),)
            grabs = frame["hands"][0]["grabStrength"]
        rows.append((round(k / _RATE * 1e9), hands, grabs))
    return rows


def _make_hand(hand, fingers):
    palm, along = np.array(hand["palmPosition"]), np.array(hand["direction"])
    points = [palm - 1e3 * _WRIST * along]
    for finger in sorted(fingers, key=lambda f: f["type"]):
        points += [finger[f"{j}Position"] for j in ("mcp", "pip", "dip", "tip")]
    points = np.array(points) * 1e-3 - [0.0, 0.2, 0.0]
    points = points * [1.0, -1.0, -1.0] + [0.0, 0.0, _AWAY]
    uv = FOCAL * points[:, :2] / points[:, 2:] + CENTRE
    return Hand("right", uv, points[:, 2].copy(), points - points.mean(axis=0))


class _Bits:
    """Six bits a character, the lowest of a number first."""

    def __init__(self, text):
        places = {c: k for k, c in enumerate(_ALPHABET)}
        self._values = [places[c] for c in text]
        self._at = 0

    def read(self, n):
        number = 0
        for k in range(n):
            value = self._values[self._at // 6]
            number |= ((value >> (5 - self._at % 6)) & 1) << k
            self._at += 1
        return number


def _decompress(text):
    """Return what lz-string's ``compressToBase64`` packed."""
    bits = _Bits(text)
    width, left = 3, 4
    entry = chr(bits.read((8, 16)[bits.read(2)]))
    words, out, last = {3: entry}, [entry], entry
    size = 4
    while (code := bits.read(width)) != 2:
        if code in {0, 1}:
            words[size] = chr(bits.read((8, 16)[code]))
            code, size, left = size, size + 1, left - 1
            if left == 0:
                left, width = 1 << width, width + 1
        entry = words[code] if code in words else last + last[0]
        out.append(entry)
        words[size] = last + entry[0]
        size, left, last = size + 1, left - 1, entry
        if left == 0:
            left, width = 1 << width, width + 1
    return "".join(out)
