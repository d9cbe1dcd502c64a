"""Contents of a bag: topics, rates, fields, pictures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.errors import RecordingError
from paprle_lab.conversion.bags.message_files import (
    BagTopic,
    MessageFile,
    open_messages,
)
from paprle_lab.conversion.bags.pictures import find_picture
from paprle_lab.conversion.bags.values import (
    find_labels,
    find_stamp,
    list_fields,
    list_numbers,
)

_SAMPLED = 100  # chosen: messages of a topic; two publishers on it take turns
_LOOKED_AT_NS = 20_000_000_000  # [ns] chosen: of a bag's beginning
_ONE_CLOCK_NS = 1_000_000_000  # spec: safety.md A1: farther off is another clock
_LONGEST_LABELS = 8  # chosen: name sets of one topic


@dataclass(frozen=True)
class SeenField:
    """A field of numbers.

    Attributes:
        labels: Joints that the message names beside it.
        names: Places of the numbers within the field.
    """

    path: tuple[str, ...]
    names: tuple[str, ...]
    labels: tuple[str, ...] = ()


@dataclass
class SeenTopic:
    """A topic of a bag.

    Attributes:
        rate: Usual rate of its messages, [Hz]; NaN for fewer than two.
        picture: Height and width, [px]; None: it has none.
        fields: Fields of numbers; of one path several, where names differ.
        offset: Median of sender's stamp less reception, [s]; None without stamps.
    """

    topic: BagTopic
    rate: float
    picture: tuple[int, int] | None = None
    fields: list[SeenField] = field(default_factory=list)
    offset: float | None = None

    def describe(self) -> str:
        """Return a line."""
        topic = self.topic
        if topic.problem:
            told = f"not read: {topic.problem}"
        elif self.picture:
            told = f"pictures of {self.picture[1]} × {self.picture[0]}"
        else:
            listed = [
                f"{'.'.join(one.path) or 'value'} ({len(one.names)})"
                for one in self.fields
            ]
            told = ", ".join(dict.fromkeys(listed))[:100] or "no numbers"
        rate = f"{self.rate:.1f}" if np.isfinite(self.rate) else "–"
        return (
            f"{topic.name:<40} {topic.kind:<34} {topic.n_messages:>8} {rate:>7}  {told}"
        )


@dataclass(frozen=True)
class SeenBag:
    """Topics of a bag; ``length`` [s]."""

    path: Path
    length: float
    topics: tuple[SeenTopic, ...]

    def lines(self) -> Iterator[str]:
        """Yield a table."""
        yield f"{self.path}: {self.length:.1f} s, {len(self.topics)} topics"
        yield f"{'topic':<40} {'type':<34} {'messages':>8} {'Hz':>7}  holds"
        for one in self.topics:
            yield one.describe()


def inspect_bag(path: Path) -> SeenBag:
    """Return the contents of a bag, of messages at its beginning.

    Raises:
        ConfigError: If there is none.
        RecordingError: If it is damaged.
    """
    with open_messages(path) as file:
        first, last = file.span_ns
        length = max(0.0, (last - first) * 1e-9)
        samples = _sample(file)
        topics = tuple(
            _look(topic, samples.get(name, []))
            for name, topic in sorted(file.topics.items())
        )
    if not any(one.topic.n_messages for one in topics):
        raise RecordingError(f"{path}: expected messages, got none")
    return SeenBag(path, length, topics)


def _sample(file: MessageFile) -> dict[str, list[tuple[int, Any]]]:
    """Return the first messages of each topic, with times of reception [ns]."""
    wanted = {
        name
        for name, topic in file.topics.items()
        if topic.n_messages and not topic.problem
    }
    samples: dict[str, list[tuple[int, Any]]] = {}
    _take(file, wanted, samples)
    # topics whose first message comes late
    for name in sorted(wanted - samples.keys()):
        for topic, received_ns, message in file.read([name]):
            samples[topic] = [(received_ns, message)]
            break
    return samples


def _take(
    file: MessageFile, wanted: set[str], samples: dict[str, list[tuple[int, Any]]]
) -> None:
    left = set(wanted)
    for topic, received_ns, message in file.read(sorted(wanted)):
        some = samples.setdefault(topic, [])
        if topic in left and len(some) < _SAMPLED:
            some.append((received_ns, message))
        if len(some) == _SAMPLED:
            left.discard(topic)
        if not left or received_ns - file.span_ns[0] > _LOOKED_AT_NS:
            return


def _look(topic: BagTopic, samples: list[tuple[int, Any]]) -> SeenTopic:
    seen = SeenTopic(topic, float("nan"))
    offsets, stamps = list[int](), list[int]()
    for received_ns, message in samples:
        stamp_ns = find_stamp(message)
        stamps.append(received_ns if stamp_ns is None else stamp_ns)
        if stamp_ns is not None:
            offsets.append(stamp_ns - received_ns)
        if seen.picture is None and not seen.fields:
            seen.picture = find_picture(message)
        if seen.picture is not None:
            continue
        for found in _list_fields(message):
            of_path = [one for one in seen.fields if one.path == found.path]
            if found not in seen.fields and len(of_path) < _LONGEST_LABELS:
                seen.fields.append(found)
    apart = np.diff(np.sort(stamps))
    if apart.any():
        seen.rate = 1e9 / float(np.median(apart[apart > 0]))
    if offsets:
        seen.offset = float(np.median(offsets)) * 1e-9
    return seen


def is_one_clock(seen: SeenTopic) -> bool:
    """Return whether stamps of the sender are of the recorder's clock."""
    return seen.offset is None or abs(seen.offset) * 1e9 < _ONE_CLOCK_NS


def _list_fields(message: Any) -> Iterator[SeenField]:
    """Yield the fields of numbers, arrays and nested messages whole."""
    for name, value in list_fields(message):
        numbers = list(list_numbers(value))
        if not numbers or name in {"header", "timestamp", "stamp"}:
            continue
        path: tuple[str, ...] = (name,)
        points = getattr(value, "__len__", None) is not None and all(
            hasattr(one, "positions") for one in value
        )
        if points:  # spec: trajectory_msgs/JointTrajectory
            path = (name, "0", "positions")
            numbers = list(list_numbers(value[0].positions))
        labels = tuple(find_labels(message, len(numbers)))
        names = tuple(".".join(place) for place, _ in numbers)
        yield SeenField(path, names, labels)
