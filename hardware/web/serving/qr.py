"""QR codes in a terminal."""

from __future__ import annotations

import segno

_QUIET = 2  # [modules] chosen: enough for phones; the standard's 4 do not fit 24 lines
_BLOCKS = {(0, 0): "█", (0, 1): "▀", (1, 0): "▄", (1, 1): " "}


def draw_qr(text: str) -> list[str]:
    """Return a QR code in half blocks, for a dark terminal."""
    code = segno.make(text, error="l", micro=False)
    rows = [list(row) for row in code.matrix_iter(border=_QUIET)]
    if len(rows) % 2:
        rows.append([0] * len(rows[0]))
    return [
        "".join(_BLOCKS[int(a), int(b)] for a, b in zip(upper, lower, strict=True))
        for upper, lower in zip(rows[::2], rows[1::2], strict=True)
    ]
