"""What reconstruction takes of the error of a teleoperation over bad networks.

``python -m benchmarks.telexr [FOLDER [TRACE …]]``: recordings of people's hands (of the
folder of data, where it is) and motions made here cross networks of ``hardware.net``
there and back in virtual time, ours through the datagrams, seals and reconstruction of
a real session. The robot is ideal: it is where it is asked to be, so that all error is
that of the way. A line a trace and way has the median over all motions of

* the teleoperation error, user against displayed robot (requirements T2),
* user against actual robot, and displayed against actual robot,
* what is left of the user's path, the delay taken out,
* motion to motion latency (T1) as confirmed, and the captures that never counted,

and how much less the first is than that of the three other ways, with the interval that
holds 95 % of the medians of resampled motions.

The ways: ``none`` obeys and shows everything as it arrives, late things too; ``hold``
keeps the newest; ``velocity`` goes on from the newest by its velocity; ``ours`` repeats
captures, orders them into a motion, and shows the robot moved on by what the user's own
hand has done since. The robot's own pose is predicted for the display alone: it never
moves on a guess, and so it is as late as the way, and one period more.
"""

from __future__ import annotations

import json
import math
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from benchmarks.reconstruction import Hand, list_motions
from hardware.net.impairment import Impairment
from hardware.net.trace import DIRECTIONS, list_profiles, load_traces
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand, Vec
from paprle.ipc.records import SampleView, make_layout, pack_sample
from paprle.link.operator_side import OperatorSide
from paprle.link.robot_side import RobotSide, make_far_info
from paprle.reconstruction.reconstruction import Reconstruction
from paprle.robot.nobody import NOBODY

RATE = 60.0  # [Hz] chosen: a tracker of hands
TICK_NS = 5_000_000
LENGTH = 10.0  # [s] of each motion
SETTLED = 2.0  # [s] chosen: until hosts have met
WAYS = "none", "hold", "velocity", "ours"
LONGEST = 0.3  # [s] chosen: a velocity says nothing of what is farther
HAND = make_far_info(LeaderInfo(limbs=("hand",), is_human=False, rate=RATE))
KEY = b"a secret of thirty-two bytes ..."
N_RESAMPLED = 2000
BEGIN_NS = round((SETTLED + 1.0) * 1e9)
_WORD = struct.Struct("<q3d")
_ROOM = bytes(70)  # what header and seal take


class Seen(NamedTuple):
    """A robot's position as it left for the operator.

    Attributes:
        stamp_ns: When, [ns].
        captured_ns: The newest capture that the robot had, [ns].
        p: Its position, shape (3,), [m].
    """

    stamp_ns: int
    captured_ns: int
    p: Vec


class Run(NamedTuple):
    """What a motion over a network came to, tick by tick.

    Attributes:
        user: Where the hand was, shape (n, 3), [m].
        robot: Where the robot was.
        shown: Where the display showed it.
        ways: From captures to what the operator hears of their effect, [s].
        n_lost: Captures that never reached the robot, or that it did not take.
    """

    user: Vec
    robot: Vec
    shown: Vec
    ways: Vec
    n_lost: int


class OldRobot:
    """A robot's host that has captures as they come, by one of the other ways."""

    delay_ns = 0

    def __init__(self, way: str) -> None:
        self._way = way
        self._known: list[tuple[int, Vec]] = []
        self.taken: set[int] = set()
        self.captured_ns = 0

    def step(self, data: list[bytes], now_ns: int) -> Vec | None:
        """Return where the robot is asked to be; None before it has heard."""
        for stamp_ns, p in map(_unpack, data):
            is_late = bool(self._known) and stamp_ns <= self._known[-1][0]
            if is_late and self._way != "none":
                continue
            self._known = [*self._known[-1:], (stamp_ns, p)]
            self.captured_ns = stamp_ns
            self.taken.add(stamp_ns)
        if not self._known:
            return None
        is_guess = self._way == "velocity"
        return go_on(self._known, now_ns) if is_guess else self._known[-1][1]


class OurRobot:
    """A robot's host with a leader afar, and its reconstruction."""

    def __init__(self) -> None:
        self.side = RobotSide(KEY, HAND)
        self._layout = make_layout(NOBODY, HAND)
        self._view = SampleView(self._layout)
        self._motion = Reconstruction(self._layout, "ordered")
        self.taken: set[int] = set()
        self.captured_ns = 0

    def step(self, data: list[bytes], now_ns: int) -> Vec | None:
        """Return where the robot is asked to be; None before it has heard."""
        sample = self.side.step(data, now_ns)
        if sample is None:
            return None
        sent_ns = self.side.guard.find_sent(sample.stamp_ns)
        self.captured_ns = max(self.captured_ns, sent_ns)
        self.taken.add(sent_ns)
        record = pack_sample(self._layout, sample, now_ns)
        self._motion.note(0, record, now_ns)
        self._view.update(record)
        moved = self._motion.follow(self._view, [sample.seq], [True], now_ns)
        return np.array(moved.pose[0, :3])

    @property
    def delay_ns(self) -> int:
        """How much later than its captures its motion is, [ns]."""
        return round(self._motion.delays[0].delay * 1e9)


def go_on(known: list[tuple[int, Vec]], now_ns: int) -> Vec:
    """Return where something is that goes on as between its last two places."""
    at_ns, p = known[-1]
    if len(known) < 2 or known[0][0] >= at_ns:
        return p
    v = (p - known[0][1]) / (at_ns - known[0][0])
    return np.asarray(p + v * min(now_ns - at_ns, LONGEST * 1e9))


class Display:
    """What the operator sees of the robot, by one of the ways."""

    def __init__(self, way: str, user: Callable[[int], Vec]) -> None:
        self._way, self._user = way, user
        self._seen: list[Seen] = []

    def take(self, seen: Seen) -> None:
        """Take a robot's position as it arrives."""
        is_late = bool(self._seen) and seen.stamp_ns < self._seen[-1].stamp_ns
        if not is_late or self._way == "none":
            self._seen = [*self._seen[-4:], seen]

    def show(self, now_ns: int, delay_ns: int) -> Vec:
        """Return where the robot is shown."""
        newest = self._seen[-1]
        if self._way == "velocity":  # over a few, so that a staircase has one, too
            ends = [(one.stamp_ns, one.p) for one in (self._seen[0], newest)]
            return go_on(ends, now_ns)
        if self._way != "ours":
            return newest.p
        then_ns = newest.captured_ns - delay_ns
        return np.asarray(newest.p + self._user(now_ns) - self._user(then_ns))


def _pack(stamp_ns: int, p: Vec) -> bytes:
    return _WORD.pack(stamp_ns, *p.tolist()) + _ROOM


def _unpack(data: bytes) -> tuple[int, Vec]:
    stamp_ns, *p = _WORD.unpack_from(data)
    return stamp_ns, np.array(p)


class Operator:
    """The operator's host: sends captures as the way does."""

    def __init__(self, way: str) -> None:
        self._side = OperatorSide(KEY, HAND, 3) if way == "ours" else None
        self._due_ns = self._seq = 0
        self._sample: LeaderSample | None = None
        self.n_captured = 0

    def step(self, data: list[bytes], p: Vec, now_ns: int) -> list[bytes]:
        """Return what is sent, given what came and where the hand is."""
        is_due = now_ns >= self._due_ns
        if is_due:
            self._due_ns, self._seq = now_ns + round(1e9 / RATE), self._seq + 1
            pose = pin.SE3(np.eye(3), p)
            limbs = {"hand": LimbCommand(T_leader_base_leader_eef=pose)}
            self._sample = LeaderSample(stamp_ns=now_ns, seq=self._seq, limbs=limbs)
            self.n_captured += now_ns > BEGIN_NS
        if self._side is None:
            return [_pack(now_ns, p)] if is_due else []
        self._side.step(data, self._sample, now_ns)
        return self._side.take_outbox()


def run(hand: Hand, trace: str, way: str, seed: int) -> Run:
    """Let a motion cross a network there and back."""
    ways = [load_traces(trace)[name] for name in DIRECTIONS]
    up, down = (Impairment(one, 2 * seed + i) for i, one in enumerate(ways))

    def user(now_ns: int) -> Vec:
        return np.array(hand(max(now_ns * 1e-9 - 1.0, 0.0)).translation)

    near, display, robot, now_ns = Operator(way), Display(way, user), user(0), 10**9
    far: OldRobot | OurRobot = OurRobot() if way == "ours" else OldRobot(way)
    views, effects = dict[bytes, Seen](), dict[int, int]()
    rows: list[tuple[Vec, Vec, Vec]] = []
    for _ in range(round((LENGTH + SETTLED) * 1e9 / TICK_NS)):
        now_ns += TICK_NS
        now = now_ns * 1e-9
        arrived = down.deliver(now)
        words = [data for data in arrived if data not in views]
        for data in near.step(words, user(now_ns), now_ns):
            up.send(data, now)
        asked = far.step(up.deliver(now), now_ns)
        robot = robot if asked is None else asked
        if now_ns // TICK_NS % 4 == 0:  # the robot's own words are 50 a second
            word = _pack(now_ns, robot)
            views[word] = Seen(now_ns, far.captured_ns, robot)
            down.send(word, now)
        if isinstance(far, OurRobot):
            far.side.end.send("tick", b"", now_ns)  # that it is heard, and when
            for data in far.side.take_outbox():
                down.send(data, now)
        for seen in (views[data] for data in arrived if data in views):
            display.take(seen)
            if seen.captured_ns > BEGIN_NS:
                effects.setdefault(seen.captured_ns, now_ns)
        if now_ns > BEGIN_NS:
            rows.append((user(now_ns), robot, display.show(now_ns, far.delay_ns)))
    late = far.delay_ns  # its motion passes a capture so much later
    took = np.array([(at + late - then) * 1e-9 for then, at in effects.items()])
    n_lost = near.n_captured - sum(stamp > BEGIN_NS for stamp in far.taken)
    return Run(*map(np.array, zip(*rows, strict=True)), took, n_lost)


def find_shape_error(one: Run) -> float:
    """Return the mean distance of the paths at the delay at which it is least, [m]."""
    n = len(one.user)
    errors = [
        np.linalg.norm(one.robot[late:] - one.user[: n - late], axis=1).mean()
        for late in range(0, 120, 2)
    ]
    return float(min(errors))


def measure(one: Run) -> dict[str, float]:
    """Return the figures of a run, [mm] and [ms]."""

    def distance(a: Vec, b: Vec) -> float:
        return float(1e3 * np.linalg.norm(a - b, axis=1).mean())

    return {
        "teleoperation": distance(one.user, one.shown),
        "user-robot": distance(one.user, one.robot),
        "shown-robot": distance(one.shown, one.robot),
        "shape": 1e3 * find_shape_error(one),
        "latency": float(1e3 * np.median(one.ways)),
        "latency p99": float(1e3 * np.percentile(one.ways, 99)),
        "lost": float(one.n_lost),
    }


def find_reduction(ours: Vec, others: Vec) -> tuple[float, float, float]:
    """Return the median share that is less, and its interval of 95 %."""
    shares = 1.0 - ours / others
    rng = np.random.default_rng(0)
    drawn = rng.choice(shares, (N_RESAMPLED, len(shares)))
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    return float(np.median(shares)), float(low), float(high)


def gather_motions(folder: Path | None) -> dict[str, Hand]:
    """Return hands by name: long recordings are cut into pieces of ``LENGTH``."""
    hands: dict[str, Hand] = {}
    for name, (hand, length) in list_motions(folder, longest=4 * LENGTH).items():
        n = max(1, math.floor(length / LENGTH)) if "." in name else 1
        for i in range(n):
            hands[f"{name} {i}" if n > 1 else name] = _cut(hand, i * LENGTH)
    return hands


def _cut(hand: Hand, begin: float) -> Hand:
    return lambda t: hand(begin + t)


def main(words: list[str]) -> None:
    """Print a table, and write what it is made of to telexr.json."""
    folder = Path(words[0]) if words else None
    hands = gather_motions(folder)
    print(f"{len(hands)} motions: {', '.join(hands)}")
    told: dict[str, Any] = {}
    for trace in words[1:] or list_profiles():
        numbered = list(enumerate(hands.values()))
        cells = {
            way: [measure(run(hand, trace, way, i)) for i, hand in numbered]
            for way in WAYS
        }
        told[trace] = {way: dict(zip(hands, cells[way], strict=True)) for way in WAYS}
        print(f"\n{trace:<12}" + "".join(f"{name:>15}" for name in cells["ours"][0]))
        for way in WAYS:
            medians = [
                np.median([cell[name] for cell in cells[way]]) for name in cells[way][0]
            ]
            line = "".join(f"{value:15.1f}" for value in medians)
            print(f"  {way:<10}{line}", flush=True)
        ours = np.array([c["teleoperation"] for c in cells["ours"]])
        for way in WAYS[:-1]:
            others = np.array([c["teleoperation"] for c in cells[way]])
            share, low, high = find_reduction(ours, others)
            wins = int((ours < others).sum())
            print(
                f"  less than {way}: {100 * share:.1f} % "
                f"[{100 * low:.1f}, {100 * high:.1f}], in {wins} of {len(ours)}"
            )
    Path("telexr.json").write_text(json.dumps(told, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
