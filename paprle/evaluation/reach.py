"""What a limb was short of, sample by sample, and for how long.

The IK solves inside the gate's limits, so that a gate which never acted does not mean
that the robot was where it was asked to be. What the IK left of the way is recorded;
why it was left follows from the joints that it asked for:

* out of reach: no way from there leads the hand to it. Joints that their limits keep
  from helping are named.
* late: the joints could bring it nearer and were at V or at A, or were catching up.
* held back by the gate: it sent less than it was asked for, for a reason of its own.
* not followed: the robot stayed off its command for longer than any delay explains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.settings import GateSettings
from paprle.contracts.types import GateState, RobotInfo, Vec
from paprle.evaluation.descent import (
    AT_BOUND,
    REACHED_POS,
    REACHED_ROT,
    Asked,
    descend,
)
from paprle.evaluation.metrics import Spans, find_spans, is_inside, is_outside
from paprle.evaluation.poses import Trajectory, interpolate, measure_angles
from paprle.gate.gate import compute_command_limits
from paprle.gate.reasons import Reason
from paprle.robot.chain import Limb

Rows = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
Json = dict[str, Any]

AT_RATE = 0.99  # chosen: of V or A; the IK stays 1e-9 below, stamps are rounded
HELD = 1e-3  # [rad] or [m] chosen: what the gate may be behind without holding back
MOST_LOOKS = 2000  # chosen: at targets that were not reached; some seconds of work
LOOK = 0.02  # [s] chosen: no hand goes out of reach and back within it
FOLLOWED_POS = 0.005  # [m] chosen: several times what drives leave of a command
FOLLOWED_ROT = 0.05  # [rad] chosen: likewise, 3°
SOON, STEP = 0.3, 0.01  # [s] chosen: longer than the delay of any robot that we know
LONGEST = 0.25  # [s] spec: max_gap of the offline leader; a sample says no more than it

KINDS: Mapping[Reason, str] = {
    Reason.POSITION: "bound",
    Reason.VELOCITY: "velocity",
    Reason.ACCELERATION: "acceleration",
    Reason.BLOCKED: "blocked",
    Reason.CLEARANCE: "clearance",
    Reason.UNVERIFIED: "unverified",
    Reason.TOOL_SPEED: "tool_speed",
    Reason.SINGULARITY: "singularity",
}
"""What the gate gives less for, by reason; silences and faults are no limits."""
_OBSTACLES = (
    "blocked",
    "not_followed",
    "clearance",
    "unverified",
    "tool_speed",
    "singularity",
)
"""Kinds of which reaching a limit of the joints is but a consequence."""
_RATES = (("velocity", 1, "dq_max"), ("acceleration", 2, "ddq_max"))
"""Limits of derivatives of q: kind of cause, order, name in ``RobotInfo``."""


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Whether each target of a limb was reached, and what kept it from that.

    Attributes:
        t: When the targets were captured, shape (N,), increasing, [s].
        lasted: How long each was the newest, shape (N,), [s].
        is_short: Targets that were not reached, shape (N,).
        left: What was left of the way, shape (N,), [m].
        causes: By kind and joint (empty: no joint of its own), shape (N,) each.
        counts_rotation: Whether orientation was asked for, too.
    """

    t: Vec
    lasted: Vec
    is_short: Bools
    left: Vec
    causes: Mapping[tuple[str, str], Bools]
    counts_rotation: bool

    @property
    def short(self) -> Spans:
        """Stretches in which targets were not reached, shape (S, 2), [s]."""
        spans = find_spans(self.t, self.is_short)
        rows = np.searchsorted(self.t, spans[:, 1])
        spans[:, 1] += self.lasted[rows]
        return spans


def find_asked(limb: Limb, config: Mapping[str, Any]) -> Asked:
    """Return what the IK of a limb was asked for, from the recorded config."""
    ik = config.get("ik") or {}
    own = (ik.get("limbs") or {}).get(limb.name) or {}
    given = {**ik, **{key: value for key, value in own.items() if value is not None}}
    weight = float(given.get("rotation_weight", 0.2))
    free = {"x": 3, "y": 4, "z": 5}.get(given.get("free_axis", "none"))
    rows = tuple(row for row in range(6) if row != free)
    if weight == 0.0 or len(limb.joint_names) < len(rows):
        return Asked(0.0, (0, 1, 2))  # position comes first, rotation gets the rest
    return Asked(weight, rows)


class Recorded(NamedTuple):
    """What of a recording tells of one limb.

    Attributes:
        ticks: Session ticks that used a new sample, N of them.
        gate: Gate ticks, M of them.
        t_ticks: When the samples were captured, shape (N,), [s].
        t_gate: When the gate wrote, shape (M,), [s].
        commanded: The hand's poses at q_cmd.
        measured: Its poses at q_meas.
    """

    ticks: Rows
    gate: Rows
    t_ticks: Vec
    t_gate: Vec
    commanded: Trajectory
    measured: Trajectory


def find_reach(
    limb: Limb,
    recorded: Recorded,
    spans: Spans,
    robot: RobotInfo,
    config: Mapping[str, Any],
) -> Reach:
    """Find which targets of a limb were reached, and why others were not.

    Args:
        limb: The limb.
        recorded: What was recorded of it.
        spans: Stretches of ENGAGED, shape (S, 2), [s].
        robot: The robot as recorded.
        config: The recorded config.

    Returns:
        What was found.
    """
    keep = _is_newer(recorded.t_ticks) & is_inside(recorded.t_ticks, spans)
    ticks, t_tick = recorded.ticks[keep], recorded.t_ticks[keep]
    lasted = _measure_lasted(t_tick, spans)
    column = [info.name for info in robot.limbs].index(limb.name)
    asked = find_asked(limb, config)
    q = limb.take(ticks["q_des"].T).T
    left_pos = np.nan_to_num(ticks["err_pos"][:, column])
    left_rot = np.nan_to_num(ticks["err_rot"][:, column])
    is_left = left_pos > REACHED_POS
    if asked.counts_rotation:
        is_left |= left_rot > REACHED_ROT
    bounds = [limb.take(bound) for bound in _find_bounds(robot, config)]
    ways = t_tick, q, ticks["target"][:, column]
    causes = _find_stuck(limb, asked, ways, is_left, bounds)
    is_beyond = _add_beyond(limb, q, bounds, causes)
    stuck = causes["out_of_reach", ""]
    times = t_tick, recorded.t_gate, lasted
    held = _find_held(limb, asked, recorded.gate, times, is_left)
    off = _find_off(recorded.commanded, recorded.measured)
    is_off = ~is_outside(t_tick, off, lasted) & ~held["blocked"]
    held["not_followed"] = is_off
    is_held = np.logical_or.reduce(list(held.values()))
    is_explained = stuck | np.logical_or.reduce([held[kind] for kind in _OBSTACLES])
    for kind, flags in held.items():
        causes[kind, ""] = flags if kind in _OBSTACLES else flags & ~is_explained
    is_late = is_left & ~is_explained
    late = _find_late(limb, q, _find_steps(ticks, column), is_late, robot)
    causes |= late
    at_limit = np.logical_or.reduce([is_held, *late.values()])
    causes["catching_up", ""] = is_late & ~at_limit
    return Reach(
        t=t_tick,
        lasted=lasted,
        is_short=is_left | is_held | is_beyond,
        left=left_pos,
        causes={key: flags for key, flags in causes.items() if flags.any()},
        counts_rotation=asked.counts_rotation,
    )


def describe_reach(reach: Reach | None) -> Json | None:
    """Return the figures of ``reach`` in a limb's entry of a report.

    Returns:
        ``reached_percent`` of the time, ``short_s``, and ``short``: what it was for,
        the most first, each with ``cause``, ``percent`` of the time, ``seconds``,
        ``longest_s``, ``farthest_mm`` and ``joints`` with their percentages. Causes
        may overlap. None where nothing is known.
    """
    if reach is None or not reach.lasted.sum():
        return None
    total = float(reach.lasted.sum())
    kinds = dict.fromkeys(kind for kind, _ in reach.causes)
    entries = [_describe_cause(reach, kind, total) for kind in kinds]
    short = float(reach.lasted[reach.is_short].sum())
    return {
        "reached_percent": 100.0 * (1.0 - short / total),
        "short_s": short,
        "counts_rotation": reach.counts_rotation,
        "short": sorted(entries, key=lambda entry: -float(entry["seconds"])),
    }


def _describe_cause(reach: Reach, kind: str, total: float) -> Json:
    own = {joint: on for (name, joint), on in reach.causes.items() if name == kind}
    is_on = np.logical_or.reduce(list(own.values()))
    seconds = float(reach.lasted[is_on].sum())
    rows = np.concatenate([[0.0], np.cumsum(np.where(is_on, reach.lasted, 0.0))])
    starts = np.flatnonzero(np.diff(np.concatenate([[False], is_on])) & is_on)
    ends = np.flatnonzero(np.diff(np.concatenate([is_on, [False]])) & is_on) + 1
    shares = {
        joint: 100.0 * float(reach.lasted[on].sum()) / total
        for joint, on in own.items()
        if joint
    }
    return {
        "cause": kind,
        "percent": 100.0 * seconds / total,
        "seconds": seconds,
        "longest_s": float((rows[ends] - rows[starts]).max()),
        "farthest_mm": 1e3 * float(reach.left[is_on].max()),
        "joints": dict(sorted(shares.items(), key=lambda share: -share[1])),
    }


def _is_newer(t: Vec) -> Bools:
    """Tell which times are later than all before them."""
    newest = np.maximum.accumulate(np.concatenate([[-np.inf], t]))
    return np.asarray(t > newest[:-1])


def _measure_lasted(t: Vec, spans: Spans) -> Vec:
    """Return how long each sample was the newest within its stretch, [s]."""
    if not len(t):
        return np.zeros(0)
    end = spans[np.searchsorted(spans[:, 0], t, side="right") - 1, 1]
    until = np.minimum(np.append(t[1:], np.inf), end)
    lasted: Vec = np.clip(until - t, 0.0, LONGEST)
    return lasted


def _find_bounds(robot: RobotInfo, config: Mapping[str, Any]) -> tuple[Vec, Vec]:
    margin = float((config.get("gate") or {}).get("position_margin", 0.0))
    return compute_command_limits(robot, GateSettings(position_margin=margin))


def _find_stuck(
    limb: Limb,
    asked: Asked,
    ways: tuple[Vec, Vec, Vec],
    is_left: Bools,
    bounds: Sequence[Vec],
) -> dict[tuple[str, str], Bools]:
    """Find targets that no motion from there leads to, and joints in the way."""
    t, q, targets = ways
    known = np.isfinite(targets).all(axis=1) & np.isfinite(q).all(axis=1)
    rows = np.flatnonzero(is_left & known)
    stuck = np.zeros(len(is_left), dtype=bool)
    in_way = np.zeros(q.shape, dtype=bool)
    if len(rows):
        period = max(float(np.median(np.diff(t))), 1e-6) if len(t) > 1 else LOOK
        step = max(1, -(-len(rows) // MOST_LOOKS), round(LOOK / period))
        looked = rows[::step]
        found = [descend(limb, asked, q[k], targets[k], bounds) for k in looked]
        # Of samples in between the next look tells, or the last.
        of = np.minimum(np.searchsorted(looked, rows), len(looked) - 1)
        stuck[rows] = np.array([not is_met for is_met, _ in found])[of]
        in_way[rows] = np.array([who for _, who in found])[of] & stuck[rows, None]
    return {
        ("out_of_reach", ""): stuck,
        **{("bound", name): in_way[:, j] for j, name in enumerate(limb.joint_names)},
    }


def _add_beyond(
    limb: Limb,
    q: Vec,
    bounds: Sequence[Vec],
    causes: dict[tuple[str, str], Bools],
) -> Bools:
    """Add joints that were asked to go beyond their bounds; tell which samples."""
    beyond = (q < bounds[0] - AT_BOUND) | (q > bounds[1] + AT_BOUND)
    for j, name in enumerate(limb.joint_names):
        causes["bound", name] = causes["bound", name] | beyond[:, j]
    return np.asarray(beyond.any(axis=1))


def _find_held(
    limb: Limb,
    asked: Asked,
    gate: Rows,
    t: tuple[Vec, Vec, Vec],
    is_left: Bools,
) -> dict[str, Bools]:
    """Find samples of which the gate gave less, by kind."""
    t_tick, t_gate, lasted = t
    q_des, q_cmd = (limb.take(gate[name].T).T for name in ("q_des", "q_cmd"))
    bits = np.uint64(sum(1 << reason for reason in KINDS))
    is_behind = np.abs(q_des - q_cmd).max(axis=1, initial=0.0) > HELD
    is_behind &= (gate["reasons"] & bits) != 0
    is_behind &= gate["state"] != GateState.DISARMED
    is_far = is_behind.copy()
    for k in np.flatnonzero(is_behind):
        is_far[k] = _is_apart(limb, asked, q_des[k], q_cmd[k])
    held: dict[str, Bools] = {}
    for reason, kind in KINDS.items():
        acts = (gate["reasons"] >> np.uint64(reason) & np.uint64(1)).astype(bool)
        behind, far = (
            ~is_outside(t_tick, find_spans(t_gate, acts & on), lasted)
            for on in (is_behind, is_far)
        )
        held[kind] = far | (is_left & behind)
    return held


def _find_off(commanded: Trajectory, measured: Trajectory) -> Spans:
    """Find stretches in which a robot was at no time soon where its command was."""
    if not len(commanded) or not len(measured):
        return np.zeros((0, 2))
    is_off = np.ones(len(commanded), dtype=bool)
    for delay in np.arange(0.0, SOON, STEP):
        seen = interpolate(measured, commanded.t + delay)
        apart = np.linalg.norm(seen.p - commanded.p, axis=1) > FOLLOWED_POS
        turned = measure_angles(seen.quat_xyzw, commanded.quat_xyzw) > FOLLOWED_ROT
        is_off &= apart | turned
    return find_spans(commanded.t, is_off)


def _is_apart(limb: Limb, asked: Asked, q: Vec, q_other: Vec) -> bool:
    """Tell whether the hand at two postures is not at one target."""
    T = limb.fk(q).actInv(limb.fk(q_other))
    is_turned = asked.counts_rotation and (
        float(np.linalg.norm(pin.log3(T.rotation))) > REACHED_ROT
    )
    return is_turned or float(np.linalg.norm(T.translation)) > REACHED_POS


def _find_steps(ticks: Rows, column: int) -> Vec:
    """Return the time from the limb's sample before to this one, shape (N,), [s]."""
    driver = ticks["driver"][:, column]
    own = ticks["sample"]["limb_ns"][np.arange(len(ticks)), np.maximum(driver, 0)]
    stamps = np.where(driver >= 0, own, ticks["sample"]["stamp_ns"])
    return np.asarray(np.diff(stamps, prepend=stamps[:1]) * 1e-9, dtype=np.float64)


def _find_late(
    limb: Limb, q: Vec, dt: Vec, is_late: Bools, robot: RobotInfo
) -> dict[tuple[str, str], Bools]:
    """Find the joints at V and at A where the limb was late."""
    causes: dict[tuple[str, str], Bools] = {}
    derivatives = list(_differentiate(q, dt, len(_RATES)))
    for kind, order, name in _RATES:
        most = AT_RATE * limb.take(getattr(robot, name))
        at_limit = np.abs(derivatives[order - 1]) >= most
        at_limit &= is_late[:, None]
        for j, joint in enumerate(limb.joint_names):
            causes[kind, joint] = at_limit[:, j]
    return causes


def _differentiate(q: Vec, dt: Vec, n: int) -> Iterator[Vec]:
    """Yield the first n differences of q over its steps; 0 where there was no step."""
    is_step = (dt > 0.0) & (dt < LONGEST)
    steps: Vec = np.where(is_step, dt, np.inf)[:, None]
    values: Any = q
    for _ in range(n):
        change = np.diff(values, axis=0, prepend=values[:1])
        values = np.divide(change, steps)
        yield values
