"""A remote robot's state, for the observers of ``paprle lead``."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import ConfigError
from paprle.contracts.gate_status import GateStatus
from paprle.contracts.session_view import HeldHand, MirroredRobot, SessionView
from paprle.contracts.types import GateState, RobotInfo, Vec
from paprle.hosts.operator.operator_messages import NEWS, NEWS_DTYPE, read_news
from paprle.hosts.views.posed_robot import PosedRobot
from paprle.ipc.mailbox import Mailbox, Newest
from paprle.ipc.process import Role
from paprle.ipc.records import Record, pose_to_row, row_to_pose
from paprle.link.packets import MAX_BYTES
from paprle.link.remote_leader.robot_view import RobotView, unpack_view

HEARD = "heard"
"""The port of these records."""
_MOST_HANDS = 8  # chosen: no leader has as many
_FRESH_NS = 30_000_000  # [ns] chosen: as a mirror's: two frames of a screen
_SILENT_NS = 1_000_000_000  # [ns] chosen: nothing is predicted as far ahead
HEARD_DTYPE = np.dtype(
    [
        ("length", "i4"),
        ("data", "u1", (MAX_BYTES,)),
        ("came_ns", "i8"),  # when the words came, this host's time
        ("offset_ns", "i8"),  # what is added to the robot's time to have this host's
        ("hands", "f8", (_MOST_HANDS, 7)),  # xyz + quat_xyzw; NaN: not predicted
        ("is_held", "?", (_MOST_HANDS,)),
    ]
)


def pack_heard(
    data: bytes,
    stamps: tuple[int, int],
    predicted: Mapping[int, pin.SE3],
    held: set[int],
) -> Record:
    """Return a record of the robot's message and predicted poses.

    ``stamps`` are ``came_ns`` and ``offset_ns``.
    """
    record: Record = np.zeros((), HEARD_DTYPE)
    record["length"], record["data"][: len(data)] = len(data), list(data)
    record["came_ns"], record["offset_ns"] = stamps
    record["hands"] = np.nan
    for place, T in predicted.items():
        if place < _MOST_HANDS:
            record["hands"][place] = pose_to_row(T)
            record["is_held"][place] = place in held
    return record


class HeardReader:
    """Reads a remote session's view."""

    def __init__(self, role: Role, robot: RobotInfo) -> None:
        self._robot, self._posed = robot, PosedRobot(robot)
        self._heard = Mailbox(HEARD_DTYPE, role.fds[HEARD])
        self._news = Newest(Mailbox(NEWS_DTYPE, role.fds[NEWS]), read_news)

    def read(self, now_ns: int) -> SessionView | None:
        """Return the newest view; None at first.

        Raises:
            ConfigError: If it is of another robot.
        """
        record = self._heard.read()
        if record is None:
            return None
        view = unpack_view(record["data"][: int(record["length"])].tobytes())
        if view is None:
            return None
        n, m = len(self._robot.joint_names), len(self._robot.limbs)
        if (len(view.q), len(view.targets)) != (n, m):
            raise ConfigError(
                f"follower: expected the robot that is led, which has {len(view.q)} "
                f"joints and {len(view.targets)} limbs, got one with {n} and {m}; give "
                "follower= as at the robot"
            )
        return self._make(view, record, now_ns)

    def _make(self, view: RobotView, record: Record, now_ns: int) -> SessionView:
        offset_ns, came_ns = int(record["offset_ns"]), int(record["came_ns"])
        stamp_ns = min(view.stamp_ns + offset_ns, came_ns)
        measured_ns = min(view.measured_ns + offset_ns, came_ns)
        age, nil = (now_ns - stamp_ns) * 1e-9, np.zeros(len(view.q))
        limbs = [limb.name for limb in self._robot.limbs]
        gate_state, why = view.gate_state, view.why if view.is_held else ""
        if now_ns - came_ns > _SILENT_NS:  # it holds by itself, and long since
            gate_state = GateState.HOLD
            why = f"nothing was heard of it for {(now_ns - came_ns) * 1e-9:.0f} s"
        standing = {"standing": [view.standing], "is_still": True}
        if not view.standing:
            standing = {}
        hands = {limbs[one.driven]: f"hand {one.limb + 1}" for one in view.holds
                 if one.driven < len(limbs)}  # fmt: skip
        return SessionView(
            stamp_ns=stamp_ns,
            state=view.state,
            episode=view.episode,
            captured_ns=view.captured_ns,
            posted_ns=0,  # the session's times within a tick do not cross
            computed_ns=0,
            targets=dict(zip(limbs, view.targets, strict=True)),
            drivers={name: hands.get(name) for name in limbs},
            q_des=view.q_cmd,
            gate_state=gate_state,
            reasons=tuple(view.why.split(", ")) if view.why else (),
            latched=why,
            counts={},
            written_ns=stamp_ns,
            q_cmd=view.q_cmd,
            dq_cmd=nil,
            measured_ns=measured_ns,
            q=view.q,
            dq=view.dq,
            tau=np.full(len(view.q), np.nan),
            status=GateStatus(**view.numbers),
            objects={},
            leader_age=view.leader_age + age,
            tick_age=age,
            gate_age=age,
            news={**(self._news.read() or {}), **standing},
            mirror=self._mirror(view, record, now_ns - came_ns, now_ns - measured_ns),
            holds=view.holds,
        )

    def _mirror(
        self, view: RobotView, record: Record, silent_ns: int, age_ns: int
    ) -> MirroredRobot:
        poses, q, held = self._posed.find_poses(view.q), view.q, []
        is_predicted = False
        for one in view.holds:
            if one.driven >= len(self._robot.limbs) or one.limb >= _MOST_HANDS:
                continue
            row = record["hands"][one.limb]
            if np.isnan(row).any():
                continue
            limb = self._robot.limbs[one.driven]
            poses[limb.name] = carry_over(one, row, poses[limb.name])
            q = self._posed.move_to(q, limb, poses[limb.name])
            held += [limb.name] if record["is_held"][one.limb] else []
            is_predicted = age_ns > _FRESH_NS
        return MirroredRobot(
            q=q,
            poses={name: pose_to_row(T) for name, T in poses.items()},
            age=age_ns * 1e-9,
            is_predicted=is_predicted,
            is_lost=silent_ns > _SILENT_NS,
            held=tuple(held),
        )


def carry_over(one: HeldHand, hand: Vec, T_base_eef: pin.SE3) -> pin.SE3:
    """Return the end-effector's pose once it has followed a hand's motion.

    With R_eef = L R K and p_eef = p₀ + s L (p − p_l0)
    (``paprle.haptics.contact.contact_direction``) a motion from a to b leads to

        R = L R_b R_aᵀ Lᵀ R_eef   and   p = p_eef + s L (p_b − p_a).

    ``one`` has a, ``hand`` is b, xyz + quat_xyzw, shape (7,).
    """
    a, b = row_to_pose(one.pose), row_to_pose(hand)
    L = pin.Quaternion(np.asarray(one.turn)).normalized().toRotationMatrix()
    moved = one.scale * L @ (b.translation - a.translation)
    turned = L @ b.rotation @ a.rotation.T @ L.T
    return pin.SE3(turned @ T_base_eef.rotation, T_base_eef.translation + moved)
