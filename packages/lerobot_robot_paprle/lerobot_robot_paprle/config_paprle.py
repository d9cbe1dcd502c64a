"""Options ``--robot.…``."""

from dataclasses import dataclass, field

from lerobot.robots import RobotConfig


@RobotConfig.register_subclass("paprle")
@dataclass(kw_only=True)
class PaprleRobotConfig(RobotConfig):
    """A session of PAPRLE.

    Attributes:
        words: Of its command line, without a leader: ``follower=piper env=can``.
        command: Starts PAPRLE, which may live in an environment of its own.
        timeout: How long it may take until it is there, [s].
    """

    words: list[str] = field(default_factory=list)
    command: str = "paprle"
    timeout: float = 120.0
