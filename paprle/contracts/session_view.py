"""Views of a session for leaders, advisors and observers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.contracts.gate_status import GateStatus
from paprle.contracts.types import GateState, SessionState, Vec

Record = npt.NDArray[np.void]

_ADVICE_HEAD = (("stamp_ns", "i8"), ("based_on_ns", "i8"), ("valid", "?"))


def make_advice_dtype(*fields: tuple[Any, ...]) -> np.dtype[np.void]:
    """Return a record type: ``stamp_ns``, ``based_on_ns``, ``valid``, ``fields``."""
    return np.dtype([*_ADVICE_HEAD, *fields], align=True)


class Advice(NamedTuple):
    """An advisor's newest record; ``age`` since it was given, [s]."""

    record: Record
    age: float


class HeldHand(NamedTuple):
    """Pose and contact of the robot that a hand leads, in the hand's axes.

    Attributes:
        share: Confidence of contact, 0 … 1.
        pose: Of the hand that matches the robot's, xyz + quat_xyzw, (7,), [m].
        way: Blocked motion and turn, unit vectors or zeros, (6,).
        turn: L as quat_xyzw, (4,): the robot moves by scale L per unit of the hand.
    """

    limb: int
    share: float
    pose: Vec
    way: Vec
    driven: int = 0
    turn: Vec = np.array([0.0, 0.0, 0.0, 1.0])
    scale: float = 1.0


class MirroredRobot(NamedTuple):
    """A predicted robot on another host.

    Attributes:
        q: Without jumps, (n,), [rad] or [m].
        poses: T_base_eef by limb, xyz + quat_xyzw, (7,).
        age: Of the newest measurement, [s].
        is_lost: Too old to predict; the robot stands still.
    """

    q: Vec
    poses: Mapping[str, Vec]
    age: float
    is_predicted: bool
    is_lost: bool
    held: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """The newest state of a session.

    Stamps are monotonic, [ns]; joint vectors as ``RobotInfo.joint_names``, (n,), [rad]
    or [m]; poses xyz + quat_xyzw, (7,); ages [s].

    Attributes:
        captured_ns: 0 without a sample.
        computed_ns: Duration of retargeting and IK, [ns].
        targets: Requested T_base_eef by limb; NaN where the leader gives joints.
        mappings: D of limbs driven by axes, (7, m), in the eef's axes.
        latched: Reason of a hold or stop, and remedy.
        tau: NaN if not measured.
        leader_age: +inf without a sample.
        status: Of a far robot its numbers only.
        news: Messages (``paprle.hosts.operator.operator_messages``).
        mirror: None if local, or not yet received.
        felt: By ``LeaderInfo.device_joints``, [N·m].
    """

    stamp_ns: int
    state: SessionState
    episode: int
    captured_ns: int
    posted_ns: int
    computed_ns: int
    targets: Mapping[str, Vec]
    drivers: Mapping[str, str | None]
    q_des: Vec
    gate_state: GateState
    reasons: tuple[str, ...]
    latched: str
    counts: Mapping[str, int]
    written_ns: int
    q_cmd: Vec
    dq_cmd: Vec
    measured_ns: int
    q: Vec
    dq: Vec
    tau: Vec
    objects: Mapping[str, Vec]
    leader_age: float
    tick_age: float
    gate_age: float
    status: GateStatus = GateStatus()
    mappings: Mapping[str, Vec] = field(default_factory=dict)
    advice: Mapping[str, Advice] = field(default_factory=dict)
    news: Mapping[str, Any] = field(default_factory=dict)
    mirror: MirroredRobot | None = None
    holds: tuple[HeldHand, ...] = ()
    felt: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_engaged(self) -> bool:
        """Whether the leader drives."""
        return self.state is SessionState.ENGAGED
