"""Random access to recorded pictures, copied to an unnamed file."""

from __future__ import annotations

import tempfile

import numpy as np

from paprle.contracts.images import CameraInfo, Frame
from paprle.recording.video.codec import Decoder
from paprle.recording.video.pictures import Footage
from paprle.recording.video.thumbnail_strip import needs_no_other

_SPOOL = "/var/tmp"  # chosen: on a disk, where /tmp may be memory
_LATE = 3.0  # chosen: periods without a picture, after which the last one is old


class Reel:
    """The pictures of one camera."""

    def __init__(self, footage: Footage, camera: str) -> None:
        """Read the pictures.

        Raises:
            RecordingError: If the camera has none.
        """
        self.info: CameraInfo = footage.cameras[camera]
        self._spool = tempfile.TemporaryFile(dir=_SPOOL)  # noqa: SIM115 - for its life
        stamps, ends, keys = [], [0], []
        self._format = ""
        for coded in footage.read_coded(camera):
            self._spool.write(coded.data)
            stamps.append(coded.stamp_ns)
            ends.append(ends[-1] + len(coded.data))
            keys.append(needs_no_other(coded))
            self._format = coded.format
        self.stamps_ns = np.array(stamps, dtype=np.int64)
        self._ends = np.array(ends, dtype=np.int64)
        self._keys = np.flatnonzero(keys)
        self._decoder: Decoder | None = None
        self._next = 0
        self._shown: tuple[int, Frame | None] = (-1, None)

    def find(self, t_ns: int) -> Frame | None:
        """Return the newest image at a time [ns]; None if old or broken."""
        k = int(np.searchsorted(self.stamps_ns, t_ns, side="right")) - 1
        if k < 0 or t_ns - self.stamps_ns[k] > _LATE * 1e9 / self.info.fps:
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
