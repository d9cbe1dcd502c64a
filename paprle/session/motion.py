"""What the session commands: slow moves it makes itself, or the leader's motion."""

from __future__ import annotations

import math

import numpy as np

from paprle.contracts.settings import GateSettings
from paprle.contracts.types import GateState, SessionState, Vec
from paprle.gate.gate import compute_command_limits
from paprle.ipc.records import (
    HeadCodec,
    Layout,
    Record,
    SampleView,
    StatusHead,
    read_stop_reason,
)
from paprle.retargeting.leader_arms import ArmPoses
from paprle.retargeting.retarget import Retargeting, RetargetState, Target
from paprle.robot import RobotModel
from paprle.robot.eefs import Eefs
from paprle.session.intake import Intake
from paprle.session.slow_move import SlowMove, make_slow_move, sample_path
from paprle.session.velocity import compute_velocity, is_standing

_ARRIVED = 1e-3  # [rad] chosen: a slow move ends this close to its goal
_ALIGNED = 0.02  # [rad] chosen: what engaging may leave for the gate to make up
_LONGEST_DT = 0.1  # [s] chosen: samples farther apart give no velocity (safety.md A1)
_DELAY_SHARE = 0.02  # chosen: the mean delay follows drifting clocks in a second
_JITTER_NS = 5_000_000  # chosen: two loops of 200 Hz are apart by less [ns]
_PATIENCE = 5.0  # [s] chosen: for what the gate needs more than the plan
_REACH = 0.005  # [m] chosen: a start that is off by more is not what was asked for
_STANDING = 1e-9  # [rad/s] chosen: rounding of a commanded velocity
_NUDGE = 1e-3  # [m] chosen: makes the IK work a little
_GATE_STATES = tuple(GateState)
_ENGAGED = SessionState.ENGAGED  # Python 3.11 takes 0.1 µs to find it


class Motion:
    """The desired joints of each tick, and where they come from.

    Attributes:
        q_des: Desired positions, shape (n,), [rad].
        dq_des: Their velocity, shape (n,), [rad/s].
        at_ns: The instant at which they are meant, [ns].
        raw_rows: Leader pose by follower limb, shape (m, 7); NaN where there is none.
        target_rows: Retargeted pose of the eef in its base, shape (m, 7).
        err_pos: What the IK left, by limb, [m].
        err_rot: What the IK left, by limb, [rad].
        latched: Reason bits of the gate's latest HOLD or STOPPED.
        has_arrived: The slow move has ended where it should.
        gate_view: The gate's state, and the reason bits of its newest period.
        gate_counts: The gate's cumulative counts by reason.
        gate_stamp_ns: When the gate last wrote a command, [ns].
    """

    def __init__(
        self,
        robot: RobotModel,
        retargeting: Retargeting,
        gate: GateSettings,
        layout: Layout,
    ) -> None:
        self._low, self._high = compute_command_limits(robot.info, gate)
        self._slow_share = gate.reduced_scale
        self._tool_speed = min(
            gate.reduced_tool_speed, gate.tool_speed or gate.reduced_tool_speed
        )
        self._grippers = {
            robot.joint_names.index(limb.gripper.joint)
            for limb in robot.limbs.values()
            if limb.gripper is not None
        }
        self._catching: set[int] = set()
        self._robot = robot
        self._retargeting = retargeting
        self._layout = layout
        self._eefs = Eefs(robot)
        n_limbs = len(layout.limbs)
        self.raw_rows, self.target_rows = np.full((2, n_limbs, 7), np.nan)
        self._no_error = np.full(n_limbs, np.nan)
        self.err_pos, self.err_rot = self._no_error, self._no_error
        self._target: Target | None = None
        self.q_des = robot.home.copy()
        self.dq_des: Vec = np.zeros_like(robot.home)
        self._status: Record = np.zeros((), dtype=layout.status)
        self._codec = HeadCodec(StatusHead, layout.status)
        self._q_cmd: Vec = self._status["q_cmd"]
        self._dq_cmd: Vec = self._status["dq_cmd"]
        self.latched = 0
        self.has_arrived = False
        self.gate_view = GateState.DISARMED, 0
        self.gate_counts = self._status["counts"]
        self.gate_stamp_ns = 0
        self._plan: SlowMove | None = None
        self._goal: Vec | None = None
        self._anchor: RetargetState | None = None
        self.at_ns = 0
        self._now_ns, self._sample_ns, self._delay_ns = 0, 0, 0.0
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
    def anchor(self) -> RetargetState | None:
        """What engaging fixed; None while the leader does not drive."""
        return self._anchor

    @property
    def stop_reason(self) -> str:
        """Why the robot stopped by itself, in its own words; empty if it did not."""
        return read_stop_reason(self._status)

    @property
    def arm_poses(self) -> ArmPoses:
        """What gives the samples of a leader that is an arm their poses."""
        return self._retargeting.arm_poses

    @property
    def needs_alignment(self) -> bool:
        """Whether engaging starts where the leader says, not where the robot is."""
        return self._retargeting.mode != "relative"

    def take_status(self, status: Record, now_ns: int) -> None:
        """Note where the command stands."""
        self._now_ns = now_ns
        self._status[()] = status
        head = self._codec.read(self._status)
        self.gate_stamp_ns, self.latched = head.stamp_ns, head.latched
        self.gate_view = _GATE_STATES[head.state], head.reasons

    def drop_plan(self) -> None:
        """Forget the slow move; the gate brakes."""
        self._plan, self._goal, self._blocked = None, None, ""
        self.has_arrived = False

    def plan_home(self, speed: float) -> str:
        """Move home, once the arm stands.

        Args:
            speed: Share of the velocity limits.

        Returns:
            Why the way is not free; empty when it is.
        """
        return self._go_to(self._robot.home, _ARRIVED, speed)

    def plan_alignment(self, sample: SampleView, speed: float) -> str:
        """Move to where the leader's command begins; again while the leader moves.

        Args:
            sample: The newest usable sample.
            speed: Share of the velocity limits.

        Returns:
            Why the way is not free; empty when it is.
        """
        if not self.needs_alignment:
            self.has_arrived = True
            return ""
        if self._goal is None or self._has_reached(self._goal, _ARRIVED):
            self._plan = None
            goal = self._retargeting.solve_start(sample, self._q_cmd)
            self._goal = np.clip(goal, self._low, self._high)
            unreachable = self._find_unreachable(sample, self._goal)
            if unreachable:
                self._goal = None
                return unreachable
        return self._go_to(self._goal, _ALIGNED, speed)

    def find_start_refusal(self, sample: SampleView, bound: float) -> str:
        """Say why a human leader may not start from here (S1); empty when it may."""
        # grippers may: they meet the leader slowly, and a grip may be the signal (P5)
        if not self.needs_alignment:
            return ""
        apart = np.abs(self._retargeting.solve_start(sample, self._q_cmd) - self._q_cmd)
        apart[list(self._grippers)] = 0.0
        worst = int(apart.argmax())
        if apart[worst] <= bound:
            return ""
        name = self._robot.joint_names[worst]
        return (
            f"joint '{name}' is {apart[worst]:.2f} [rad] from the leader "
            f"(session.start_bound {bound:g}); bring the leader closer"
        )

    def step(self, state: SessionState, intake: Intake, now_ns: int) -> None:
        """Compute this tick's desired joints."""
        if state is _ENGAGED and intake.sample is not None:
            self._follow(intake.sample, now_ns)
            return
        self._anchor, self._target, self.at_ns = None, None, now_ns
        self.err_pos, self.err_rot = self._no_error, self._no_error
        if self._plan is not None:
            self.q_des, self.dq_des = self._plan.compute(now_ns)
        else:
            self.q_des, self.dq_des = self._q_cmd.copy(), np.zeros_like(self._q_cmd)

    def fill_rows(self, sample: SampleView | None) -> None:
        """Note the poses of leader and target in this tick; joint commands by FK."""
        raw, rows = self.raw_rows, self.target_rows
        raw.fill(np.nan)
        rows.fill(np.nan)
        if sample is None or self._target is None:
            return
        self._retargeting.fill_rows(sample, self._target, raw, rows)
        if self._retargeting.mode == "joints":
            self._eefs.place(self.q_des, rows)

    def warm_up(self) -> None:
        """Touch everything a tick will need, so that the first one is not slow."""
        home, sample = self._robot.home, SampleView(self._layout)
        self._robot.check_path([home])
        self._q_cmd[:] = home
        sample.valid, sample.pose[:, 6] = True, 1.0
        for k in range(2):
            sample.pose[:, 2], sample.stamp_ns = k * _NUDGE, k
            self._follow(sample, 0)
        self._retargeting.find_pose(sample, 0)
        self._retargeting.solve_start(sample, home)
        self.arm_poses.place(sample)
        self._eefs.place(self.q_des, self.target_rows)
        self.fill_rows(sample)
        self.take_status(self._status, 0)
        is_standing(self._dq_cmd, _STANDING)
        self._anchor, self._target = None, None

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

    def _find_unreachable(self, sample: SampleView, goal: Vec) -> str:
        """Say which limb's first pose is out of reach; empty when none is."""
        for i, (name, limb) in enumerate(self._robot.limbs.items()):
            T_leader = self._retargeting.find_pose(sample, i)
            if T_leader is None:
                continue
            apart = T_leader.translation - limb.fk(limb.take(goal)).translation
            distance = float(np.linalg.norm(apart))
            if distance > _REACH:
                return f"the pose for '{name}' is out of reach by {distance:.3f} [m]"
        return ""

    def _has_reached(self, goal: Vec, tolerance: float) -> bool:
        is_there = bool((np.abs(self._q_cmd - goal) <= tolerance).all())
        return is_there and self.is_standing

    def _find_collision(self, goal: Vec) -> str:
        hit = self._robot.check_path(list(sample_path(self._q_cmd, goal)))
        return "" if hit is None else f"'{hit[1][0]}' would touch '{hit[1][1]}'"

    def _follow(self, sample: SampleView, now_ns: int) -> None:
        """Follow the leader: retarget, solve, and estimate the target's velocity."""
        anchor = self._anchor or self._engage(sample, now_ns)
        target = self._retargeting.retarget(sample, anchor)
        dt = (sample.stamp_ns - self._sample_ns) * 1e-9
        period = max(dt, 0.0) if dt < _LONGEST_DT else math.inf
        solution = self._retargeting.solve(target, self.q_des, self._q_cmd, period)
        q_des, dq_des = solution.q_des, np.empty(len(self.q_des))
        if self._catching:
            q_des = self._catch_up(q_des, dt)
        is_plausible = 0.0 < dt < _LONGEST_DT
        has_moved = compute_velocity(
            q_des, self.q_des, dt if is_plausible else 0.0, dq_des
        )
        # A sample seen twice says nothing new, and the gate goes on along the last
        # velocity; otherwise two loops of nearly equal rates would beat.
        if dt != 0.0 or has_moved:
            self.q_des, self.dq_des = q_des, dq_des
            self.at_ns = self._find_instant(sample, now_ns)
        self._sample_ns, self._target = sample.stamp_ns, target
        self.err_pos, self.err_rot = solution.err_pos, solution.err_rot

    def _engage(self, sample: SampleView, now_ns: int) -> RetargetState:
        """Start from where the command stands."""
        self._anchor = anchor = self._retargeting.anchor(sample, self._q_cmd)
        self.q_des, self.dq_des = self._q_cmd.copy(), np.zeros_like(self._q_cmd)
        self._sample_ns = sample.stamp_ns
        self._delay_ns = float(now_ns - sample.stamp_ns)
        self._catching = set(self._grippers)
        return anchor

    def _catch_up(self, q_des: Vec, dt: float) -> Vec:
        """Let grippers meet the leader slowly after engaging (S3)."""
        for i in tuple(self._catching):
            most = self._slow_share * float(self._robot.dq_max[i]) * max(dt, 0.0)
            step = float(q_des[i] - self.q_des[i])
            if abs(step) <= most:
                self._catching.discard(i)
            else:
                q_des[i] = self.q_des[i] + math.copysign(most, step)
        return q_des

    def _find_instant(self, sample: SampleView, now_ns: int) -> int:
        """When a sample is meant, on this clock and without the jitter of the tick."""
        # A leader's stamps are even, but may be another clock's: the mean delay between
        # stamp and tick joins the two.
        delay_ns = now_ns - sample.stamp_ns
        self._delay_ns += _DELAY_SHARE * (delay_ns - self._delay_ns)
        jitter_ns = int(self._delay_ns - delay_ns)
        return now_ns + min(max(jitter_ns, -_JITTER_NS), _JITTER_NS)
