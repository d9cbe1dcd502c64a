"""Text of a file in any encoding."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import NamedTuple

from paprle.contracts.errors import DeviceError

_LARGEST_FILE = 128 * 2**20  # [bytes] chosen: 3.5 h of ARBot rows at 30 Hz
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_LOOKED_AT = 4096  # [bytes] chosen: a few lines tell how the others are written
_BAD = "\ufffd"


class Decoded(NamedTuple):
    """Text of a file, and its encoding if that is not UTF-8."""

    text: str
    told: str


def read_whole(path: Path) -> Decoded:
    """Return the text of a file.

    Raises:
        DeviceError: If it cannot be read.
    """
    try:
        size = path.stat().st_size
        if size > _LARGEST_FILE:
            raise DeviceError(
                f"{path}: expected at most {_LARGEST_FILE >> 20} MiB, got "
                f"{size >> 20} MiB; cut it into parts"
            )
        text, told = decode(path.read_bytes())
    except OSError as err:
        raise DeviceError(f"{path}: expected a readable file, got {err}") from err
    return Decoded(text.replace("\r\n", "\n").replace("\r", "\n"), told)


def decode(data: bytes) -> tuple[str, str]:
    """Return the text, and its encoding if not UTF-8.

    Without a byte order mark, zeros imply UTF-16, many invalid bytes Windows' Latin-1.
    """
    encoding = next(
        (name for mark, name in _MARKS.items() if data[:4].startswith(mark)), ""
    )
    if not encoding:
        encoding = _find_wide(data[:_LOOKED_AT])
    if encoding:
        told = "" if encoding == "utf-8-sig" else encoding.upper().replace("-LE", "")
        return data.decode(encoding, errors="replace"), told.replace("-BE", "")
    text = data.decode("utf-8", errors="replace")
    n_bad = text.count(_BAD)
    if not n_bad or n_bad <= sum(c > "\x7f" for c in text) - n_bad:
        return text, ""
    return data.decode("cp1252", errors="replace"), "Latin-1"


def _find_wide(data: bytes) -> str:
    even, odd = data[::2].count(0), data[1::2].count(0)
    most = 0.8 * len(data[::2])
    if odd > most and not even:
        return "utf-16-le"
    return "utf-16-be" if even > most and not odd else ""
