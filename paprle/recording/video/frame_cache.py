"""Random access to recorded pictures, by an unnamed file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from paprle.contracts.images import EXACT, CameraInfo, Frame
from paprle.recording.video.codec import Decoder
from paprle.recording.video.pictures import Footage, StoredPicture
from paprle.recording.video.thumbnail_strip import needs_no_other

_SPOOL = "/var/tmp"  # chosen: on a disk, where /tmp may be memory
_LATE = 3.0  # chosen: periods without a picture, after which the last one is old


def read_reels(
    footage: Footage,
    cameras: Sequence[str],
    has_ended: Callable[[], bool] = lambda: False,
) -> dict[str, Reel]:
    """Return the cameras' reels, unless ``has_ended``.

    Raises:
        RecordingError: If the recording cannot be read.
    """
    drafts = {name: _Draft() for name in cameras}
    reels = dict[str, Reel]()
    try:
        for name, coded in footage.read_all_coded(cameras):
            if has_ended():
                break
            drafts[name].add(coded)
        for name, draft in drafts.items():
            if draft.stamps:
                reels[name] = Reel(footage.cameras[name], draft)
    finally:
        for name in drafts.keys() - reels.keys():
            drafts[name].spool.close()
    return reels


class _Draft:
    def __init__(self) -> None:
        self.spool = tempfile.TemporaryFile(dir=_SPOOL)  # noqa: SIM115 - for its life
        self.stamps, self.ends, self.keys = list[int](), [0], list[bool]()
        self.format = ""

    def add(self, coded: StoredPicture) -> None:
        self.spool.write(coded.data)
        self.stamps.append(coded.stamp_ns)
        self.ends.append(self.ends[-1] + len(coded.data))
        self.keys.append(needs_no_other(coded))
        self.format = coded.format


class Reel:
    """Pictures of one camera."""

    def __init__(self, info: CameraInfo, draft: _Draft) -> None:
        self.info = info
        self._spool, self._format = draft.spool, draft.format
        stamps, ends, keys = draft.stamps, draft.ends, draft.keys
        self.stamps_ns = np.array(stamps, dtype=np.int64)
        self._ends = np.array(ends, dtype=np.int64)
        self._keys = np.flatnonzero(keys)
        self._decoder: Decoder | None = None
        self._next = 0
        self._shown: tuple[int, Frame | None] = (-1, None)

    def find(self, t_ns: int) -> Frame | None:
        """Return the newest image at a time [ns]; None if old or broken."""
        k = max(int(np.searchsorted(self.stamps_ns, t_ns, side="right")) - 1, 0)
        if abs(t_ns - self.stamps_ns[k]) > _LATE * 1e9 / self.info.fps:
            return None
        if k != self._shown[0]:
            self._shown = k, self._decode(k)
        return self._shown[1]

    def close(self) -> None:
        """Close the file."""
        self._spool.close()

    def _decode(self, k: int) -> Frame | None:
        before = self._keys[: np.searchsorted(self._keys, k, side="right")]
        if not len(before):
            return None
        first = int(before[-1])
        if self._decoder is None or not first <= self._next <= k:
            size = (self.info.width, self.info.height)
            is_depth = self._format == "png"
            self._decoder = Decoder(self._format, size, is_depth=is_depth)
            self._next = first
        image = None
        for at in range(self._next, k + 1):
            self._spool.seek(self._ends[at])
            data = self._spool.read(self._ends[at + 1] - self._ends[at])
            image = self._decoder.decode(data)
        self._next = k + 1
        if image is None:
            return None
        return Frame(int(self.stamps_ns[k]), image.tobytes())


def decode_first(footage: Footage, camera: str) -> tuple[Frame, CameraInfo] | None:
    """Return a camera's first image, if any."""
    draft = _Draft()
    for coded in footage.read_coded(camera):
        if needs_no_other(coded):
            draft.add(coded)
            break
    if not draft.stamps:
        return None
    reel = Reel(footage.cameras[camera], draft)
    try:
        image = reel.find(draft.stamps[0])
    finally:
        reel.close()
    return None if image is None else (image, describe_decoded(reel.info))


def describe_decoded(info: CameraInfo) -> CameraInfo:
    """Return the properties of decoded images."""
    if info.encoding in EXACT:
        return info
    return replace(info, encoding="rgb8", depth_unit=0.0)
