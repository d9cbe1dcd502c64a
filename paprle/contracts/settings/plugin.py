"""Settings common to plug-ins of a kind."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings


@settings(slots=False)
class FollowerSettings:
    """Settings of every follower; without slots, for multiple inheritance."""

    rate: Annotated[
        float | None,
        Gt(0),
        Unit("Hz"),
        doc("How often the robot is written to; as often as the session when absent."),
    ] = None

    @property
    def objects(self) -> tuple[str, ...]:
        """Objects whose poses its states may hold."""
        return ()


@settings(slots=False)
class PartSettings:
    """A limb of several arms that are one robot; its env's settings extend these."""

    robot: Annotated[
        str, doc("The follower that this arm is by itself, as `paprle list` names it.")
    ]
    env: Annotated[str, doc("The env of this arm, one of that follower's.")]
    type: Annotated[str, doc("Plug-in of followers; as the env's YAML says.")]
    limb: Annotated[
        str, doc("The limb of that follower; as its YAML says where it has one.")
    ]
    urdf: Annotated[str, Unit("path"), doc("URDF of that follower; as its YAML says.")]


@settings(slots=False)
class SightSettings:
    """Settings of a leader that sees the session."""

    fps: Annotated[
        float, Gt(0), Le(200), Unit("Hz"), doc("How often it looks, and acts.")
    ] = 30.0


@settings(slots=False)
class DescentSettings:
    """Settings of a leader that falls without torque, and so is left slowly."""

    descent: Annotated[
        float,
        Ge(0),
        Le(2.5),
        Unit("s"),
        doc("Slow descent at the end, before the motors brake by themselves."),
    ] = 2.5


@settings
class AdvisorSettings:
    """Settings of every advisor."""

    rate: Annotated[
        float, Gt(0), Le(200), Unit("Hz"), doc("How often it is asked, at most.")
    ] = 10.0
