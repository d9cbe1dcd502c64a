"""Torques of a leader, without thread or I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.contracts.kit.leader_group import ALONE
from paprle.contracts.plugins import FeedbackInput
from paprle.contracts.settings.feedback import FeedbackSettings
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.types import (
    JointState,
    LeaderInfo,
    LeaderSample,
    SessionState,
    Vec,
)
from paprle.haptics.arm import HapticArm
from paprle.haptics.composer import Composer, Handle, LawTorques
from paprle.haptics.follower_side import FollowerSide
from paprle.haptics.inputs import HapticInput, make_input, sample_postures
from paprle.haptics.joints import (
    LeaderJoints,
    find_parts,
    list_limbs,
    read_joints,
)
from paprle.haptics.laws import apply_factors, find_factors, make_laws
from paprle.haptics.mirror import NOWHERE, JointMirror, PoseMirror, find_links
from paprle.haptics.remote_follower import FULL_FORCE_RTT, FollowerAfar, PoseAfar
from paprle.haptics.render_states import (
    Bounds,
    RenderSituation,
    RenderState,
    find_render_state,
)
from paprle.haptics.stability.check import Delays, Margin, refuse_unstable
from paprle.haptics.stability.gain_fit import fit_limb
from paprle.ipc.records import Layout, Record
from paprle.retargeting.leader_arms import load_arms
from paprle.retargeting.pairing import Pairing, make_pairing
from paprle.retargeting.state import Anchors
from paprle.robot import RobotModel

Flags = npt.NDArray[np.bool_]

_LONGEST_DT = 0.02  # [s] chosen: no law integrates over a longer pause
_SILENT = frozenset({SessionState.STOPPED, SessionState.CLOSING})


class SessionNotice(NamedTuple):
    """Reported state of the session.

    Attributes:
        anchors: None before engagement, and in joint mode.
        limb_drives: Limbs that drive if engaged, shape (n_limbs,); None: all.
    """

    stamp_ns: int
    state: SessionState
    is_engaged: bool
    anchors: Anchors | None = None
    limb_drives: Flags | None = None


class _Accepted(NamedTuple):
    sample: LeaderSample
    joints: JointState
    session: SessionNotice


class _Motion(NamedTuple):
    dq: Vec
    dq_samples: Vec
    dt: float
    q_now: Vec


class Haptics:
    """Laws, mirrors and composer of one leader and one robot.

    Attributes:
        gain_scale: Factor on torques of laws at default gains, shape (M,).
        held_scale: Factor for laws that are stiff in contact alone.
        renders_undriven: Some law renders while the leader does not drive.
    """

    def __init__(
        self,
        settings: FeedbackSettings,
        robot: RobotModel,
        leader: LeaderInfo,
        pairing: Pairing,
        layout: Layout,
        afar: FollowerAfar | None = None,
    ) -> None:
        """Prepare without checking stability; ``afar`` replaces ``robot``.

        Raises:
            ConfigError: With all problems of the settings.
        """
        self._settings = settings
        # torques change with the leader's samples, and with the thread's steps
        self._rate = min(settings.rate, leader.rate)
        arms = {
            name: HapticArm(own, leader.arms[name], pairing.arms.get(name))
            for name, own in load_arms(leader).items()
        }
        self.limbs = list_limbs(leader, arms)
        self._n_joints = [len(limb.joint_names) for limb in self.limbs]
        mirror = JointMirror(find_links(robot, leader, pairing), sum(self._n_joints))
        parts = find_parts(self.limbs, robot, pairing)
        self.joints: LeaderJoints = read_joints(self.limbs, settings, robot, mirror)
        self._poses: Sequence[PoseMirror | PoseAfar] = (
            afar.list_poses(self.limbs)
            if afar
            else [PoseMirror(robot, pairing, limb.name) for limb in self.limbs]
        )
        self._laws = make_laws(settings)
        self._factors = [
            find_factors(self._laws, leader.arms.get(limb.name)) for limb in self.limbs
        ]
        self.renders_undriven = any(not law.law.needs_follower for law in self._laws)
        self.follower = afar or FollowerSide(layout, settings.rig, mirror, parts)
        self._round_trip = FULL_FORCE_RTT if afar else 0.0
        self.composer = Composer(
            settings, self.joints.caps, self.joints.damping, self._rate
        )
        self.n_bad = 0
        self._stale_ns = round(1e9 * settings.stale_after)
        self._bounds = Bounds(self._stale_ns, settings.overspeed)
        self._is_driven = np.where(mirror.is_driven, 0.0, np.nan)
        self.state = RenderState.SILENT
        self._step_ns, self._sample_ns = 0, 0
        self._q_sample, self._q_now = np.zeros((2, len(self.joints.names)))
        self._states: list[list[Any]] = []
        self._restart_laws()
        self.margins: dict[str, Margin] = {}
        self.held_margins: dict[str, Margin] = {}
        self.gain_scale, self.held_scale = np.ones((2, len(self.joints.names)))

    def check_stability(self, scale: float = 1.0) -> None:
        """Scale default gains to stability; keep or refuse configured ones.

        Raises:
            ConfigError: If a limb's laws are above the bound (F2).
        """
        delays = Delays.of(self._rate, self._settings.rig, self._round_trip)
        for limb, pose, factors in zip(
            self.limbs, self._poses, self._factors, strict=True
        ):
            factor = scale if pose.is_scaled else 1.0
            postures = sample_postures(
                limb, self.joints, self._is_driven, factor if pose.is_driving else None
            )
            fit = fit_limb(
                apply_factors(self._laws, factors), postures, limb, self.joints,
                delays, is_whole=pose.is_driving,
            )  # fmt: skip
            self.gain_scale[limb.rows] = fit.strict.gain_scale
            self.held_scale[limb.rows] = fit.held.gain_scale
            self.margins[limb.name] = fit.strict.margin
            self.held_margins[limb.name] = fit.held.margin
        refuse_unstable([*self.margins.values(), *self.held_margins.values()], delays)

    @property
    def is_measured(self) -> bool:
        """Whether damping and bus delay were measured."""
        is_known = self._settings.rig.leader_delay is not None
        return is_known and bool(np.isfinite(self.joints.viscous).all())

    def describe(self) -> str:
        """Return the active laws and margins as text."""
        muted = set.intersection(
            *(
                {name for name, factor in factors.items() if not factor}
                for factors in self._factors
            )
        )
        names = [law.name for law in self._laws if law.name not in muted]
        laws = ", ".join(names) or "none"
        worst = max((margin.ratio for margin in self.margins.values()), default=0.0)
        parts = [f"feedback: {laws}; at {worst:.0%} of what is stable"]
        if self.gain_scale.min() < 1.0:
            parts.append(
                f"gains scaled to {_say_range(self.gain_scale)} of their defaults"
            )
        if self.held_scale.min() < 1.0:
            parts.append(f"a wall has {_say_range(self.held_scale)} of its stiffness")
        if not self.is_measured:
            parts.append("the leader's damping and its bus's delay are guesses")
        return ", ".join(parts)

    def step(
        self,
        now_ns: int,
        sample: LeaderSample | None,
        session: SessionNotice | None,
        status: Record | None,
    ) -> Mapping[str, Vec]:
        """Return the torques by leader limb; empty: limp."""
        if status is not None:
            self.follower.update(status)
        accepted = self._accept(now_ns, sample, session)
        motion = None if accepted is None else self._differentiate(now_ns, accepted)
        self.state = self._find_state(now_ns, accepted, motion)
        if self.state in {RenderState.SILENT, RenderState.STALLED}:
            self._fall_silent()
        if accepted is None or motion is None:
            return {}
        self._step_ns = now_ns
        drives = self._find_driving(now_ns, accepted)
        if self.state is RenderState.STANDING:
            self.composer.stop_reflecting(~self._spread(drives))
            return self._split(self.composer.tau)
        moved = motion.q_now - self._q_now
        self._remember(accepted, motion)
        if self.state in {RenderState.FIRST, RenderState.STALLED}:
            return {}
        self.composer.observe(moved)
        return self._render(accepted, motion, drives)

    def _accept(
        self, now_ns: int, sample: LeaderSample | None, session: SessionNotice | None
    ) -> _Accepted | None:
        if sample is None or session is None or session.state in _SILENT:
            return None
        joints, age_ns = sample.leader_state, now_ns - sample.stamp_ns
        if max(age_ns, now_ns - session.stamp_ns) > self._stale_ns:
            return None
        n = len(self.joints.names)
        if joints is None or not sample.valid or joints.q.size != n:
            return None
        if not np.isfinite(joints.q).all():
            return None
        return _Accepted(sample, joints, session)

    def _differentiate(self, now_ns: int, accepted: _Accepted) -> _Motion:
        q, stamp_ns = accepted.joints.q, accepted.sample.stamp_ns
        dt, dq = 1e-9 * (stamp_ns - self._sample_ns), np.zeros(q.size)
        is_first = self._step_ns == 0 or now_ns - self._step_ns > self._stale_ns
        if dt > 0.0 and not is_first:
            dq = (q - self._q_sample) / dt
        # the torque of the last step stood while this sample grew old, too
        q_now = q + 1e-9 * (now_ns - stamp_ns) * dq
        measured = accepted.joints.dq
        return _Motion(dq if measured is None else measured, dq, dt, q_now)

    def _find_state(
        self, now_ns: int, accepted: _Accepted | None, motion: _Motion | None
    ) -> RenderState:
        if accepted is None or motion is None:
            now = RenderSituation(False, True, 0, 0, 0.0)
        else:
            now = RenderSituation(
                is_accepted=True,
                was_silent=self._step_ns == 0,
                since_step_ns=now_ns - self._step_ns,
                since_sample_ns=accepted.sample.stamp_ns - self._sample_ns,
                speed=float(np.abs(motion.dq).max()),
            )
        return find_render_state(now, self._bounds)

    def _find_driving(self, now_ns: int, accepted: _Accepted) -> Flags:
        is_following = (
            accepted.session.is_engaged
            and accepted.sample.engaged
            and self.follower.is_following(now_ns, self._stale_ns)
        )
        drives = np.full(len(self.limbs), is_following)
        limb_drives = accepted.session.limb_drives
        return drives if limb_drives is None else drives & limb_drives

    def _remember(self, accepted: _Accepted, motion: _Motion) -> None:
        self._sample_ns = accepted.sample.stamp_ns
        self._q_sample, self._q_now = accepted.joints.q, motion.q_now

    def _fall_silent(self) -> None:
        if self._step_ns:
            self.composer.reset()
            self._restart_laws()
        self._step_ns = 0

    def _render(
        self, accepted: _Accepted, motion: _Motion, drives: Flags
    ) -> Mapping[str, Vec]:
        if self.state is RenderState.OVERSPEED:
            self._restart_laws()
            return self._split(self.composer.damp(np.nan_to_num(motion.dq)))
        held, held_part = self.follower.find_held()
        now = HapticInput(
            q=accepted.joints.q,
            dq=motion.dq,
            dt=min(motion.dt, _LONGEST_DT),
            in_leader_joints=self.follower.mirror(),
            clearance=self.follower.clearance,
            is_near=self.follower.is_near,
            is_free=self.follower.find_free(),
            held=held,
            held_by_gate=self.follower.find_gate_held(accepted.joints.q, motion.dt),
            held_part=held_part,
        )
        if not (drives.any() or self.renders_undriven):  # no law has anything to say
            self._restart_laws()
            nothing = np.zeros(now.q.size)
            idle = LawTorques(nothing, nothing, self._spread(drives))
            return self._split(
                self.composer.compose(idle, motion.dq_samples, motion.dt, ())
            )
        wanted, handles = self._sum_laws(now, drives, accepted.session.anchors)
        if not np.isfinite(wanted.leader + wanted.reflected).all():
            self.n_bad += 1
            self._fall_silent()
            return {}
        limp_joints = accepted.sample.limp_joints
        if limp_joints:  # torque that is not rendered must not count as energy
            is_limp = np.isin(self.joints.names, list(limp_joints))
            wanted.leader[is_limp] = wanted.reflected[is_limp] = 0.0
        return self._split(
            self.composer.compose(wanted, motion.dq_samples, motion.dt, handles)
        )

    def _sum_laws(
        self, now: HapticInput, drives: Flags, anchors: Anchors | None
    ) -> tuple[LawTorques, list[Handle]]:
        leader, reflected = np.zeros((2, now.q.size))
        follower, handles = self.follower, []
        for i, limb in enumerate(self.limbs):
            at = None if limb.arm is None else limb.arm.place(now.q[limb.rows])
            handles.append(Handle(limb.arm_rows, None if at is None else at.J_handle))
            moves, pose = NOWHERE, self._poses[i]
            if at is not None and drives[i] and pose.is_driving:
                moves = pose.find(at, anchors, follower.q_robot)
            inputs = make_input(limb, self.joints, at, now, moves)
            self._add_laws(i, inputs, (leader, reflected), is_driving=bool(drives[i]))
        return LawTorques(leader, reflected, self._spread(drives)), handles

    def _add_laws(
        self, i: int, inputs: FeedbackInput, sums: tuple[Vec, Vec], *, is_driving: bool
    ) -> None:
        states, rows = self._states[i], self.limbs[i].rows
        scales = self.gain_scale[rows], self.held_scale[rows]
        for k, one in enumerate(self._laws):
            law, factor = one.law, self._factors[i].get(one.name, 1.0)
            if not factor:
                continue
            if law.needs_follower and not is_driving:
                states[k] = law.initial()
                continue
            tau, states[k] = law.compute(inputs, states[k])
            if one.is_scalable:
                tau = tau * scales[law.is_in_contact]
            sums[law.needs_follower][rows] += factor * one.weight * tau

    def _spread(self, by_limb: Flags) -> Flags:
        spread: Flags = np.repeat(by_limb, self._n_joints)
        return spread

    def _restart_laws(self) -> None:
        self._states = [[law.law.initial() for law in self._laws] for _ in self.limbs]

    def _split(self, tau: Vec) -> Mapping[str, Vec]:
        return {limb.name: tau[limb.rows].copy() for limb in self.limbs}


def _say_range(shares: Vec) -> str:
    low, high = float(shares.min()), float(shares.max())
    return f"{low:.0%}" if high - low < 0.01 else f"{low:.0%} to {high:.0%}"


def make_haptics(  # noqa: PLR0913, PLR0917 - all that a session knows of a leader
    settings: FeedbackSettings,
    robot: RobotModel,
    leader: LeaderInfo,
    retarget: RetargetSettings,
    layout: Layout,
    through: RobotModel | None = None,
    name: str = ALONE,
) -> Haptics:
    """Return one leader's feedback, without a thread.

    Raises:
        ConfigError: If laws are above the bound (F2), or with all problems.
    """
    pairing = make_pairing(robot, leader, retarget, load_arms(leader, through))
    own = leader.parts.get(name, leader)
    haptics = Haptics(settings, robot, own, pairing.of_leader(name), layout)
    haptics.check_stability(retarget.scale)
    return haptics
