"""Follower in MuJoCo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mujoco
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
    readonly,
)
from paprle.followers.mujoco.config import MujocoConfig
from paprle.followers.mujoco.encoders import Encoders
from paprle.followers.mujoco.scenario import Scenario
from paprle.followers.mujoco.scene import list_bodies, make_options
from paprle.followers.mujoco.view import View, check_display
from paprle.hardware.mujoco.mechanism import Mechanism, make_mechanism
from paprle.hardware.mujoco.model import Indices, SimModel, build_model
from paprle.hardware.mujoco.robot import compute_lag, set_home

_POSE_ROW = np.array([0, 1, 2, 4, 5, 6, 3])
"""Indices of xyz + quat_xyzw in the seven numbers of a free joint."""


class MujocoFollower(Follower):
    """A robot in MuJoCo; a gate's stall lasts several periods."""

    config: MujocoConfig

    def __init__(self, config: MujocoConfig, robot: RobotInfo, clock: Clock) -> None:
        super().__init__(config, robot, clock)
        self._sim: SimModel | None = None
        self._data: mujoco.MjData | None = None
        self._n_warnings = np.zeros(0, dtype=np.intc)  # a view of those of the data
        self._view: View | None = None
        self._encoders = Encoders(config.resolution)
        self._n_steps = config.n_steps
        self._time = SimulatedTime(config.rate, clock)
        self._object_ids: Indices | None = None
        self._scenario: Scenario | None = None
        self._closing_notes: tuple[str, ...] = ()
        missing = np.full((len(config.objects), 7), np.nan)
        self._no_objects = readonly(missing) if config.objects else None
        self._fault = "expected an open follower, got a closed one; call open() first"

    def preflight(self) -> tuple[str, ...]:
        """Report a missing display for a view."""
        try:
            if self.config.viewer:
                check_display()
        except DeviceError as err:
            return (str(err),)
        return ()

    def open(self) -> FollowerInfo:
        """Return the description, at home.

        Raises:
            DeviceError: If MuJoCo cannot simulate the robot, or a view has no display.
        """
        self.close("hold")
        config, mechanism = self.config, make_mechanism(self.robot)
        try:
            self._sim = build_model(mechanism, make_options(config, self.robot))
        except (ValueError, mujoco.FatalError) as err:
            raise DeviceError(f"env 'mujoco': {err}") from err
        self._object_ids = _find_rows(self._sim.objects, config.objects)
        self._data = mujoco.MjData(self._sim.model)
        self._n_warnings = self._data.warning.number
        self._data.ctrl[:] = mechanism.home
        set_home(self._sim.model, self._data, mechanism)
        self._scenario = self._make_scenario(mechanism)
        if config.viewer:
            self._view = View(self._sim.mjcf, self._sim.model.nq)
        self._fault = ""
        self._time.begin()
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=config.rate,
            lag=_compute_lag(config),
            has_effort=True,
            has_unattended_stop=True,
            power_off="falls",
            simulated=True,
            scene={"mjcf": self._sim.mjcf},
            bodies=list_bodies(self._sim.model, self._data, config.objects),
        )

    def read(self) -> FollowerState:
        """Return the state after the last period.

        Raises:
            DeviceError: If MuJoCo warned; the state is then invalid.
        """
        sim, data = self._running()
        stamp_ns = self.clock()  # a stall from here on makes the state an old one
        for _ in range(self._time.take_owed()):
            self._simulate(sim, data)
        q, dq, tau = self._encoders.read_joints(data, sim.qpos_ids, sim.dof_ids)
        return FollowerState(
            stamp_ns=stamp_ns,
            q=q,
            dq=dq,
            tau=tau,
            sim_time=float(data.time),
            objects=self._read_objects(data),
        )

    def write(self, q_cmd: Vec) -> None:
        """Simulate one period.

        Raises:
            CommandError: If its shape is wrong, or not finite.
            DeviceError: If MuJoCo warned; the state is then invalid.
        """
        sim, data = self._running()
        n = len(self.robot.joint_names)
        # reduce and count_nonzero: what all() and any() wrap costs four times as much
        if q_cmd.shape != (n,) or not np.logical_and.reduce(np.isfinite(q_cmd)):
            raise CommandError(
                f"env 'mujoco': expected {n} finite positions, got {q_cmd}"
            )
        self._time.pass_period()
        data.ctrl[:] = q_cmd
        self._simulate(sim, data)
        if self._view is not None:
            self._view.show(data.time, data.qpos)

    def _simulate(self, sim: SimModel, data: mujoco.MjData) -> None:
        if self._scenario is not None:
            self._scenario.hold_back()
        mujoco.mj_step(sim.model, data, self._n_steps)
        if np.count_nonzero(self._n_warnings):
            self._fault = f"the simulation broke down: {_describe_warnings(data)}"
            raise DeviceError(f"env 'mujoco': {self._fault}")
        if self._scenario is not None:
            self._scenario.step()

    def close(self, policy: ClosePolicy = "hold") -> None:  # noqa: ARG002 - its time ends either way
        """End simulation and view."""
        if self._view is not None:
            self._view.close()
        if self._scenario is not None:
            self._closing_notes = (self._scenario.describe(),)
        self._view = self._data = self._sim = self._scenario = None
        self._fault = "expected an open follower, got a closed one; call open() first"

    @property
    def closing_notes(self) -> tuple[str, ...]:
        """Number of placed blocks."""
        return self._closing_notes

    def take_warnings(self) -> list[str]:
        """Return new events of blocks."""
        return [] if self._scenario is None else self._scenario.take_words()

    @property
    def scenario(self) -> Scenario | None:
        """Task in this world, or None."""
        return self._scenario

    def _make_scenario(self, mechanism: Mechanism) -> Scenario | None:
        if self.config.scenario is None or self._sim is None or self._data is None:
            return None
        try:
            return Scenario(self._sim, self._data, mechanism, self.robot, self.config)
        except ValueError as err:
            raise DeviceError(f"env 'mujoco': scenario: {err}") from err

    def _read_objects(self, data: mujoco.MjData) -> Vec | None:
        if self._scenario is not None:
            return self._encoders.read_poses(self._scenario.read_objects())
        rows = self._object_ids
        if rows is None:
            return self._no_objects
        return self._encoders.read_poses(data.qpos[rows])

    def _running(self) -> tuple[SimModel, mujoco.MjData]:
        if self._fault or self._sim is None or self._data is None:
            raise DeviceError(f"env 'mujoco': {self._fault}")
        return self._sim, self._data


def _compute_lag(config: MujocoConfig) -> float:
    # A command held for a period is half a period ahead of the ramp at its end, and
    # damping taken implicitly half a time step.
    lag = compute_lag(config.natural_frequency)
    return max(0.0, lag - 0.5 * (1.0 / config.rate + config.step))


def _find_rows(begins: Mapping[str, int], names: Sequence[str]) -> Indices | None:
    # A free joint has quat_wxyz. What carries no object has none: then there are no
    # rows.
    if not names or not set(names) <= set(begins):
        return None
    rows: Indices = np.array([begins[name] for name in names])[:, None] + _POSE_ROW
    return rows


def _describe_warnings(data: mujoco.MjData) -> str:
    names = [
        f"{kind.name.removeprefix('mjWARN_')} {data.warning[int(kind)].number}×"
        for kind in mujoco.mjtWarning.__members__.values()
        if int(kind) < len(data.warning) and data.warning[int(kind)].number
    ]
    return f"{', '.join(names)} at {data.time:.3f} [s]"
