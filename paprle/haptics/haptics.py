"""From both sides' states to the leader's torques, once a period; no thread, no I/O."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from paprle.contracts.feedback_settings import FeedbackSettings
from paprle.contracts.plugins import FeedbackInput
from paprle.contracts.settings import RetargetSettings
from paprle.contracts.types import (
    JointState,
    LeaderInfo,
    LeaderSample,
    SessionState,
    Vec,
)
from paprle.haptics.arm import Arm
from paprle.haptics.composer import Composer, Hand
from paprle.haptics.follower_side import FollowerSide
from paprle.haptics.gain_scaling import fit_laws
from paprle.haptics.inputs import Instant, make_input, sample_postures
from paprle.haptics.joints import (
    LeaderJoints,
    find_parts,
    list_limbs,
    read_joints,
)
from paprle.haptics.mirror import NOWHERE, JointMirror, PoseMirror, find_links
from paprle.haptics.stability import (
    Delays,
    Margin,
    Weighted,
    read_springs,
    refuse_unstable,
)
from paprle.ipc.records import Layout, Record
from paprle.plugins import find_plugin, load_factory
from paprle.retargeting.leader_arms import load_arms
from paprle.retargeting.pairing import Pairing, make_pairing
from paprle.retargeting.state import Anchors
from paprle.robot import RobotModel

_LONGEST_DT = 0.02  # [s] chosen: no law integrates over a longer pause
_DAMPING = frozenset({"damping", "friction"})
"""Laws that are no spring: softer, they would not be more stable."""
_SILENT = frozenset({SessionState.STOPPED, SessionState.CLOSING})


class SessionNotice(NamedTuple):
    """What the session says of itself.

    Attributes:
        stamp_ns: When it said so, [ns].
        state: Its state.
        is_engaged: The leader drives.
        anchors: What engaging fixed; None where joint drives joint, and before.
    """

    stamp_ns: int
    state: SessionState
    is_engaged: bool
    anchors: Anchors | None = None


class Haptics:
    """Laws, mirrors and composer of one leader and one robot.

    Attributes:
        limbs: The leader's limbs.
        joints: What is known of their joints.
        margins: How near to the bound of stability the laws are, by leader limb.
        composer: Caps, ramp and passivity.
        follower: The follower, as the gate says.
        softness: What torques of laws that stand as they come are multiplied by, (M,).
        renders_undriven: Some law renders torques while the leader does not drive.
        n_bad: Steps in which a law returned something that is not finite.
    """

    def __init__(
        self,
        settings: FeedbackSettings,
        robot: RobotModel,
        leader: LeaderInfo,
        pairing: Pairing,
        layout: Layout,
    ) -> None:
        """Make everything, and refuse laws that would not be stable.

        Args:
            settings: Section ``feedback``.
            robot: The follower's robot.
            leader: What the leader says of itself.
            pairing: Who drives whom.
            layout: What crosses process borders.

        Raises:
            ConfigError: If they would not be (F2), or settings name what the leader
                does not have; lists all problems.
        """
        self._settings, self._pairing = settings, pairing
        # torques change with the leader's samples, and with the thread's steps
        self._rate = min(settings.rate, leader.rate)
        arms = {
            name: Arm(own, leader.arms[name], pairing.arms.get(name))
            for name, own in load_arms(leader).items()
        }
        self.limbs = list_limbs(leader, arms)
        mirror = JointMirror(
            find_links(robot, leader, pairing),
            sum(len(limb.joint_names) for limb in self.limbs),
        )
        parts = find_parts(self.limbs, robot, pairing)
        self.joints: LeaderJoints = read_joints(self.limbs, settings, robot, mirror)
        self._poses = [PoseMirror(robot, pairing, limb.name) for limb in self.limbs]
        self._laws = make_laws(settings)
        self.renders_undriven = any(not law.law.needs_follower for law in self._laws)
        self.follower = FollowerSide(layout, settings.rig, mirror, parts)
        self.composer = Composer(settings, self.joints.caps, self.joints.damping)
        self.n_bad = 0
        self._stale_ns = round(1e9 * settings.stale_after)
        self._is_driven = np.where(mirror.is_driven, 0.0, np.nan)
        self._before_ns, self._taken_ns = 0, 0
        self._q_before, self._here = np.zeros((2, len(self.joints.names)))
        self._states: list[list[Any]] = []
        self._restart_laws()
        self.margins: dict[str, Margin] = {}
        self.softness = np.ones(len(self.joints.names))
        self._is_soft = np.array([_is_soft(settings, law) for law in self._laws])

    def check_stability(self, scale: float = 1.0) -> None:
        """Measure the margins, and refuse what would not be stable.

        Laws that stand as they come are made as soft as the rig needs; what somebody
        configured is taken as it is, or refused.

        Args:
            scale: Of translations, follower over leader (``retarget.scale``); it counts
                where motion is relative alone.

        Raises:
            ConfigError: If a limb's laws are above the bound (F2).
        """
        delays = Delays.of(self._rate, self._settings.rig)
        scale = scale if "relative" in self._pairing.rules else 1.0
        for limb, pose in zip(self.limbs, self._poses, strict=True):
            postures = sample_postures(
                limb, self.joints, self._is_driven, scale if pose.is_driving else None
            )
            softness, self.margins[limb.name] = fit_laws(
                read_springs(self._laws, postures),
                self._is_soft,
                limb.split(is_whole=pose.is_driving),
                self.joints.damping[limb.rows],
                limb.joint_names,
                delays,
            )
            self.softness[limb.rows] = softness
        refuse_unstable(list(self.margins.values()), delays)

    @property
    def is_measured(self) -> bool:
        """Whether all damping was measured; else it is a guess of the URDF."""
        return bool(np.isfinite(self.joints.viscous).all())

    def describe(self) -> str:
        """Say which laws are on, and how near to the bound of stability they are."""
        laws = ", ".join(law.name for law in self._laws) or "none"
        worst = max((margin.ratio for margin in self.margins.values()), default=0.0)
        parts = [f"feedback: {laws}; at {worst:.0%} of what is stable"]
        low, high = self.softness.min(), self.softness.max()
        if low < 1.0:
            both = f"{low:.0%}" if high - low < 0.01 else f"{low:.0%} to {high:.0%}"
            parts.append(f"softened to {both} of their defaults")
        if not self.is_measured:
            parts.append("the leader's damping is a guess")
        return ", ".join(parts)

    def step(
        self,
        now_ns: int,
        sample: LeaderSample | None,
        session: SessionNotice | None,
        status: Record | None,
    ) -> Mapping[str, Vec]:
        """Return the torques by leader limb; empty means a limp leader.

        Args:
            now_ns: Monotonic time, [ns].
            sample: The leader's newest sample.
            session: What the session said last.
            status: The gate's newest status.
        """
        if status is not None:
            self.follower.take(status)
        state = self._find_state(now_ns, sample, session)
        if state is None or sample is None or session is None:
            self._fall_silent()
            return {}
        if now_ns - self._before_ns > self._stale_ns:
            self._fall_silent()  # it stalled, the leader went limp: come in softly
        is_first, self._before_ns = self._before_ns == 0, now_ns
        dt = 1e-9 * (sample.stamp_ns - self._taken_ns)
        is_driving = (
            session.is_engaged
            and sample.engaged
            and self.follower.is_following(now_ns, self._stale_ns)
        )
        if not is_first and dt <= 0.0:  # nothing new: the torque stands
            if not is_driving:
                self.composer.stop_following()
            return self._split(self.composer.tau)
        moved = np.zeros(state.q.size) if is_first else (state.q - self._q_before) / dt
        self._taken_ns, self._q_before = sample.stamp_ns, state.q
        # what stood until now stood while the sample grew old, too
        here = state.q + 1e-9 * (now_ns - sample.stamp_ns) * moved
        went, self._here = here - self._here, here
        if is_first:
            return {}
        self.composer.observe(went)
        dq = moved if state.dq is None else state.dq
        if not np.abs(dq).max() <= self._settings.overspeed:
            self._restart_laws()
            return self._split(self.composer.damp(np.nan_to_num(dq)))
        now = Instant(
            state.q,
            dq,
            min(dt, _LONGEST_DT),
            is_driving,
            session.anchors if is_driving else None,
            self.follower.mirror(),
            self.follower.clearance,
            self.follower.is_near,
            self.follower.find_free(),
        )
        return self._render(now, moved, dt, sample.limp_joints)

    def _find_state(
        self, now_ns: int, sample: LeaderSample | None, session: SessionNotice | None
    ) -> JointState | None:
        """Return the leader's joints, if they are fresh and may be rendered to."""
        if sample is None or session is None or session.state in _SILENT:
            return None
        state, age_ns = sample.leader_state, now_ns - sample.stamp_ns
        if max(age_ns, now_ns - session.stamp_ns) > self._stale_ns:
            return None
        if state is None or not sample.valid or state.q.size != len(self.joints.names):
            return None
        return state if np.isfinite(state.q).all() else None

    def _fall_silent(self) -> None:
        if self._before_ns:
            self.composer.reset()
            self._restart_laws()
        self._before_ns = 0

    def _render(
        self, now: Instant, moved: Vec, dt: float, limp_joints: Collection[str]
    ) -> Mapping[str, Vec]:
        own, met = np.zeros((2, now.q.size))
        if not (now.is_driving or self.renders_undriven):  # no law has anything to say
            self._restart_laws()
            return self._split(self.composer.compose(own, None, moved, dt, ()))
        follower, hands = self.follower, []
        q_robot = follower.q_gate, follower.q_meas, follower.model.q
        for i, limb in enumerate(self.limbs):
            at = None if limb.arm is None else limb.arm.place(now.q[limb.rows])
            hands.append(Hand(limb.arm_rows, None if at is None else at.J_handle))
            moves = NOWHERE
            if at is not None and now.anchors is not None:
                moves = self._poses[i].find(at, now.anchors, q_robot)
            inputs = make_input(limb, self.joints, at, now, moves)
            self._sum_laws(i, inputs, now, (own, met))
        if not np.isfinite(own + met).all():
            self.n_bad += 1
            self._fall_silent()
            return {}
        if limp_joints:  # torque that is not rendered must not count as energy
            is_limp = np.isin(self.joints.names, list(limp_joints))
            own[is_limp] = met[is_limp] = 0.0
        wanted = met if now.is_driving else None
        return self._split(self.composer.compose(own, wanted, moved, dt, hands))

    def _sum_laws(
        self, i: int, inputs: FeedbackInput, now: Instant, sums: tuple[Vec, Vec]
    ) -> None:
        """Add what the laws ask of a limb to the sums, the leader's own and the met."""
        states, rows = self._states[i], self.limbs[i].rows
        softness = self.softness[rows]
        for k, (_, law, weight) in enumerate(self._laws):
            if law.needs_follower and not now.is_driving:
                states[k] = law.initial()
                continue
            tau, states[k] = law.compute(inputs, states[k])
            if self._is_soft[k]:
                tau = tau * softness
            sums[law.needs_follower][rows] += weight * tau

    def _restart_laws(self) -> None:
        self._states = [[law.law.initial() for law in self._laws] for _ in self.limbs]

    def _split(self, tau: Vec) -> Mapping[str, Vec]:
        return {limb.name: tau[limb.rows].copy() for limb in self.limbs}


def make_laws(settings: FeedbackSettings) -> tuple[Weighted, ...]:
    """Construct the laws that are on."""
    laws = []
    for name in getattr(settings.laws, "__dataclass_fields__", ()):
        config = getattr(settings.laws, name)
        if config is not None and config.weight > 0.0:
            factory = load_factory(find_plugin("feedback", name))
            laws.append(Weighted(name, factory(config), config.weight))
    return tuple(laws)


def _is_soft(settings: FeedbackSettings, law: Weighted) -> bool:
    """Whether a law stands as it comes, and renders something stiff."""
    config = getattr(settings.laws, law.name)
    return bool(config == type(config)()) and law.name not in _DAMPING


def make_haptics(
    settings: FeedbackSettings,
    robot: RobotModel,
    leader: LeaderInfo,
    retarget: RetargetSettings,
    layout: Layout,
    through: RobotModel | None = None,
) -> Haptics:
    """Make the feedback of a session, refused where it would not be stable.

    Args:
        settings: Section ``feedback``.
        robot: The follower's robot.
        leader: What the leader says of itself.
        retarget: How the two are paired.
        layout: What crosses process borders.
        through: The robot that ``retarget.through`` names.

    Returns:
        Everything but a thread.

    Raises:
        ConfigError: If laws are above the bound (F2), or settings name what the leader
            does not have; lists all problems.
    """
    pairing = make_pairing(robot, leader, retarget, load_arms(leader, through))
    haptics = Haptics(settings, robot, leader, pairing, layout)
    haptics.check_stability(retarget.scale)
    return haptics
