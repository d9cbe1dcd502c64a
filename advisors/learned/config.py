"""YAML settings of learned suggestions."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt, Le, Lt, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import AdvisorSettings


@settings
class LearnedConfig(AdvisorSettings):
    """Provider of the covariance, its hand and objects."""

    rate: Annotated[
        float, Gt(0), Le(200), Unit("Hz"), doc("How often it is asked, at most.")
    ] = 50.0  # chosen: a suggestion rests on what was measured 20 ms before
    function: Annotated[
        str, doc("Who says it, module:name: a function, or a class without arguments.")
    ] = ""
    path: Annotated[
        str,
        Unit("path"),
        doc("Who says it, an ONNX file; neither: the one trained here."),
    ] = ""
    limb: Annotated[str, doc("Limb that moves; empty: the first.")] = ""
    object: Annotated[str, doc("What is to be grasped, an object of the env.")] = (
        "block"
    )
    target: Annotated[str, doc("Where it is to be placed, likewise.")] = "target"
    cameras: Annotated[
        tuple[str, ...], doc("Cameras whose images are shown to it, by their names.")
    ] = ()
    alike: Annotated[
        float,
        Ge(0),
        Lt(1),
        Unit("1"),
        doc("Variances that differ by less keep their columns as they were."),
    ] = 0.2  # chosen: axes of variances so alike turn with the smallest noise

    def __post_init__(self) -> None:
        if self.function and self.path:
            raise ValueError("one of function=module:name and path=FILE.onnx")
