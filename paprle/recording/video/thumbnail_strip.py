"""Strips of stills of an episode's cameras.

``python -m paprle.recording.video.thumbnail_strip EPISODE`` prints JSON per camera.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.errors import PaprleError
from paprle.contracts.images import CameraInfo
from paprle.ipc.pictures import PictureKind
from paprle.recording.video.codec import Decoder, Image, make_encoder
from paprle.recording.video.pictures import Footage, StoredPicture

N_STILLS = 6  # chosen: as many as are told apart in a row
_WIDE = 1200  # [px] chosen: of a strip; it fills a report's page
_IDR = 5  # spec: ITU-T H.264, table 7-1: a slice that needs no picture before it
_NICE = 19
_GREY = 255
_START = b"\x00\x00\x01"  # spec: ITU-T H.264, annex B


class Strip(NamedTuple):
    """Stills side by side, with monotonic times of exposure."""

    jpeg: bytes
    stamps_ns: tuple[int, ...]


def make_strips(
    path: Path, at_ns: Sequence[int] | None = None, n: int = N_STILLS
) -> dict[str, Strip]:
    """Return the strip of each camera that has pictures.

    ``at_ns`` are monotonic instants, each with its newest picture; by default n, evenly
    spaced.

    Raises:
        RecordingError: If it is no readable recording.
        MissingDependency: If PyAV is not installed.
    """
    footage = Footage(path)
    names = [
        one.camera for one in footage.list_tracks() if one.kind is PictureKind.PICTURE
    ]
    strips = {name: _make_strip(footage, name, at_ns, n) for name in names}
    return {name: strip for name, strip in strips.items() if strip is not None}


def needs_no_other(coded: StoredPicture) -> bool:
    """Return whether a picture can be decoded alone."""
    if coded.format != "h264":
        return True
    at = coded.data.find(_START)
    while 0 <= at < len(coded.data) - len(_START):
        if coded.data[at + len(_START)] & 0x1F == _IDR:
            return True
        at = coded.data.find(_START, at + 1)
    return False


def _make_strip(
    footage: Footage, camera: str, at_ns: Sequence[int] | None, n: int
) -> Strip | None:
    coded = [(one.stamp_ns, needs_no_other(one)) for one in footage.read_coded(camera)]
    stamps = [stamp for stamp, _ in coded]
    keys = [stamp for stamp, is_key in coded if is_key]
    if not keys:
        return None
    if at_ns is None:
        wanted = {
            min(keys, key=lambda key, at=at: abs(key - at))  # type: ignore[misc]
            for at in np.linspace(keys[0], keys[-1], n)
        }
    else:
        wanted = {_find_newest(stamps, instant) for instant in at_ns}
    info, shown = footage.cameras[camera], {}
    begins = {_find_newest(keys, stamp): stamp for stamp in sorted(wanted)}
    decoder, until = None, -1
    for one in footage.read_coded(camera):
        if one.stamp_ns in begins:
            is_depth = one.format == "png"
            decoder = Decoder(one.format, (info.width, info.height), is_depth=is_depth)
            until = begins[one.stamp_ns]
        if decoder is None or one.stamp_ns > until:
            continue
        image = decoder.decode(one.data)
        if image is not None and one.stamp_ns in wanted:
            shown[one.stamp_ns] = _shrink(image, _WIDE // len(wanted))
    return Strip(_encode(np.hstack([*shown.values()])), (*shown,)) if shown else None


def _find_newest(stamps: Sequence[int], at_ns: int) -> int:
    return stamps[max(bisect_right(stamps, at_ns) - 1, 0)]


def _shrink(image: Image, most: int) -> npt.NDArray[np.uint8]:
    step = -(-image.shape[1] // most)
    small = image[::step, ::step].astype(np.uint32)
    if small.ndim == 2:
        most = max(int(small.max()), 1)
        small = np.repeat((small * _GREY // most)[:, :, None], 3, 2)
    height, width = (side - side % 2 for side in small.shape[:2])
    return small[:height, :width].astype(np.uint8)


def _encode(pixels: npt.NDArray[np.uint8]) -> bytes:
    height, width = pixels.shape[:2]
    info = CameraInfo(
        width=width,
        height=height,
        fps=1.0,
        encoding="rgb8",
        K=np.full((3, 3), np.nan),
        link="",
        T_link_cam=pin.SE3.Identity(),
    )
    coded = make_encoder(info, "jpeg").encode(0, np.ascontiguousarray(pixels).tobytes())
    return b"" if coded is None else coded.data


def describe_strip(camera: str, strip: Strip) -> dict[str, Any]:
    """Return a strip as JSON values."""
    begin = strip.stamps_ns[0]
    return {
        "camera": camera,
        "seconds": [round((stamp - begin) * 1e-9, 1) for stamp in strip.stamps_ns],
        "jpeg": base64.b64encode(strip.jpeg).decode("ascii"),
    }


def main() -> int:
    """Write the strips of the given episode."""
    os.nice(_NICE)
    try:
        strips = make_strips(Path(sys.argv[1]))
    except PaprleError as err:
        sys.stderr.write(f"error: {err}\n")
        return 1
    for camera, strip in strips.items():
        sys.stdout.write(json.dumps(describe_strip(camera, strip)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
