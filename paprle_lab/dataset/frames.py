"""Frames of an episode at one rate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.errors import RecordingError
from paprle.contracts.types import SessionState, Vec
from paprle.ipc.pictures import PictureKind
from paprle.ipc.records import Stream
from paprle.observation.frame import ASKED, MEASURED, SENT, StateFrame
from paprle.recording.messages.channels import Rows
from paprle.recording.reading import Reading
from paprle.recording.video.codec import Image
from paprle.recording.video.pictures import Footage
from paprle.robot.arrays import Bools
from paprle_lab.dataset.film import ImageChoice, OrderedPictures, Picked
from paprle_lab.dataset.resampling_error import Account
from paprle_lab.dataset.series import Around, Series

NS = 1_000_000_000
MAX_GAP_NS = 50_000_000  # chosen: ten periods of a gate at 200 Hz; two of a camera
_LONGEST_GAP_NS = 10 * NS  # chosen: nothing was recorded; the machine slept, or lied
_ONE_CLOCK_NS = NS  # spec: safety.md A1: stamps farther off are another clock's
_MAX_PENDING = 256 << 20  # [bytes] chosen: of samples that wait for those beside them
_FIELDS = {
    MEASURED: ("q_meas", "dq_meas", "tau_meas", "objects"),
    SENT: ("q_cmd",),
    ASKED: ("q_des", "target", "driver", "state"),
}


class EpisodeFrames:
    """Frames of an episode, iterated once.

    Attributes:
        accounts: By source: ``measured``, ``sent``, ``requested``, cameras.
        trimmed: Time before the first and after the last frame, [s].
        problem: Defect of the file, known after iteration.
    """

    def __init__(
        self,
        path: Path,
        fps: int,
        *,
        also: Sequence[str] = (),
        depth: bool = False,
        kept: tuple[float, float] = (0.0, math.inf),
        choice: ImageChoice = "newest",
    ) -> None:
        """Open an episode; of it the times ``kept`` [s] since its first record.

        ``also`` are further fields that each sample has: ``tau_meas``, ``objects``.

        Raises:
            RecordingError: If unreadable, or a source is empty.
        """
        reading = Reading(path)
        self._feed = _Feed(reading, ("q_meas", "dq_meas", *also))
        self._series = self._feed.series
        self._is_held = _list_held(reading.header["leader_info"])
        self._kept = kept
        self._fps, self._choice = fps, choice
        self._films: dict[tuple[str, bool], OrderedPictures] = {}
        self._stack = ExitStack()
        footage = Footage(path)
        for track in footage.list_tracks():
            is_depth = track.format == "png"
            if is_depth and not depth:
                continue
            info = footage.cameras[track.camera]
            read = footage.read(track.camera, depth=track.kind == PictureKind.DEPTH)
            self._stack.enter_context(closing(read))
            film = OrderedPictures(read, (info.height, info.width), choice)
            self._films[track.camera, is_depth] = film
        self._limits = {
            name: int(1.5 * NS / min(camera.fps, fps))
            for name, camera in footage.cameras.items()
        }
        names = [_name(*key) for key in self._films]
        self.accounts = {name: Account() for name in (*_FIELDS, *names)}
        self.trimmed = (0.0, 0.0)
        self.ended = ""
        self.problem = ""
        self._path = path

    def __iter__(self) -> Iterator[StateFrame]:
        with self._stack:
            begin = self._find_begin()
            begin_s, end_s = self._kept
            first = self._feed.span[0]
            begin = max(begin, first + round(begin_s * NS))
            k, t_ns = 0, begin
            while t_ns < first + end_s * NS:
                frame = self._make(t_ns)
                if frame is None:
                    break
                yield frame
                k += 1
                t_ns = begin + k * NS // self._fps
            for key, film in self._films.items():
                self.accounts[_name(*key)].n_dropped += film.close()
        self._feed.drain()
        for name, series in self._series.items():
            self.accounts[name].n_dropped += series.n_dropped
        first, last = self._feed.span
        self.trimmed = ((begin - first) * 1e-9, max(0, last - t_ns) * 1e-9)
        self.problem = self._feed.reading.find_problem()

    def _find_begin(self) -> int:
        firsts = {name: series.first_ns for name, series in self._series.items()}
        firsts |= {_name(*key): film.first_ns for key, film in self._films.items()}
        empty = [name for name, first in firsts.items() if first is None]
        if empty:
            raise RecordingError(
                f"{self._path}: expected samples of {', '.join(empty)}, got none"
            )
        begin = max(first for first in firsts.values() if first is not None)
        coloured = [name for name, is_depth in self._films if not is_depth]
        if not coloured:
            return begin
        slowest = max(coloured, key=lambda name: self._limits[name])
        film = self._films[slowest, False]
        first = film.find_first(begin)
        if self._choice == "newest":
            # behind the picture by more than its stamps vary, or it would be missed
            first += NS // self._fps // 4
        return max(begin, first)

    def _make(self, t_ns: int) -> StateFrame | None:
        period = NS // self._fps
        around = {name: series.find(t_ns) for name, series in self._series.items()}
        measured, sent, asked = (around[name] for name in _FIELDS)
        over = [
            *(
                n
                for n, a in around.items()
                if a is None or _is_over(n, a, t_ns, period)
            ),
            *(_name(*k) for k, f in self._films.items() if f.is_over(t_ns, period)),
        ]
        if over or measured is None or sent is None or asked is None:
            self.ended = over[0]
            return None
        picked = {key: film.pick(t_ns) for key, film in self._films.items()}
        images = self._count_images(picked, t_ns)
        q, dq, tau, objects = self._interpolate(measured, t_ns)
        self._count_command(SENT, sent, t_ns)
        self._count_command(ASKED, asked, t_ns)
        driver = asked.before["driver"]
        driven = (driver >= 0) & (asked.before["state"] == SessionState.ENGAGED)
        return StateFrame(
            stamp_ns=t_ns,
            q=q,
            dq=dq,
            tau=tau,
            q_sent=sent.before["q_cmd"],
            q_asked=asked.before["q_des"],
            target=asked.before["target"],
            driven=driven,
            by_person=driven & self._is_held.take(driver, mode="clip"),
            objects=objects,
            images=images[False],
            depths=images[True],
        )

    def _interpolate(self, around: Around, t_ns: int) -> tuple[Vec, Vec, Vec, Vec]:
        fields = _FIELDS[MEASURED]
        account, before, after = self.accounts[MEASURED], around.before, around.after
        since, gap = t_ns - around.before_ns, around.after_ns - around.before_ns
        if gap > _LONGEST_GAP_NS:
            raise RecordingError(
                f"{self._path}: expected samples all the time, got none for "
                f"{gap / NS:.0f} [s]"
            )
        if since == 0 or after is None or gap > MAX_GAP_NS:
            how = "exact" if since == 0 else "held"
            account.count(how, since, limit_ns=MAX_GAP_NS)
            values = [np.array(before[name]) for name in fields]
        else:
            nearest = min(since, around.after_ns - t_ns)
            account.count("interpolated", nearest, limit_ns=MAX_GAP_NS)
            share = since / gap
            values = [
                before[name]
                + share * (_turn_alike(after[name], before[name], name) - before[name])
                for name in fields
            ]
        return values[0], values[1], values[2], values[3]

    def _count_command(self, name: str, around: Around, t_ns: int) -> None:
        """Count a command, exact until the next is overdue."""
        since = t_ns - around.before_ns
        how = "exact" if since <= MAX_GAP_NS else "held"
        self.accounts[name].count(how, since, limit_ns=MAX_GAP_NS)

    def _count_images(
        self, picked: Mapping[tuple[str, bool], Picked | None], t_ns: int
    ) -> dict[bool, dict[str, Image]]:
        images: dict[bool, dict[str, Image]] = {False: {}, True: {}}
        for (camera, is_depth), one in picked.items():
            if one is None:
                continue
            account = self.accounts[_name(camera, is_depth)]
            error = abs(one.stamp_ns - t_ns)
            how = "held" if one.is_repeated else "exact"
            account.count(how, error, limit_ns=self._limits[camera])
            account.n_dropped += one.n_dropped
            images[is_depth][camera] = one.image
        return images


def _is_over(name: str, around: Around, t_ns: int, period_ns: int) -> bool:
    is_late = t_ns - around.before_ns > period_ns
    return around.after is None and (name == MEASURED or is_late)


def _turn_alike(rows: Vec, before: Vec, field: str) -> Vec:
    if field != "objects":
        return rows
    dots = (rows[:, 3:] * before[:, 3:]).sum(axis=1, keepdims=True)
    alike = rows.copy()
    alike[:, 3:] *= np.where(dots < 0.0, -1.0, 1.0)
    return alike


def _list_held(leader: Mapping[str, Any]) -> Bools:
    """Return flags (k + 1,) of limbs held by a person; last: no limb."""
    limbs = leader["limbs"]
    held = leader.get("held_limbs", limbs if leader["is_human"] else ())
    return np.array([*(limb in held for limb in limbs), False])


def _name(camera: str, is_depth: bool) -> str:
    return f"{camera} depth" if is_depth else camera


class _Feed:
    """Joint samples sorted into series while reading."""

    def __init__(self, reading: Reading, needed: tuple[str, ...]) -> None:
        self.reading = reading
        self._needed = needed
        self.series = {name: Series(self._pull) for name in _FIELDS}
        self._items = iter(reading)
        self._is_wanted = True
        self.span = (0, 0)

    def drain(self) -> None:
        """Read to the end to verify the file."""
        self._is_wanted = False
        while self._pull():
            pass

    def _pull(self) -> bool:
        for item in self._items:
            if isinstance(item, Mapping):
                continue
            if item.stream == Stream.GATE:
                stamps = item.records["stamp_ns"]
                self.span = (self.span[0] or int(stamps[0]), int(stamps[-1]))
            if self._is_wanted:
                self._sort(item.stream, item.records)
            if sum(one.n_bytes for one in self.series.values()) > _MAX_PENDING:
                raise RecordingError(
                    f"{self.reading.path}: expected ticks and gate beside each other, "
                    "got one without the other"
                )
            return True
        return False

    def _sort(self, stream: Stream, records: Rows) -> None:
        stamps = records["stamp_ns"]
        if stream == Stream.TICK:
            self._add(ASKED, stamps, records, np.isfinite(records["q_des"]))
            return
        self._add(SENT, stamps, records, np.isfinite(records["q_cmd"]))
        taken = records["meas_ns"]
        is_ours = (taken > 0) & (np.abs(taken - stamps) < _ONE_CLOCK_NS)
        is_good = is_ours[:, None]
        for field in self._needed:
            values = records[field].reshape(len(records), -1)
            is_good = is_good & np.isfinite(values).all(axis=1)[:, None]
        self._add(MEASURED, taken, records, is_good)

    def _add(self, name: str, stamps: Any, records: Rows, is_good: Any) -> None:
        fields = list(_FIELDS[name])
        rows = np.zeros(len(records), [(f, records.dtype[f]) for f in fields])
        for field in fields:
            rows[field] = records[field]
        self.series[name].add(stamps, rows, is_good.all(axis=1))
