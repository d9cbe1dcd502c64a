"""One arm of the leader."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import MissingDependency
from paprle.contracts.plugins import Clock
from paprle.contracts.types import GripperInfo, LeaderArm, Vec, readonly
from paprle.contracts.urdf.gravity import Gravity
from paprle.hardware.can_channel.channels import find_channel, find_obstacle
from paprle.hardware.damiao.guided import GuidedArm
from paprle.hardware.damiao.models import ARMS
from paprle.hardware.damiao.powered import ArmSettings, Reading
from paprle.hardware.vendor_arm.states import ArmError
from paprle.leaders.damiao.config import DamiaoLeaderConfig

_LAW_SCALE = 9.0  # chosen: three times as long as a puppeteer, as stiff at the hand
_INSTALL = "pip install 'paprle[damiao]'"


class LedLimb:
    """One arm of the leader.

    Attributes:
        reset_q: Rest pose of the arm joints, (n,), [rad].
        arm: Its open motors, or None.
    """

    def __init__(self, name: str, config: DamiaoLeaderConfig, clock: Clock) -> None:
        self.name, self._config, self._clock = name, config, clock
        self.settings = settings = config.limbs[name]
        self.model = model = ARMS[config.model]
        self.info = LeaderArm(
            urdf_path=Path(settings.urdf),
            base_link=settings.base_link,
            eef_link=settings.eef_link,
            joint_names=settings.joints,
            gripper=GripperInfo(
                joint=settings.gripper, closed=model.grip_closed, open=model.grip_open
            ),
            R_base=_make_rotation(settings.base_rpy_xyz_extrinsic),
            reset_q=_make_row(settings.reset_q) if settings.reset_q else None,
            tau_max=_make_row(model.tau),
            carries_itself=True,
            law_scale=_LAW_SCALE,
        )
        self.reset_q = _make_row(settings.reset_q or (0.0,) * model.n)
        self.arm: GuidedArm | None = None

    def find_mistakes(self) -> list[str]:
        """Return mistakes in its settings."""
        n, where = self.model.n, f"leader.limbs.{self.name}"
        found = []
        if len(self.settings.joints) != n:
            found.append(
                f"{where}.joints: expected {n}, as '{self._config.model}' has them, "
                f"got {len(self.settings.joints)}"
            )
        if self.settings.reset_q and len(self.settings.reset_q) != n:
            found.append(
                f"{where}.reset_q: expected {n} positions, got "
                f"{len(self.settings.reset_q)}"
            )
        return found

    def find_obstacle(self) -> str:
        """Return an obstacle to opening, or ""."""
        try:
            channel = find_channel(self.settings.channel)
        except OSError as err:
            return str(err)
        return find_obstacle(self._config.interface, channel) or ""

    def make_arm(self) -> GuidedArm:
        """Return its closed motors.

        Raises:
            ArmError: If its channel is missing.
        """
        settings, config = self.settings, self._config
        gravity = Gravity(Path(settings.urdf), settings.joints, {})
        gravity.tilt(settings.base_link, self.info.R_base)
        try:
            channel = find_channel(settings.channel)
        except OSError as err:
            raise ArmError(str(err)) from err
        return GuidedArm(
            ArmSettings(
                interface=config.interface,
                channel=channel,
                model=self.model,
                has_gripper=True,
                rate=config.rate,
                timeout=config.timeout,
                descent=config.descent,
            ),
            gravity.compute,
            self._clock,
        )

    def open(self) -> list[str]:
        """Connect and carry the arm's weight.

        Returns:
            The problems.

        Raises:
            MissingDependency: Without python-can.
        """
        try:
            self.arm = self.make_arm()
            self.arm.open()
        except ImportError as err:
            raise MissingDependency(
                f"leader 'damiao': expected {err.name}, got none; {_INSTALL}"
            ) from err
        except ArmError as err:
            return [f"leader 'damiao': {line}" for line in str(err).split("\n")]
        return []

    def close(self) -> None:
        """Let the arm sink."""
        if self.arm is not None:
            self.arm.close(is_powerless=False)
        self.arm = None

    def find_opening(self, reading: Reading) -> float:
        """Return the gripper's opening, 0 … 1."""
        closed, opened = self.model.grip_closed, self.model.grip_open
        share = (float(reading.q[-1]) - closed) / (opened - closed)
        return min(max(share, 0.0), 1.0)

    def find_distance(self, reading: Reading) -> float:
        """Return the largest distance to the reset pose, [rad]."""
        return float(np.abs(reading.q[: self.model.n] - self.reset_q).max())


@lru_cache(maxsize=64)
def _make_rotation(rpy_xyz_extrinsic: tuple[float, float, float]) -> Vec:
    """Return a cached mounting, so that infos compare equal."""
    return readonly(pin.rpy.rpyToMatrix(*rpy_xyz_extrinsic))


@lru_cache(maxsize=64)
def _make_row(values: tuple[float, ...]) -> Vec:
    return readonly(values)
