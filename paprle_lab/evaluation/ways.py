"""The same arrivals made a motion of in other ways than ours, for one episode.

A leader far away is reconstructed (``paprle.reconstruction``). What else could have
been done with the very samples that came is computed from the recording, tick by tick:

    off       what came last is obeyed, late or not: as without reconstruction
    hold      the newest capture is obeyed
    velocity  the newest capture goes on at the velocity of the last two
    ours      the product's reconstruction, as the session ran it

Each is compared with where the hand was at that instant, as its captures tell in
hindsight, in the hand's axes: what is asked of the robot, before the robot's own lag.
The pictures' comparison is in ``paprle_lab.evaluation.far``: only the operator's host
knows what came there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from paprle.contracts.kit.sampling import Sampling
from paprle.contracts.types import LeaderInfo, SessionState, Vec
from paprle.ipc.records import SampleView, make_layout
from paprle.reconstruction.reconstruction import Reconstruction
from paprle.robot.empty_robot import NOBODY
from paprle_lab.evaluation.store import Column, Rows, Table, cut

Json = dict[str, Any]

WAYS = {
    "off": "what came last, late or not",
    "hold": "the newest, held",
    "velocity": "gone on at its velocity",
    "ours": "reconstructed",
}
_LONGEST = 0.3  # [s] chosen: a velocity says nothing of what is farther
_N_KEPT = 512  # chosen: five seconds of captures; no way that drives is longer
_N_OF_PULL = 3  # spec: of a second difference
_MM = 1e3


_HEAD = (
    "the same arrivals",
    "hand to asked p50 [mm]",
    "p95 [mm]",
    "ours nearer [%]",
    "asked acceleration p99 [m/s²]",
    "hand to picture p50 [mm]",
    "picture to robot p50 [mm]",
    "ours nearer [%]",
)
_PICTURES = {
    "hold": ("hand_to_confirmed_picture", "confirmed_picture_to_robot"),
    "velocity": ("hand_to_picture_by_velocity", "picture_by_velocity_to_robot"),
    "ours": ("hand_to_predicted_picture", "predicted_picture_to_robot"),
}


def compare_ways(
    ticks: Table, leader: LeaderInfo, events: Iterable[Mapping[str, Any]]
) -> Json | None:
    """Compare them.

    Args:
        ticks: Session ticks; of ``sample`` stamp, number and poses are needed.
        leader: The leader as recorded.
        events: Of the recording: they tell who was reconstructed.

    Returns:
        By way the error against the hand, p50 and p95 [mm], the acceleration that is
        asked for, p99 [m/s²], and at how many of the instants ours is nearer, [%];
        None where no leader was far away, or it gave no poses.
    """
    told = [e for e in events if e.get("event") == "reconstruction"]
    is_far = any(e.get("policy") == "ordered" and not e.get("leader") for e in told)
    if not is_far or leader.emits != "pose":
        return None
    comparison = _Comparison(leader)
    for where in cut(len(ticks)):
        comparison.take(ticks[where])
    return comparison.measure()


class _Comparison:
    """Takes ticks block by block; ways are in the order of ``WAYS``."""

    def __init__(self, leader: LeaderInfo) -> None:
        info = LeaderInfo(
            limbs=leader.limbs, rate=leader.rate, sampling=Sampling("ordered")
        )
        layout = make_layout(NOBODY, info)
        self._motion = Reconstruction(layout, "ordered")
        self._sample = SampleView(layout)
        self._seq, self._was_engaged = -1, False
        self._newest: list[tuple[int, Vec]] = []
        self._captures: dict[int, Vec] = {}
        self._waiting: list[tuple[int, Vec]] = []
        self._track: list[tuple[int, Vec]] = []
        self._errors = [Column() for _ in WAYS]
        self._pulls = [Column() for _ in WAYS]
        self._n_nearer = np.zeros(len(WAYS), dtype=np.int64)

    def take(self, ticks: Rows) -> None:
        """Run the ways over these ticks, and compare what can be by now."""
        samples = ticks["sample"]
        columns = (
            ticks["stamp_ns"].tolist(),
            (ticks["state"] == SessionState.ENGAGED).tolist(),
            ticks["has_sample"].tolist(),
            samples["stamp_ns"].tolist(),
            samples["seq"].tolist(),
        )
        for k, (now_ns, is_engaged, has_sample, stamp_ns, seq) in enumerate(
            zip(*columns, strict=True)
        ):
            pose = samples["pose"][k]
            has_hands = has_sample and bool(np.isfinite(pose).all())
            if has_hands and seq != self._seq:
                self._hear(stamp_ns, seq, pose, now_ns)
            if not (is_engaged and has_hands):
                self._note_pulls()
                self._track.clear()
            else:
                places = self._ask(pose, now_ns, is_first=not self._was_engaged)
                self._track.append((now_ns, places))
                self._waiting.append((now_ns, places))
            self._was_engaged = is_engaged and has_hands
        self._note_pulls()
        self._note_errors()

    def measure(self) -> Json | None:
        """Return the figures; None where nothing could be compared."""
        n = len(self._errors[0])
        if not n:
            return None
        return {
            way: {
                "hand_to_asked_mm": {
                    f"p{percent}": _MM * self._errors[w].percentile(percent)
                    for percent in (50, 95)
                },
                "acceleration_p99": (
                    self._pulls[w].percentile(99) if len(self._pulls[w]) else None
                ),
                "ours_is_nearer_percent": 100.0 * int(self._n_nearer[w]) / n,
            }
            for w, way in enumerate(WAYS)
        }

    def _hear(self, stamp_ns: int, seq: int, pose: Vec, now_ns: int) -> None:
        """Take a sample as it arrived."""
        self._seq = seq
        record = self._sample.record
        record["stamp_ns"], record["seq"], record["pose"] = stamp_ns, seq, pose
        record["limb_ns"][...] = stamp_ns
        self._sample.update(record)
        self._motion.note(0, record, now_ns)
        self._captures[stamp_ns] = pose[:, :3].copy()
        if not self._newest or stamp_ns > self._newest[-1][0]:
            self._newest = [*self._newest[-1:], (stamp_ns, pose[:, :3].copy())]

    def _ask(self, pose: Vec, now_ns: int, *, is_first: bool) -> Vec:
        """Return where each way asks the robot to be, shape (w, k, 3), [m]."""
        if is_first:
            self._motion.start()
        moved = self._motion.follow(self._sample, [self._seq], [True], now_ns)
        (before_ns, before), (last_ns, last) = self._newest[0], self._newest[-1]
        ahead = 0.0
        if last_ns > before_ns:
            ahead = min(now_ns - last_ns, _LONGEST * 1e9) / (last_ns - before_ns)
        gone_on = last + (last - before) * ahead
        return np.stack([pose[:, :3], last, gone_on, moved.pose[:, :3]])

    def _note_pulls(self) -> None:
        """Take the accelerations of ticks that follow each other."""
        if len(self._track) < _N_OF_PULL:
            return
        h = 1e-9 * float(np.median(np.diff([t_ns for t_ns, _ in self._track])))
        pulls = np.diff([places for _, places in self._track], n=2, axis=0) / h**2
        for column, own in zip(self._pulls, _measure(pulls), strict=True):
            column.append(own)
        del self._track[: 1 - _N_OF_PULL]

    def _note_errors(self) -> None:
        """Compare ticks with the hand that is known to both sides of them."""
        if not self._waiting or not self._captures:
            return
        stamps = sorted(self._captures)
        hand_ns = np.array(stamps, dtype=np.int64)
        t_ns = np.array([t_ns for t_ns, _ in self._waiting], dtype=np.int64)
        n = int(np.searchsorted(t_ns, hand_ns[-1], side="right"))
        hand = np.array([self._captures[one] for one in stamps])
        t, known = t_ns[:n] - hand_ns[0], hand_ns - hand_ns[0]
        flat = hand.reshape(len(hand), -1)
        at = np.stack([np.interp(t, known, one) for one in flat.T], axis=1)
        places = np.array([places for _, places in self._waiting[:n]])
        places = places.reshape(n, *self._waiting[0][1].shape)
        errors = _measure(places - at.reshape(n, 1, *hand.shape[1:]))
        for w, column in enumerate(self._errors):
            column.append(errors[w])
            self._n_nearer[w] += int((errors[-1] < errors[w]).sum())
        del self._waiting[:n]
        # a capture that comes late may still lie before the ticks that wait
        for stamp_ns in stamps[: max(0, len(stamps) - _N_KEPT)]:
            del self._captures[stamp_ns]


def _measure(off: Vec) -> Vec:
    """Return lengths, shape (w, n · k), of rows (n, w, k, 3)."""
    lengths: Vec = np.linalg.norm(off, axis=3)
    return lengths.transpose(1, 0, 2).reshape(off.shape[1], -1)


def list_rows(entry: Json) -> list[tuple[str, ...]]:
    """Return the table of an episode: a row a way, a head before; empty without one.

    Args:
        entry: Of the report; ``far`` has the pictures, if an operator's host told it.

    Returns:
        Cells of text.
    """
    ways = entry["ways"]
    if ways is None:
        return []
    far = entry["far"]
    rows: list[tuple[str, ...]] = [_HEAD]
    for way, words in WAYS.items():
        own = ways[way]
        error = own["hand_to_asked_mm"]
        pull = own["acceleration_p99"]
        rows.append(
            (
                words,
                f"{error['p50']:.1f}",
                f"{error['p95']:.1f}",
                "" if way == "ours" else f"{own['ours_is_nearer_percent']:.0f}",
                "–" if pull is None else f"{pull:.1f}",
                *_list_pictures(far, way),
            )
        )
    return rows


def _list_pictures(far: Json | None, way: str) -> tuple[str, str, str]:
    """Return errors of a way's picture, and where ours is nearer; dashes: unknown."""
    if far is None or way not in _PICTURES:
        return ("–", "–", "–")
    errors = [far["errors_mm"][name]["p50"] for name in _PICTURES[way]]
    nearer = far["predicted_is_nearer_percent"].get(way)
    told = ["–" if value is None else f"{value:.1f}" for value in errors]
    last = "" if way == "ours" else "–" if nearer is None else f"{nearer:.0f}"
    return told[0], told[1], last


def describe_ways(entry: Json) -> list[str]:
    """Return lines for the terminal, one for each way."""
    return [
        f"{words}: {asked} mm from the hand (p95 {p95}), {pull} m/s² at p99"
        + (f"; its picture {picture} mm from the robot" if picture != "–" else "")
        for words, asked, p95, _, pull, _, picture, _ in list_rows(entry)[1:]
    ]
