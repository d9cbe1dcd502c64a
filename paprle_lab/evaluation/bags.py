"""Errors and lag of a ROS bag."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paprle.contracts.errors import ConfigError, PaprleError
from paprle.contracts.kit.static_frames import SourceFrame
from paprle.contracts.types import Vec
from paprle.recording.others.bag_joints import WantedJoints
from paprle.recording.others.bags import JOINT_TYPES, POSE_STAMPED, Bag
from paprle.recording.robot import compute_poses
from paprle.robot.chain import Limb
from paprle_lab.evaluation.episode import EpisodeResult, Json, make_blank, pick_worst
from paprle_lab.evaluation.limb import measure_limb
from paprle_lab.evaluation.metrics import Spans
from paprle_lab.evaluation.poses import Stamps, Trajectory, clean
from paprle_lab.evaluation.tracks import LimbTrack

_TARGET, _ACTUAL = "/target_pose", "/actual_pose"
"""Ends of the topics of ``paprle.observers.ros``; these need not be named."""
_MAX_GAP = (
    0.25  # [s] spec: the offline leader's max_gap: nothing is known in longer ones
)


@dataclass(frozen=True, kw_only=True)
class BagTopics:
    """Topics to compare, and the limb of joint topics."""

    target: str = ""
    actual: str = ""
    limb: Limb | None = None


def measure_bag(path: Path, topics: BagTopics) -> EpisodeResult:
    """Measure a bag; ``error`` states a failure."""
    try:
        with Bag(path) as bag:
            pairs = _find_pairs(bag, topics)
            clocks = [bag.agree_on_clock(pair) for pair in pairs.values()]
            frames = {name: _find_frame(bag, pair) for name, pair in pairs.items()}
            read = {
                name: [_read(bag, topic, topics.limb, frames[name]) for topic in pair]
                for name, pair in pairs.items()
            }
        origin_ns = min(int(t[0]) for pair in read.values() for t, _ in pair)
        tracks = [_make_track(name, pair, origin_ns) for name, pair in read.items()]
    except PaprleError as err:
        entry = make_blank(path) | {"error": str(err), "notes": [str(err)]}
        return EpisodeResult(name=path.stem, entry=entry)
    limbs = [measure_limb(track) for track in tracks]
    engaged = max((track.spans for track in tracks), key=len)
    entry = make_blank(path) | pick_worst(limbs)
    entry |= _describe(limbs[0].target, engaged)
    entry["limbs"] = {limb.name: limb.figures for limb in limbs}
    entry["notes"] = [
        f"a bag: {target} against {actual}" for target, actual in pairs.values()
    ]
    entry["notes"] += filter(None, clocks)
    entry["notes"] += [frame.describe() for frame in frames.values() if frame]
    entry["notes"] += [note for limb in limbs for note in limb.notes]
    return EpisodeResult(
        name=path.stem,
        entry=entry,
        limbs=limbs,
        engaged=engaged,
        origin_ns=origin_ns,
    )


def _find_pairs(bag: Bag, topics: BagTopics) -> dict[str, tuple[str, str]]:
    if topics.target and topics.actual:
        name = topics.limb.name if topics.limb else "hand"
        return {name: (topics.target, topics.actual)}
    starts = {
        topic.removesuffix(_TARGET)
        for topic in bag.find(POSE_STAMPED)
        if topic.endswith(_TARGET)
    }
    pairs = {
        start.rpartition("/")[2]: (start + _TARGET, start + _ACTUAL)
        for start in sorted(starts)
        if start + _ACTUAL in bag.topics
    }
    if not pairs:
        raise ConfigError(
            f"{bag.path}: expected topics that end in {_TARGET} and {_ACTUAL}, got "
            f"{bag.listing}; choose with --target TOPIC --actual TOPIC (poses; or "
            "joints, with --robot NAME)"
        )
    return pairs


def _find_frame(bag: Bag, pair: tuple[str, str]) -> SourceFrame | None:
    """Return the target's frame; None: joints or unknown."""
    # None where one of them is of joints, or does not say its frame.
    if any(bag.topics.get(topic) != POSE_STAMPED for topic in pair):
        return None
    frames = [bag.find_frame(topic) for topic in pair]
    return SourceFrame(bag.statics, frames[0]) if all(frames) else None


def _read(
    bag: Bag, topic: str, limb: Limb | None, frame: SourceFrame | None
) -> tuple[Stamps, Vec]:
    if bag.topics.get(topic) not in JOINT_TYPES:
        stamps, poses = bag.read_poses(topic, frame)
    elif limb is None:
        raise ConfigError(
            f"{bag.path}: expected --robot NAME for the joints of {topic}, got none"
        )
    else:
        joints = bag.read_joints(
            topic, WantedJoints(limb.joint_names, limb.name, _MAX_GAP)
        )
        stamps, poses = joints.stamps_ns, compute_poses(limb, joints.q)
    if not len(stamps):
        raise ConfigError(f"{bag.path}: expected messages on {topic}, got none")
    return stamps, poses


def _make_track(name: str, pair: list[tuple[Stamps, Vec]], origin_ns: int) -> LimbTrack:
    (target, dropped), (measured, _) = [clean(t, rows, origin_ns) for t, rows in pair]
    spans = _find_spans(target, measured)
    is_known = np.zeros(len(target), dtype=bool)
    for begin, end in spans:
        is_known |= (target.t >= begin) & (target.t <= end)
    return LimbTrack(
        limb=name,
        target=target[is_known],
        measured=measured,
        spans=spans,
        dropped=dropped,
    )


def _find_spans(target: Trajectory, measured: Trajectory) -> Spans:
    pieces = []
    for trajectory in (target, measured):
        breaks = np.flatnonzero(np.diff(trajectory.t) > _MAX_GAP)
        first = np.append(0, breaks + 1)
        last = np.append(breaks, len(trajectory) - 1)
        pieces.append(list(zip(trajectory.t[first], trajectory.t[last], strict=True)))
    spans = [
        (max(a0, b0), min(a1, b1))
        for a0, a1 in pieces[0]
        for b0, b1 in pieces[1]
        if max(a0, b0) < min(a1, b1)
    ]
    return np.array(sorted(spans), dtype=np.float64).reshape(-1, 2)


def _describe(target: Trajectory, engaged: Spans) -> Json:
    duration = float(target.t[-1] - target.t[0]) if len(target) else 0.0
    known = float((engaged[:, 1] - engaged[:, 0]).sum())
    return {
        **dict.fromkeys(("leader", "follower", "env", "robot")),
        "duration_s": duration,
        "engaged_s": known,
        "is_complete": True,
    }
