"""Follower behind ROS."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from paprle.contracts.errors import CommandError, DeviceError
from paprle.contracts.kit.followers.limb_devices import DeviceState, join_states
from paprle.contracts.kit.followers.side_grippers import SideGrippers
from paprle.contracts.plugins import Clock, Follower
from paprle.contracts.types import (
    ClosePolicy,
    FollowerInfo,
    FollowerState,
    RobotInfo,
    Vec,
    readonly,
)
from paprle.followers.ros2.config import CommandConfig, RosConfig
from paprle.hardware.robotiq.make import make_gripper
from paprle.hardware.ros.bus import Bus, BusError
from paprle.hardware.ros.commands import Topic
from paprle.hardware.ros.goals import N_JOINTS
from paprle.hardware.ros.inspection import inspect
from paprle.hardware.ros.messages import MessageError
from paprle.hardware.ros.robot import RobotSpec, RosRobot
from paprle.hardware.ros.transports.choice import open_bus

_SIMULATION = (
    "SIMULATION: the states of this env are what was commanded, not what an arm "
    "measures; a real arm that mirrors them is seen by nothing here"
)


class RosFollower(Follower):
    """A robot behind ROS 2 or ROS 1."""

    config: RosConfig

    def __init__(self, config: RosConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._bus: Bus | None = None
        self._remote: RosRobot | None = None
        self._has_effort = False
        self._grippers = SideGrippers("ros2", robot, config.robotiq, make_gripper)
        self._arms = self._grippers.strip()
        self._ids = [robot.joint_names.index(name) for name in self._arms.joint_names]

    @property
    def goes_on_unattended(self) -> bool:
        """Whether the robot goes on; trajectories stop."""
        commands = filter(None, self.config.commands.values())
        return any(command.kind != "trajectory" for command in commands)

    @property
    def unchecked(self) -> str:
        """Checks that need the graph."""
        return "whether the robot is in the graph, and nobody else commands it"

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Yield rate and age of states, without publishing."""
        spec = self._make_spec()
        try:
            bus = open_bus(self.config, f"{self.config.node}_doctor")
        except (BusError, MessageError) as err:
            yield False, str(err)
            return
        try:
            yield from inspect(bus, spec, self.clock, self.config.timeout)
        except BusError as err:
            yield False, str(err)
        finally:
            bus.close()
        yield from self._grippers.diagnose_all()

    def open(self) -> FollowerInfo:
        """Return the description after joining the graph.

        Raises:
            DeviceError: If the robot is missing, different or not alone.
        """
        config, spec = self.config, self._make_spec()
        problems = self._grippers.open_all()
        if problems:
            self.close("hold")
            raise DeviceError("\n".join(problems))
        try:
            self._bus = open_bus(config, config.node)
            self._remote = RosRobot(self._bus, spec, self.clock)
            self._remote.connect(config.timeout)
        except (BusError, MessageError) as err:
            self.close("hold")
            raise DeviceError(f"ros: {err}") from err
        self._has_effort = bool(np.isfinite(self._remote.states.tau).all())
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=config.rate,
            state_rate=config.state_rate or math.inf,
            lag=config.lag,
            has_effort=self._has_effort,
            has_unattended_stop=not self.goes_on_unattended,
            power_off=config.power_off,
        )

    def read(self) -> FollowerState:
        """Return the newest state, with the oldest joint's stamp.

        Raises:
            DeviceError: If the middleware failed, or it is closed.
        """
        remote = self._opened()
        try:
            remote.poll()
        except BusError as err:
            raise DeviceError(f"ros: {err}") from err
        return self._add_grippers(
            FollowerState(
                stamp_ns=int(remote.states.stamps_ns.min()),
                q=readonly(remote.states.q),
                dq=readonly(remote.states.dq),
                tau=readonly(remote.states.tau) if self._has_effort else None,
                stop_reason=remote.stop_reason,
                q_held=remote.find_held(),
            )
        )

    @property
    def notes(self) -> Sequence[str]:
        """Behaviour of its controllers."""
        found = [_SIMULATION] if self.config.simulated else []
        return [*found, *(self._remote.notes if self._remote else ())]

    def take_warnings(self) -> Sequence[str]:
        """Return new warnings."""
        return self._remote.take_warnings() if self._remote else ()

    def write(self, q_cmd: Vec) -> None:
        """Send a command and its brake.

        Raises:
            CommandError: If its shape is wrong, or not finite.
            DeviceError: If it cannot be sent.
        """
        remote, n = self._opened(), len(self.robot.joint_names)
        if q_cmd.shape != (n,) or not np.isfinite(q_cmd).all():
            raise CommandError(f"ros: expected {n} finite positions, got {q_cmd}")
        try:
            remote.send(q_cmd[self._ids])
        except BusError as err:
            raise DeviceError(f"ros: {err}") from err
        for limb in self.robot.limbs:
            if not remote.is_held:
                self._grippers.write(limb.name, q_cmd)

    def close(self, policy: ClosePolicy = "hold") -> None:  # noqa: ARG002 - power is the robot's to switch
        """Leave the graph; the robot holds."""
        self._remote = None
        if self._bus is not None:
            self._bus.close()
            self._bus = None
        self._grippers.close()

    def _add_grippers(self, arms: FollowerState) -> FollowerState:
        if not self._grippers.is_used:
            return arms
        state = DeviceState(
            limb="",
            ids=self._ids,
            stamp_ns=arms.stamp_ns,
            q=arms.q,
            dq=arms.dq,
            tau=np.zeros_like(arms.q) if arms.tau is None else arms.tau,
            q_held=arms.q if arms.q_held is None else arms.q_held,
            stop_reason=arms.stop_reason,
        )
        for limb in self.robot.limbs:
            state = self._grippers.add(replace(state, limb=limb.name))
        found = join_states(len(self.robot.joint_names), [state])
        return replace(
            found,
            tau=found.tau if self._has_effort else None,
            q_held=None if arms.q_held is None else found.q_held,
        )

    def _opened(self) -> RosRobot:
        if self._remote is None:
            raise DeviceError(
                "ros: expected an open follower, got a closed one; call open()"
            )
        return self._remote

    def _make_spec(self) -> RobotSpec:
        config, robot = self.config, self._arms
        self._check_grippers()
        named = {*config.joint_names, *config.joint_scale} - {*self._grippers.joints}
        self._check_names(named, "joint_names")
        topics = tuple(
            self._make_topic(label, command)
            for label, command in config.commands.items()
            if command is not None
        )
        self._check_complete(topics)
        grippers = {limb.gripper.joint for limb in robot.limbs if limb.gripper}
        return RobotSpec(
            joint_names=tuple(map(self._to_ros, robot.joint_names)),
            scale=np.array([config.joint_scale.get(n, 1.0) for n in robot.joint_names]),
            q_min=robot.q_min,
            q_max=robot.q_max,
            dq_max=robot.dq_max,
            ddq_max=robot.ddq_max,
            is_arm=np.array([name not in grippers for name in robot.joint_names]),
            can_turn=np.array([self._is_angle(name) for name in robot.joint_names]),
            states=tuple(config.namespace + topic for topic in config.states),
            n_state_publishers=config.state_publishers,
            commands=topics,
            running=config.running_topic and config.namespace + config.running_topic,
            speed=config.speed_topic and config.namespace + config.speed_topic,
            period=1.0 / config.rate,
            state_period=1.0 / config.state_rate if config.state_rate else 0.0,
            lead=config.lead,
            lag=config.lag,
            is_simulated=config.simulated,
        )

    def _check_grippers(self) -> None:
        hands = {
            f"{limb.name}_gripper": (limb.gripper.joint,)
            for limb in self.robot.limbs
            if limb.gripper
        }
        named = {
            f"env.commands.{label}": hands.get(label, ())
            if command.joints is None
            else command.joints
            for label, command in self.config.commands.items()
            if command is not None
        }
        self._grippers.check()
        self._grippers.check_unnamed(named)

    def _is_angle(self, joint: str) -> bool:
        scale = abs(self.config.joint_scale.get(joint, 1.0))
        return joint not in self._arms.sliding and scale == 1.0

    def _to_ros(self, joint: str) -> str:
        config = self.config
        return config.joint_names.get(joint, config.joint_prefix + joint)

    def _make_topic(self, label: str, command: CommandConfig) -> Topic:
        names = self._find_joints(label, command)
        mimics = {mimic.joint: mimic for mimic in self._arms.mimics}
        known, scales = self._arms.joint_names, self.config.joint_scale
        indices, factors, offsets = [], [], []
        for name in names:
            mimic, scale = mimics.get(name), scales.get(name, 1.0)
            indices.append(known.index(mimic.source if mimic else name))
            factors.append(scale * (mimic.multiplier if mimic else 1.0))
            offsets.append(scale * (mimic.offset if mimic else 0.0))
        least, most = N_JOINTS.get(command.kind, (0, len(names)))
        if not least <= len(names) <= most:
            raise DeviceError(
                f"env.commands.{label}: expected {least} to {most} joint(s) for "
                f"{command.kind}, got {', '.join(names)}"
            )
        return Topic(
            name=self.config.namespace + command.topic,
            kind=command.kind,
            joint_names=tuple(map(self._to_ros, names)),
            indices=np.array(indices, dtype=np.intp),
            scale=np.array(factors),
            offset=np.array(offsets),
            effort=command.effort,
        )

    def _find_joints(self, label: str, command: CommandConfig) -> tuple[str, ...]:
        names = command.joints
        if names is None:
            parts = {limb.name: limb.joint_names for limb in self._arms.limbs}
            parts |= {
                f"{limb.name}_gripper": (limb.gripper.joint,)
                for limb in self._arms.limbs
                if limb.gripper
            }
            names = parts.get(label)
            if names is None:
                raise DeviceError(
                    f"env.commands.{label}: expected joints, or a name among "
                    f"{', '.join(parts)}, got neither"
                )
        self._check_names(set(names), f"commands.{label}.joints")
        return names

    def _check_names(self, names: set[str], where: str) -> None:
        mimics = {mimic.joint for mimic in self._arms.mimics}
        unknown = names - set(self._arms.joint_names) - mimics
        if unknown:
            raise DeviceError(
                f"env.{where}: expected joints of '{self._arms.name}', got "
                f"{', '.join(sorted(unknown))}; joints: "
                f"{', '.join(self._arms.joint_names)}"
            )

    def _check_complete(self, topics: tuple[Topic, ...]) -> None:
        counts = np.zeros(len(self._arms.joint_names), dtype=int)
        for topic in topics:
            # joints that mimic others stand with them and are no second command
            is_twice = len(set(topic.joint_names)) < len(topic.joint_names)
            at = topic.indices if is_twice else np.unique(topic.indices)
            np.add.at(counts, at, 1)
        wrong = [
            f"{name} in {count}"
            for name, count in zip(self._arms.joint_names, counts, strict=True)
            if count != 1
        ]
        if wrong:
            raise DeviceError(
                f"env.commands: expected each joint in one topic, got "
                f"{', '.join(wrong)}"
            )
