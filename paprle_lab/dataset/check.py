"""Checks for faults that spoil training."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.contracts.types import RobotInfo, Vec
from paprle.observation.frame import MEASURED, StateFrame
from paprle.recording.header import robot_from_dict
from paprle.recording.video.codec import Image
from paprle_lab.dataset.episodes import (
    RecordingProgress,
    Robot,
    SourceRecording,
    choose,
    choose_rate,
    find_recordings,
    find_sizes,
)
from paprle_lab.dataset.frames import NS, EpisodeFrames
from paprle_lab.dataset.report import describe_trimmed
from paprle_lab.dataset.resampling_error import Account

_FROZEN = 0.5  # [s] chosen: what a scene at rest looks like for a moment is no fault
_LEVEL = 1.0  # [of 255] chosen: below it two images differ by their coding alone
_ACROSS = 32  # [px] chosen: motion of a limb is seen at this size
_MOVES = 0.05  # [rad] or [m] chosen: within that time a scene with a camera changes
_GAPS = 0.02  # chosen: of the frames; a policy hardly notices fewer
_JUMP = 3.0  # chosen: times what the gate allows in one frame
_SHORTEST = 1.0  # [s] chosen: less is a slip of the operator's hand
_LEAST_DRIVEN = 0.5  # chosen: less is an episode of alignment and pauses
_LEAST_FOLLOWED = 0.5  # chosen: less was asked for in vain, as in another unit
_ALIKE = 0.01  # [rad] or [m] chosen: no person repeats a motion as exactly
_POINTS = 50  # chosen: of a motion, for comparing
_DRIFT = 0.05  # [s] chosen: more than a frame and a half of a camera at 30 Hz
_LEAST_LIKE = 0.5  # chosen: below it the two motions tell nothing of their delay
_MOST_LAG = 0.5  # [s] chosen: the search for a delay ends here


class DatasetFault(NamedTuple):
    """A fault that spoils training.

    Attributes:
        kind: One of frozen, gap, drift, jump, copy, unlabelled, short, undriven,
            unfollowed, left out.
    """

    path: Path
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.path.name}: {self.kind}: {self.text}"


@dataclass
class _Look:
    """Images of one camera.

    Attributes:
        longest: Longest frozen image in motion, [s].
        changes: Differences of consecutive images, 0 … 255.
    """

    before: npt.NDArray[np.float32] | None = None
    last: npt.NDArray[np.float32] | None = None
    since: int = 0
    q_since: Vec | None = None
    longest: float = 0.0
    changes: list[float] = field(default_factory=list)


@dataclass
class _Motion:
    q: list[Vec] = field(default_factory=list)
    driven: list[bool] = field(default_factory=list)
    looks: dict[str, _Look] = field(default_factory=dict)


def check(
    places: Sequence[Path],
    say: Callable[[str], None] = lambda _: None,
    work: Work = UNSEEN,
) -> list[DatasetFault]:
    """Return the faults of recordings, in order.

    ``say`` takes the driven share of each.

    Raises:
        ConfigError: If there are none, or they do not match.
    """
    choice = choose(find_recordings(places))
    findings = [DatasetFault(path, "left out", why) for path, why, _ in choice.left_out]
    if choice.robot is None:
        return findings
    motions: dict[Path, Vec] = {}
    work.note("checking recordings")
    progress = RecordingProgress(work, choice.sources)
    for source in progress.each():
        try:
            found, motion, driven = _check_one(source, choice.robot, progress)
        except RecordingError as err:
            findings.append(DatasetFault(source.path, "left out", str(err)))
            continue
        n = len(driven)
        say(f"{source.path.name}: a leader drove {np.sum(driven)} of {n} frames")
        findings += found
        findings += _find_copies(source.path, motion, motions)
        motions[source.path] = motion
    return findings


def _check_one(
    source: SourceRecording, robot: Robot, progress: RecordingProgress
) -> tuple[list[DatasetFault], Vec, list[bool]]:
    fps = choose_rate(robot)
    info = robot_from_dict(robot.header["robot"])
    frames = EpisodeFrames(source.path, fps, kept=source.kept)
    motion = _Motion(looks={name: _Look() for name in find_sizes(robot)})
    jumps = _Jumps(info, fps)
    for k, frame in enumerate(frames):
        progress.count(k / fps)
        jumps.add(frame)
        motion.q.append(frame.q.astype(np.float32))
        motion.driven.append(bool(frame.driven.any()))
        for name, look in motion.looks.items():
            _look_at(look, frame.images[name], frame.q, 1.0 / fps)
    if frames.problem:
        raise RecordingError(frames.problem)
    q = np.array(motion.q).reshape(-1, len(info.joint_names))
    found = [
        DatasetFault(source.path, kind, text)
        for kind, text in (
            *_find_labels(source),
            *_find_short(sum(motion.driven), fps),
            *_find_undriven(motion.driven),
            *_find_unfollowed(source),
            *_find_gaps(frames.accounts, fps),
            *(("gap", told) for told in describe_trimmed(frames.trimmed, frames.ended)),
            *jumps.find(),
            *_find_frozen(motion.looks),
            *_find_drift(motion.looks, q, fps),
        )
    ]
    return found, _thin(q), motion.driven


Found = Iterator[tuple[str, str]]


def _find_labels(source: SourceRecording) -> Found:
    if not source.task.strip():
        yield "unlabelled", "no task; record with record.task='…'"
    if not source.outcome:
        yield "unlabelled", "neither success nor failure was told"


def _find_short(n_driven: int, fps: int) -> Found:
    if n_driven / fps < _SHORTEST:
        yield (
            "short",
            f"{n_driven} frames that a leader drove, {n_driven / fps:.2f} s in which "
            "all sources tell",
        )


def _find_undriven(driven: list[bool]) -> Found:
    n, n_driven = len(driven), sum(driven)
    if n and n_driven < _LEAST_DRIVEN * n:
        yield (
            "undriven",
            f"a leader drove {n_driven / n:.0%} of {n} frames; dataset create leaves "
            "out the others",
        )


def _find_unfollowed(source: SourceRecording) -> Found:
    for one in source.short:
        if one.seconds > _LEAST_FOLLOWED * source.duration > 0.0:
            yield "unfollowed", f"the robot was not where it was asked to be: {one}"


def _find_gaps(accounts: dict[str, Account], fps: int) -> Found:
    for name, account in accounts.items():
        if account.n_gaps > _GAPS * account.n_frames:
            what = "images" if name not in {MEASURED, "sent", "requested"} else "values"
            yield (
                "gap",
                f"{name}: {account.n_gaps} of {account.n_frames} frames at {fps} Hz "
                f"have {what} off in time, by {1e3 * account.worst:.0f} ms at worst",
            )


def _find_frozen(looks: dict[str, _Look]) -> Found:
    for name, look in looks.items():
        if look.longest > _FROZEN:
            yield (
                "frozen",
                f"camera {name} shows one image for {look.longest:.1f} s while the "
                "robot moves",
            )


def _find_drift(looks: dict[str, _Look], q: Vec, fps: int) -> Found:
    # Both are how much changes from frame to frame; where they are alike at all, the
    # shift at which they are most alike is the delay between picture and joints.
    speed = np.abs(np.diff(q, axis=0)).sum(axis=1)
    for name, look in looks.items():
        shift = find_delay(speed, np.array(look.changes), int(_MOST_LAG * fps))
        if shift is not None and abs(shift) / fps > _DRIFT:
            late = "after" if shift > 0 else "before"
            yield (
                "drift",
                f"camera {name} shows motion {1e3 * abs(shift) / fps:.0f} ms {late} "
                "the joints tell of it",
            )


def find_delay(a: Vec, b: Vec, most: int) -> int | None:
    """Return the lag of b behind a (N,) in steps, or None."""
    n = min(len(a), len(b))
    if n < 4 * most or not a[:n].any() or not b[:n].any():
        return None
    likeness = {}
    for shift in range(-most, most + 1):
        x = a[most : n - most]
        y = b[most + shift : n - most + shift]
        if x.std() == 0.0 or y.std() == 0.0:
            continue
        likeness[shift] = float(np.corrcoef(x, y)[0, 1])
    best = max(likeness, key=lambda shift: likeness[shift], default=None)
    return None if best is None or likeness[best] < _LEAST_LIKE else best


def _find_copies(
    path: Path, motion: Vec, others: dict[Path, Vec]
) -> list[DatasetFault]:
    for other, known in others.items():
        apart = float(np.abs(motion - known).max(initial=0.0))
        if motion.shape == known.shape and apart < _ALIKE:
            text = f"the motion is that of {other.name}, within {apart:.4f} rad or m"
            return [DatasetFault(path, "copy", text)]
    return []


def _thin(q: Vec) -> Vec:
    rows = np.linspace(0, max(len(q) - 1, 0), _POINTS).round().astype(int)
    return q[rows] if len(q) else np.zeros((_POINTS, q.shape[1]))


def _look_at(look: _Look, image: Image, q: Vec, dt: float) -> None:
    stride = max(1, min(image.shape[:2]) // _ACROSS)
    small = image[::stride, ::stride].astype(np.float32)
    if look.last is None or look.before is None:
        look.last, look.before, look.q_since = small, small, q
        return
    look.changes.append(float(np.abs(small - look.before).mean()))
    look.before = small
    change = float(np.abs(small - look.last).mean())
    if change >= _LEVEL or look.q_since is None:
        look.last, look.q_since, look.since = small, q, 0
        return
    look.since += 1
    if float(np.abs(q - look.q_since).max()) > _MOVES:
        look.longest = max(look.longest, look.since * dt)


class _Jumps:
    def __init__(self, robot: RobotInfo, fps: int) -> None:
        self._robot, self._fps = robot, fps
        self._last: StateFrame | None = None
        self._n = 0
        self._worst = (0.0, "")

    def add(self, frame: StateFrame) -> None:
        if self._last is not None:
            dt = (frame.stamp_ns - self._last.stamp_ns) / NS
            share = np.abs(frame.q - self._last.q) / (self._robot.dq_max * dt)
            k = int(share.argmax())
            self._n += bool(share[k] > _JUMP)
            if share[k] > self._worst[0]:
                self._worst = (float(share[k]), self._robot.joint_names[k])
        self._last = frame

    def find(self) -> Found:
        if self._n:
            share, joint = self._worst
            yield (
                "jump",
                f"{self._n} steps from frame to frame are more than {_JUMP:g} times "
                f"what the speed limit allows; worst {joint}, {share:.0f} times",
            )
