"""From a recorded episode to timed poses: what was asked and what the robot did.

The robot's pose comes from forward kinematics of the measured joints with the URDF
that was recorded, never from what the session believed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import RobotInfo, SessionState, Vec
from paprle.evaluation.metrics import Spans, find_spans, is_inside
from paprle.evaluation.poses import Dropped, Stamps, Trajectory, clean
from paprle.evaluation.reach import Reach, Recorded, find_reach
from paprle.ipc.records import pose_to_row
from paprle.robot.chain import Limb, chain_between, make_chain
from paprle.robot.tree import Urdf
from paprle.robot.urdf import read_urdf

Rows = npt.NDArray[Any]  # structured: fields of paprle.ipc.records

_ONE_CLOCK_NS = 1e9  # spec: safety.md A1: stamps farther off are another clock's


class Source(Protocol):
    """What is read of an episode; ``paprle.recording.reader.Episode`` has it.

    Attributes:
        ticks: Session ticks, fields of ``Layout.tick``.
        gate: Gate ticks, fields of ``Layout.gate``.
        robot_info: The robot as recorded.
        urdf: Text of its URDF.
        config: The resolved config.
    """

    @property
    def ticks(self) -> Rows: ...  # noqa: D102
    @property
    def gate(self) -> Rows: ...  # noqa: D102
    @property
    def robot_info(self) -> RobotInfo: ...  # noqa: D102
    @property
    def urdf(self) -> str: ...  # noqa: D102
    @property
    def config(self) -> Mapping[str, Any]: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class Track:
    """One limb while ENGAGED.

    Attributes:
        limb: Its name.
        target: Raw target: retargeted, before IK, filters and gate.
        measured: The robot's pose, at all times that were measured.
        spans: Stretches in which it was ENGAGED and measured, shape (S, 2), [s].
        dropped: Target rows left out.
        is_from_joints: The leader gave joints; the target is FK of q_des.
        reach: Which targets were reached; None where nothing tells.
    """

    limb: str
    target: Trajectory
    measured: Trajectory
    spans: Spans
    dropped: Dropped
    is_from_joints: bool = False
    reach: Reach | None = None

    @property
    def short(self) -> Spans:
        """Stretches in which targets were not reached, shape (L, 2), [s]."""
        return np.zeros((0, 2)) if self.reach is None else self.reach.short


def find_origin_ns(source: Source) -> int:
    """Return the stamp of t = 0: the first session tick, or else gate tick, [ns]."""
    for rows in (source.ticks, source.gate):
        if len(rows):
            return int(rows["stamp_ns"][0])
    return 0


def find_engaged(source: Source, origin_ns: int) -> Spans:
    """Return the stretches in which the session was ENGAGED, shape (S, 2), [s]."""
    t = (source.ticks["stamp_ns"] - origin_ns) * 1e-9
    return find_spans(t, source.ticks["state"] == SessionState.ENGAGED)


def find_new_samples(ticks: Rows) -> npt.NDArray[np.bool_]:
    """Tell which ENGAGED ticks used a leader sample that no tick before had used."""
    seq = ticks["sample"]["seq"].astype(np.int64)
    is_new = ticks["has_sample"] & (np.diff(seq, prepend=-1) != 0)
    return np.asarray(is_new & (ticks["state"] == SessionState.ENGAGED))


def make_tracks(
    source: Source, limbs: Iterable[Limb], origin_ns: int, engaged: Spans
) -> list[Track]:
    """Make the track of every limb.

    Args:
        source: The episode.
        limbs: Its limbs, in order.
        origin_ns: Stamp of t = 0, [ns].
        engaged: From ``find_engaged``.

    Returns:
        Tracks in the robot's order of limbs.
    """
    ticks = source.ticks[find_new_samples(source.ticks)]
    t_ticks, t_gate = (
        np.asarray((stamps - origin_ns) * 1e-9, dtype=np.float64)
        for stamps in (_find_stamps(ticks), source.gate["stamp_ns"])
    )
    sent = source.gate[is_inside(t_gate, engaged)]
    tracks = []
    for row, limb in enumerate(limbs):
        q_meas = limb.take(source.gate["q_meas"].T).T
        poses = compute_poses(limb, q_meas)
        measured, _ = clean(source.gate["meas_ns"], poses, origin_ns)
        asked = ticks["target"][:, row]
        is_from_joints = not np.isfinite(asked).any()
        if is_from_joints:
            asked = compute_poses(limb, limb.take(ticks["q_des"].T).T)
        target, dropped = clean(_find_stamps(ticks), asked, origin_ns)
        spans = _cover(engaged, measured)
        q_cmd = limb.take(sent["q_cmd"].T).T
        commanded, _ = clean(sent["stamp_ns"], compute_poses(limb, q_cmd), origin_ns)
        recorded = Recorded(ticks, source.gate, t_ticks, t_gate, commanded, measured)
        reach = find_reach(limb, recorded, spans, source.robot_info, source.config)
        track = Track(
            limb=limb.name,
            target=target[is_inside(target.t, spans)],
            measured=measured,
            spans=spans,
            dropped=dropped,
            is_from_joints=is_from_joints,
            reach=reach,
        )
        tracks.append(track)
    return tracks


def _find_stamps(ticks: Rows) -> Stamps:
    """Return when the leader was where it says; on arrival where clocks differ."""
    captured: Stamps = ticks["sample"]["stamp_ns"]
    apart = np.abs(ticks["stamp_ns"] - captured)
    is_one_clock = len(apart) > 0 and float(np.median(apart)) < _ONE_CLOCK_NS
    return captured if is_one_clock else ticks["stamp_ns"]


def _cover(engaged: Spans, measured: Trajectory) -> Spans:
    """Return the stretches cut to what was measured."""
    if not len(measured):
        return engaged[:0]
    spans: Spans = np.clip(engaged, measured.t[0], measured.t[-1])
    return spans[spans[:, 1] >= spans[:, 0]]


def make_limbs(robot: RobotInfo, urdf: str) -> dict[str, Limb]:
    """Make the limbs of a recorded robot from the text of its URDF.

    Args:
        robot: The robot as recorded.
        urdf: Text of its URDF.

    Returns:
        Limbs by name, in order.

    Raises:
        ConfigError: If the URDF cannot be read or is not that of the robot.
    """
    tree = read_recorded_urdf(robot, urdf)
    positions = robot.name_positions(robot.home)
    mimics = {mimic.joint: mimic for mimic in robot.mimics}
    limbs = {}
    for info in robot.limbs:
        steps = chain_between(tree, info.base_link, info.eef_link)
        chain = make_chain(steps, info.joint_names, positions, mimics)
        if chain.model.nv != len(info.joint_names):
            raise ConfigError(
                f"recorded URDF: expected joints {', '.join(info.joint_names)} from "
                f"'{info.base_link}' to '{info.eef_link}', got {chain.model.nv} of them"
            )
        limbs[info.name] = Limb(info, robot, chain)
    return limbs


def read_recorded_urdf(robot: RobotInfo, text: str) -> Urdf:
    """Read the text of a recorded URDF.

    Args:
        robot: The robot as recorded.
        text: The URDF.

    Returns:
        The tree, with the path that it had when it was recorded.

    Raises:
        ConfigError: If it cannot be read.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recorded.urdf"
        path.write_text(text, encoding="utf-8")
        return replace(read_urdf(path), path=robot.urdf_path)


def compute_poses(limb: Limb, q: Vec) -> Vec:
    """Return T_base_eef of joint rows (N, n_l) as pose rows (N, 7); NaN stays NaN."""
    rows = np.full((len(q), 7), np.nan)
    for k in np.flatnonzero(np.isfinite(q).all(axis=1)):
        rows[k] = pose_to_row(limb.fk(q[k]))
    return rows
