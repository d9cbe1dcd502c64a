"""YAML settings of the viewpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import AdvisorSettings

Variant = Literal["ours", "paper", "autocam"]


@settings
class ViewpointConfig(AdvisorSettings):
    """The camera's limb, watched limb, and criteria."""

    rate: Annotated[
        float, Gt(0), Le(200), Unit("Hz"), doc("How often it is asked, at most.")
    ] = 100.0
    limb: Annotated[str, doc("The limb that carries the camera.")] = "camera"
    of: Annotated[str, doc("The limb whose hand it watches.")] = "arm"
    camera: Annotated[
        str | None, doc("Its camera. Absent: the eef of its limb looks along z.")
    ] = None
    variant: Annotated[
        Variant,
        doc(
            "Whose wishes and weights: ours; the paper's as printed; or those of its "
            "first author's code of 2018 (get_2018_autocam), to compare with."
        ),
    ] = "ours"
    height: Annotated[
        float, Ge(0), Le(3), Unit("m"), doc("Height that is liked, in the world.")
    ] = 0.7
    nearest: Annotated[
        float, Gt(0), Unit("m"), doc("From the target, while the hand stands.")
    ] = 0.6
    farthest: Annotated[
        float, Gt(0), Unit("m"), doc("From the target, while the hand is fast.")
    ] = 0.9
    fast: Annotated[
        float, Gt(0), Unit("m/s"), doc("Speed of a hand that wants to see all.")
    ] = 0.4
    prediction: Annotated[
        float, Ge(0), Le(2), Unit("s"), doc("It looks where the hand will be then.")
    ] = 0.3
    clearance: Annotated[
        float, Ge(0), Le(1), Unit("m"), doc("How far apart links of both arms stay.")
    ] = 0.06
    floor: Annotated[
        float, Unit("m"), doc("Height of the table, from which they stay away, too.")
    ] = 0.0
    occluders: Annotated[
        Mapping[str, float],
        Unit("m"),
        doc("Objects that are in the way, and their radii."),
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.nearest > self.farthest:
            raise ValueError(
                f"nearest at most farthest, {self.farthest:g} [m], got "
                f"{self.nearest:g} [m]"
            )
        if any(radius < 0 for radius in self.occluders.values()):
            raise ValueError("radii of occluders from 0 [m] up")
