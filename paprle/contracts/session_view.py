"""Views of a session, for leaders that look, advisors and observers."""

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
    """Return the type of an advisor's record.

    Args:
        fields: Its own, as NumPy takes them: name, type and perhaps shape.

    Returns:
        They follow ``stamp_ns`` (when it was given, [ns]), ``based_on_ns`` (stamp of
        what it rests on, [ns]) and ``valid``.
    """
    return np.dtype([*_ADVICE_HEAD, *fields], align=True)


class Advice(NamedTuple):
    """The newest advice of an advisor.

    Attributes:
        record: Of its own type (``Advisor.advice``).
        age: Since it was given, [s].
    """

    record: Record
    age: float


class HeldHand(NamedTuple):
    """Pose of the robot that a hand leads, and what holds it, in the hand's axes.

    Attributes:
        limb: The hand's place among the leader's limbs.
        share: How sure it is that something holds the robot, 0 … 1.
        pose: Where the hand would be, were it where the robot is: xyz + quat_xyzw,
            shape (7,), [m].
        way: The direction in which the robot is held back, of its motion and of its
            turn, each a unit vector or zeros, shape (6,).
        driven: The place of the robot's limb that it leads.
        turn: L as quat_xyzw, shape (4,): the robot moves by scale L when the hand
            moves by one.
        scale: Of its motion.
    """

    limb: int
    share: float
    pose: Vec
    way: Vec
    driven: int = 0
    turn: Vec = np.array([0.0, 0.0, 0.0, 1.0])
    scale: float = 1.0


class MirroredRobot(NamedTuple):
    """A robot far away as it is by now, as far as its late words and ours tell.

    Attributes:
        q: Its joints, predicted, without jumps, shape (n,), [rad] or [m].
        poses: T_base_eef by limb likewise, xyz + quat_xyzw, shape (7,).
        age: Since the robot was measured that was heard of last, [s].
        is_predicted: The operator's own motion since then was added.
        is_lost: It was heard of too long ago for that; it stands still as shown.
        held: Limbs that do not follow what they are asked for.
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

    Stamps are those of the session's monotonic clock, [ns]. Joint vectors have the
    order of ``RobotInfo.joint_names``, shape (n,), [rad] or [m]. Poses are rows
    xyz + quat_xyzw, shape (7,).

    Attributes:
        stamp_ns: Of the session's tick.
        state: The session's.
        episode: Number of the episode, counted by the session.
        captured_ns: When the leader's sample was taken; 0: none came.
        posted_ns: When the set-point left for the gate.
        computed_ns: How long the tick computed, retargeting and IK, [ns].
        targets: T_base_eef asked for, by limb; NaN where the leader gives joints.
        drivers: The leader's limb that drives each limb of the robot; None: none.
        mappings: The matrix D by which axes drive a limb, by limb, shape (7, m): shares
            of each freedom's speed in the eef's axes; none of limbs that are not driven
            so.
        q_des: Asked for.
        gate_state: The gate's.
        reasons: Why the gate acted in its last period, a few words each.
        latched: Why it holds or stopped, and what to look at; empty when it does not.
        counts: How often it acted so far, by the name of the reason, without zeros.
        written_ns: When the gate wrote its command.
        q_cmd: The command.
        dq_cmd: Its velocity.
        measured_ns: When the robot was measured.
        q: Measured positions.
        dq: Measured velocities.
        tau: Measured efforts; NaN: none.
        objects: T_world_object by name of simulated objects that are there, and of
            those that the operator has placed.
        leader_age: Since the leader's newest sample arrived, [s]; +inf: none did.
        tick_age: Since the session's tick, [s].
        gate_age: Since the gate wrote, [s].
        status: Scalars of the gate's status, its clearance and allowed speed among
            them; of a robot on another host its numbers alone.
        advice: The newest advice, by advisor; none of those that gave none.
        news: Messages of the session, some times a second: ``line``, ``note``,
            ``told``, ``recording``, ``episodes``, …
            (``paprle.hosts.operator.operator_messages``).
        mirror: The robot as it is by now, where it is on another host; None: it is
            here, or has sent nothing.
        holds: Hands that lead from another host, and what holds them.
        felt: Torques of the leader's own motors as they measure them, by
            ``LeaderInfo.device_joints``, [N·m]: what its operator feels; none of
            joints that measure none.
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
