"""The session's commands: slow moves or leaders' motion."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pinocchio as pin

from paprle.contracts.gate_status import GateStatus
from paprle.contracts.session_view import Advice
from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import GateState, SessionState, Vec
from paprle.gate.gate import compute_command_limits
from paprle.ipc.records import (
    HeadCodec,
    Layout,
    Record,
    SampleView,
)
from paprle.ipc.stop_reason import read_stop_reason
from paprle.reconstruction.one_euro import OneEuro
from paprle.retargeting.retarget import Retargeting
from paprle.retargeting.state import Anchors
from paprle.retargeting.target_rows import TargetRows
from paprle.robot import RobotModel
from paprle.robot.arrays import Ints
from paprle.session.background_worker import Answer, Aside
from paprle.session.inputs.distance import Apart
from paprle.session.inputs.leaders import Leaders
from paprle.session.limb_tracking import ALIGNED, Following
from paprle.session.postures import Offer, PostureGoal, Postures, Start
from paprle.session.slow_move import SlowMove, make_slow_move, sample_path
from paprle.session.velocity import is_standing

_ARRIVED = 1e-3  # [rad] chosen: a slow move ends this close to its goal
_NEAR = 0.3  # [rad] chosen: a leader that moves on is caught up with from there
_PATIENCE = 5.0  # [s] chosen: for what the gate needs more than the plan
_STANDING = 1e-9  # [rad/s] chosen: rounding of a commanded velocity
_NUDGE = 1e-3  # [m] chosen: makes the IK work a little
_OLDEST_STATUS = 0.05  # [s] chosen: an older one tells little of where the arm is
_GATE_STATES = tuple(GateState)
_ENGAGED = SessionState.ENGAGED  # Python 3.11 takes 0.1 µs to find it


class DesiredMotion:
    """The desired joints of each tick.

    Attributes:
        q_des: Shape (n,), [rad].
        dq_des: Shape (n,), [rad/s].
        at_ns: Their instant, [ns].
        latched: Reason bits of the gate's latest HOLD or STOPPED.
        gate_view: The gate's newest state and reason bits.
        gate_stamp_ns: Time of the gate's last command, [ns].
        answered_seq: Newest set-point at that time.
        most_turn: Limit of a joint's turn in aligning, [rad]; inf: the operator asked.
    """

    def __init__(
        self,
        robot: RobotModel,
        retargeting: Retargeting,
        gate: GateSettings,
        layout: Layout,
        max_gap: float = 0.1,
    ) -> None:
        """Prepare; samples older than ``max_gap``, [s], move nothing."""
        self._low, self._high = compute_command_limits(robot.info, gate)
        self._tool_speed = min(
            gate.reduced_tool_speed, gate.tool_speed or gate.reduced_tool_speed
        )
        self._robot, self._gate, self._apart = robot, gate, Apart(robot)
        self.aside = Aside()
        self._found_start: Answer[Start] = Answer(self.aside)
        self._wanted: PostureGoal | None = None
        self.start: Start | None = None
        self.offer: Offer | None = None
        self._change: Offer | None = None
        self._is_near = self._is_looking = False
        self._tolerance, self.most_turn = ALIGNED, math.inf
        self.limb_names = tuple(robot.limbs)
        self._retargeting = retargeting
        self._layout = layout
        smooth, samples = retargeting.settings.filter, retargeting.settings.samples
        arms, bounds = retargeting.pairing.arms, retargeting.turns.bounds
        self.leaders = Leaders(layout, max_gap, arms, samples, gate.stale_after, bounds)
        one_euro = None if smooth is None else OneEuro(layout, smooth)
        self.following = Following(
            robot, retargeting, self.leaders, gate.reduced_scale, one_euro
        )
        self._nobody: Ints = np.full(len(layout.limbs), -1, dtype=np.int64)
        self.q_des = robot.home.copy()
        self.dq_des: Vec = np.zeros_like(robot.home)
        self.status: Record = np.zeros((), dtype=layout.status)
        self._codec = HeadCodec(GateStatus, layout.status)
        self._q_cmd: Vec = self.status["q_cmd"]
        self._dq_cmd: Vec = self.status["dq_cmd"]
        self.latched = 0
        self.has_arrived = False
        self.gate_view = GateState.DISARMED, 0
        self.gate_counts = self.status["counts"]
        self.gate_stamp_ns, self.answered_seq = 0, 0
        self._plan: SlowMove | None = None
        self._goal: Vec | None = None
        self.at_ns = 0
        self._now_ns = 0
        self._is_following = False
        self._blocked = ""

    @property
    def has_plan(self) -> bool:
        """Whether a slow move is being made."""
        return self._plan is not None

    @property
    def is_standing(self) -> bool:
        """Whether the last command stood still."""
        return is_standing(self._dq_cmd, _STANDING)

    @property
    def anchors(self) -> Anchors | None:
        """The anchors; None without a driver."""
        state = self.following.state
        return None if state is None else state.anchors

    @property
    def driver(self) -> Ints:
        """Each limb's leader limb, shape (m,); -1: it holds."""
        state = self.following.state
        return self._nobody if state is None else state.driver

    @property
    def err_pos(self) -> Vec:
        """Residual of the IK, by limb, [m]."""
        return self.following.err_pos

    @property
    def err_rot(self) -> Vec:
        """Residual of the IK, by limb, [rad]."""
        return self.following.err_rot

    @property
    def stop_reason(self) -> str:
        """The robot's text for its own stop; else empty."""
        return read_stop_reason(self.status)

    @property
    def needs_alignment(self) -> bool:
        """Whether engaging starts at the leader's posture."""
        return self._retargeting.needs_alignment

    def take_status(self, status: Record, now_ns: int) -> None:
        """Note the gate's newest status."""
        self._now_ns = now_ns
        self.status[()] = status
        head = self._codec.read(self.status)
        self.gate_stamp_ns, self.latched = head.stamp_ns, head.latched
        self.answered_seq = head.setpoint_seq
        self.gate_view = _GATE_STATES[head.state], head.reasons

    @cached_property
    def _postures(self) -> Postures:
        retargeting = self._retargeting
        return Postures(self._robot, self._gate, retargeting.ik)

    def drop_plan(self) -> None:
        """Drop the slow move; the gate brakes."""
        self._plan, self._goal, self._blocked = None, None, ""
        self._wanted = self._change = None
        self._found_start.forget()
        self.has_arrived = self._is_near = False

    def change_over(self) -> None:
        """Align to the offered posture next."""
        self._change, self.offer = self.offer, None

    def look_for_postures(self, stuck: Mapping[str, str]) -> None:
        """Search postures of stuck limbs in the background."""
        target, names = self.following.target, self.limb_names
        if not stuck or target is None:
            self.offer = None
            return
        if self._is_looking:
            return
        name = next(iter(stuck))
        T = pin.SE3(np.array(target.T[names.index(name)]))
        q_cmd, cause = self._q_cmd.copy(), stuck[name]
        self._is_looking = True

        def look() -> None:
            found = self._postures.find_other(name, T, q_cmd)
            self.offer = found and Offer(name, cause, found.q, found.obstacle)
            self._is_looking = False

        self.aside.give(look)

    def plan_home(self, speed: float) -> str:
        """Move home at a share of V; return the obstacle or empty."""
        return self._go_to(self._robot.home, _ARRIVED, speed)

    def plan_alignment(self, sample: SampleView, speed: float, bound: float) -> str:
        """Move to the leader's start; return the obstacle or empty."""
        if self._change is not None:
            self._go_over(self._change, speed)
            return ""
        if not self.needs_alignment:
            self.has_arrived = True
            return ""
        if self._goal is None or self._has_reached(self._goal, _ARRIVED):
            self._plan = None
            wanted = self._wanted or self._ask_start(sample, bound)
            found = self._found_start.take()
            if found is None:
                return ""
            self._goal = np.clip(found.q, self._low, self._high)
            self.start = found if not self._is_near else self.start
            # whom nobody holds may not wait, and be somewhere else once it has come
            waits = not self._is_near or self.following.drivers.is_any_held
            self._tolerance = ALIGNED if waits else _NEAR
            self._wanted, self._is_near = None, True
            unreachable = self._apart.find_unreachable(wanted, self._goal)
            if unreachable:
                self._goal = None
                return unreachable
        self.following.apart[:] = np.abs(self._goal - self._q_cmd)
        return self._go_to(self._goal, self._tolerance, speed)

    def _ask_start(self, sample: SampleView, bound: float) -> PostureGoal:
        drivers = self.following.drivers
        choices = drivers.preview()
        q_cmd = self._q_cmd.copy()
        self._wind(sample, choices)
        q, poses = self._retargeting.find_start_poses(sample, q_cmd, choices)
        bounds = {
            self.limb_names[i]: bound
            for i, choice in choices.items()
            if drivers.is_human(i, choice)
        }
        paths = self._retargeting.find_known_paths(sample)
        wanted = PostureGoal(q, q_cmd, poses, paths, bounds, self._is_near)
        self._wanted = wanted
        self._found_start.ask(
            lambda: self._postures.find_start(wanted) if poses else Start(q, {})
        )
        return wanted

    def _wind(self, sample: SampleView, choices: Mapping[int, int]) -> None:
        turns = self._retargeting.turns.find(sample, self._q_cmd, choices)
        for row, joint, n in list(turns):
            self.leaders.wind(row, joint, n)

    def find_far_joint(self) -> str:
        """Describe a joint that aligning would turn over ``most_turn``."""
        if self._goal is None:
            return ""
        return self._apart.find_far_joint(self._goal, self._q_cmd, self.most_turn)

    def _go_over(self, change: Offer, speed: float) -> None:
        # Leaders wait meanwhile, as with an open clutch.
        if self._goal is None:
            if not self.is_standing:
                return
            self._goal = self._q_cmd.copy()
            self._goal[self._robot.limbs[change.limb].indices] = change.q
        blocked = self._go_to(self._goal, _ARRIVED, speed)
        if blocked or self.has_arrived:
            self.drop_plan()
            self._is_near = True

    def find_start_refusal(self, sample: SampleView, bound: float) -> str:
        """Return the reason against a person's start (S1), or empty."""
        # grippers may: they meet the leader slowly, and a grip may be the signal (P5)
        if not self.needs_alignment:
            return ""
        choices = self.following.drivers.preview()
        self._wind(sample, choices)
        start = self._retargeting.solve_start(sample, self._q_cmd, choices)
        for i, choice in choices.items():
            if not self.following.drivers.is_human(i, choice):
                own = self._robot.list_joints(self.limb_names[i])
                start[own] = self._q_cmd[own]
        far = self._apart.find_far_joint(start, self._q_cmd, bound)
        hint = f" (session.start_bound {bound:g}); bring the leader closer"
        return far and far + hint

    def step(
        self,
        state: SessionState,
        now_ns: int,
        advice: Mapping[str, Advice] | None = None,
    ) -> None:
        """Compute this tick's desired joints."""
        self._is_following = state is _ENGAGED and self.leaders.sample is not None
        if self._is_following:
            self._follow(now_ns, advice or {})
            return
        self.following.stop()
        self.at_ns = now_ns
        if self._plan is not None:
            self.q_des, self.dq_des = self._plan.compute(now_ns)
        else:
            self.q_des, self.dq_des = self._q_cmd.copy(), np.zeros_like(self._q_cmd)

    def _follow(self, now_ns: int, advice: Mapping[str, Advice]) -> None:
        following = self.following
        age = min(max((now_ns - self.gate_stamp_ns) * 1e-9, 0.0), _OLDEST_STATUS)
        following.step(self._q_cmd, self._dq_cmd, age, now_ns, advice)
        self.q_des, self.dq_des = following.q_des, following.dq_des
        self.at_ns = following.at_ns

    def fill_setpoint(self, q_des: Vec, dq_des: Vec) -> None:
        """Write the set-point at ``at_ns``, shapes (n,)."""
        if self._is_following:
            self.following.fill(q_des, dq_des)
        else:
            q_des[...], dq_des[...] = self.q_des, self.dq_des

    def fill_rows(self) -> TargetRows:
        """Return the poses of leaders and targets."""
        rows, sample = self._retargeting.rows, self.leaders.sample
        rows.clear()
        state, target = self.following.state, self.following.target
        if sample is not None and state is not None and target is not None:
            rows.fill(sample, state, target, self.q_des)
            if self.following.is_made:
                rows.fill_given(sample, state)
        return rows

    def warm_up(self) -> None:
        """Run all code of a tick once."""
        home, sample = self._robot.home, SampleView(self._layout)
        self._robot.check_path([home])
        if self._retargeting.has_poses:
            self.aside.give(self._postures.warm_up)
        self._q_cmd[:] = home
        sample.valid, sample.pose[:, 6] = True, 1.0
        self.leaders.pretend(sample)
        for k in range(2):
            sample.pose[:, 2], sample.limb_ns[:] = k * _NUDGE, k
            self._follow(k, {})
            self.fill_rows()
        self._retargeting.solve_start(sample, home)
        self._retargeting.arm_poses.place(sample)
        self.take_status(self.status, 0)
        is_standing(self._dq_cmd, _STANDING)
        self.following.stop()
        self.leaders.pretend(None)

    def _go_to(self, goal: Vec, tolerance: float, speed: float) -> str:
        goal = np.clip(goal, self._low, self._high)
        if self._plan is None and self.is_standing and not self._blocked:
            if self._has_reached(goal, tolerance):
                self.has_arrived = True
                return ""
            self._blocked = self._find_collision(goal)
            if not self._blocked:
                self._plan = make_slow_move(
                    self._q_cmd,
                    goal,
                    self._robot,
                    speed,
                    self._tool_speed,
                    self._now_ns,
                )
        self.has_arrived = self._has_reached(goal, tolerance)
        if self._plan is not None and self._is_overdue(self._plan):
            self._plan, self._blocked = None, "the arm did not arrive where it was sent"
        return self._blocked

    def _is_overdue(self, plan: SlowMove) -> bool:
        return (self._now_ns - plan.start_ns) * 1e-9 > plan.duration + _PATIENCE

    def _has_reached(self, goal: Vec, tolerance: float) -> bool:
        is_there = bool((np.abs(self._q_cmd - goal) <= tolerance).all())
        return is_there and self.is_standing

    def _find_collision(self, goal: Vec) -> str:
        hit = self._robot.check_path(list(sample_path(self._q_cmd, goal)))
        return "" if hit is None else f"'{hit[1][0]}' would touch '{hit[1][1]}'"
