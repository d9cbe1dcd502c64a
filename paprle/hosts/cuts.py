"""How much of what is asked is cut, and at which joint: ``velocity of joint2, 12 %``.

It is found five times a second beside the tick: how much of the way that was asked for
since the last look the command did not go. A joint that is at its limit while nothing
more is asked for only catches up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.types import SessionState, Vec
from paprle.gate.reason_text import list_words
from paprle.gate.reasons import Reason, to_bits
from paprle.retargeting.state import Target
from paprle.robot import RobotModel
from paprle.session.core import Core

_ARM = 0.2  # [m/rad] chosen: rotation against translation, as ik.rotation_weight
_STILL = 1e-3  # [m] and [rad] chosen: in a look; what moves less asks for nothing
_WORTH = 0.05  # chosen: a share that a person notices
_AT_SPEED = 0.97  # chosen: share of V, as a shortfall has it
_LONGEST_NS = 1_000_000_000  # [ns] chosen: ways that were longer ago tell nothing
_SHORTEST_NS = 50_000_000  # [ns] chosen: in less nothing goes far enough to tell
_SLOWING = to_bits({Reason.CLEARANCE, Reason.TOOL_SPEED, Reason.SINGULARITY})
_CATCHES_UP = 0.0


class Cut(NamedTuple):
    """What is cut of the motion that is asked of a limb.

    Attributes:
        what: What cuts it: ``velocity of joint2``.
        share: How much of the asked way was not gone, 0 … 1; 0: it catches up.
    """

    what: str
    share: float

    def __str__(self) -> str:
        """Say it: ``velocity of joint2, 12 %``."""
        if self.share == _CATCHES_UP:
            return f"{self.what}, catching up"
        return f"{self.what}, {100.0 * self.share:.0f} %"


class _Ways(NamedTuple):
    """Where a limb was asked to be and told to be at a look.

    Attributes:
        asked: Joints, shape (n_l,), or a pose.
        sent: The same of the command.
    """

    asked: Vec | pin.SE3
    sent: Vec | pin.SE3


class Cuts:
    """Finds what is cut.

    Attributes:
        newest: What was found last.
    """

    def __init__(self, robot: RobotModel) -> None:
        self._robot = robot
        self._data = {
            name: limb.model.createData() for name, limb in robot.limbs.items()
        }  # of its own: the tick uses the limb's
        self._before: dict[str, _Ways] = {}
        self._looked_ns = 0
        self.newest: tuple[Cut, ...] = ()

    def update(self, core: Core) -> None:
        """Look at the newest tick and at what the gate did last."""
        since_ns = core.now_ns - self._looked_ns
        if 0 <= since_ns < _SHORTEST_NS:
            return
        before = self._before if since_ns <= _LONGEST_NS else {}
        self._before, self._looked_ns = {}, core.now_ns
        self.newest = ()
        target = core.motion.following.target
        if core.state is not SessionState.ENGAGED or target is None:
            return
        for i, name in enumerate(self._robot.limbs):
            if core.motion.driver[i] >= 0:
                self._before[name] = self._look(core, target, name, i)
        found = (
            cut
            for name, now in self._before.items()
            if name in before
            for cut in self._find(core, name, before[name], now)
        )
        self.newest = tuple(found)

    def _look(self, core: Core, target: Target, name: str, i: int) -> _Ways:
        limb = self._robot.limbs[name]
        q_cmd = np.array(core.motion.status["q_cmd"][limb.indices])
        if not target.is_asked[i]:
            return _Ways(np.array(target.q[limb.indices]), q_cmd)
        data = self._data[name]
        pin.forwardKinematics(limb.model, data, q_cmd)
        sent = pin.updateFramePlacement(limb.model, data, limb.frame_id).copy()
        return _Ways(pin.SE3(np.array(target.T[i])), sent)

    def _find(self, core: Core, name: str, before: _Ways, now: _Ways) -> Iterator[Cut]:
        """Yield what cuts the motion of a limb."""
        robot, own = self._robot, self._robot.limbs[name].indices
        if type(before.asked) is not type(now.asked):
            return
        asked = _measure(before.asked, now.asked)
        sent = _measure(before.sent, now.sent)
        dq = np.array(core.motion.status["dq_cmd"][own])
        speeds = np.abs(dq) / robot.dq_max[own]
        bits = core.motion.gate_view[1]
        fastest = int(speeds.argmax())
        several = f"{name}: " if len(robot.limbs) > 1 else ""
        joints = [f"{several}{{}} of {robot.joint_names[k]}" for k in own]
        is_joints = not isinstance(now.asked, pin.SE3)
        if speeds[fastest] >= _AT_SPEED:
            one = slice(fastest, fastest + 1) if is_joints else slice(None)
            share = find_share(asked[one], sent[one])
            yield Cut(joints[fastest].format("velocity"), share)
            return
        share = find_share(asked, sent)
        if share < _WORTH:
            return
        if bits & _SLOWING:
            yield Cut(several + ", ".join(list_words(bits & _SLOWING)), share)
        elif bits & to_bits({Reason.ACCELERATION}):
            missing = np.abs(core.motion.dq_des[own] - dq) / robot.ddq_max[own]
            yield Cut(joints[int(missing.argmax())].format("acceleration"), share)


def _measure(before: Vec | pin.SE3, now: Vec | pin.SE3) -> Vec:
    """Return the way between two looks: of joints, or of a pose as six numbers, [m]."""
    if isinstance(now, pin.SE3) and isinstance(before, pin.SE3):
        turn = pin.log3(now.rotation @ before.rotation.T)
        return np.concatenate([now.translation - before.translation, _ARM * turn])
    way: Vec = np.asarray(now) - np.asarray(before)
    return way


def find_share(asked: Vec, sent: Vec) -> float:
    """Return how much of the way that is asked was not gone, 0 … 1.

    Args:
        asked: The way since the last look, shape (k,).
        sent: The command's in the same time, shape (k,); what leads elsewhere is none.
    """
    length = float(np.linalg.norm(asked))
    if length < _STILL:
        return _CATCHES_UP
    gone = float(asked @ sent) / length**2
    return 1.0 - min(max(gone, 0.0), 1.0)
