"""A plug-in of an ideal arm that fails when a test says so."""

from __future__ import annotations

from dataclasses import replace as dataclass_replace
from pathlib import Path
from typing import Annotated

from annotated_types import Unit, doc

from paprle.contracts.errors import DeviceError
from paprle.contracts.plugins import PluginSpec
from paprle.contracts.settings.base import settings
from paprle.followers.kinematic.config import KinematicConfig
from paprle.followers.kinematic.follower import KinematicFollower

PLUGIN = PluginSpec(
    summary="An ideal arm that fails when a test says so.",
    config="shaky_arm:ShakyConfig",
    factory="shaky_arm:ShakyArm",
)
FAILS: set[tuple[str, str]] = set()
"""Robot and method that fails; ``silent``: its state stays as it was."""
CALLS: list[tuple[str, str]] = []
"""Robot and method of each call that opened or closed an arm."""


def install(folder: Path) -> None:
    """Write the entry point of the plug-in ``shaky`` into a folder of sys.path."""
    info = folder / "shaky_arm-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shaky\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[paprle.followers]\nshaky = shaky_arm:PLUGIN\n"
    )


@settings
class ShakyConfig(KinematicConfig):
    """An ideal arm's settings, and what it says of itself."""

    host: Annotated[str, doc("Where it is.")] = ""
    sag: Annotated[float, Unit("rad"), doc("As FollowerInfo.")] = 0.0
    goes_on: Annotated[bool, doc("Whether it goes on unattended.")] = False


class ShakyArm(KinematicFollower):
    config: ShakyConfig

    @property
    def goes_on_unattended(self):
        return self.config.goes_on

    @property
    def notes(self):
        return ["arm: warm", "set env.host=… or follower.limits.q_min.joint0=0"]

    def preflight(self):
        return ["env.host: expected an address"] if self._fails("preflight") else []

    def diagnose(self):
        return [(not self._fails("diagnose"), "looked at")]

    def take_warnings(self):
        return ["hot"] if self._fails("warm") else []

    def open(self):
        CALLS.append((self.robot.name, "open"))
        if self._fails("open"):
            raise DeviceError("env 'shaky': expected an arm, got none")
        info = super().open()
        return dataclass_replace(
            info,
            sag=self.config.sag,
            has_unattended_stop=not self.config.goes_on,
            power_off="falls" if self.config.goes_on else "brakes",
            has_effort=self.config.goes_on,
            tool_speed=1.0 if self.config.goes_on else info.tool_speed,
        )

    def read(self):
        if self._fails("read"):
            raise OSError("no cable")
        state = super().read()
        if self._fails("silent"):
            return self._last
        self._last = state
        if self._fails("stop"):
            return dataclass_replace(state, stop_reason="protective stop")
        return dataclass_replace(state, tau=state.dq) if self.config.goes_on else state

    def write(self, q_cmd):
        if self._fails("write"):
            raise ValueError("a bug")
        super().write(q_cmd)

    def close(self, policy="hold"):
        CALLS.append((self.robot.name, f"close {policy}"))
        super().close(policy)
        if self._fails("close"):
            raise OSError("no cable")

    def _fails(self, what):
        return (self.robot.name, what) in FAILS
