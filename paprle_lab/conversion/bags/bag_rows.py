"""Rows of a bag at one rate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.contracts.types import Vec
from paprle_lab.conversion.bags.message_files import MessageFile, open_messages
from paprle_lab.conversion.bags.parts import PartReader
from paprle_lab.conversion.bags.pictures import Pictures
from paprle_lab.conversion.bags.streams import Sample, SampleStream
from paprle_lab.conversion.bags.values import find_stamp
from paprle_lab.conversion.mapping import SetMapping
from paprle_lab.conversion.rows import RGB, Row
from paprle_lab.dataset.film import ImageChoice
from paprle_lab.dataset.resampling_error import Account

NS = 1_000_000_000
_ONE_CLOCK_NS = NS  # spec: safety.md A1: stamps farther off are another clock's
_IMAGES = "observation.images."
_BEHIND_ALL = 1 << 62  # [ns]
_COUNTED = 2000  # [messages] chosen: between two counts of the progress


@dataclass
class _Source:
    """A topic's samples for one column's part or one camera.

    ``longest_ns``: age up to which the last sample before an end counts.
    """

    name: str
    topic: str
    reader: PartReader | Pictures
    longest_ns: int
    is_held: bool = False
    stream: SampleStream[Any] = field(default_factory=SampleStream)


@dataclass
class _Numbers(_Source):
    reader: PartReader


@dataclass
class _Camera(_Source):
    reader: Pictures
    shown: RGB | None = None


class BagRows:
    """Rows of a bag, iterated once; None where an episode ends and another may begin.

    A row is made when messages one second and the longest gap later were read, so that
    all of its samples are there. An episode ends where a topic is silent for longer
    than the gap; a column that is held may be silent.

    Attributes:
        accounts: By column and camera.
        notes: Differences worth a line of the report.
        ended: Topic without which there were no more rows.
    """

    def __init__(
        self,
        file: MessageFile,
        mapping: SetMapping,
        *,
        choice: ImageChoice = "newest",
        work: Work = UNSEEN,
    ) -> None:
        """Prepare a bag.

        Raises:
            RecordingError: If it lacks a topic of the mapping.
        """
        self._file, self._mapping, self._work = file, mapping, work
        self._choice = choice
        for topic in mapping.sources:
            found = file.topics.get(topic)
            if found is None or found.problem or not found.n_messages:
                got = "none" if found is None else found.problem or "no messages"
                raise RecordingError(
                    f"{file.path}: expected messages on {topic}, got {got}; in it: "
                    f"{', '.join(sorted(file.topics))[:500]}"
                )
        self._numbers = [
            _Numbers(column.name, part.source, PartReader(part), 0, column.is_held)
            for column in mapping.columns
            for part in column.parts
        ]
        period_ns = NS // mapping.fps
        self._cameras = [
            _Camera(f"{_IMAGES}{one.name}", one.source, Pictures(one.size), period_ns)
            for one in mapping.cameras
        ]
        self._sources: list[_Source] = [*self._numbers, *self._cameras]
        self._by_topic = defaultdict[str, list[_Source]](list)
        for source in self._sources:
            self._by_topic[source.topic].append(source)
        self.accounts = {one.name: Account() for one in self._sources}
        self.notes, self.tasks = list[str](), list[str]()
        self._span_ns = (0, 0)
        self.ended, self.reason_to_split = "", "as topics paused"
        self._late_ns = _ONE_CLOCK_NS + round(mapping.max_gap * NS)
        self._n_refused: dict[str, int] = defaultdict(int)
        self._n_other_clock = 0

    @property
    def trimmed(self) -> tuple[float, float]:
        """Times without rows at the begin and end of the bag, [s]."""
        (first, last), (begin, end) = self._span_ns, self._file.span_ns
        return (first - begin) * 1e-9, (end - last) * 1e-9

    def __iter__(self) -> Iterator[Row | None]:
        clock = _RowClock(self._mapping.fps)
        newest = 0
        for n, (topic, received_ns, message) in enumerate(
            self._file.read(self._mapping.sources)
        ):
            if n % _COUNTED == 0:
                self._count_progress(received_ns)
            self._sort(topic, received_ns, message)
            newest = max(newest, received_ns)
            yield from self._make_rows(clock, newest - self._late_ns)
        yield from self._make_rows(clock, newest)
        self._finish()

    def _sort(self, topic: str, received_ns: int, message: Any) -> None:
        stamp_ns = received_ns
        if self._mapping.clock == "header":
            sent_ns = find_stamp(message)
            if sent_ns is not None and abs(sent_ns - received_ns) < _ONE_CLOCK_NS:
                stamp_ns = sent_ns
            elif sent_ns is not None:
                self._n_other_clock += 1
        for one in self._by_topic[topic]:
            value = one.reader.read(message)
            if value is not None:
                one.stream.add(stamp_ns, value)
            elif not one.reader.is_of_others:
                self._n_refused[f"{topic}: {one.reader.problem}"] += 1

    def _make_rows(self, clock: _RowClock, until_ns: int) -> Iterator[Row | None]:
        """Make the rows up to a time, for which all samples are there."""
        while True:
            if clock.t_ns is None and not self._begin(clock, until_ns):
                return
            t_ns = clock.t_ns
            if t_ns is None or t_ns > until_ns:
                return
            row, silent = self._make(t_ns)
            if row is None:
                self._end(clock, t_ns, silent)
                yield None
            else:
                self._span_ns = (self._span_ns[0] or t_ns, t_ns)
                clock.advance()
                yield row

    def _end(self, clock: _RowClock, t_ns: int, silent: Sequence[_Source]) -> None:
        for one in silent:
            one.stream.drop(t_ns)
            if one.stream.newest_ns is None:
                self.ended = one.topic
        for camera in self._cameras:
            camera.shown = None
        clock.end()

    def _begin(self, clock: _RowClock, until_ns: int) -> bool:
        """Begin where all topics have spoken within the gap."""
        firsts = [one.stream.oldest_ns for one in self._sources]
        known = [first for first in firsts if first is not None]
        begin = max([*known, clock.ended_ns + 1])
        if len(known) < len(firsts):
            for one in self._sources:  # no row can be of the time before
                one.stream.move(until_ns)
        if len(known) < len(firsts) or begin > until_ns:
            return False
        if self._cameras:
            # a quarter of a row behind the first picture: its stamps vary by less
            begin = self._find_first_picture(begin) + NS // self._mapping.fps // 4
        clock.begin(begin)
        return True

    def _find_first_picture(self, begin: int) -> int:
        stream = self._cameras[0].stream
        before, after = stream.find(begin)
        if before is not None and before.stamp_ns == begin:
            return begin
        return begin if after is None else after.stamp_ns

    def _make(self, t_ns: int) -> tuple[Row | None, list[_Source]]:
        """Return the row of a time, or those that are silent then."""
        silent = list[_Source]()
        images = dict[str, RGB]()
        values = defaultdict[str, list[Vec]](list)
        for numbers in self._numbers:
            before, after = numbers.stream.find(t_ns)
            if before is None or self._is_silent(numbers, t_ns, before, after):
                silent.append(numbers)
            else:
                value = self._find_value(numbers, t_ns, before, after)
                values[numbers.name].append(value)
        for camera in self._cameras:
            before, after = camera.stream.find(t_ns)
            image = None
            if before is not None and not self._is_silent(camera, t_ns, before, after):
                image = self._show(camera, t_ns, before, after)
            if image is None:
                silent.append(camera)
            else:
                images[camera.name.removeprefix(_IMAGES)] = image
        if silent:
            return None, silent
        row = {name: np.concatenate(some) for name, some in values.items()}
        return Row(row, images), []

    def _is_silent(
        self,
        source: _Source,
        t_ns: int,
        before: Sample[Any],
        after: Sample[Any] | None,
    ) -> bool:
        if source.is_held:
            return False
        if after is None:
            return t_ns - before.stamp_ns > source.longest_ns
        return after.stamp_ns - before.stamp_ns > self._mapping.max_gap * NS

    def _find_value(
        self,
        one: _Numbers,
        t_ns: int,
        before: Sample[Vec],
        after: Sample[Vec] | None,
    ) -> Vec:
        account = self.accounts[one.name]
        limit_ns = round(self._mapping.max_gap * NS)
        since = t_ns - before.stamp_ns
        one.stream.take(before)
        if one.is_held or after is None or since == 0:
            account.count("exact", since, limit_ns=limit_ns)
            return one.reader.scale(before.value)
        share = since / (after.stamp_ns - before.stamp_ns)
        account.count(
            "interpolated", min(since, after.stamp_ns - t_ns), limit_ns=limit_ns
        )
        return one.reader.scale(one.reader.between(before.value, after.value, share))

    def _show(
        self,
        camera: _Camera,
        t_ns: int,
        before: Sample[Any],
        after: Sample[Any] | None,
    ) -> RGB | None:
        chosen = before
        if self._choice == "nearest" and after is not None:
            is_nearer = after.stamp_ns - t_ns < t_ns - before.stamp_ns
            chosen = after if is_nearer else before
        is_new = camera.stream.take(chosen)
        if is_new or camera.shown is None:
            image = camera.reader.decode(chosen.value)
            if image is None:
                self._n_refused[f"{camera.topic}: {camera.reader.problem}"] += 1
                is_new = False
            else:
                camera.shown = image
        account = self.accounts[camera.name]
        error = abs(t_ns - chosen.stamp_ns)
        limit_ns = 3 * NS // self._mapping.fps // 2
        account.count("exact" if is_new else "held", error, limit_ns=limit_ns)
        return camera.shown

    def _count_progress(self, now_ns: int) -> None:
        first, last = self._file.span_ns
        self._work.count((now_ns - first) * 1e-9, (last - first) * 1e-9, "s")

    def _finish(self) -> None:
        for one in self._sources:
            one.stream.move(_BEHIND_ALL)
            n_unused = one.stream.n_unused if isinstance(one, _Camera) else 0
            self.accounts[one.name].n_dropped += one.stream.n_dropped + n_unused
        for why, n in self._n_refused.items():
            self.notes.append(f"{n} messages left out on {why}")
        if self._n_other_clock:
            self.notes.append(
                f"{self._n_other_clock} stamps of senders are a second or more off: "
                "times of reception are used for these"
            )


class _RowClock:
    """Time of the next row, [ns]; None between episodes."""

    def __init__(self, fps: int) -> None:
        self._fps = fps
        self._begin_ns, self._k = 0, 0
        self.t_ns: int | None = None
        self.ended_ns = 0

    def begin(self, t_ns: int) -> None:
        self._begin_ns, self._k = t_ns, 0
        self.t_ns = t_ns

    def advance(self) -> None:
        self._k += 1
        self.t_ns = self._begin_ns + self._k * NS // self._fps

    def end(self) -> None:
        self.ended_ns = self.t_ns or 0
        self.t_ns = None


@contextmanager
def open_bag_rows(
    path: Path,
    mapping: SetMapping,
    *,
    choice: ImageChoice = "newest",
    work: Work = UNSEEN,
) -> Iterator[BagRows]:
    """Open a bag's rows.

    Raises:
        ConfigError: If there is no bag.
        RecordingError: If it is damaged or lacks a topic of the mapping.
    """
    with open_messages(path) as file:
        yield BagRows(file, mapping, choice=choice, work=work)
