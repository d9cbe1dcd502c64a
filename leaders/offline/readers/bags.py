"""Reader of ROS 2 and ROS 1 bags."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from paprle.contracts.errors import ConfigError, DeviceError, RecordingError
from paprle.contracts.kit.seen_at_rest import TRIGGER, is_at_rest
from paprle.contracts.kit.static_frames import SourceFrame
from paprle.contracts.types import Vec
from paprle.leaders.offline.config import OfflineConfig
from paprle.leaders.offline.readers.text import Limb
from paprle.leaders.offline.track import Rows
from paprle.recording.others.bag_joints import Stamps, WantedJoints
from paprle.recording.others.bags import JOINT_TYPES, POSE_STAMPED, Bag


def read_bag(
    path: Path, names: tuple[str, ...], config: OfflineConfig
) -> dict[str, Limb]:
    """Return limbs by name, one topic each.

    Raises:
        ConfigError: If topics are ambiguous.
        DeviceError: If the bag or a topic cannot be read.
    """
    try:
        with Bag(path) as bag:
            topics = _find_topics(bag, names, config)
            joy = config.bag.joy
            said = bag.agree_on_clock([*topics.values(), *filter(None, [joy])])
            held = _Joy(bag, config) if joy else None
            limbs = {
                name: _read_limb(bag, topic, name, held, config)
                for name, topic in topics.items()
            }
    except RecordingError as err:
        raise DeviceError(str(err)) from err
    if said:
        for limb in limbs.values():
            limb.counts[f"stamps not used: {said}"] = limb.n_lines
    return limbs


def _find_topics(
    bag: Bag, names: tuple[str, ...], config: OfflineConfig
) -> dict[str, str]:
    given = config.bag.topics
    if given:
        return {name: given[name] for name in names if name in given} or dict(given)
    usable = bag.find(POSE_STAMPED, *JOINT_TYPES)
    if len(usable) == 1 and len(names) == 1:
        return {names[0]: usable[0]}
    what = f"several: {', '.join(sorted(usable))}" if usable else "none"
    example = sorted(usable)[0] if usable else "/TOPIC"
    raise ConfigError(
        f"{bag.path}: expected one topic of PoseStamped, JointState or JointTrajectory "
        f"per limb, got {what}; choose with leader.bag.topics.{names[0]}={example}; in "
        f"the bag: {bag.listing}"
    )


def _read_limb(
    bag: Bag, topic: str, name: str, joy: _Joy | None, config: OfflineConfig
) -> Limb:
    counts: Counter[str] = Counter()
    told = ""
    if bag.topics.get(topic) in JOINT_TYPES:
        stamps, rows = _read_joints(bag, topic, name, config, counts)
    else:
        asked, setting = config.bag.base_frame, "leader.bag.base_frame"
        frame = SourceFrame(bag.statics, asked, setting)
        stamps, poses = bag.read_poses(topic, frame)
        told = frame.describe()
        rows = Rows(t=_to_seconds(stamps), p=poses[:, :3], quat_xyzw=poses[:, 3:])
    n = len(stamps)
    if joy is not None:
        opening = joy.find_opening(stamps)
        rows = rows if opening is None else replace(rows, opening=opening)
        told = "; ".join(filter(None, [told, joy.describe_opening()]))
        is_held = joy.is_held(stamps)
        counts["rows without the dead-man left out"] = int((~is_held).sum())
        rows = rows.take(is_held)
    return Limb(rows, counts, n, has_pauses=joy is not None, told=told)


def _read_joints(
    bag: Bag, topic: str, limb: str, config: OfflineConfig, counts: Counter[str]
) -> tuple[Stamps, Rows]:
    gripper = config.bag.gripper
    wanted = config.joints
    if gripper is not None and wanted:
        wanted = (*wanted, gripper.joint)
    joints = bag.read_joints(topic, WantedJoints(wanted, limb, config.max_gap))
    counts["messages of other joints left out"] = joints.n_left_out
    counts["rows merged from several messages"] = joints.n_merged
    counts[f"rows with a joint silent for {config.max_gap:g} s dropped"] = (
        joints.n_stale
    )
    columns = dict(zip(joints.names, joints.q.T, strict=True))
    opening = None
    if gripper is not None:
        if gripper.joint not in columns:
            raise ConfigError(
                f"{bag.path}: expected the joint '{gripper.joint}' of "
                f"leader.bag.gripper on {topic}, got {', '.join(joints.names)}"
            )
        span = gripper.open - gripper.closed
        opening = (columns.pop(gripper.joint) - gripper.closed) / span
    q = np.column_stack(list(columns.values()))
    t = _to_seconds(joints.stamps_ns)
    return joints.stamps_ns, Rows(t=t, q=q, joint_names=tuple(columns), opening=opening)


def _to_seconds(stamps: Stamps) -> Vec:
    """Return stamps in [s], within 0.25 µs."""
    return stamps.astype(np.float64) * 1e-9


class _Joy:
    def __init__(self, bag: Bag, config: OfflineConfig) -> None:
        self._settings = config.bag
        self._n_unseen = 0
        self._stamps, self._axes, self._buttons = bag.read_joy(config.bag.joy)

    def find_opening(self, stamps: Stamps) -> Vec | None:
        """Return openings, (n,), or None."""
        axis = self._settings.gripper_axis
        if axis is None:
            return None
        said = np.array([a[axis] if axis < len(a) else np.nan for a in self._axes])
        # an axis reads 0, its middle, until it is touched: its trigger rests, open
        is_seen = np.logical_or.accumulate(is_at_rest(said, TRIGGER))
        self._n_unseen = int((~is_seen).sum())
        said[~is_seen] = TRIGGER
        return (self._hold(said, stamps, np.nan) + 1.0) / 2.0

    def describe_opening(self) -> str:
        """Return a note on openings that count for nothing, or ""."""
        if not self._n_unseen:
            return ""
        n, axis = self._n_unseen, self._settings.gripper_axis
        return (
            f"{n} of {len(self._stamps)} gripper values of axis {axis} are left out: "
            "the trigger was not at rest (1, open) yet"
        )

    def is_held(self, stamps: Stamps) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Return the held dead-man, (n,)."""
        button = self._settings.deadman
        if button is None:
            return np.ones(len(stamps), dtype=bool)
        down = [b[button] if button < len(b) else False for b in self._buttons]
        return self._hold(np.array(down, dtype=float), stamps, 0.0) > 0.5

    def _hold(self, values: Vec, stamps: Stamps, before: float) -> Vec:
        at = np.searchsorted(self._stamps, stamps, side="right")
        return np.append(before, values)[at]
