"""Pictures of a table's arrays as RGB."""

from __future__ import annotations

from typing import Any

import numpy as np

from paprle.contracts.errors import RecordingError
from paprle.recording.video.codec import Decoder
from paprle_lab.conversion.mapping import MappedCamera
from paprle_lab.conversion.rows import RGB

_HEADS = {b"\xff\xd8": "jpeg", b"\x89P": "png"}
_CHANNELS = {1, 3, 4}


class TablePictures:
    """Pictures of one camera: RGB, gray, channels first, shares of 1, JPEG or PNG."""

    def __init__(self, camera: MappedCamera) -> None:
        self.camera = camera
        self._decoders: dict[str, Decoder] = {}

    def decode(self, value: Any) -> RGB | None:
        """Return RGB, (height, width, 3); None from coded data that are damaged.

        Raises:
            RecordingError: If images are of another size or form.
        """
        array = np.asarray(value)
        if array.ndim == 1 and array.dtype == np.uint8:
            return self._decode(array.tobytes())
        shape = find_size(array.shape)
        if shape != self.camera.size or array.dtype.kind not in "fu":
            raise RecordingError(
                f"'{self.camera.source}': expected images of {self.camera.size}, got "
                f"{array.shape} of {array.dtype}"
            )
        if array.ndim == 3 and array.shape[:2] != shape:
            array = np.moveaxis(array, 0, 2)
        if array.dtype.kind == "f":
            if not np.isfinite(array).all():
                return None
            array = np.clip(np.rint(array * 255.0), 0.0, 255.0)
        array = array.astype(np.uint8).reshape(*shape, -1)
        if array.shape[2] == 1:
            return np.repeat(array, 3, axis=2)
        return np.ascontiguousarray(array[:, :, :3])

    def _decode(self, data: bytes) -> RGB | None:
        form = _HEADS.get(data[:2])
        if form is None:
            return None
        if form not in self._decoders:
            self._decoders[form] = Decoder(form, self.camera.size[::-1])
        image = self._decoders[form].decode(data)
        return None if image is None else np.asarray(image, np.uint8)


def find_size(shape: tuple[int, ...]) -> tuple[int, int] | None:
    """Return height and width of an image's shape, [px]; None: it is no image."""
    if len(shape) == 2:
        return (shape[0], shape[1])
    if len(shape) != 3:
        return None
    if shape[2] in _CHANNELS:
        return (shape[0], shape[1])
    return (shape[1], shape[2]) if shape[0] in _CHANNELS else None
