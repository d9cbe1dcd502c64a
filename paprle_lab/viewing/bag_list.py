"""ROS bags as films."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.errors import RecordingError
from paprle.contracts.film import Entry, Film, RecordingList, Signal, ignore_share
from paprle.contracts.images import CameraInfo, Frame
from paprle.contracts.types import Vec
from paprle.recording.others.bag_joints import Stamps
from paprle.recording.others.bags import JOINT_STATE, Bag
from paprle_lab.viewing.bag_images import ImageReel, read_image
from paprle_lab.viewing.json_channels import JsonChannels, list_numbers
from paprle_lab.viewing.plain_camera import make_plain_camera

_IMAGE, _COMPRESSED = "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage"
_UNITS = {"position": "rad or m", "velocity": "rad/s or m/s", "effort": "N·m or N"}
_MOST_MESSAGES = 200_000  # chosen: of a topic; a plot shows no more
_MOST_SIGNALS = 400  # chosen: a list that one still chooses from
_MOST_DIMS = 16  # chosen: of an array, whose numbers are signals; a scan is none


class BagList(RecordingList):
    """Bags: one, or those of a folder."""

    def __init__(self, path: Path, bags: Sequence[Path] = ()) -> None:
        """Read the index of a bag, or of each of a folder's ``bags``.

        Raises:
            RecordingError: If the only bag is incomplete.
        """
        self.title = path.resolve().name
        self._paths = [*bags] or [path]
        self.entries = (
            [_describe(bag, str(bag.relative_to(path).with_suffix(""))) for bag in bags]
            if bags
            else [Entry(path.stem, _measure(path))]
        )

    def open(self, k: int, report: Callable[[float], None] = ignore_share) -> Film:  # noqa: ARG002, D102 - as ``RecordingList``
        return BagFilm(self._paths[k])

    def find_still(self, k: int) -> tuple[Frame, CameraInfo] | None:
        """Return the first image of the first camera."""
        if _find_json(self._paths[k]) is not None:
            return None
        with Bag(self._paths[k]) as bag:
            for topic in bag.find(_COMPRESSED, _IMAGE):
                for stamp_ns, message in bag.read_messages(topic):
                    coded = read_image(message)
                    if coded is not None:
                        camera = make_plain_camera(*coded.shape, fps=1.0)
                        return Frame(stamp_ns, coded.data), camera
        return None


class BagFilm(Film):
    """A bag without robot."""

    def __init__(self, path: Path) -> None:
        """Read all topics of known types.

        Raises:
            RecordingError: If the bag is incomplete.
        """
        self.name = path.stem
        self._series = dict[Signal, tuple[Stamps, Vec]]()
        self._reels = dict[str, ImageReel]()
        notes = list[str]()
        channels = _find_json(path)
        if channels is None:
            with Bag(path) as bag:
                for topic in sorted(bag.topics):
                    self._try(topic, notes, partial(self._read_topic, bag))
        else:
            for topic in channels.topics:
                self._try(topic, notes, partial(self._read_json, channels))
            notes.append("of this file the channels in JSON alone are read")
        stamps = [t for t, _ in self._series.values()]
        stamps += [np.array(reel.stamps_ns) for reel in self._reels.values()]
        stamps = [one for one in stamps if len(one)]
        if not stamps:
            self.close()
            raise RecordingError(
                f"{path}: expected numbers or images, got {'; '.join(notes) or 'none'}"
            )
        self._begin_ns = int(min(one[0] for one in stamps))
        self.length = (int(max(one[-1] for one in stamps)) - self._begin_ns) * 1e-9
        shown = list(islice(self._series, _MOST_SIGNALS))
        n_more = len(self._series) - len(shown)
        notes += [f"{n_more} more signals are not shown"] if n_more else []
        self.signals, self.notes = tuple(shown), tuple(notes)
        self.cameras = {name: reel.make_info() for name, reel in self._reels.items()}

    def read_signal(self, k: int) -> tuple[Vec, Vec]:  # noqa: D102 - as ``Film``
        t_ns, values = self._series[self.signals[k]]
        return (t_ns - self._begin_ns).astype(np.float64) * 1e-9, values

    def see(self, camera: str, t: float) -> Frame | None:  # noqa: D102 - as ``Film``
        return self._reels[camera].find(self._begin_ns + round(t * 1e9))

    def close(self) -> None:  # noqa: D102 - as ``Film``
        for reel in self._reels.values():
            reel.close()

    def _try(self, topic: str, notes: list[str], read: Callable[[str], bool]) -> None:
        try:
            if not read(topic):
                notes.append(f"{topic}: only its first part is read")
        except RecordingError as err:
            notes.append(str(err))

    def _read_json(self, channels: JsonChannels, topic: str) -> bool:
        messages = channels.read_messages(topic)
        self._plot(topic, messages, _name_numbers)
        return next(messages, None) is None

    def _read_topic(self, bag: Bag, topic: str) -> bool:
        kind = bag.topics[topic]
        if kind in {_IMAGE, _COMPRESSED}:
            reel = self._reels[topic.strip("/")] = ImageReel()
            for t_ns, message in bag.read_messages(topic):
                reel.add(t_ns, read_image(message))
            if not reel.stamps_ns:
                self._reels.pop(topic.strip("/")).close()
            return not reel.is_full
        messages = bag.read_messages(topic)
        self._plot(
            topic, messages, _list_joints if kind == JOINT_STATE else _list_numbers
        )
        return next(messages, None) is None

    def _plot(
        self,
        topic: str,
        messages: Iterator[tuple[int, Any]],
        find: Callable[[str, Any], Iterator[tuple[Signal, float]]],
    ) -> None:
        rows = dict[Signal, tuple[list[int], list[float]]]()
        for t_ns, message in islice(messages, _MOST_MESSAGES):
            for signal, value in find(topic, message):
                if signal in rows or len(rows) < _MOST_SIGNALS:
                    times, values = rows.setdefault(signal, ([], []))
                    times.append(t_ns)
                    values.append(value)
        for signal, (times, values) in rows.items():
            t = np.array(times, dtype=np.int64)
            order = np.argsort(t, kind="stable")
            self._series[signal] = t[order], np.array(values, dtype=np.float64)[order]


def _find_json(path: Path) -> JsonChannels | None:
    """Return the JSON channels of a file; None: it has none, and is a bag of ROS."""
    if path.is_dir() or path.suffix != ".mcap":
        return None
    try:
        channels = JsonChannels(path)
    except RecordingError:
        return None  # the error of a bag names the remedy
    return channels if channels.topics else None


def _measure(path: Path) -> float:
    channels = _find_json(path)
    if channels is not None:
        return channels.length
    with Bag(path) as bag:
        return bag.length


def _describe(path: Path, name: str) -> Entry:
    try:
        return Entry(name, _measure(path))
    except RecordingError as err:
        return Entry(name, notes=(str(err),))


def _name_numbers(topic: str, message: Any) -> Iterator[tuple[Signal, float]]:
    for path, value in list_numbers(message):
        *head, last = path or ("value",)
        yield Signal(" ".join([topic, ".".join(head)]).strip(), last, ""), value


def _list_joints(topic: str, message: Any) -> Iterator[tuple[Signal, float]]:
    for field, unit in _UNITS.items():
        values = getattr(message, field)
        if len(values) == len(message.name):
            for name, value in zip(message.name, values, strict=True):
                yield Signal(f"{topic} {field}", str(name), unit), float(value)


def _list_numbers(topic: str, message: Any) -> Iterator[tuple[Signal, float]]:
    for path, value in _flatten(message, ()):
        *head, last = path
        yield Signal(" ".join([topic, ".".join(head)]).strip(), last, ""), value


def _flatten(
    value: Any, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], float]]:
    if isinstance(value, bool | int | float | np.number | np.bool_):
        yield path, float(value)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            if field.name != "header" and not field.name.startswith("__"):
                yield from _flatten(getattr(value, field.name), (*path, field.name))
    elif isinstance(value, np.ndarray | list | tuple) and len(value) <= _MOST_DIMS:
        for k, one in enumerate(value):
            yield from _flatten(one, (*path, str(k)))
