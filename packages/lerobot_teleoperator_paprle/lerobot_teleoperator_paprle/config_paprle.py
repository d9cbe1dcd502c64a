"""Options ``--teleop.…``."""

from dataclasses import dataclass, field

from lerobot.teleoperators import TeleoperatorConfig


@TeleoperatorConfig.register_subclass("paprle")
@dataclass(kw_only=True)
class PaprleTeleoperatorConfig(TeleoperatorConfig):
    """A session of PAPRLE whose robot is a model of the one that LeRobot drives.

    Attributes:
        words: Of its command line: ``leader=gamepad follower=piper env=kinematic``.
        command: Starts PAPRLE, which may live in an environment of its own.
        timeout: How long it may take until it is there, [s].
    """

    words: list[str] = field(default_factory=list)
    command: str = "paprle"
    timeout: float = 120.0
