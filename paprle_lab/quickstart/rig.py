"""The rig of the dialogue, and its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paprle.config.emulated import list_emulated

ROBOT = "so101"
LEADER_PORT, FOLLOWER_PORT = "leader.limbs.arm.port", "env.port"
_LEADER_FILE, _FOLLOWER_FILE = "leader.limbs.arm.calibration", "env.calibration"
SIMULATED, REAL = "mujoco", "feetech"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One arm of a rig; an empty ``calibration``: its servos'."""

    port: str
    calibration: str = ""
    is_emulated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """A leader and a follower.

    Attributes:
        leader: None: the page leads.
        follower: None: simulated.
        is_autopilot: A program leads, in simulation.
        is_on_network: The page is served to phones, too.
    """

    leader: Arm | None = None
    follower: Arm | None = None
    cameras: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    is_autopilot: bool = False
    is_on_network: bool = False

    @property
    def leader_words(self) -> list[str]:
        """Settings of the leader."""
        if self.leader is None:
            return ["leader=autopilot" if self.is_autopilot else "leader=web"]
        return [
            f"leader={ROBOT}",
            *_name_arm(self.leader, LEADER_PORT, _LEADER_FILE, ("leader", ROBOT)),
        ]

    @property
    def follower_words(self) -> list[str]:
        """Settings of the follower and its env."""
        if self.follower is None:
            return [f"follower={ROBOT}", f"env={SIMULATED}"]
        return [
            f"follower={ROBOT}",
            f"env={REAL}",
            *_name_arm(self.follower, FOLLOWER_PORT, _FOLLOWER_FILE, ("env", REAL)),
        ]

    def list_words(self, out: Path, n_episodes: int, task: str) -> list[str]:
        """Return the settings of ``paprle run``."""
        words = [*self.leader_words, *self.follower_words]
        if self.follower is not None:
            words.append("gate.accept_unattended=true")
        words += [
            f"cameras.{name}.{key}={value}"
            for name, values in self.cameras.items()
            for key, value in values.items()
        ]
        words.append(
            "observers.view.listen=lan" if self.is_on_network else "observers.view={}"
        )
        words += [f"session.episodes={n_episodes}", f"record.dir={out}"]
        return [*words, *([f"record.task={task}"] if task else [])]


def _name_arm(
    arm: Arm, port_key: str, file_key: str, device: tuple[str, str]
) -> list[str]:
    port = f"{port_key}={arm.port}"
    words = [] if port in list_emulated(*device) else [port]
    return [*words, *([f"{file_key}={arm.calibration}"] if arm.calibration else [])]
