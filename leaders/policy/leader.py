"""A policy as a leader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from paprle.contracts.errors import DeviceError
from paprle.contracts.kit.playback import Playback
from paprle.contracts.observing_leader import SeeingLeader, Window
from paprle.contracts.plugins import Clock
from paprle.contracts.types import (
    Feedback,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
    RobotInfo,
    Vec,
)
from paprle.leaders.policy.chunk import Chunk
from paprle.leaders.policy.config import PolicyConfig
from paprle.leaders.policy.load import Act, load_policy
from paprle.leaders.policy.remote import RemotePolicy

if TYPE_CHECKING:  # kernels, none of which is loaded where plug-ins are only listed
    from paprle.leaders.policy.inference import Mind
    from paprle.observation.live import Observations

_N_AHEAD = 100  # chosen: rows of a chunk that a start is chosen for; 3 s at 30 Hz
_ALONE = (
    "leader 'policy': expected a session with a robot, got none; start it with "
    "'paprle run'"
)


class Policy(SeeingLeader):
    """Holds the robot's pose, once answers are valid, until it drives."""

    config: PolicyConfig

    def __init__(self, config: PolicyConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._robot: RobotInfo | None = None
        self._policy: Act | None = None
        self._mind: Mind | None = None
        self._observations: Observations | None = None
        self._open_again()

    def _open_again(self) -> None:
        self._playback = Playback(self.config.duration, self.config.episodes)
        self._sample: LeaderSample | None = None
        self._limbs: Mapping[str, LimbCommand] = {}
        self._chunk: Chunk | None = None
        self._foreseen: Mapping[str, Vec] = {}
        self._is_driving = self._has_place = False
        self._since_ns = self._seq = 0
        self._due_ns: int | None = None
        self._told: object = None

    def meet(self, robot: RobotInfo) -> None:
        """Take the robot."""
        from paprle.observation.live import PolicyActions  # noqa: PLC0415 - likewise

        self._robot = robot
        self._actions = PolicyActions(robot, self.config.action)

    def watch(self, window: Window) -> None:
        """Take the view of the session."""
        from paprle.observation.live import Observations  # noqa: PLC0415 - likewise

        cameras, objects = window.cameras, window.objects
        self._observations = Observations(self._meet(), cameras, objects)
        self._look, self._is_waited_for = window.look, window.is_waited_for

    def use(self, policy: Act) -> None:
        """Take a loaded policy instead of the config's."""
        self._policy = policy
        if self._mind is not None:
            self.open()

    @property
    def info(self) -> LeaderInfo:
        """The robot's limbs, without an operator."""
        robot, is_joints = self._meet(), self.config.action == "joints"
        return LeaderInfo(
            limbs=tuple(limb.name for limb in robot.limbs),
            emits="joints" if is_joints else "pose",
            joint_names={limb.name: limb.joint_names for limb in robot.limbs}
            if is_joints
            else {},
            is_absolute=not is_joints,
            is_human=False,
            has_gripper=any(limb.gripper is not None for limb in robot.limbs),
            rate=self.config.fps,
            robot=robot.name,
            n_ahead=0 if is_joints else _N_AHEAD,
            reposture=self.config.reposture,
        )

    def open(self) -> None:
        """Load the policy."""
        self.close()
        self._open_again()
        policy = self._policy or self._load()
        self._has_place = getattr(policy, "has_place", False)
        if self._observations is None:
            raise DeviceError(_ALONE)
        from paprle.leaders.policy.inference import Mind  # noqa: PLC0415 - likewise

        self._mind = Mind(
            self.config,
            self._actions,
            self._observations,
            policy,
            is_waited_for=self._is_waited_for,
        )

    def latest(self) -> LeaderSample | None:
        """Return the newest sample, without waiting."""
        now_ns = self.clock()
        self._playback.advance(now_ns)
        if self._mind is None:
            return self._sample
        has_news = self._take_thought(self._mind, now_ns)
        due_ns = now_ns if self._due_ns is None else self._due_ns
        if now_ns >= due_ns:
            period_ns = round(1e9 / self.config.fps)
            frame_ns = max(due_ns, now_ns - period_ns)  # evenly spaced
            self._due_ns = frame_ns + period_ns
            self._step(self._mind, frame_ns)
        elif has_news:
            self._play(self._mind, now_ns)
        return self._sample

    def apply(self, feedback: Feedback) -> None:
        """Take the state; drop answers from before driving."""
        self._playback.apply(feedback, self.clock())
        drives = feedback.drives
        is_driving = feedback.is_engaged and (drives is None or any(drives))
        begins = is_driving and not self._is_driving and not self._has_place
        if begins and self._mind is not None:
            self._chunk, self._since_ns = None, self.clock()
            self._mind.begin()
        self._is_driving = is_driving
        if (feedback.state, feedback.episode) != self._told:
            self._told = feedback.state, feedback.episode
            # an action a whole frame after where it stood is no jump
            self._due_ns = self._due_ns if is_driving else None

    def take_warnings(self) -> Sequence[str]:
        """Return new refusals."""
        return () if self._mind is None else self._mind.take_warnings()

    @property
    def closing_notes(self) -> Sequence[str]:
        """Counts of answers and refusals."""
        return () if self._mind is None else (self._mind.summarise(),)

    def close(self) -> None:
        """Close the policy."""
        if self._mind is not None:
            self._mind.close()

    def _load(self) -> Act:
        remote = self.config.remote
        return RemotePolicy(remote) if remote else load_policy(self.config)

    def _meet(self) -> RobotInfo:
        if self._robot is None:
            raise DeviceError(_ALONE)
        return self._robot

    def _step(self, mind: Mind, now_ns: int) -> None:
        sight = self._look()
        if sight is None:
            return
        if self._playback.is_over:
            self._emit(mind, now_ns)
            return
        if not self._is_driving and not (self._has_place and mind.is_ready):
            self._limbs = self._stay(sight.view.q_cmd)
        if not mind.is_busy and self._wants_answer(mind, now_ns):
            mind.ask(sight, now_ns)
            self._take_thought(mind, now_ns)
        if self._is_driving or self._has_place:
            self._play(mind, now_ns)
        else:
            self._emit(mind, now_ns)

    def _stay(self, q_cmd: Vec) -> dict[str, LimbCommand]:
        limbs = self._actions.decode(self._actions.encode(q_cmd))
        for name, rows in self._foreseen.items():
            limbs[name] = replace(limbs[name], ahead=rows)
        return limbs

    def _wants_answer(self, mind: Mind, now_ns: int) -> bool:
        if not self._is_driving and not self._has_place:
            return not mind.is_ready
        if self._chunk is None:
            return True
        n = len(self._chunk.rows)
        return self._chunk.count(now_ns) >= min(self.config.execute or (n + 1) // 2, n)

    def _take_thought(self, mind: Mind, now_ns: int) -> bool:
        # what was seen before it began to drive tells that it is ready, and what for
        thought = mind.pop(now_ns)
        if thought is not None and thought.chunk is not None and not self._is_driving:
            decode = self._actions.decode
            self._foreseen = thought.chunk.list_poses(decode, _N_AHEAD)
        is_followed = self._is_driving or self._has_place
        is_of_use = is_followed and not self._playback.is_over
        if thought is None or not is_of_use or thought.stamp_ns < self._since_ns:
            return False
        if thought.chunk is None:
            self._playback.finish()
            return False
        self._chunk = thought.chunk
        return True

    def _play(self, mind: Mind, now_ns: int) -> None:
        patience = self.config.max_age
        if self._chunk is None:
            if (now_ns - self._since_ns) * 1e-9 > patience:
                mind.is_ready = False
        else:
            row = self._chunk.find(now_ns, patience)
            if row is None:
                mind.is_ready = False
            else:
                self._limbs = self._actions.decode(row)
        self._emit(mind, now_ns)

    def _emit(self, mind: Mind, now_ns: int) -> None:
        self._seq += 1
        playback = self._playback
        self._sample = LeaderSample(
            stamp_ns=now_ns,
            seq=self._seq,
            limbs=self._limbs,
            valid=mind.is_ready,
            start=mind.is_ready and playback.asks_to_start,
            end=playback.is_over,
            is_exhausted=playback.is_exhausted,
        )
