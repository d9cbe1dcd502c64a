"""The gate: limits what is asked to what may be sent, one period at a time.

Pure: no clock, I/O or thread. Any input keeps the invariants of ``docs/SAFETY.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from paprle.contracts.errors import CommandError, ConfigError
from paprle.contracts.settings.core import GateSettings
from paprle.contracts.settings.jerk import LONGEST_TURNING
from paprle.contracts.types import RobotInfo, Vec, readonly
from paprle.contracts.validation.check import check_made
from paprle.gate.contact.avoidance_qp import (
    SOLVERS,
    AvoidanceProblem,
    solve_avoidance_qp,
)
from paprle.gate.contact.broad_phase import (
    add_straying,
    find_clusters,
    make_blocks,
    reorder,
)
from paprle.gate.contact.single_joints import leave_out_clear_pairs
from paprle.gate.contact.sliding import Sliding
from paprle.gate.contact.stall_rest import IS_RESTING
from paprle.gate.limits import (
    IS_CLIPPED,
    IS_FAST,
    IS_HELD,
    NO_PAIR,
    make_groups,
    make_limits,
)
from paprle.gate.memory import GateParts, Sizes, allocate, fill, view_memory
from paprle.gate.reason_text import describe_refusal
from paprle.gate.reasons import Reason
from paprle.gate.smoothing import compute_straying, count_periods, start
from paprle.gate.step import IS_NOT_FINITE, IS_UNVERIFIED, step
from paprle.gate.tcp_limits import IS_SINGULAR, IS_TOOL_FAST, fill_tools, fill_weights
from paprle.robot import RobotModel
from paprle.robot.arrays import Bools, Ints
from paprle.robot.bodies.arrays import make_bodies
from paprle.robot.bodies.link_pairs import describe_kept
from paprle.robot.limits import find_margin

GateConfig = GateSettings

_SHORTEST_DT = 1e-4  # [s] chosen: no follower is commanded more often
_LONGEST_DT = 1.0  # [s] chosen: nor less
_ROUNDING = 1e-6  # chosen: differences of times, and single precision, are as exact
_NUMBERS = np.dtype(np.float64)
_AT_REST = 1e-9  # [rad/s] chosen: below this a commanded joint counts as standing
_FLAGS = {
    IS_NOT_FINITE: Reason.NOT_FINITE,
    IS_CLIPPED: Reason.POSITION,
    IS_FAST: Reason.VELOCITY,
    IS_HELD: Reason.ACCELERATION,
    IS_TOOL_FAST: Reason.TOOL_SPEED,
    IS_SINGULAR: Reason.SINGULARITY,
    IS_UNVERIFIED: Reason.UNVERIFIED,
}


class GateResult(NamedTuple):
    """The result of one step.

    Attributes:
        q_cmd: The vector to send, shape (n,), read-only.
        clearance: From last command to q_meas, [m]; +inf: no bodies.
    """

    q_cmd: Vec
    events: tuple[Reason, ...]
    clearance: float


class Gate:
    """Limits of one follower: all its actuated joints in one vector.

    Attributes:
        ddq_max: A, shape (n,), [rad/s²].
        dq_max: V, shape (n,), [rad/s].
        q_min: Lower command limits, margin included, shape (n,), [rad].
        q_cmd: Last command, shape (n,).
        speed_scale: Allowed share of V.
        tool_speed: Limit of end-effectors, [m/s]; +inf: none.
        kept_by: Cause that holds each group, see ``held``, shape (g,).
    """

    def __init__(
        self,
        robot: RobotModel | RobotInfo,
        settings: GateSettings | None = None,
        *,
        h: float,
        allow_no_bodies: bool = False,
    ) -> None:
        """Make a gate of a period h, [s], and compile its kernels.

        A bare ``RobotInfo`` limits joints alone; with ``allow_no_bodies``, links
        without bodies may collide.

        Raises:
            ConfigError: If settings or period are wrong, links have no bodies, or a
                reach is unbounded.
        """
        if settings is not None:
            check_made(settings, "gate")
        self.settings = settings or GateSettings()
        if not _is_within(h, _SHORTEST_DT, _LONGEST_DT):
            raise ConfigError(
                f"gate: expected a period h from {_SHORTEST_DT} to {_LONGEST_DT} [s], "
                f"got {h!r}; give the time between two steps"
            )
        if isinstance(robot, RobotModel) and not allow_no_bodies:
            _check_bodies(robot)
        self._h = float(h)
        self._periods = self._h * (1.0 - _ROUNDING), self._h * (1.0 + _ROUNDING)
        info = robot if isinstance(robot, RobotInfo) else robot.info
        low, high = compute_command_limits(info, self.settings)
        self.q_min, self.q_max = readonly(low), readonly(high)
        self.dq_max, self.ddq_max = readonly(info.dq_max), readonly(info.ddq_max)
        self._memory, self._parts = self._make_memory(robot)
        self._describe_pair: Callable[[tuple[str, str]], str] = str
        if isinstance(robot, RobotModel):
            self._describe_pair = partial(describe_kept, robot)
        self.kept_by: Ints = self._parts.motion.kept_by
        limbs = {j: limb.name for limb in info.limbs for j in limb.joint_names}
        first = self._parts.limits.members[self._parts.limits.starts[:-1]]
        joints = [info.joint_names[i] for i in first]
        self._groups = tuple(limbs.get(joint, joint) for joint in joints)
        self.reduce(is_reduced=False)
        self.reset(info.home)
        self._warm_up()

    def _make_memory(
        self, robot: RobotModel | RobotInfo
    ) -> tuple[tuple[Vec, Ints], GateParts]:
        info = robot if isinstance(robot, RobotInfo) else robot.info
        members, starts = make_groups(info)
        n, n_groups = len(info.joint_names), len(starts) - 1
        _check_turning(info)
        m = count_periods(info, self._h)
        blocks, sizes = None, Sizes(n, n_groups, 0, 0, 0, 0, m + 1, 0)
        self.pair_names: tuple[tuple[str, str], ...] = ()
        if isinstance(robot, RobotModel):
            bodies, pairs, self.pair_names = make_bodies(robot, self.settings)
            counts = len(robot.tree.parent), len(bodies.joint), len(pairs.a)
            n_tools = len(robot.limbs)
            pairs = add_straying(pairs, compute_straying(info, m, self._h))
            own = [limb.indices for limb in robot.limbs.values()]
            cluster = find_clusters(robot.tree, bodies, own)
            blocks, order = make_blocks(cluster, pairs, n)
            pairs = reorder(pairs, order)
            self.pair_names = tuple(self.pair_names[k] for k in order)
            more = len(pairs.reach.rate), len(blocks.ball), len(blocks.one)
            sizes = Sizes(n, n_groups, *counts, n_tools, m + 1, 2 * counts[-1], *more)
            sizes = sizes._replace(block_reach=len(blocks.reach.rate))
        memory = allocate(sizes)
        parts = view_memory(*memory)
        solver = SOLVERS[self.settings.solver]
        self._sliding = Sliding(parts, np.split(members, starts[1:-1]), solver)
        E = np.where(find_arm_joints(info), self.settings.lag_bound, np.inf)
        fill(parts.limits, make_limits(info, self.q_min, self.q_max, E))
        parts.collision.measured.speed[:] = np.inf  # without pairs it stays so
        if isinstance(robot, RobotModel) and blocks is not None:
            scene = parts.collision.scene
            fill(scene.tree, robot.tree)
            fill(scene.bodies, bodies)
            fill(scene.pairs, pairs)
            fill(parts.collision.blocks, blocks)
            parts.collision.measured.normal[:, 2] = 1.0
            fill_tools(parts.tools, robot)
            fill_weights(parts.tools, pairs.reach)
            leave_out_clear_pairs(*memory, robot.q_min, robot.q_max)
        parts.tools.sigma[0] = self.settings.singularity
        return memory, parts

    def reset(self, q_meas: Vec) -> None:
        """Stand at the measured position, shape (n,), [rad].

        Outside the limits, only inward motion is allowed.

        Raises:
            CommandError: If it has the wrong shape or is not finite.
        """
        q = _as_vector(q_meas)
        if q.shape != self.dq_max.shape or not np.isfinite(q).all():
            raise CommandError(
                f"gate: expected {len(self.dq_max)} finite joint positions to start "
                f"from, got {q_meas!r}; check the follower's joint states"
            )
        self.q_cmd, self.dq_cmd = readonly(q), readonly(np.zeros_like(q))
        start(self._parts.smoothing, q)
        self._n_given = self._parts.smoothing.n_given.item()
        self._is_synchronised = self._is_sliding = 0.0
        self._sliding.forget()
        self._take_back()
        self._is_stepping = False

    def _take_back(self) -> None:
        motion, measured = self._parts.motion, self._parts.collision.measured
        motion.q_next[:], motion.v_next[:] = self.q_limited, self.dq_limited
        self._parts.smoothing.n_given[0] = self._n_given
        motion.dq_feedforward[:], motion.goal_prev[:] = 0.0, np.nan
        motion.is_synchronised[0] = self._is_synchronised
        motion.is_sliding[0], motion.stalled_for[:] = self._is_sliding, 0.0
        motion.kept_by[:] = NO_PAIR
        measured.q_lag[:], measured.max_change_to_meas[:] = 0.0, 0.0

    def _warm_up(self) -> None:
        step(*self._memory, 1.0, 1.0, False, False, False)
        n, box = len(self.q_cmd), self._parts.box
        row = np.zeros((1, n)), np.zeros(1), np.eye(n)
        solve_avoidance_qp(
            self._sliding.solver, AvoidanceProblem(box.dq_goal, box.low, box.high, *row)
        )
        self.reset(self.q_cmd)

    def reduce(self, is_reduced: bool) -> None:
        """Enter or leave reduced mode."""
        s = self.settings
        self.speed_scale = s.reduced_scale if is_reduced else 1.0
        self.tool_speed = np.inf if s.tool_speed is None else s.tool_speed
        if is_reduced:
            self.tool_speed = min(self.tool_speed, s.reduced_tool_speed)

    @property
    def q_limited(self) -> Vec:
        """The limits' newest output, before the mean, shape (n,)."""
        rows: Vec = self._parts.smoothing.q
        row: Vec = rows[(self._n_given - 1) % len(rows)]
        return row

    @property
    def dq_limited(self) -> Vec:
        """Velocity of ``q_limited``, shape (n,)."""
        rows: Vec = self._parts.smoothing.dq
        row: Vec = rows[(self._n_given - 1) % len(rows)]
        return row

    @property
    def held(self) -> dict[str, str]:
        """Causes that hold limbs and other joints, by name."""
        causes = zip(self._groups, self.kept_by.tolist(), strict=True)
        return {
            name: self._describe_pair(self.pair_names[cause])
            if cause >= 0
            else describe_refusal(-1 - cause)
            for name, cause in causes
            if cause != NO_PAIR
        }

    @property
    def is_at_rest(self) -> bool:
        """Whether the last command stood still."""
        return bool((np.abs(self.dq_cmd) <= _AT_REST).all())

    def step(
        self,
        q_des: Vec | None,
        dt: float,
        age: float = 0.0,
        q_meas: Vec | None = None,
        *,
        dq_des: Vec | None = None,
        is_blocked: bool = False,
    ) -> GateResult:
        """Take one period toward the desired positions, within every limit.

        Args:
            q_des: Positions at this instant, shape (n,), [rad]; None brakes.
            dt: Period, [s]; any other than h brakes.
            age: Age of ``q_des`` at arrival, [s].
            q_meas: Measured, shape (n,), [rad], also kept clear.
            dq_des: Velocity, shape (n,), [rad/s], limited by V and A; None estimates
                it, zero after a jump.
            is_blocked: Keep the command within E of ``q_meas`` (L1).

        Returns:
            The vector to send, and the clauses that acted.
        """
        events: list[Reason] = []
        is_due = _is_within(dt, *self._periods)
        if not is_due:
            events.append(Reason.DT_CHANGED)
        is_fresh = _is_within(age, 0.0, self.settings.stale_after)
        if q_des is not None and not is_fresh:
            events.append(Reason.COMMAND_STALE)
        motion = self._parts.motion
        if self._is_stepping:
            self._take_back()
        self._is_stepping = True
        _put(motion.q_meas, q_meas)
        if q_des is None or not (is_fresh and is_due):
            _put(motion.target, None)  # what has no target brakes
            _, _, clearance = step(*self._memory, self._h, 1.0, False, False, False)
        else:
            _put(motion.target, q_des)
            if dq_des is not None:
                _put(motion.dq_des, dq_des)
            clearance = self._advance(dq_des is not None, is_blocked, events)
        smoothing = self._parts.smoothing
        self.q_cmd, self.dq_cmd = _keep(smoothing.q_cmd), _keep(smoothing.dq_cmd)
        self._n_given += 1
        self._is_synchronised = motion.is_synchronised.item()
        self._is_sliding = motion.is_sliding.item()
        self._is_stepping = False
        return GateResult(self.q_cmd, tuple(events), clearance)

    def _advance(
        self, has_feedforward: bool, is_blocked: bool, events: list[Reason]
    ) -> float:
        self._parts.tools.speed[0] = self.tool_speed
        # no number is no share; other types would be compiled for anew
        scale = max(0.0, min(float(self.speed_scale), 1.0))
        flags, n_rows, clearance = step(
            *self._memory, self._h, scale, has_feedforward, bool(is_blocked), False
        )
        if n_rows > 0 or flags & IS_RESTING:
            events.append(Reason.CLEARANCE)
        if n_rows > 0:
            self._parts.motion.v_next[:] = self._avoid(n_rows, events)
            more, _, _ = step(*self._memory, self._h, scale, False, False, True)
            flags |= more
        if flags:
            events += [reason for flag, reason in _FLAGS.items() if flags & flag]
        return clearance

    def _avoid(self, n_rows: int, events: list[Reason]) -> Vec:
        v, is_held = self._sliding.find_velocity(n_rows, self._h)
        if v is None:
            events.append(Reason.QP_FAILED)
            return self._parts.box.brake
        self._parts.motion.is_sliding[0] = is_held
        return v


def _check_bodies(robot: RobotModel) -> None:
    if robot.bare_links:
        urdf = robot.urdf_path.name
        raise ConfigError(
            f"gate: expected collision primitives of links of {urdf}, got meshes "
            f"alone, or none, for {', '.join(robot.bare_links)}; use "
            f"robot.enclose_meshes(), run `paprle new-robot {urdf}`, or pass "
            "allow_no_bodies=True (no self-collision check)"
        )


def _check_turning(info: RobotInfo) -> None:
    if info.dddq_max is None:
        return
    least = 2.0 * info.ddq_max / LONGEST_TURNING
    if not (info.dddq_max >= least).all():
        raise ConfigError(
            f"gate: expected dddq_max of at least {least.max():g}, which turns every "
            f"joint's acceleration around within {LONGEST_TURNING:g} s, got "
            f"{info.dddq_max.min():g}; raise it, or lower ddq_max"
        )


def compute_command_limits(info: RobotInfo, settings: GateSettings) -> tuple[Vec, Vec]:
    """Return the position limits of commands (M2), with a margin for arms."""
    margin = find_margin(info.q_min, info.q_max, settings.position_margin)
    margin = np.where(find_arm_joints(info), margin, 0.0)
    return info.q_min + margin, info.q_max - margin


def find_arm_joints(info: RobotInfo) -> Bools:
    """Return a mask of joints but grippers, shape (n,)."""
    grippers = {limb.gripper.joint for limb in info.limbs if limb.gripper}
    return np.array([name not in grippers for name in info.joint_names])


def _is_within(value: Any, low: float, high: float) -> bool:
    try:
        return bool(low <= value <= high)
    except (TypeError, ValueError):
        return False


def _put(place: Vec, values: Any) -> None:
    # the type itself, not an equal one: most values are, and the rest are converted
    if type(values) is not np.ndarray or values.dtype is not _NUMBERS:
        values = _as_vector(values)
    place[...] = values if values.shape == place.shape else np.nan


def _keep(values: Vec) -> Vec:
    kept = values.copy()
    kept.setflags(write=False)
    return kept


def _as_vector(values: Any) -> Vec:
    try:
        array = np.asarray(values)
        is_number = array.dtype.kind in "fiu"
        with np.errstate(over="ignore"):
            return array.astype(np.float64) if is_number else np.empty(0)
    except Exception:  # noqa: BLE001 - what is no array may raise anything
        return np.empty(0)
