"""YAML settings of the kinematic env."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.followers.kinematic.faults import Fault


@settings
class KinematicConfig(FollowerSettings):
    """The robot's response to commands, and its first pose."""

    rate: Annotated[
        float, Ge(1), Le(1000), Unit("Hz"), doc("How often it is written to.")
    ] = 200.0
    time_constant: Annotated[
        float, Ge(0), Le(1), Unit("s"), doc("Of a first-order lag; 0: none.")
    ] = 0.0
    dead_time: Annotated[
        float, Ge(0), Le(1), Unit("s"), doc("Until a command takes effect.")
    ] = 0.0
    start: Annotated[
        Literal["home", "zero"],
        doc("Where it stands when opened; zero is moved to within the limits."),
    ] = "home"
    q_start: Annotated[
        Mapping[str, float],
        Unit("rad or m"),
        doc("Joints that stand elsewhere when opened, by name; limits do not bind."),
    ] = field(default_factory=dict)
    faults: Annotated[
        tuple[str, ...],
        doc(
            "Emulates a bad robot, for tests: KIND@SECONDS or KIND@BEGIN-END after "
            "the first write; kinds in followers/kinematic/README.md."
        ),
    ] = ()

    def __post_init__(self) -> None:
        for entry in self.faults:
            Fault.parse(entry)
