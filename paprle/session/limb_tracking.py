"""The robot's desired joints while leaders drive it, limb by limb.

A limb without a driver brakes fully; one that begins meets its leader slowly.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from paprle.contracts.session_view import Advice
from paprle.contracts.types import Vec
from paprle.ipc.records import SampleView
from paprle.reconstruction.one_euro import OneEuro
from paprle.retargeting.retarget import Retargeting
from paprle.retargeting.rules.axes import AxesRule
from paprle.retargeting.rules.base import LimbRule
from paprle.retargeting.state import RetargetState, Target
from paprle.robot import RobotModel
from paprle.robot.arrays import Ints
from paprle.session.inputs.leaders import Leaders
from paprle.session.inputs.source_selection import Drivers
from paprle.session.velocity import compute_velocities, is_standing

ALIGNED = 0.02  # [rad] chosen: what engaging may leave for the gate to make up
_LONGEST_DT = 0.1  # [s] chosen: samples farther apart give no velocity (safety.md A1)
_DELAY_SHARE = 0.02  # chosen: the mean delay follows drifting clocks in a second
_JITTER_NS = 5_000_000  # chosen: two loops of 200 Hz are apart by less [ns]
_STANDING = 1e-9  # [rad/s] chosen: rounding of a commanded velocity
_RAMP = 0.3  # [s] chosen: until joints that meet their leader are as fast as they may
_MET_POS = 1e-3  # [m] chosen: a limb that came this near has met its leader
_MET_ROT = 1e-2  # [rad] chosen: likewise
_NO_ADVICE: Mapping[str, Advice] = {}
_NOTHING: Mapping[int, int] = {}
_NO_RULES: Mapping[int, tuple[LimbRule[Any], Any]] = {}


class Following:
    """The motion that the leaders ask of the robot.

    Attributes:
        q_des: Shape (n,), [rad].
        dq_des: Shape (n,), [rad/s].
        at_ns: Their instant, [ns].
        is_made: The sample was filtered or reconstructed.
        apart: The leader's distance at engaging, shape (n,), [rad]; beyond ``ALIGNED``
            closed slowly.
        err_pos: Residual of the IK, by limb, [m].
        err_rot: Likewise, [rad].
    """

    def __init__(
        self,
        robot: RobotModel,
        retargeting: Retargeting,
        leaders: Leaders,
        slow_share: float,
        one_euro: OneEuro | None = None,
    ) -> None:
        self._one_euro = one_euro
        self._robot, self._retargeting, self._leaders = robot, retargeting, leaders
        self._slow_share = slow_share
        rows = [[slot.row for slot in slots] for slots in retargeting.slots]
        self.drivers = Drivers(rows, leaders)
        self._joints: list[Ints] = [robot.list_joints(name) for name in robot.limbs]
        m, n = len(self._joints), len(robot.joint_names)
        self._limb_of: Ints = np.full(n, m, dtype=np.int64)
        for i, own in enumerate(self._joints):
            self._limb_of[own] = i
        self._grippers = {
            robot.joint_names.index(limb.gripper.joint)
            for limb in robot.limbs.values()
            if limb.gripper is not None
        }
        self._catching: set[int] = set()
        self._pace: Vec = np.zeros(n)  # of joints that catch up, 0 … 1
        self._slowed: set[int] = set()
        self._braking: set[int] = set()
        self.apart: Vec = np.zeros(n)
        # of each limb, and 0 for joints in none
        self._dt: Vec = np.zeros(m + 1)
        self._limb_dt = self._dt[:m]
        self._limb_ns, self._sample_ns = [0] * m, 0
        n_leaders = len(leaders.intakes)
        self._delays_ns = [0.0] * n_leaders
        self._stamps_ns, self._instants_ns = [0] * n_leaders, [0] * n_leaders
        self._no_error = np.full(m, np.nan)
        self.err_pos, self.err_rot = self._no_error, self._no_error
        self.q_des: Vec = robot.home.copy()
        self.dq_des: Vec = np.zeros(n)
        self.at_ns = 0
        self.changed: Mapping[int, int] = _NOTHING
        self._told: dict[int, Vec] = {}
        self.state: RetargetState | None = None
        self.target: Target | None = None
        self.is_made = False

    def stop(self) -> None:
        """Release every limb."""
        self.state, self.target = None, None
        self.err_pos, self.err_rot = self._no_error, self._no_error

    def step(
        self,
        q_cmd: Vec,
        dq_cmd: Vec,
        command_age: float,
        now_ns: int,
        advice: Mapping[str, Advice] = _NO_ADVICE,
    ) -> None:
        """Retarget, solve the IK and estimate velocities; ages in [s]."""
        sample = given = self._leaders.get_sample()
        if self.state is None:
            self._forget()
        if self._one_euro is not None:
            sample = self._one_euro.filter(sample)
        sample = self._leaders.take_motion(sample, now_ns)
        self.is_made = sample is not given
        if self.state is None:
            state = self._begin(sample, q_cmd, now_ns)
        else:
            state = self._change_drivers(self.state, sample, q_cmd, dq_cmd, command_age)
        self.state = state
        target = self._retargeting.retarget(sample, state, q_cmd, advice, self.q_des)
        self._measure_periods(sample, state)
        solution = self._retargeting.solve(target, self.q_des, q_cmd, self._limb_dt)
        q_des, dq_des = solution.q_des, np.empty(len(self.q_des))
        if self._catching:
            self._catch_up(q_des)
        for i in self._braking:  # the IK would draw them to the command
            q_des[self._joints[i]] = self.q_des[self._joints[i]]
        # A sample seen twice says nothing new, and the gate goes on along the last
        # velocity; otherwise two loops of nearly equal rates would beat.
        compute_velocities(
            q_des, self.q_des, self._dt, self._limb_of, self.dq_des, dq_des
        )
        for i in self._braking:
            dq_des[self._joints[i]] = 0.0
        self.q_des, self.dq_des, self.target = q_des, dq_des, target
        self.err_pos, self.err_rot = solution.err_pos, solution.err_rot
        if self._slowed:
            self._speed_up()
        self._find_instants(now_ns)

    def place(self, objects: Mapping[str, Vec]) -> None:
        """Set the objects' poses."""
        self._retargeting.placed = objects

    def _forget(self) -> None:
        if self._one_euro is not None:
            self._one_euro.start()
        if self._leaders.reconstruction is not None:
            self._leaders.reconstruction.start()

    def fill_mappings(self, rows: Vec) -> None:
        """Write D in the eef's axes, shape (m, 7, x); NaN: none."""
        rows.fill(np.nan)
        for i, (rule, one) in (self.state.own if self.state else _NO_RULES).items():
            if isinstance(rule, AxesRule):
                D = rule.find_motions(one)
                rows[i, :, : D.shape[1]] = D

    def take_mappings(self) -> dict[int, Vec]:
        """Return changed D by limb, shape (7, m)."""
        own = self.state.own if self.state else _NO_RULES
        used = {
            i: one.mapping.D
            for i, (rule, one) in own.items()
            if isinstance(rule, AxesRule)
        }
        told = {i: D for i, D in used.items() if D is not self._told.get(i)}
        self._told = used
        return told

    def list_held(self) -> list[int]:
        """Return drivable limbs without a driver."""
        slots = self._retargeting.slots
        return [
            i for i, k in enumerate(self.drivers.choice) if k < 0 and len(slots[i]) > 0
        ]

    def fill(self, q_des: Vec, dq_des: Vec) -> None:
        """Write positions and velocities at ``at_ns``.

        Limbs of several leaders are moved there along their velocities.
        """
        q_des[...], dq_des[...] = self.q_des, self.dq_des
        if len(self._instants_ns) == 1 or self.state is None:
            return
        for own, row in zip(self._joints, self.state.driver.tolist(), strict=True):
            if row >= 0:
                instant_ns = self._instants_ns[self._leaders.owners[row]]
                ahead = min(max((self.at_ns - instant_ns) * 1e-9, 0.0), _LONGEST_DT)
                q_des[own] += dq_des[own] * ahead

    def _begin(self, sample: SampleView, q_cmd: Vec, now_ns: int) -> RetargetState:
        choices, self.changed = self.drivers.begin(), _NOTHING
        state = self._retargeting.engage(None, choices, sample, q_cmd)
        self.q_des, self.dq_des = q_cmd.copy(), np.zeros_like(q_cmd)
        self._catching, self._braking = set(self._grippers), set()
        self._pace.fill(0.0)
        for i in range(len(self._joints)):
            self._retargeting.slow(i, 1.0)
            row = state.driver[i]
            self._limb_ns[i] = int(sample.limb_ns[row]) if row >= 0 else 0
        self._slowed = set()
        self._meet_those_apart()
        self._sample_ns = sample.stamp_ns
        for p, intake in enumerate(self._leaders.intakes):
            if intake.sample is not None:
                self._stamps_ns[p] = intake.sample.stamp_ns
                self._delays_ns[p] = float(now_ns - intake.sample.stamp_ns)
            self._instants_ns[p] = now_ns
        self.at_ns = now_ns
        return state

    def _change_drivers(
        self,
        state: RetargetState,
        sample: SampleView,
        q_cmd: Vec,
        dq_cmd: Vec,
        age: float,
    ) -> RetargetState:
        if self.drivers.is_settled:
            self.changed = _NOTHING
            return state
        self.changed = self.drivers.choose(
            lambda i: is_standing(dq_cmd[self._joints[i]], _STANDING)
        )
        if not self.changed:
            return state
        for i, choice in self.changed.items():
            own = self._joints[i]
            if choice < 0:
                self.q_des[own] = self._find_stop(own, q_cmd, dq_cmd, age)
                self._braking.add(i)
                continue
            self._braking.discard(i)
            self.q_des[own], self.dq_des[own] = q_cmd[own], 0.0
            slot = self._retargeting.slots[i][choice]
            self._limb_ns[i] = int(sample.limb_ns[slot.row])
            self._pace[own] = 0.0
            if not slot.rule.begins_at_command:
                self._meet(i)
            self._catching |= self._grippers & {int(j) for j in own}
        return self._retargeting.engage(state, self.changed, sample, q_cmd)

    def _meet(self, limb: int) -> None:
        self._catching |= {int(j) for j in self._joints[limb]}
        self._slowed.add(limb)
        self._retargeting.slow(limb, self._slow_share)

    def _meet_those_apart(self) -> None:
        self.apart[list(self._grippers)] = 0.0  # they always do
        for i, own in enumerate(self._joints):
            if (self.apart[own] > ALIGNED).any():
                self._meet(i)
        self.apart.fill(0.0)

    def _measure_periods(self, sample: SampleView, state: RetargetState) -> None:
        # An older sample has a period of 0, so no velocity; a long one has inf.
        if len(self._stamps_ns) == 1:  # one leader, one period
            dt = (sample.stamp_ns - self._sample_ns) * 1e-9
            self._sample_ns = sample.stamp_ns
            self._limb_dt.fill(max(dt, 0.0) if dt < _LONGEST_DT else math.inf)
            return
        for i, row in enumerate(state.driver.tolist()):
            if row < 0:
                self._dt[i] = 0.0
                continue
            stamp_ns = int(sample.limb_ns[row])
            dt = (stamp_ns - self._limb_ns[i]) * 1e-9
            self._limb_ns[i] = stamp_ns
            self._dt[i] = max(dt, 0.0) if dt < _LONGEST_DT else math.inf

    def _catch_up(self, q_des: Vec) -> None:
        for j in tuple(self._catching):
            dt = float(self._dt[self._limb_of[j]])
            dt = dt if dt < math.inf else 0.0
            self._pace[j] = pace = min(float(self._pace[j]) + dt / _RAMP, 1.0)
            most = pace * self._slow_share * float(self._robot.dq_max[j]) * dt
            step = float(q_des[j] - self.q_des[j])
            if abs(step) <= most:
                if dt > 0.0:
                    self._catching.discard(j)
            else:
                q_des[j] = self.q_des[j] + math.copysign(most, step)

    def _find_stop(self, own: Ints, q_cmd: Vec, dq_cmd: Vec, age: float) -> Vec:
        # It is found once, when the limb is let go: a place that was found anew each
        # tick from the command that runs to it could run ahead of it for ever.
        v, A = dq_cmd[own], self._robot.ddq_max[own]
        if (dddq_max := self._robot.info.dddq_max) is not None:
            age += float((A / dddq_max[own]).max())  # the command is that late
        stop: Vec = q_cmd[own] + v * age + 0.5 * v * np.abs(v) / A
        return stop

    def _speed_up(self) -> None:
        for i in tuple(self._slowed):
            is_near = self.err_pos[i] < _MET_POS and self.err_rot[i] < _MET_ROT
            if is_near or self.state is None or self.state.pose_rows[i] < 0:
                self._slowed.discard(i)
                self._retargeting.slow(i, 1.0)

    def _find_instants(self, now_ns: int) -> None:
        # A leader's stamps are even, but may be another clock's: the mean delay between
        # stamp and tick joins the two.
        made = self._leaders.reconstruction
        for p, intake in enumerate(self._leaders.intakes):
            if made is not None and made.covers(p):
                self._instants_ns[p] = now_ns  # it moves with the tick
                continue
            stamp_ns = 0 if intake.sample is None else intake.sample.stamp_ns
            if stamp_ns == self._stamps_ns[p]:
                continue
            self._stamps_ns[p] = stamp_ns
            mean_ns, delay_ns = self._delays_ns[p], now_ns - stamp_ns
            self._delays_ns[p] = mean_ns = mean_ns + _DELAY_SHARE * (delay_ns - mean_ns)
            jitter_ns = mean_ns - delay_ns
            if not -_JITTER_NS <= jitter_ns <= _JITTER_NS:
                jitter_ns = math.copysign(_JITTER_NS, jitter_ns)
            self._instants_ns[p] = now_ns + int(jitter_ns)
        is_alone = len(self._instants_ns) == 1
        self.at_ns = self._instants_ns[0] if is_alone else now_ns
