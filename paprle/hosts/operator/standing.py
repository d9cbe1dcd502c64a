"""Detection of limbs that stand for 0.5 s although asked to move."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from paprle.contracts.types import SessionState, Vec
from paprle.gate.reason_text import list_words
from paprle.ipc.held import read_held
from paprle.recording.shortage import SHORT_POS, SHORT_ROT
from paprle.robot import RobotModel
from paprle.robot.arrays import Ints
from paprle.session.core import Core

_AFTER_NS = 500_000_000  # [ns] spec: a reason is shown after 0.5 s
_STILL = 2e-3  # [rad] or [m] chosen: in half a second; what moves by less stands
_ASKED = 0.02  # chosen: of a joint's speed limit times 1 s, as far as it is asked to go
_LONGEST = 1.0  # [s] chosen: a look that comes later counts as that much


class Stand(NamedTuple):
    """A limb that stands although asked to move."""

    name: str
    cause: str

    def __str__(self) -> str:
        return f"{self.name} stands: {self.cause}"


class _Group:
    def __init__(self, name: str, limb: int, own: Ints, *, is_arm: bool) -> None:
        self.name, self.limb, self.own, self.is_arm = name, limb, own, is_arm
        self._asked_ns = 0
        self._seen: deque[tuple[int, Vec]] = deque()  # of the last half second

    def update(self, q_cmd: Vec, now_ns: int, *, is_asked: bool) -> None:
        self._seen.append((now_ns, np.array(q_cmd)))
        while len(self._seen) > 1 and now_ns - self._seen[1][0] >= _AFTER_NS:
            self._seen.popleft()
        if not is_asked:
            self._asked_ns = now_ns

    def forget(self) -> None:
        self._seen.clear()

    def is_still(self, now_ns: int) -> bool:
        if not self._seen or now_ns - self._seen[0][0] < _AFTER_NS:
            return False
        q_cmd = self._seen[-1][1]
        return all(float(np.abs(q - q_cmd).max()) <= _STILL for _, q in self._seen)

    def stands(self, now_ns: int) -> bool:
        return self.is_still(now_ns) and now_ns - self._asked_ns >= _AFTER_NS


class StandingDetector:
    """Detects standing limbs and counts their time.

    Attributes:
        is_still: Some limb stands, and no other moves.
    """

    def __init__(self, robot: RobotModel) -> None:
        self._robot = robot
        self._groups = list(_make_groups(robot))
        self._session: Counter[str] = Counter()
        self._episode: Counter[str] = Counter()
        self._begin_ns: int | None = None
        self._last_ns = 0
        self.newest: tuple[Stand, ...] = ()
        self.is_still = False

    def update(self, core: Core, causes: Mapping[str, str]) -> None:
        """Check the newest tick."""
        now_ns = core.now_ns
        dt = min((now_ns - self._last_ns) * 1e-9, _LONGEST) if self._last_ns else 0.0
        self._last_ns = now_ns
        self.newest, self.is_still = (), False
        if core.state is not SessionState.ENGAGED:
            for group in self._groups:
                group.forget()
            return
        self.newest = tuple(self._find(core, causes))
        are_still = all(group.is_still(now_ns) for group in self._groups)
        self.is_still = bool(self.newest) and are_still
        begin_ns = core.episodes.begin_ns
        if begin_ns != self._begin_ns:
            self._begin_ns, self._episode = begin_ns, Counter()
        for tally in (self._session, self._episode):
            for one in self.newest:
                tally[str(one)] += dt  # type: ignore[assignment]
        core.episodes.note_stood(begin_ns, _rank(self._episode))

    def summarise(self) -> str:
        """Return standing limbs with times; empty if none."""
        told = [f"{what} {s:.1f} s" for what, s in _rank(self._session).items()]
        return f"asked to move, but {', '.join(told)}" if told else ""

    def _find(self, core: Core, causes: Mapping[str, str]) -> Iterator[Stand]:
        motion, held = core.motion, read_held(core.motion.status)
        for group in self._groups:
            q_cmd = motion.status["q_cmd"][group.own]
            is_asked = self._is_asked(core, group, q_cmd)
            group.update(q_cmd, core.now_ns, is_asked=is_asked)
            if not group.stands(core.now_ns):
                continue
            cause = held.get(group.name) or causes.get(group.name, "")
            acting = ", ".join(list_words(motion.gate_view[1]))
            yield Stand(group.name, cause or acting or "nothing is known to hold it")

    def _is_asked(self, core: Core, group: _Group, q_cmd: Vec) -> bool:
        motion, target = core.motion, core.motion.following.target
        i = group.limb
        if target is None or motion.driver[i] < 0:
            return False
        asked = motion.q_des[group.own]
        if not (group.is_arm and target.is_asked[i]):
            asked = np.where(np.isnan(target.q[group.own]), asked, target.q[group.own])
        far = _ASKED * self._robot.dq_max[group.own]
        if bool((np.abs(asked - q_cmd) > far).any()):
            return True
        pos, rot = float(motion.err_pos[i]), float(motion.err_rot[i])
        return group.is_arm and (pos >= SHORT_POS or rot >= SHORT_ROT)


def _rank(tally: Counter[str]) -> dict[str, float]:
    return {what: round(seconds, 2) for what, seconds in tally.most_common()}


def _make_groups(robot: RobotModel) -> Iterator[_Group]:
    for i, (name, limb) in enumerate(robot.limbs.items()):
        yield _Group(name, i, limb.indices, is_arm=True)
        if limb.gripper is not None:
            at = robot.joint_names.index(limb.gripper.joint)
            yield _Group(limb.gripper.joint, i, np.array([at]), is_arm=False)
