"""Causes of a limb's distance from its target, by IK, gate or robot."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from paprle.contracts.kit.sampling import LEAST_AGE
from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import RobotInfo, SessionState, Vec
from paprle.gate.reason_text import list_words
from paprle.gate.reasons import Reason, to_bits
from paprle.recording.shortage import SHORT_POS, SHORT_ROT
from paprle.robot.chain import Limb
from paprle.tracking.arm import TrackedLimb, find_asked, to_way
from paprle.tracking.findings import TrackingFinding, TrackingVerdict
from paprle.tracking.looks import Look
from paprle.tracking.saturation import find_cuts

NameKept = Callable[[Vec, Vec], str]
"""Says what is kept clear of what between a command and what is asked, both (n,)."""

OFF_POS = 5e-3  # [m] chosen: several times what drives leave of a command
OFF_ROT = 0.05  # [rad] chosen: likewise, 3°
_TRAVEL = "the hand is farther than retarget.max_travel from where it engaged"
_LAG = "catching up"
_STALL = "the robot does not come along"
_KEEPING = to_bits({Reason.CLEARANCE, Reason.UNVERIFIED})
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


class Classifier:
    """Classifier of a robot's tracking, without memory."""

    def __init__(
        self,
        robot: RobotInfo,
        limbs: Mapping[str, Limb],
        gate: GateSettings,
        config: Mapping[str, Any],
        name_kept: NameKept,
    ) -> None:
        sag = float((config.get("env") or {}).get("sag", 0.0))
        self._arms = [
            TrackedLimb(limb, robot, gate, find_asked(limb, config), sag)
            for limb in limbs.values()
        ]
        self._name_kept = name_kept

    def classify(self, look: Look, looks: Sequence[Look]) -> TrackingVerdict:
        """Return the causes of errors, by the engagement's looks."""
        if not looks:
            return TrackingVerdict(pause=_find_pause(look))
        findings, cuts, is_driven, is_away = list[TrackingFinding](), [], False, False
        for i, arm in enumerate(self._arms):
            if look.driver[i] < 0:
                continue
            is_driven = True
            own = _take_alike(looks, i)
            found = list(self._judge(arm, i, own))
            q = arm.lift(look.q_meas[arm.indices], _take_commands(arm, own))
            is_away |= _is_off(_find_gap(arm, i, q, own))
            findings += found
            cuts += list(find_cuts(arm, i, own, self._sign(arm)))
        if is_driven:
            findings += self._judge_gate(look)
        return TrackingVerdict(tuple(findings), tuple(cuts), is_driven, is_away)

    def _sign(self, arm: TrackedLimb) -> str:
        return f"{arm.limb.name}: " if len(self._arms) > 1 else ""

    def _judge(
        self, arm: TrackedLimb, i: int, looks: Sequence[Look]
    ) -> Iterator[TrackingFinding]:
        name, sign, now = arm.limb.name, self._sign(arm), looks[-1]
        if now.is_far[i]:
            yield TrackingFinding(name, "travel", sign + _TRAVEL)
        q, dq = now.q_des[arm.indices], now.dq_des[arm.indices]
        pos, rot = float(now.err_pos[i]), float(now.err_rot[i])
        if np.isnan(pos):
            pinned = arm.find_pinned(q)
            if pinned:
                yield TrackingFinding(name, "bound", sign + pinned)
                return
        elif pos >= SHORT_POS or (arm.asked.counts_rotation and rot >= SHORT_ROT):
            kind, words, is_stuck = arm.find_obstacle(q, dq, now.target[i])
            yield TrackingFinding(name, kind, sign + words, pos, rot, is_stuck)
            return
        late = _find_gap(arm, i, now.q_cmd[arm.indices], looks)
        if _is_off(late) and not now.reasons & ~_NOT_TOLD:
            fastest = arm.find_fastest(now.dq_cmd[arm.indices])
            kind, words = ("velocity", fastest) if fastest else ("lag", _LAG)
            yield TrackingFinding(name, kind, sign + words, *late)
        way = _take_commands(arm, looks)
        q_meas = arm.lift(now.q_meas[arm.indices], way)
        behind = arm.find_joint_gap(q_meas, way)
        if _is_off(behind):
            yield TrackingFinding(name, "stall", sign + _STALL, *behind)

    def _judge_gate(self, look: Look) -> Iterator[TrackingFinding]:
        acting = look.reasons & ~_NOT_TOLD
        if not acting:
            return
        is_keeping = acting & _KEEPING
        kept = look.held if is_keeping else ""
        if is_keeping and not kept:
            kept = self._name_kept(look.q_cmd, look.q_des)
        yield TrackingFinding("", "gate", ", ".join(list_words(acting, kept)))


def _is_off(gap: tuple[float, float]) -> bool:
    return gap[0] > OFF_POS or gap[1] > OFF_ROT


def _find_gap(
    arm: TrackedLimb, i: int, q: Vec, looks: Sequence[Look]
) -> tuple[float, float]:
    way = to_way([one.target[i] for one in looks])
    if way and not np.isnan(looks[-1].err_pos[i]):
        return arm.find_gap(q, way)
    asked = [one.q_des[arm.indices] for one in looks]
    return arm.find_joint_gap(q, asked)


def _take_commands(arm: TrackedLimb, looks: Sequence[Look]) -> list[Vec]:
    return [one.q_cmd[arm.indices] for one in looks]


def _find_pause(look: Look) -> str:
    if look.state is not SessionState.CLUTCHED:
        return ""
    return "silence" if look.silent_ns > LEAST_AGE * 1e9 else "clutch"


def _take_alike(looks: Sequence[Look], i: int) -> Sequence[Look]:
    driver, first = looks[-1].driver[i], len(looks) - 1
    while first > 0 and looks[first - 1].driver[i] == driver:
        first -= 1
    return looks[first:]
