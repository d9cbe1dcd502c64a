"""Follower: Sextant's arms."""

from __future__ import annotations

from collections.abc import Iterator

from paprle_sextant.arm import SextantArm, SextantSettings
from paprle_sextant.config import SextantConfig

from paprle.contracts.errors import DeviceError
from paprle.contracts.kit.followers.vendor_follower import VendorFollower
from paprle.contracts.types import FollowerInfo, LimbInfo
from paprle.hardware.robotiq.make import make_gripper
from paprle.hardware.vendor_arm.states import ArmState, describe

_MODEL, _N_JOINTS = "S6", 6  # spec: Sextant


class SextantFollower(VendorFollower[SextantArm]):
    """Arms of Sextant."""

    config: SextantConfig
    env = "sextant"
    example = "192.168.7.1"
    extra = "sextant"
    passes_grippers = False
    make_gripper = staticmethod(make_gripper)

    @property
    def unchecked(self) -> str:
        """Checks that need a connection."""
        return "whether the controllers answer and are well"

    def _describe(self) -> FollowerInfo:
        return FollowerInfo(
            joint_names=self.robot.joint_names,
            rate=self.config.rate,
            lag=self.config.lag,
            has_effort=True,
            has_unattended_stop=True,
            power_off="brakes",
        )

    def _check_limbs(self) -> None:
        sizes = {len(limb.joint_names) for limb in self.robot.limbs}
        if sizes != {_N_JOINTS}:
            raise DeviceError(
                f"env 'sextant': expected limbs of {_N_JOINTS} joints, got "
                f"{', '.join(self.robot.joint_names)}"
            )
        self._grippers.check(has_other_line=False)

    def _make_arm(self, limb: LimbInfo, host: str) -> SextantArm:  # noqa: ARG002
        config = self.config
        return SextantArm(
            SextantSettings(
                host=host,
                rate=config.rate,
                watchdog=config.watchdog,
                payload=config.payload,
                payload_centre=config.payload_centre,
            ),
            self.clock,
        )

    def _open_arm(self, arm: SextantArm, limb: LimbInfo) -> list[str]:  # noqa: ARG002
        model = arm.greet()
        if model != _MODEL:
            return [f"expected the controller of an {_MODEL}, got one of an {model}"]
        arm.open()
        return []

    def _diagnose_arm(
        self, arm: SextantArm, limb: LimbInfo
    ) -> Iterator[tuple[bool, str]]:
        where = f"{limb.name}, {arm.name}"
        try:
            yield True, f"{where}: {arm.greet()}"
            condition = arm.examine()
            is_well = condition.state in {ArmState.ENDED, ArmState.POWER_OFF}
            told = "well" if is_well else describe(condition, arm.remedies)
            yield is_well, f"{where}: {told}"
        except ImportError as err:
            yield False, f"{where}: expected {err.name}, got none; pip install sextant"
        except OSError as err:
            yield False, str(err)
        finally:
            arm.close(is_powerless=False)
