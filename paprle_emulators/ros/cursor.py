"""Fast, field-by-field reading of serialised ROS messages.

ROS 2 is plain CDR (OMG DDS-XTypes 1.3, 7.4.1): four bytes of encapsulation, then values
aligned to their size. ROS 1 packs without gaps (wiki.ros.org/msg).
"""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt

_ENCAPSULATION = 4  # spec: the same, 7.6.3.1.2 [bytes]
_BIG_ENDIAN, _LITTLE_ENDIAN = b"\x00\x00", b"\x00\x01"  # spec: the same, plain CDR
_WORD, _DOUBLE = 4, 8  # [bytes]


class Cursor:
    """A place in a message's bytes."""

    def __init__(self, data: bytes, *, is_ros1: bool) -> None:
        """Begin a message.

        Raises:
            ValueError: If not plain CDR.
        """
        if not is_ros1 and data[:2] not in {_BIG_ENDIAN, _LITTLE_ENDIAN}:
            raise ValueError(f"expected plain CDR, got 0x{data[:4].hex()}")
        is_big = not is_ros1 and data[:2] == _BIG_ENDIAN
        self._order = ">" if is_big else "<"
        self._data = data if is_ros1 else data[_ENCAPSULATION:]
        self._is_ros1, self._at = is_ros1, 0

    def read_header(self) -> int:
        """Return a ``std_msgs/Header``'s stamp, [ns]."""
        if self._is_ros1:
            self.read_count()  # seq
        stamp = self.read_time()
        self.read_text()  # frame_id
        return stamp

    def read_time(self) -> int:
        """Return a time or duration, [ns]."""
        seconds, nanoseconds = self._unpack("iI", _WORD)
        return int(seconds) * 10**9 + int(nanoseconds)

    def read_count(self) -> int:
        """Return a uint32."""
        (value,) = self._unpack("I", _WORD)
        return int(value)

    def read_text(self) -> str:
        """Return a string."""
        size = self.read_count()
        text = self._data[self._at : self._at + size]
        if len(text) != size:
            raise ValueError("expected more bytes, got the end of the message")
        self._at += size
        return text.rstrip(b"\0").decode()

    def read_doubles(self) -> npt.NDArray[np.float64]:
        """Return a sequence of float64."""
        n = self.read_count()
        if n:
            self._align(_DOUBLE)
        kind = f"{self._order}f8"
        values = np.frombuffer(self._data, kind, count=n, offset=self._at)
        self._at += n * _DOUBLE
        return values.astype(np.float64)

    def _unpack(self, form: str, size: int) -> tuple[int, ...]:
        self._align(size)
        found = struct.unpack_from(self._order + form, self._data, self._at)
        self._at += struct.calcsize(self._order + form)
        return found

    def _align(self, size: int) -> None:
        if not self._is_ros1:
            self._at += -self._at % size
