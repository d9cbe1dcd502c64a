"""Shortfall of a limb per sample, by cause.

* out of reach: no motion leads to the target; joints at limits are named.
* late: joints were at V or A, or catching up.
* held back by the gate: it sent less than requested, or its mean that keeps J
  (decision 0006) cut corners.
* not followed: the robot stayed off its command longer than any delay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import GateState, RobotInfo, Vec
from paprle.gate.gate import compute_command_limits
from paprle.gate.reasons import Reason
from paprle.robot.chain import Limb
from paprle.tracking.arm import AT_SPEED, find_asked
from paprle.tracking.classify import OFF_POS, OFF_ROT
from paprle.tracking.descent import (
    AT_BOUND,
    REACHED_POS,
    REACHED_ROT,
    Asked,
    descend,
)
from paprle_lab.evaluation.causes import CauseTally, LimbReach, Samples
from paprle_lab.evaluation.metrics import SpanFinder, Spans, is_inside, is_outside
from paprle_lab.evaluation.poses import (
    Poses,
    Stamps,
    interpolate,
    list_blocks,
    measure_angles,
    take_around,
)
from paprle_lab.evaluation.store import NumberColumn, Rows, Store, Table, cut

Bools = npt.NDArray[np.bool_]

HELD = 1e-3  # [rad] or [m] chosen: what the gate may be behind without holding back
MOST_LOOKS = 2000  # chosen: at targets that were not reached; some seconds of work
LOOK = 0.02  # [s] chosen: no hand goes out of reach and back within it
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
"""Reasons for which the gate sends less; silences and faults are no limits."""
JERK = "jerk"
"""The kind of what the mean keeps back, which has no reason: it acts in each period."""
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


class RecordedLimb(NamedTuple):
    """The recorded data of one limb.

    Attributes:
        stamps: Returns capture stamps of ticks, [ns].
        delay: Usual delay of a command, [s].
    """

    ticks: Table
    gate: Table
    stamps: Callable[[Rows], Stamps]
    origin_ns: int
    commanded: Poses
    measured: Poses
    delay: float


def find_reach(
    limb: Limb,
    recorded: RecordedLimb,
    spans: Spans,
    robot: RobotInfo,
    config: Mapping[str, Any],
) -> LimbReach:
    """Return reached targets, and causes of a limb's shortfall."""
    column = [info.name for info in robot.limbs].index(limb.name)
    asked = find_asked(limb, config)
    targets = _store_targets(limb, recorded, spans, column)
    bounds = [limb.take(bound) for bound in _find_bounds(robot, config)]
    looks = _look(limb, asked, targets, bounds)
    held = _find_held(limb, asked, recorded)
    off = _find_off(recorded.commanded, recorded.measured)
    tally = CauseTally()
    n_left = 0
    for where in cut(len(targets)):
        rows = targets[where]
        later = targets[where.stop : where.stop + 1]["t"]
        lasted = _measure_lasted(np.append(rows["t"], later), spans)[: len(rows)]
        samples = Samples(rows["t"], lasted, rows["left_pos"])
        is_left = _is_left(rows, asked)
        causes = _find_stuck(limb, rows, is_left, looks, n_left)
        n_left += int((is_left & _is_known(rows)).sum())
        is_beyond = _add_beyond(limb, rows["q"], bounds, causes)
        acts = {
            kind: ~is_outside(samples.t, far, lasted)
            | (is_left & ~is_outside(samples.t, behind, lasted))
            for kind, (behind, far) in held.items()
        }
        acts["not_followed"] = ~is_outside(samples.t, off, lasted) & ~acts["blocked"]
        is_explained = causes["out_of_reach", ""] | np.logical_or.reduce(
            [acts[kind] for kind in _OBSTACLES]
        )
        for kind, flags in acts.items():
            causes[kind, ""] = flags if kind in _OBSTACLES else flags & ~is_explained
        is_late = is_left & ~is_explained
        before = min(where.start, len(_RATES))
        late = _find_late(limb, targets[where.start - before : where.stop], robot)
        late = {key: flags[before:] & is_late for key, flags in late.items()}
        causes |= late
        is_held = np.logical_or.reduce(list(acts.values()))
        at_limit = np.logical_or.reduce([is_held, *late.values()])
        causes["catching_up", ""] = is_late & ~at_limit
        tally.add(causes, is_left | is_held | is_beyond, samples)
    return tally.finish(counts_rotation=asked.counts_rotation)


def _store_targets(
    limb: Limb, recorded: RecordedLimb, spans: Spans, column: int
) -> Store:
    n = len(limb.joint_names)
    names = ["t", "dt", "left_pos", "left_rot", "q", "target"]
    dtype = np.dtype(
        [(name, "f8") for name in names[:4]]
        + [("q", "f8", (n,)), ("target", "f8", (7,))]
    )
    kept = Store(dtype)
    newest, last_ns = -np.inf, None
    for where in cut(len(recorded.ticks)):
        ticks = recorded.ticks[where]
        elapsed_ns = recorded.stamps(ticks) - recorded.origin_ns
        t = np.asarray(elapsed_ns * 1e-9, dtype=np.float64)
        so_far = np.maximum.accumulate(np.concatenate([[newest], t]))
        newest = float(so_far[-1])
        is_kept = (t > so_far[:-1]) & is_inside(t, spans)
        ticks, t = ticks[is_kept], t[is_kept]
        rows = np.zeros(len(ticks), dtype)
        own_ns = _find_own_stamps(ticks, column)
        before = own_ns[:1] if last_ns is None else last_ns
        rows["t"], rows["dt"] = t, np.diff(own_ns, prepend=before) * 1e-9
        last_ns = own_ns[-1:] if len(own_ns) else last_ns
        rows["q"] = limb.take(ticks["q_des"].T).T
        rows["target"] = ticks["target"][:, column]
        rows["left_pos"] = np.nan_to_num(ticks["err_pos"][:, column])
        rows["left_rot"] = np.nan_to_num(ticks["err_rot"][:, column])
        kept.append(rows)
    return kept


def _is_left(rows: Rows, asked: Asked) -> Bools:
    is_left = rows["left_pos"] > REACHED_POS
    if asked.counts_rotation:
        is_left |= rows["left_rot"] > REACHED_ROT
    return np.asarray(is_left)


def _is_known(rows: Rows) -> Bools:
    known = np.isfinite(rows["target"]).all(axis=1) & np.isfinite(rows["q"]).all(axis=1)
    return np.asarray(known)


def _measure_lasted(t: Vec, spans: Spans) -> Vec:
    if not len(t):
        return np.zeros(0)
    end = spans[np.searchsorted(spans[:, 0], t, side="right") - 1, 1]
    until = np.minimum(np.append(t[1:], np.inf), end)
    lasted: Vec = np.clip(until - t, 0.0, LONGEST)
    return lasted


def _find_bounds(robot: RobotInfo, config: Mapping[str, Any]) -> tuple[Vec, Vec]:
    margin = float((config.get("gate") or {}).get("position_margin", 0.0))
    return compute_command_limits(robot, GateSettings(position_margin=margin))


class _Looks(NamedTuple):
    """Findings at some targets not reached.

    Attributes:
        is_stuck: No motion leads to the target, shape (L,).
        in_way: Joints at limits that would help, shape (L, n).
    """

    step: int
    is_stuck: Bools
    in_way: Bools


def _look(
    limb: Limb, asked: Asked, targets: Table, bounds: Sequence[Vec]
) -> _Looks | None:
    steps, n = NumberColumn(), 0
    for where in cut(len(targets)):
        rows = targets[max(where.start - 1, 0) : where.stop]
        steps.append(np.diff(rows["t"]))
        rows = targets[where]
        n += int((_is_left(rows, asked) & _is_known(rows)).sum())
    if not n:
        return None
    period = max(steps.percentile(50), 1e-6) if len(steps) else LOOK
    step = max(1, -(-n // MOST_LOOKS), round(LOOK / period))
    found, n_before = [], 0
    for where in cut(len(targets)):
        rows = targets[where]
        rows = rows[_is_left(rows, asked) & _is_known(rows)]
        for row in rows[-n_before % step :: step]:
            found.append(descend(limb, asked, row["q"], row["target"], bounds))
        n_before += len(rows)
    return _Looks(
        step=step,
        is_stuck=np.array([not is_met for is_met, _ in found]),
        in_way=np.array([who for _, who in found]),
    )


def _find_stuck(
    limb: Limb, rows: Rows, is_left: Bools, looks: _Looks | None, n_before: int
) -> dict[tuple[str, str], Bools]:
    own = np.flatnonzero(is_left & _is_known(rows))
    stuck = np.zeros(len(rows), dtype=bool)
    in_way = np.zeros(rows["q"].shape, dtype=bool)
    if looks is not None and len(own):
        # Of samples in between the next look tells, or the last.
        ordinal = n_before + np.arange(len(own))
        of = np.minimum(-(-ordinal // looks.step), len(looks.is_stuck) - 1)
        stuck[own] = looks.is_stuck[of]
        in_way[own] = looks.in_way[of] & stuck[own, None]
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
    beyond = (q < bounds[0] - AT_BOUND) | (q > bounds[1] + AT_BOUND)
    for j, name in enumerate(limb.joint_names):
        causes["bound", name] = causes["bound", name] | beyond[:, j]
    return np.asarray(beyond.any(axis=1))


def _find_held(
    limb: Limb, asked: Asked, recorded: RecordedLimb
) -> dict[str, tuple[Spans, Spans]]:
    bits = np.uint64(sum(1 << reason for reason in KINDS))
    finders = {kind: (SpanFinder(), SpanFinder()) for kind in [*KINDS.values(), JERK]}
    last_limited = -np.inf
    for where in cut(len(recorded.gate)):
        gate = recorded.gate[where]
        t = (gate["stamp_ns"] - recorded.origin_ns) * 1e-9
        q_des, q_cmd = limb.take(gate["q_des"].T).T, _take_later(limb, recorded, where)
        is_behind = np.abs(q_des - q_cmd).max(axis=1, initial=0.0) > HELD
        is_behind &= gate["state"] != GateState.DISARMED
        is_limited = (gate["reasons"] & bits) != 0
        limited_at = np.where(is_limited, t, -np.inf)
        limited_at = np.maximum.accumulate(np.append(last_limited, limited_at))[1:]
        last_limited = limited_at[-1]
        # what a limit held back is in the mean for twice its delay
        keeps_jerk = (t - limited_at > 2.0 * recorded.delay) & (recorded.delay > 0.0)
        keeps_jerk &= gate["state"] == GateState.ENGAGED
        is_behind &= is_limited | keeps_jerk
        is_far = is_behind.copy()
        for k in np.flatnonzero(is_behind):
            is_far[k] = _is_apart(limb, asked, q_des[k], q_cmd[k])
        acts = {
            kind: (gate["reasons"] >> np.uint64(reason) & np.uint64(1)).astype(bool)
            for reason, kind in KINDS.items()
        }
        for kind, flags in {**acts, JERK: keeps_jerk}.items():
            behind, far = finders[kind]
            behind.add(t, flags & is_behind)
            far.add(t, flags & is_far)
    return {kind: (a.finish(), b.finish()) for kind, (a, b) in finders.items()}


def _take_later(limb: Limb, recorded: RecordedLimb, where: slice) -> Vec:
    """Return a limb's commands a delay later, shape (N, n); NaN: none."""
    stamps = recorded.gate[where]["stamp_ns"]
    period_ns = max(int(stamps[-1] - stamps[0]) / max(len(stamps) - 1, 1), 1.0)
    n_ahead = int(np.ceil(recorded.delay * 1e9 / period_ns)) + 1
    gate = recorded.gate[where.start : where.stop + n_ahead]
    t = (gate["stamp_ns"] - recorded.origin_ns) * 1e-9
    later = t[: len(stamps)] + recorded.delay
    joints = limb.take(gate["q_cmd"].T)
    return np.stack([np.interp(later, t, q, right=np.nan) for q in joints], axis=1)


def _find_off(commanded: Poses, measured: Poses) -> Spans:
    finder = SpanFinder()
    if not len(measured):
        return finder.finish()
    for block in list_blocks(commanded):
        is_off = np.ones(len(block), dtype=bool)
        near = take_around(measured, float(block.t[0]), float(block.t[-1]) + SOON)
        for delay in np.arange(0.0, SOON, STEP):
            seen = interpolate(near, block.t + delay)
            apart = np.linalg.norm(seen.p - block.p, axis=1) > OFF_POS
            turned = measure_angles(seen.quat_xyzw, block.quat_xyzw) > OFF_ROT
            is_off &= apart | turned
        finder.add(block.t, is_off)
    return finder.finish()


def _is_apart(limb: Limb, asked: Asked, q: Vec, q_other: Vec) -> bool:
    T = limb.fk(q).actInv(limb.fk(q_other))
    is_turned = asked.counts_rotation and (
        float(np.linalg.norm(pin.log3(T.rotation))) > REACHED_ROT
    )
    return is_turned or float(np.linalg.norm(T.translation)) > REACHED_POS


def _find_own_stamps(ticks: Rows, column: int) -> Stamps:
    driver = ticks["driver"][:, column]
    own = ticks["sample"]["limb_ns"][np.arange(len(ticks)), np.maximum(driver, 0)]
    return np.where(driver >= 0, own, ticks["sample"]["stamp_ns"])


def _find_late(
    limb: Limb, rows: Rows, robot: RobotInfo
) -> dict[tuple[str, str], Bools]:
    causes: dict[tuple[str, str], Bools] = {}
    derivatives = list(_differentiate(rows["q"], rows["dt"], len(_RATES)))
    for kind, order, name in _RATES:
        most = AT_SPEED * limb.take(getattr(robot, name))
        at_limit = np.abs(derivatives[order - 1]) >= most
        for j, joint in enumerate(limb.joint_names):
            causes[kind, joint] = at_limit[:, j]
    return causes


def _differentiate(q: Vec, dt: Vec, n: int) -> Iterator[Vec]:
    """Yield the first n derivatives of q; 0 at steps of no duration."""
    is_step = (dt > 0.0) & (dt < LONGEST)
    steps: Vec = np.where(is_step, dt, np.inf)[:, None]
    values: Any = q
    for _ in range(n):
        change = np.diff(values, axis=0, prepend=values[:1])
        values = np.divide(change, steps)
        yield values
