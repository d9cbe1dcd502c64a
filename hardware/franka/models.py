"""The maker's arms: SDK, protocol and limits of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paprle.hardware.franka.limits import FR3, PANDA, MotionLimits


@dataclass(frozen=True, slots=True)
class Model:
    """An arm by the name of its follower.

    Attributes:
        title: Name of the product.
        version: Of the protocol that its control unit speaks.
        package: Of the SDK that speaks it.
        extra: Of ``paprle``, with this package.
        limits: Of the unit's motion generator.
    """

    name: str
    title: str
    version: int
    package: str
    extra: str
    limits: MotionLimits


MODELS: Mapping[str, Model] = {
    model.name: model
    for model in (
        Model("fr3", "Franka Research 3", 10, "pylibfranka", "franka", FR3),
        Model("panda", "Panda", 5, "panda_py", "franka-panda", PANDA),
    )
}  # spec: libfranka's compatibility table


def describe_version(version: int) -> str:
    """Return the models whose unit speaks a version, as a sentence's part."""
    names = [model.name for model in MODELS.values() if model.version == version]
    return f"version {version}" + f" ({', '.join(names)})" * bool(names)
