"""YAML settings of a remote leader."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.core import LinkSettings


@settings
class RemoteConfig:
    """The operator's leader, and the link to its host."""

    limbs: Annotated[
        tuple[str, ...], doc("Its limbs, in the order of the operator's leader.")
    ] = ("hand",)
    emits: Annotated[
        Literal["pose", "joints", "axes"],
        doc("What it gives of each limb; arms with joints of their own give poses."),
    ] = "pose"
    joints: Annotated[
        Mapping[str, tuple[str, ...]], doc("Joint names by limb, of emits=joints.")
    ] = field(default_factory=dict)
    axes: Annotated[
        Mapping[str, tuple[str, ...]], doc("Names of axes by limb, of emits=axes.")
    ] = field(default_factory=dict)
    absolute: Annotated[
        tuple[str, ...],
        doc("Limbs whose poses are meant in the base of the robot's limb as they are."),
    ] = ()
    gripper: Annotated[bool, doc("It opens and closes a gripper.")] = True
    human: Annotated[
        bool, doc("A person holds it: after a silence motion waits for a press.")
    ] = True
    deadman: Annotated[
        bool, doc("It has a dead-man, which counts once it was seen released.")
    ] = True
    trigger: Annotated[
        bool, doc("A trigger closes the gripper; it counts once it was seen open.")
    ] = False
    forces: Annotated[
        bool, doc("It has motors: its operator feels what holds the robot.")
    ] = False
    rate: Annotated[
        float, Gt(0), Le(140), Unit("Hz"), doc("Captures a second that cross, at most.")
    ] = 100.0
    link: Annotated[LinkSettings, doc("The link to its host; as section link.")] = (
        LinkSettings()
    )
