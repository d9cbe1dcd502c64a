"""Construction of a session's parts; opens nothing."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from paprle.config import Resolved
from paprle.config.emulated import describe_emulated
from paprle.config.folders import DATA
from paprle.config.laws import list_named
from paprle.contracts.errors import (
    ConfigError,
    DeviceError,
    MissingDependency,
    RecordingError,
    suggest,
)
from paprle.contracts.images import CameraInfo
from paprle.contracts.kit.leader_group import merge_leaders
from paprle.contracts.plugins import Clock, Follower, Leader
from paprle.contracts.settings.camera import Video
from paprle.contracts.settings.feedback import FeedbackSettings
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.contracts.types import FollowerInfo, LeaderInfo, RobotInfo
from paprle.gate.controller import GateController
from paprle.haptics.haptics import make_haptics
from paprle.haptics.stability.check import find_loop_delay
from paprle.hosts.factories import (
    list_controls,
    list_objects,
    list_observers,
    list_placed,
    make_camera,
    make_leaders,
)
from paprle.hosts.roles import list_filmed, list_named_ports
from paprle.ipc.records import Layout, make_layout
from paprle.plugins import find_plugin, is_name, load_factory
from paprle.reconstruction.reconstruction import Reconstruction, describe_delay
from paprle.recording.recorder import check_free_space, estimate_rate
from paprle.recording.video.codec import check_video, estimate_footage
from paprle.retargeting.retarget import Retargeting
from paprle.retargeting.rules.modes import BUILT_IN
from paprle.robot import RobotModel
from paprle.session.core import Core
from paprle.session.motion import DesiredMotion

_GATE_RATE = 500.0  # [Hz] chosen: the quickest simulated follower, before it is asked


@dataclass(frozen=True)
class SessionPlan:
    """The parts of a session, closed."""

    resolved: Resolved
    robot: RobotModel
    leaders: Mapping[str, Leader]
    retargeting: Retargeting
    layout: Layout

    @property
    def has_buttons(self) -> bool:
        """Whether a leader or a page has buttons."""
        return self.layout.leader.has_buttons or bool(list_controls(self.resolved))

    def make_core(self, *, session_id: int, is_interactive: bool) -> Core:
        """Return a core; ``is_interactive``: stops can be cleared."""
        motion = DesiredMotion(
            self.robot,
            self.retargeting,
            self.resolved.gate,
            self.layout,
            self.resolved.session.max_gap,
        )
        return Core(
            self.resolved.session,
            self.layout.leader,
            self.layout,
            motion,
            session_id=session_id,
            is_interactive=is_interactive,
        )

    def check_space(self) -> None:
        """Check that the recording fits on the disk.

        Raises:
            ConfigError: If there is too little room.
        """
        record = self.resolved.record
        if record.dir is None:
            return
        rate = estimate_rate(self.layout, self.resolved.session.rate, _GATE_RATE)
        rate += sum(estimate_footage(*one) for one in _list_footage(self.resolved))
        try:
            there = _find_existing(Path(record.dir))
            check_free_space(there, rate, record.planned_time)
        except RecordingError as err:
            raise ConfigError(str(err)) from err

    def list_others(self) -> dict[str, dict[str, Any]]:
        """Return the configs of observers, advisors and cameras."""
        return _list_others(self.resolved)

    def describe(self) -> str:
        """Return a summary of leaders and robot."""
        r = self.resolved
        record = r.record.dir or "nothing (set record.dir=FOLDER)"
        others = self.list_others().items()
        told = [f"\n{what}: {', '.join(sorted(who))}" for what, who in others if who]
        doubts = [f"{self.robot.name}: {text}" for text in self.robot.list_doubts()]
        doubts += self.retargeting.pairing.doubts
        held = "".join(f"{text}\n" for text in self.robot.describe_held())
        checks = "".join(f"CHECK: {text}\n" for text in doubts)
        has_people = self.layout.leader.is_human
        told += [f"\n{line}" for line in describe_emulated(r.sources)]
        if r.session.duration and r.session.episodes is None and not has_people:
            told.append(
                "\nsession.episodes is not set: the motion begins anew in episodes "
                f"of {r.session.duration:g} [s] until q or Ctrl-C"
            )
        slow = Reconstruction(self.layout, r.retarget.samples).delays
        told += [f"\n{describe_delay(one)}" for one in slow]
        return (
            f"{r.leader_name} → {r.follower_name} in {r.env_name}, "
            f"{r.session.rate:g} [Hz], {r.session.clock} clock\n"
            f"{self.retargeting.describe()}\n"
            f"{held}{checks}recording: {record}{''.join(told)}"
        )


def make_follower(
    resolved: Resolved, robot: RobotModel, clock: Clock = time.monotonic_ns
) -> Follower:
    """Construct the follower, closed."""
    spec = find_plugin("follower", resolved.env_type)
    follower: Follower = load_factory(spec)(resolved.env, robot.info, clock)
    return follower


def make_controller(
    resolved: Resolved,
    robot: RobotModel,
    follower: Follower,
    info: FollowerInfo,
    layout: Layout,
) -> GateController:
    """Make the gate of an opened follower."""
    period = 1.0 / resolved.session.rate
    return GateController(robot, resolved.gate, follower, info, layout, period)


def make_robot(resolved: Resolved) -> RobotModel:
    """Load the robot of the config."""
    return RobotModel.from_settings(
        resolved.robot, resolved.follower_name, DATA, resolved.gate.scene
    )


def make_through(resolved: Resolved) -> RobotModel | None:
    """Return the robot of ``retarget.through``, if any.

    Raises:
        ConfigError: With all problems.
    """
    if resolved.through is None:
        return None
    name = str(resolved.retarget.through)
    return RobotModel.from_settings(resolved.through, name, DATA)


def make_plan(resolved: Resolved, clock: Clock = time.monotonic_ns) -> SessionPlan:
    """Return the plan of a session.

    Raises:
        ConfigError: If parts do not fit; with all problems.
    """
    _check_solver(resolved)
    robot, through = make_robot(resolved), make_through(resolved)
    leaders = _make_known_leaders(resolved, clock, robot.info)
    leader = merge_leaders({name: one.info for name, one in leaders.items()})
    if not resolved.is_gate_afar:  # its SDK is there
        load_factory(find_plugin("follower", resolved.env_type))
    elif resolved.session.clock == "virtual":
        raise ConfigError(
            "link.peer: expected session.clock=wall with a follower on another host, "
            "got virtual; leave one of them out"
        )
    retargeting = Retargeting(
        robot,
        leader,
        resolved.retarget,
        ik_settings=resolved.ik,
        position_margin=resolved.gate.position_margin,
        through=through,
        cameras={
            name: make_camera(resolved, name).info
            for name in list_named(resolved.cameras)
        },
    )
    _check_others(resolved, robot)
    _check_advice(resolved)
    _check_placed(resolved)
    if resolved.record.dir is not None:
        _check_folder(Path(resolved.record.dir))
    objects, placed = list_objects(resolved), list_placed(resolved)
    layout = make_layout(robot.info, leader, objects, placed)
    for name, one in leaders.items():
        if one.info.renders == "torque":  # what would not be stable is refused here
            feedback = make_feedback(resolved, one.info)
            make_haptics(
                feedback, robot, leader, resolved.retarget, layout, through, name
            )
    return SessionPlan(resolved, robot, leaders, retargeting, layout)


def _check_solver(resolved: Resolved) -> None:
    solver = resolved.gate.solver
    if find_spec(solver) is None:
        raise MissingDependency(
            f"gate.solver: expected the package '{solver}', got none; install it with: "
            f"pip install 'paprle[{solver}]'"
        )


def make_feedback(resolved: Resolved, leader: LeaderInfo) -> FeedbackSettings:
    """Return ``feedback`` with a loop that the devices allow."""
    feedback: FeedbackSettings = resolved.feedback
    least = find_loop_delay(leader.rate, resolved.session.rate, find_rate(resolved))
    delay = max(feedback.rig.loop_delay, least)
    return replace(feedback, rig=replace(feedback.rig, loop_delay=delay))


def find_rate(resolved: Resolved) -> float:
    """Return the rate of follower and gate, [Hz]."""
    env = resolved.env
    rate = env.rate if isinstance(env, FollowerSettings) else None
    return resolved.session.rate if rate is None else rate


def _make_known_leaders(
    resolved: Resolved, clock: Clock, robot: RobotInfo
) -> dict[str, Leader]:
    leaders = make_leaders(resolved, clock, robot)
    problems: list[str] = []
    for name, leader in leaders.items():
        try:
            leader.info  # noqa: B018 - some read their files for it
        except (DeviceError, ConfigError) as err:
            problems.append(f"{name}: {err}" if name else str(err))
    if problems:
        raise ConfigError(problems)
    return leaders


def _list_others(resolved: Resolved) -> dict[str, dict[str, Any]]:
    return {
        "observers": list_observers(resolved),
        "advisors": list_named(resolved.advisors),
        "cameras": list_named(resolved.cameras),
    }


def _check_others(resolved: Resolved, robot: RobotModel) -> None:
    for what, who in _list_others(resolved).items():
        if who and what != "advisors" and resolved.session.clock != "wall":
            raise ConfigError(
                f"{what}: expected session.clock=wall, got "
                f"{resolved.session.clock}; they run on the wall clock alone"
            )
    try:
        list_named_ports(resolved, robot.info)
        for info, video in _list_footage(resolved):
            check_video(info, video)
    except DeviceError as err:
        raise ConfigError(str(err)) from err


def _check_placed(resolved: Resolved) -> None:
    of_env = list_objects(resolved)
    known = [*of_env]
    for name in list_placed(resolved):
        if name in known or not is_name(name):
            raise ConfigError(
                "session.objects: expected names of small letters, digits and _ that "
                f"the env does not use ({', '.join(of_env) or 'none'}), each once, "
                f"got '{name}'"
            )
        known.append(name)


def _is_told(name: str, advisors: Collection[str]) -> bool:
    advisor, _, number = name.rpartition(".")
    return advisor in advisors and number.isdecimal()


def _check_advice(resolved: Resolved) -> None:
    limbs = resolved.retarget.limbs.items()
    asked = {f"retarget.limbs.{name}.modes": one.modes for name, one in limbs}
    known = (*BUILT_IN, *list_named(resolved.advisors))
    problems = [
        f"{key}: expected manual, classic or an advisor's name, got '{modes}'; "
        f"{suggest(modes, known)}"
        for key, modes in {"retarget.modes": resolved.retarget.modes, **asked}.items()
        if modes is not None and modes not in known
    ]
    advisors, placed = list_named(resolved.advisors), list_placed(resolved)
    problems += [
        f"retarget.limbs.{name}.advice: expected an advisor's name, got "
        f"'{one.advice}'; {suggest(one.advice, advisors)}"
        for name, one in limbs
        if one.advice is not None and one.advice not in advisors
    ]
    problems += [
        f"retarget.limbs.{name}.object: expected one of session.objects "
        f"({', '.join(placed) or 'none'}) or ADVISOR.ID of a marker, as tags.3, of "
        f"one of the advisors ({', '.join(advisors) or 'none'}), got "
        f"{one.object or 'none'}"
        for name, one in limbs
        if one.rule == "follow"
        and one.object not in placed
        and not _is_told(one.object or "", advisors)
    ]
    if problems:
        raise ConfigError(problems)


def _list_footage(resolved: Resolved) -> list[tuple[CameraInfo, Video]]:
    configs = list_named(resolved.cameras)
    names = list_filmed(resolved)
    return [(make_camera(resolved, name).info, configs[name].video) for name in names]


def _find_existing(folder: Path) -> Path:
    return next(p for p in (folder, *folder.parents) if p.exists())


def _check_folder(folder: Path) -> None:
    there = _find_existing(folder)
    try:
        tempfile.TemporaryFile(dir=there).close()
    except OSError as err:
        raise ConfigError(
            f"record.dir: expected a folder that can be written to, got '{folder}' "
            f"('{there}': {err.strerror}); choose another"
        ) from err
