"""Why the robot is not where the hand is: at a moment, in an episode and a session.

It is found five times a second beside the tick, from what the tick and the gate did
last. A pose is short for one of four reasons. The gate acted. No small step of the
joints leads any nearer: then joints at their limits are in the way, or else the pose is
out of reach. Or some step would, but velocity or acceleration do not allow it yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.settings import GateSettings
from paprle.contracts.types import SessionState, Vec
from paprle.gate.gate import compute_command_limits
from paprle.gate.reason_text import list_words
from paprle.gate.reasons import Reason, to_bits
from paprle.recording.shortage import (
    SHORT_POS,
    SHORT_ROT,
    Shortage,
    describe_distance,
)
from paprle.robot import RobotModel
from paprle.robot.chain import Limb
from paprle.session.core import Core

_ARM = 0.2  # [m/rad] chosen: rotation against translation, as ik.rotation_weight
_DAMPING = 0.02  # [m/rad] chosen: a direction in which joints do less is no way
_STEP = 1.0  # [rad] chosen: a way that takes more leads elsewhere
_STUCK = 0.5  # chosen: share of the way that no step of the joints makes up
_AT_LIMIT = 2e-3  # [rad] chosen: nearer to a limit than any step
_AT_SPEED = 0.97  # chosen: share of V
_LONGEST = 1.0  # [s] chosen: a terminal that hung counts once
_BEHIND = 5e-3  # [m] chosen: a drive that stands off by more was stopped by something
_DELAY = 0.2  # [s] chosen: longer than any drive needs; motion within it is no delay
_AWAY = 5e-3  # [m] chosen: whoever is farther off for most of the time did not follow
_MOST = 0.5  # chosen: share of the time
_LONG = 1.0  # [s] chosen: a shorter drive says nothing of it
_FAR = "the hand is farther than retarget.max_travel from where it engaged"
_KEEPING = to_bits({Reason.CLEARANCE, Reason.UNVERIFIED})
_MEASURED = "q_cmd", "q_meas", "dq_cmd"
# what follows from the bounds that the IK respects already, or is no limit
_NOT_TOLD = to_bits(
    {
        Reason.POSITION,
        Reason.VELOCITY,
        Reason.ACCELERATION,
        Reason.DT_CHANGED,
        Reason.LATE,
        Reason.OLD_SEQUENCE,
    }
)


class Shortfall(NamedTuple):
    """One limb that is not where it is asked to be.

    Attributes:
        cause: In words: ``joint4 at its limit``.
        pos: Distance, [m]; NaN where joints drive joints.
        rot: Angle, [rad]; NaN likewise.
        stuck: The limb, where no small step leads any nearer; else empty.
    """

    cause: str
    pos: float
    rot: float
    stuck: str = ""

    def __str__(self) -> str:
        """Say it in a few words: ``joint4 at its limit, 42 mm short``."""
        short = describe_distance(self.pos, self.rot)
        if not short:
            return self.cause
        if self.cause.endswith("out of reach"):
            return f"{self.cause} by {short}"
        return f"{self.cause}, {short} short"


class _Arm:
    """One limb, with pinocchio data of its own: the tick uses the limb's."""

    def __init__(self, robot: RobotModel, name: str, low: Vec, high: Vec) -> None:
        self.limb: Limb = robot.limbs[name]
        self.names = [robot.joint_names[i] for i in self.limb.indices]
        self.low, self.high = low[self.limb.indices], high[self.limb.indices]
        self.dq_max = robot.dq_max[self.limb.indices]
        self._data = self.limb.model.createData()

    def find_pose(self, q: Vec) -> pin.SE3:
        """Return T_base_eef, q of shape (n_l,)."""
        model, data = self.limb.model, self._data
        pin.forwardKinematics(model, data, q)
        return pin.updateFramePlacement(model, data, self.limb.frame_id).copy()

    def find_cause(self, q: Vec, dq: Vec, T_base_asked: pin.SE3) -> tuple[str, bool]:
        """Say what keeps these joints, shapes (n_l,), from a pose; and for good?"""
        scale = np.array([1.0] * 3 + [_ARM] * 3)
        error = scale * pin.log6(self.find_pose(q).actInv(T_base_asked)).vector
        J = scale[:, None] * pin.computeFrameJacobian(
            self.limb.model, self._data, q, self.limb.frame_id, pin.LOCAL
        ).reshape(6, -1)
        pull = J.T @ error
        held = (q <= self.low + _AT_LIMIT) & (pull < 0.0)
        held |= (q >= self.high - _AT_LIMIT) & (pull > 0.0)
        if _find_rest(J[:, ~held], error) <= _STUCK:
            fast = np.flatnonzero(np.abs(dq) >= _AT_SPEED * self.dq_max)
            at_speed = f"{self.names[fast[0]]} at its top speed" if len(fast) else ""
            return at_speed or "acceleration", False
        if held.any() and _find_rest(J, error) <= _STUCK:
            gain = np.where(held, np.abs(pull), 0.0)
            return f"{self.names[int(gain.argmax())]} at its limit", True
        return "out of reach", True

    def find_gaps(
        self, q_cmd: Vec, q_meas: Vec, dq_cmd: Vec, asked: tuple[Vec, Vec] | None
    ) -> tuple[float, float]:
        """Return how far the robot is from its command and from what is asked, [m].

        Beyond any delay; joints of shape (n_l,). NaN where it does not measure one.
        Whoever is late is on the way that was asked (its ends): only what is beside it
        is away. The command's own way is asked for where no place is.
        """
        p_cmd, p = self.find_pose(q_cmd).translation, self.find_pose(q_meas).translation
        p_before = self.find_pose(q_cmd - _DELAY * dq_cmd).translation
        way = float(np.linalg.norm(p_cmd - p_before))
        behind = float(np.linalg.norm(p - p_cmd)) - way
        return behind, _find_distance(p, *(asked or (p_before, p_cmd)))

    def find_pinned(self, q: Vec, q_asked: Vec) -> str:
        """Say which joint is asked to go beyond its limit; empty: none."""
        beyond = (q <= self.low + _AT_LIMIT) & (q_asked < self.low - _AT_LIMIT)
        beyond |= (q >= self.high - _AT_LIMIT) & (q_asked > self.high + _AT_LIMIT)
        places = np.flatnonzero(beyond)
        return f"{self.names[places[0]]} at its limit" if len(places) else ""


def _find_distance(p: Vec, begin: Vec, end: Vec) -> float:
    """Return the distance of a point from a straight way."""
    way = end - begin
    length2 = float(way @ way)
    share = min(max(float((p - begin) @ way) / length2, 0.0), 1.0) if length2 else 0.0
    return float(np.linalg.norm(p - begin - share * way))


def _find_rest(J: Vec, error: Vec) -> float:
    """Return the share of an error that no step of the joints makes up."""
    if J.shape[1] == 0:
        return 1.0
    damped = J @ J.T + _DAMPING**2 * np.eye(6)
    step = J.T @ np.linalg.solve(damped, error)
    step /= max(1.0, float(np.abs(step).max()) / _STEP)
    return float(np.linalg.norm(error - J @ step) / np.linalg.norm(error))


class _Tally:
    """For how long each cause kept the robot, and how far off it was then."""

    def __init__(self) -> None:
        self._seconds: Counter[str] = Counter()
        self._worst: dict[str, tuple[float, float]] = {}

    def add(self, found: Iterable[Shortfall], dt: float) -> None:
        """Count what was found for a time, [s]."""
        found = list(found)
        for cause in {one.cause for one in found}:
            self._seconds[cause] += dt  # type: ignore[assignment]
        for cause, pos, rot, _ in found:
            before = self._worst.get(cause, (0.0, 0.0))
            self._worst[cause] = (
                float(np.fmax(pos, before[0])),
                float(np.fmax(rot, before[1])),
            )

    def rank(self) -> list[Shortage]:
        """Return what there was, the longest first."""
        longest = self._seconds.most_common()
        return [Shortage(cause, s, *self._worst[cause]) for cause, s in longest]


class Shortfalls:
    """What keeps the robot from where it is asked to be, and for how long it did.

    Attributes:
        newest: What was found last.
    """

    def __init__(self, robot: RobotModel, gate: GateSettings) -> None:
        low, high = compute_command_limits(robot.info, gate)
        self._arms = {name: _Arm(robot, name, low, high) for name in robot.limbs}
        self._bodies = robot.make_collision_model(gate.scene)
        kept = gate.clearance_self, gate.clearance_scene
        self._kept = self._bodies.find_kept(*kept)
        self.newest: tuple[Shortfall, ...] = ()
        self._session, self._episode = _Tally(), _Tally()
        self._begin_ns: int | None = None
        self._driven, self._held_back, self._away = 0.0, 0.0, 0.0
        self._is_away = False
        self._asked: dict[str, Vec] = {}
        self._last_ns = 0

    def update(self, core: Core) -> None:
        """Look at the newest tick, and count the time since the last look.

        What the episode was short of so far is told to its log, for its end.
        """
        now_ns = core.now_ns
        dt = min((now_ns - self._last_ns) * 1e-9, _LONGEST) if self._last_ns else 0.0
        self._last_ns = now_ns
        self.newest = ()
        if core.state is not SessionState.ENGAGED:
            self._asked.clear()
            return
        self._is_away = False
        self.newest = tuple(self._find(core, dt))
        self._driven += dt
        self._away += dt if self._is_away else 0.0
        self._held_back += dt if self.newest else 0.0
        begin_ns = core.episodes.begin_ns
        if begin_ns != self._begin_ns:
            self._begin_ns, self._episode = begin_ns, _Tally()
        self._session.add(self.newest, dt)
        self._episode.add(self.newest, dt)
        core.episodes.note_short(
            begin_ns, [one._asdict() for one in self._episode.rank()]
        )

    @property
    def is_most(self) -> bool:
        """Whether a hand of the robot was away from where it was asked for most."""
        return self._driven > _LONG and self._away > _MOST * self._driven

    def summarise(self) -> str:
        """Say what kept the robot and for how long; empty if nothing did."""
        told = []
        for one in self._session.rank():
            most = f", up to {one.worst}" if one.worst else ""
            share = 100.0 * one.seconds / self._driven if self._driven else 0.0
            told.append(f"{one.cause} {one.seconds:.1f} s ({share:.0f} %{most})")
        if not told:
            return ""
        return (
            f"not where the hand was for {self._held_back:.1f} of "
            f"{self._driven:.1f} s: {', '.join(told)}"
        )

    def _find_way(self, name: str, T: Vec, dt: float) -> tuple[Vec, Vec]:
        """Return where a limb was asked to be, a delay ago at most, and is now."""
        p = np.array(T)[:3, 3]
        before = self._asked.get(name, p)
        self._asked[name] = p
        return p + min(_DELAY / dt, 1.0) * (before - p) if dt > 0.0 else p, p

    def _find(self, core: Core, dt: float) -> Iterator[Shortfall]:
        motion, target = core.motion, core.motion.following.target
        if target is None:
            return
        q_des, dq_des = motion.q_des, motion.dq_des
        acting = motion.gate_view[1] & ~_NOT_TOLD
        several = len(self._arms) > 1
        for i, (name, arm) in enumerate(self._arms.items()):
            if motion.driver[i] < 0:
                continue
            own = arm.limb.indices
            pos, rot = float(motion.err_pos[i]), float(motion.err_rot[i])
            if target.is_far[i]:
                far = _FAR if not several else f"{name}: {_FAR}"
                yield Shortfall(far, float("nan"), float("nan"))
            cause, is_stuck = "", False
            if not target.is_asked[i]:
                pos = rot = float("nan")
                cause = arm.find_pinned(q_des[own], target.q[own])
            elif pos >= SHORT_POS or rot >= SHORT_ROT:
                T_asked = pin.SE3(np.array(target.T[i]))
                cause, is_stuck = arm.find_cause(q_des[own], dq_des[own], T_asked)
            asked = (
                self._find_way(name, target.T[i], dt) if target.is_asked[i] else None
            )
            q_cmd, q_meas, dq_cmd = (core.motion.status[key][own] for key in _MEASURED)
            behind, away = arm.find_gaps(q_cmd, q_meas, dq_cmd, asked)
            self._is_away |= away > _AWAY
            if not cause and behind > _BEHIND:
                cause, pos, rot = "the robot does not come along", behind, float("nan")
            if cause:
                told = f"{name}: {cause}" if several else cause
                yield Shortfall(told, pos, rot, name if is_stuck else "")
        if acting:
            kept = (
                self._name_kept(motion.status["q_cmd"], q_des)
                if acting & _KEEPING
                else ""
            )
            words = ", ".join(list_words(acting, kept))
            yield Shortfall(words, float("nan"), float("nan"))

    def _name_kept(self, q_cmd: Vec, q_des: Vec) -> str:
        """Say what is kept clear of what between a command and what is asked, (n,)."""
        tightest = self._bodies.find_tightest(q_cmd, q_des, self._kept)
        return "" if tightest < 0 else self._bodies.describe_pair(tightest)
