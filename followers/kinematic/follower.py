"""Follower without dynamics."""

from __future__ import annotations

import math

import numpy as np

from paprle.contracts.errors import CommandError, DeviceError
from paprle.contracts.kit.simulated_time import SimulatedTime
from paprle.contracts.plugins import Clock, Follower
from paprle.contracts.types import (
    ClosePolicy,
    FollowerInfo,
    FollowerState,
    RobotInfo,
    Vec,
)
from paprle.followers.kinematic.config import KinematicConfig
from paprle.followers.kinematic.faults import FollowerFaults
from paprle.followers.kinematic.plant import Plant


class KinematicFollower(Follower):
    """A robot without dynamics."""

    config: KinematicConfig

    def __init__(self, config: KinematicConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._faults = FollowerFaults(config.faults)
        self._plant: Plant | None = None
        self._time = SimulatedTime(config.rate, clock)
        self._n_periods = 0

    def open(self) -> FollowerInfo:
        """Return the description, at the start position.

        Raises:
            DeviceError: If ``q_start`` names an unknown joint.
        """
        config = self.config
        self._faults.reset()
        self._n_periods = 0
        self._time.begin()
        self._plant = Plant(
            self._make_start(),
            1.0 / config.rate,
            config.time_constant,
            config.dead_time,
        )
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=config.rate,
            lag=config.time_constant + config.dead_time,
            has_unattended_stop=True,
            power_off="brakes",
            simulated=True,
        )

    def read(self) -> FollowerState:
        """Return the plant's state; it advances without writes."""
        plant = self._open_plant()
        stamp_ns = self.clock()  # a stall from here on makes the state an old one
        owed = self._time.take_owed()
        for _ in range(owed):
            plant.hold()
        self._n_periods += owed
        state = FollowerState(
            stamp_ns=stamp_ns,
            q=plant.q,
            dq=plant.dq,
            sim_time=self._n_periods / self.config.rate,
        )
        return self._faults.change_state(state, state.stamp_ns)

    def write(self, q_cmd: Vec) -> None:
        """Advance one period.

        Raises:
            CommandError: If its shape is wrong, or not finite.
        """
        plant = self._open_plant()
        n = len(self.robot.joint_names)
        if q_cmd.shape != (n,) or not all(map(math.isfinite, q_cmd.tolist())):
            raise CommandError(
                f"env 'kinematic': expected {n} finite positions, got {q_cmd}"
            )
        self._time.pass_period()
        plant.step(self._faults.change_command(q_cmd, plant.q, self.clock()))
        self._n_periods += 1

    def close(self, policy: ClosePolicy = "hold") -> None:  # noqa: ARG002 - it stands either way
        """Release the plant."""
        self._plant = None

    def _open_plant(self) -> Plant:
        if self._plant is None:
            raise DeviceError(
                "env 'kinematic': expected an open follower, got a closed one; "
                "call open() first"
            )
        return self._plant

    def _make_start(self) -> Vec:
        robot, config = self.robot, self.config
        unknown = sorted(set(config.q_start) - set(robot.joint_names))
        if unknown:
            got, known = ", ".join(map(repr, unknown)), ", ".join(robot.joint_names)
            raise DeviceError(
                f"env.q_start: expected joints of '{robot.name}', got {got}; "
                f"joints: {known}"
            )
        if config.start == "home":
            q = robot.home.copy()
        else:
            q = np.clip(np.zeros_like(robot.home), robot.q_min, robot.q_max)
        for name, position in config.q_start.items():
            q[robot.joint_names.index(name)] = position
        return q
