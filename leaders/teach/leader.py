"""Teach-in leader: keeps commanded poses and plays them.

Kept commands close a gripper again, and let no arm sag further. While the robot is
stopped, as while it is led by hand, its measured arms are kept instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.kit.playback import Playback
from paprle.contracts.observing_leader import SeeingLeader, Sight, Window
from paprle.contracts.plugins import Clock
from paprle.contracts.session_view import SessionView
from paprle.contracts.types import (
    Feedback,
    GateState,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
    LimbInfo,
    RobotInfo,
    SessionState,
    Vec,
)
from paprle.contracts.urdf.link_poses import LinkPoses
from paprle.leaders.teach.config import TeachConfig
from paprle.leaders.teach.motion import TaughtMotion, find_faults, make_command
from paprle.leaders.teach.poses import (
    LimbPose,
    TaughtPose,
    keep_pose,
    make_limb_pose,
    read_poses,
)

_LONGEST = 86400.0  # [s] chosen: a day; a play ends with its poses
_ALONE = (
    "leader 'teach': expected a session with a robot, got none; start it with "
    "'paprle run'"
)


class Teach(SeeingLeader):
    """Holds the robot's pose until it drives, then plays."""

    config: TeachConfig
    keeps_poses = True
    _poses: list[TaughtPose]
    _motion: TaughtMotion | None
    _limb_commands: Mapping[str, LimbCommand]
    _told: list[str]
    _asked: tuple[int, int] | None
    _seq: int
    _episode: int
    _look_ns: int
    _begun_ns: int  # time of the playback at which the motion began

    def __init__(self, config: TeachConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._path = Path(config.path)
        self._robot: RobotInfo | None = None
        self._limbs: tuple[LimbInfo, ...] = ()
        self._look: Callable[[], Sight | None] = lambda: None
        self._waits = config.starts == "on_key"
        self._start()

    def meet(self, robot: RobotInfo) -> None:
        """Take the robot.

        Raises:
            ConfigError: If it has no such limb.
        """
        known = [limb.name for limb in robot.limbs]
        unknown = [name for name in self.config.limbs if name not in known]
        if unknown:
            raise ConfigError(
                f"leader.limbs: expected limbs of {robot.name} ({', '.join(known)}), "
                f"got {', '.join(unknown)}"
            )
        arms = [name for name in known if "leg" not in name] or known
        wanted = self.config.limbs or arms
        self._robot, self._links = robot, LinkPoses(robot)
        self._limbs = tuple(limb for limb in robot.limbs if limb.name in wanted)

    def watch(self, window: Window) -> None:
        """Take the view of the session."""
        self._look = window.look

    @property
    def info(self) -> LeaderInfo:
        """The robot's limbs, without an operator."""
        robot, is_joints = self._meet(), self.config.emits == "joints"
        names = {limb.name: limb.joint_names for limb in self._limbs}
        return LeaderInfo(
            limbs=tuple(names),
            emits=self.config.emits,
            joint_names=names if is_joints else {},
            is_absolute=not is_joints,
            is_human=False,
            has_gripper=any(limb.gripper for limb in self._limbs),
            robot=robot.name,
        )

    @property
    def notes(self) -> Sequence[str]:
        """Number of poses, and the keys."""
        n, does = len(self._poses), "y plays them" if self._waits else "played at start"
        return (f"teach: {n} pose(s) in {self._path}, {does}; e keeps another one",)

    def open(self) -> None:
        """Read the poses.

        Raises:
            DeviceError: If they are unreadable, or unreachable.
            ConfigError: If there are none.
        """
        self._start()
        self._poses = self._read()
        if not self._poses and not self._waits:
            raise ConfigError(
                f"leader.path: expected kept poses, got none in {self._path}; keep "
                "some first: leaders/teach/README.md"
            )

    def latest(self) -> LeaderSample | None:
        """Return the current command; None before the robot is known."""
        now_ns = self.clock()
        t = (self._playback.advance(now_ns) - self._begun_ns) * 1e-9
        if self._motion is None and now_ns >= self._look_ns:
            self._look_ns = now_ns + round(1e9 / self.config.fps)
            self._stay()
        elif self._motion is not None:
            self._limb_commands = self._motion.compute(t)
            if t >= self._motion.duration:
                self._playback.finish()
                self._is_asked = False
        if not self._limb_commands:
            return None
        self._seq += 1
        playback = self._playback
        return LeaderSample(
            stamp_ns=now_ns,
            seq=self._seq,
            limbs=self._limb_commands,
            valid=self._is_asked or not self._waits,
            start=not self._waits and playback.asks_to_start,
            end=not self._waits and playback.is_over,
            is_exhausted=not self._waits and playback.is_exhausted,
        )

    def apply(self, feedback: Feedback) -> None:
        """Keep or play on request."""
        self._playback.apply(feedback, self.clock())
        is_between = feedback.state is SessionState.RESETTING
        is_next = feedback.episode != self._episode or is_between
        self._episode = feedback.episode
        if is_next and not self._playback.is_exhausted:
            self._motion = None
        drives = feedback.drives is None or any(feedback.drives)
        self._is_driving = feedback.is_engaged and drives
        asked = feedback.n_keeps, feedback.n_plays
        before, self._asked = self._asked or asked, asked
        if asked[0] != before[0]:
            self._keep()
        if asked[1] != before[1] and self._waits:
            self._toggle()
        if not self._is_asked and self._waits:
            self._motion = None
        elif self._is_driving and self._motion is None:
            self._begin()

    def take_warnings(self) -> Sequence[str]:
        """Return notes on kept or refused poses."""
        told, self._told = self._told, []
        return told

    def close(self) -> None:
        """Do nothing."""

    def _start(self) -> None:
        n = 0 if self._waits else self.config.episodes
        self._playback = Playback(_LONGEST, n)
        self._poses = []
        self._motion = None
        self._limb_commands = {}
        self._told = []
        self._asked = None
        self._is_asked = self._is_driving = False
        self._seq = self._episode = self._look_ns = self._begun_ns = 0

    def _meet(self) -> RobotInfo:
        if self._robot is None:
            raise DeviceError(_ALONE)
        return self._robot

    def _find_place(self) -> TaughtPose | None:
        sight = self._look()
        if sight is None:
            return None
        robot = self._meet()
        q = self._choose_joints(robot, sight.view)
        if not np.isfinite(q).all():
            return None
        self._links.update(q)
        limbs = {limb.name: self._place(robot, limb, q) for limb in self._limbs}
        return TaughtPose(name="here", limbs=limbs)

    def _choose_joints(self, robot: RobotInfo, view: SessionView) -> Vec:
        """Return the command, or measured arms of a stopped robot, led by hand."""
        q: Vec = view.q_cmd
        if view.gate_state is not GateState.STOPPED:
            return q
        q = q.copy()
        for limb in self._limbs:
            ids = [robot.joint_names.index(joint) for joint in limb.joint_names]
            q[ids] = view.q[ids]
        return q

    def _place(self, robot: RobotInfo, limb: LimbInfo, q: Vec) -> LimbPose:
        place, names = self._links.place, robot.joint_names
        T_base_eef = place(limb.base_link).actInv(place(limb.eef_link))
        opening = None
        if limb.gripper is not None:
            at = names.index(limb.gripper.joint)
            opening = min(max(limb.gripper.measure(float(q[at])), 0.0), 1.0)
        positions = {joint: float(q[names.index(joint)]) for joint in limb.joint_names}
        return make_limb_pose(positions, T_base_eef, opening)

    def _stay(self) -> None:
        here = self._find_place()
        if here is not None:
            self._limb_commands = {
                limb.name: make_command(limb, here.limbs[limb.name], self.config.emits)
                for limb in self._limbs
            }

    def _read(self) -> list[TaughtPose]:
        robot = self._meet()
        try:
            poses = read_poses(self._path, robot.name)
        except (OSError, ValueError) as err:
            raise DeviceError(f"leader 'teach': {err}") from err
        if faults := find_faults(robot, self._limbs, poses):
            raise DeviceError(f"leader 'teach': {self._path}: {'; '.join(faults)}")
        return poses

    def _keep(self) -> None:
        here = self._find_place()
        if self._is_driving or here is None:
            why = "while it plays" if here else "before there is a robot"
            self._told.append(f"teach: expected no pose to keep {why}, got a press")
            return
        pose = replace(here, name=f"pose {len(self._poses) + 1}")
        try:
            n = keep_pose(self._path, self._meet().name, pose)
            self._poses = self._read()
        except (OSError, ValueError, DeviceError) as err:
            self._told.append(f"teach: not kept: {err}")
            return
        self._told.append(f"teach: kept '{pose.name}', the {n}. of {self._path}")

    def _toggle(self) -> None:
        if self._is_asked:
            self._is_asked = False
            return
        try:  # edited since, perhaps
            self._poses = self._read()
        except DeviceError as err:
            self._told.append(f"teach: not played: {err}")
            return
        if not self._poses:
            self._told.append(f"teach: expected kept poses, got none in {self._path}")
            return
        self._is_asked = True
        self._playback = Playback(_LONGEST, 0)

    def _begin(self) -> None:
        here = self._find_place()
        if here is not None:
            self._begun_ns = self._playback.advance(self.clock())
            way = [here, *self._poses]
            self._motion = TaughtMotion(self._meet(), self._limbs, way, self.config)
