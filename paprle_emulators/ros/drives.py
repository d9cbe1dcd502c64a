"""Joint drives."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle_emulators.ros.description import Description

Vec = npt.NDArray[np.float64]

_STIFFNESS = 100.0  # [N·m/rad] chosen: efforts of a small arm's drive


class Drives(ABC):
    """Driven joints in the description's order and ROS's units.

    Attributes:
        q: Shape (n,), [rad] or [m].
        dq: Shape (n,).
        tau: Shape (n,), [N·m] or [N].
    """

    q: Vec
    dq: Vec
    tau: Vec

    @abstractmethod
    def step(self, desired: Vec, dt: float) -> None:
        """Move towards positions (n,), dt [s]."""


class LagDrives(Drives):
    """First-order lags, without dynamics, contact or limits."""

    def __init__(self, description: Description, time_constant: float) -> None:
        """Stand at the start; time constant [s], 0: none."""
        self.q = np.array([description.start[name] for name in description.joints])
        self.dq, self.tau = np.zeros_like(self.q), np.zeros_like(self.q)
        self._time_constant = time_constant

    def step(self, desired: Vec, dt: float) -> None:
        """Move with the lag."""
        share = 1.0
        if self._time_constant > 0.0:
            share = -math.expm1(-dt / self._time_constant)
        step = share * (desired - self.q)
        self.q, self.dq = self.q + step, step / dt
        self.tau = _STIFFNESS * (desired - self.q)


class MujocoDrives(Drives):
    """The URDF in MuJoCo, with a table."""

    def __init__(self, description: Description) -> None:
        """Build the model.

        Raises:
            ValueError: If MuJoCo is missing or refuses it.
        """
        try:
            import mujoco  # noqa: PLC0415 - only for those who ask for it

            from paprle.hardware.mujoco.model import build_model  # noqa: PLC0415
            from paprle.hardware.mujoco.robot import set_home  # noqa: PLC0415
        except ModuleNotFoundError as err:
            raise ValueError(
                "physics: expected the package 'mujoco', got none; pip install "
                "'paprle[sim]'"
            ) from err
        mechanism, options = _make_mechanism(description)
        try:
            self._sim = build_model(mechanism, options)
        except (ValueError, mujoco.FatalError) as err:
            raise ValueError(f"physics: {err}") from err
        self._mujoco: Any = mujoco
        self._data = mujoco.MjData(self._sim.model)
        set_home(self._sim.model, self._data, mechanism)
        self._data.ctrl[:] = mechanism.home
        self._timestep, self._owed = options.timestep, 0.0
        named = [
            self._sim.model.joint(description.urdf_of[n]) for n in description.joints
        ]
        self._qpos = np.array([joint.qposadr[0] for joint in named])
        self._dof = np.array([joint.dofadr[0] for joint in named])
        self._scale = np.array([description.scale[name] for name in description.joints])
        by_urdf = {description.urdf_of[n]: i for i, n in enumerate(description.joints)}
        self._driven = np.array([by_urdf[name] for name in mechanism.joint_names])
        self._look()

    def step(self, desired: Vec, dt: float) -> None:
        """Simulate whole time steps; carry the rest over.

        Raises:
            ValueError: If it diverged.
        """
        self._owed += dt
        n = int(self._owed / self._timestep)
        self._owed -= n * self._timestep
        self._data.ctrl[:] = (desired / self._scale)[self._driven]
        if n:
            self._mujoco.mj_step(self._sim.model, self._data, n)
        if self._data.warning.number.any():
            raise ValueError("physics: the simulation broke down")
        self._look()

    def _look(self) -> None:
        data = self._data
        self.q = data.qpos[self._qpos] * self._scale
        self.dq = data.qvel[self._dof] * self._scale
        self.tau = data.qfrc_actuator[self._dof] / self._scale


def _make_mechanism(description: Description) -> tuple[Any, Any]:
    from paprle.hardware.mujoco.mechanism import (  # noqa: PLC0415
        Mechanism,
        MimicJoint,
        ModelOptions,
    )

    mimics = {}
    for joint in ET.parse(description.urdf_path).getroot().findall("joint"):
        mimic = joint.find("mimic")
        if mimic is not None:
            mimics[str(joint.get("name"))] = MimicJoint(
                joint=str(joint.get("name")),
                source=str(mimic.get("joint")),
                multiplier=float(mimic.get("multiplier", "1")),
                offset=float(mimic.get("offset", "0")),
            )
    driven = [n for n in description.joints if description.urdf_of[n] not in mimics]
    home = [description.start[name] / description.scale[name] for name in driven]
    mechanism = Mechanism(
        urdf_path=description.urdf_path,
        joint_names=tuple(description.urdf_of[name] for name in driven),
        home=np.array(home),
        mimics=tuple(mimics.values()),
        grippers=description.grippers,
        eef_links=description.eef_links,
    )
    return mechanism, ModelOptions(has_block=False)
