"""Numbers of the JSON channels of an MCAP, as Foxglove's libraries write them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcap.reader import SeekingReader

from paprle.contracts.errors import RecordingError

_JSON = "json"  # spec: mcap.dev, well-known message encodings
_LARGEST_RECORD = 1 << 28  # [bytes] chosen: a chunk of other writers has some MB
_LARGEST_MESSAGE = 1 << 20  # [bytes] chosen: longer text is an image, and no numbers
_TIMES = ({"sec", "nsec"}, {"sec", "nanosec"})  # spec: foxglove.Time, ROS 2
_MOST_ITEMS = 16  # chosen: as of a bag's arrays

Numbers = Iterator[tuple[tuple[str, ...], float]]


class JsonChannels:
    """JSON channels of a file; ``length`` [s], NaN: unknown."""

    def __init__(self, path: Path) -> None:
        """Read the summary of a file.

        Raises:
            RecordingError: If it is no readable MCAP.
        """
        self.path = path
        try:
            with path.open("rb") as file:
                summary = _open(file).get_summary()
        except Exception as err:
            raise self._error(err) from err
        channels = [] if summary is None else list(summary.channels.values())
        self.topics = sorted(
            {one.topic for one in channels if one.message_encoding == _JSON}
        )
        told = None if summary is None else summary.statistics
        self.length = float("nan")
        if told is not None:
            self.length = (told.message_end_time - told.message_start_time) * 1e-9

    def read_messages(self, topic: str) -> Iterator[tuple[int, Any]]:
        """Yield times [ns] and messages.

        Raises:
            RecordingError: If the file is damaged, or a message is no JSON.
        """
        try:
            with self.path.open("rb") as file:
                for _, channel, message in _open(file).iter_messages(topics=[topic]):
                    is_short = len(message.data) <= _LARGEST_MESSAGE
                    if channel.message_encoding == _JSON and is_short:
                        yield message.log_time, json.loads(message.data)
        except Exception as err:
            raise self._error(err, f"{topic}: ") from err

    def _error(self, err: Exception, where: str = "") -> RecordingError:
        return RecordingError(
            f"{self.path}: {where}expected a whole MCAP, got {type(err).__name__}: "
            f"{err}; one that was cut off: mcap recover"
        )


def list_numbers(value: Any, path: tuple[str, ...] = ()) -> Numbers:
    """Yield the numbers of a message with their places; times are left out."""
    if isinstance(value, bool | int | float):
        try:
            yield path, float(value)
        except OverflowError:
            return  # no number of a measurement
    elif isinstance(value, dict) and value.keys() not in _TIMES:
        for key, one in value.items():
            yield from list_numbers(one, (*path, key))
    elif isinstance(value, list) and len(value) <= _MOST_ITEMS:
        for k, one in enumerate(value):
            yield from list_numbers(one, (*path, _name(one, k)))


def _name(item: Any, k: int) -> str:
    name = item.get("name") if isinstance(item, dict) else None
    return name if isinstance(name, str) and name else str(k)


def _open(file: Any) -> Any:
    return SeekingReader(file, record_size_limit=_LARGEST_RECORD)
