"""Session's page as a leader.

A held dead-man makes a sample as old as the page's message (A1).
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

import numpy as np
import pinocchio as pin

from paprle.contracts.axes import FREEDOMS, AxisSpeeds
from paprle.contracts.errors import ConfigError
from paprle.contracts.operator.requests import Hands
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import (
    LeaderInfo,
    LeaderSample,
    LimbCommand,
    LimbInfo,
    RobotInfo,
    readonly,
)
from paprle.leaders.web.config import WebConfig

_FRESH_NS = 50_000_000  # chosen: three frames; then the leader speaks for itself
_RELEASE_NS = 25_000_000  # chosen: five ticks of 200 Hz: no release is overlooked
_GRIPPER_SPEED = 1.0  # [1/s] chosen: a full stroke a second
_NO_ROBOT = "hand"  # the limb where nobody says which robot it is for


class Web(Leader):
    """Moves limbs by the page."""

    config: WebConfig
    is_at_page = True
    _hands: Hands | None
    _said: Hands | None
    _sample: LeaderSample | None

    def __init__(self, config: WebConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._limbs: dict[str, LimbInfo | None] = {_NO_ROBOT: None}
        self._rows: dict[str, int] = {}
        self._columns: dict[str, list[int]] = {}
        self._joint_names: dict[str, tuple[str, ...]] = {}
        self._robot = ""
        self._start()

    def meet(self, robot: RobotInfo) -> None:
        """Take the limbs of this robot.

        Raises:
            ConfigError: If it has no such limb.
        """
        names = list(robot.joint_names)
        known = [limb.name for limb in robot.limbs]
        unknown = [name for name in self.config.limbs if name not in known]
        if unknown:
            raise ConfigError(
                f"leader.limbs: expected limbs of {robot.name} ({', '.join(known)}), "
                f"got {', '.join(unknown)}"
            )
        self._robot = robot.name
        wanted = self.config.limbs or _list_arms(robot)
        self._rows = {limb.name: i for i, limb in enumerate(robot.limbs)}
        self._limbs = {limb.name: limb for limb in robot.limbs if limb.name in wanted}
        self._joint_names = {
            limb.name: limb.joint_names for limb in self._limbs.values() if limb
        }
        self._columns = {
            limb: [names.index(joint) for joint in joints]
            for limb, joints in self._joint_names.items()
        }

    @property
    def info(self) -> LeaderInfo:
        """The robot's limbs, not measured."""
        c, limbs = self.config, tuple(self._limbs)
        return LeaderInfo(
            limbs=limbs,
            emits=c.emits,
            joint_names=self._joint_names if c.emits == "joints" else {},
            robot=self._robot if c.emits == "joints" else "",
            axes=dict.fromkeys(limbs, FREEDOMS) if c.emits == "axes" else {},
            axis_speeds=AxisSpeeds(c.speed, c.turn_speed, _GRIPPER_SPEED),
            has_deadman=True,
            has_gripper=c.emits == "pose",
            engage_hint="hold the page's button (m)",
        )

    def preflight(self) -> tuple[str, ...]:
        """Report a missing package."""
        if find_spec("websockets") is not None:
            return ()
        return (
            "leader 'web': expected the package 'websockets' for its page, got none; "
            "install it with: pip install 'paprle[page]'",
        )

    def open(self) -> None:
        """Begin without a held hand."""
        self._start()

    def hear(self, hands: Hands) -> None:
        """Take the page's newest input."""
        before = self._hands
        if before is hands:
            return
        if before is None or hands.n_presses != before.n_presses:
            self._released_ns = self.clock()
        self._hands = hands

    def latest(self) -> LeaderSample | None:
        """Return the newest sample, or None."""
        now_ns, hands, before = self.clock(), self._hands, self._sample
        if hands is None:
            return before
        is_engaged = hands.is_held and now_ns - self._released_ns >= _RELEASE_NS
        is_word = hands.is_held or now_ns - hands.stamp_ns < _FRESH_NS
        is_said = hands is self._said and before is not None
        if is_word and is_said and before and before.engaged == is_engaged:
            return before  # no older word is made newer
        self._said = hands
        stamp_ns = hands.stamp_ns if is_word else now_ns
        last_ns = 0 if before is None else before.stamp_ns
        self._seq += 1
        self._sample = LeaderSample(
            stamp_ns=max(stamp_ns, last_ns),
            seq=self._seq,
            limbs=self._make_commands(hands),
            engaged=is_engaged,
            start=is_engaged,
        )
        return self._sample

    def close(self) -> None:
        """Release the hands."""
        self._hands = None

    def _start(self) -> None:
        self._hands = self._said = self._sample = None
        self._seq, self._released_ns = 0, -_RELEASE_NS

    def _make_commands(self, hands: Hands) -> Mapping[str, LimbCommand]:
        made = {limb: self._make_command(limb, hands) for limb in self._limbs}
        return {limb: command for limb, command in made.items() if command is not None}

    def _make_command(self, limb: str, hands: Hands) -> LimbCommand | None:
        row = self._rows.get(limb, 0)
        pose = hands.poses[row]
        if not np.isfinite(pose).all():
            return None
        if self.config.emits == "axes":
            return LimbCommand(axes=readonly(hands.axes[row]))
        if self.config.emits == "joints":
            q = hands.joints[self._columns.get(limb, [])]
            return LimbCommand(q=readonly(q)) if np.isfinite(q).all() else None
        opening = float(hands.openings[row])
        return LimbCommand(
            T_leader_base_leader_eef=pin.XYZQUATToSE3(pose),
            opening=opening if np.isfinite(opening) else None,
        )


def _list_arms(robot: RobotInfo) -> list[str]:
    names = [limb.name for limb in robot.limbs]
    return [name for name in names if "leg" not in name] or names
