"""YAML settings of the MuJoCo env."""

from __future__ import annotations

import math
from dataclasses import field
from typing import Annotated

from annotated_types import Ge, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.hardware.mujoco.mechanism import BLOCK, NATURAL_FREQUENCY, TARGET

_WHOLE = 1e-6  # chosen: how far from a whole number rounding may leave a ratio
_LONGEST_STEP = 0.00125  # chosen: [s] half a period at 400 Hz; contacts stay stiff


@settings
class RandomiseConfig:
    """Variations between runs."""

    friction: Annotated[
        float,
        Ge(0),
        Le(1),
        Unit("1"),
        doc("Each joint's dry friction varies by up to this share."),
    ] = 0.0
    load: Annotated[
        float,
        Ge(0),
        Le(5),
        Unit("kg"),
        doc("Each end effector carries up to this much more."),
    ] = 0.0
    block: Annotated[
        float,
        Ge(0),
        Le(1),
        Unit("m"),
        doc("The block lies up to this far from its place, along x and along y."),
    ] = 0.0
    seed: Annotated[int, Ge(0), doc("Seed; the same seed is the same robot.")] = 0


@settings
class ScenarioConfig:
    """A block to place on a target repeatedly."""

    target: Annotated[
        tuple[float, float], Unit("m"), doc("Where the target lies, x and y in world.")
    ] = (0.25, -0.14)
    x: Annotated[
        tuple[float, float], Unit("m"), doc("Where blocks appear, least and most x.")
    ] = (0.2, 0.3)
    y: Annotated[
        tuple[float, float], Unit("m"), doc("Where blocks appear, least and most y.")
    ] = (-0.04, 0.14)
    graspable: Annotated[bool, doc("The hand can hold the block.")] = True
    seed: Annotated[int, Ge(0), doc("The same seed is the same blocks.")] = 0

    def __post_init__(self) -> None:
        for name, (low, high) in {"x": self.x, "y": self.y}.items():
            if not low < high:
                raise ValueError(f"{name} from less to more, not {low:g} to {high:g}")


@settings
class MujocoConfig(FollowerSettings):
    """Settings of simulation and world."""

    rate: Annotated[
        float, Ge(1), Le(1000), Unit("Hz"), doc("How often it is written to.")
    ] = 400.0
    timestep: Annotated[
        Annotated[float, Ge(0.0001), Le(0.002)] | None,
        Unit("s"),
        doc(
            "Of the simulation; a period is a whole number of them. null: the longest "
            "such that is 1.25 ms at most; with longer ones a drive at its effort "
            "limit may chatter."
        ),
    ] = None
    resolution: Annotated[
        float,
        Ge(0),
        Le(0.01),
        Unit("rad or m"),
        doc(
            "Steps of measured positions, the next power of two below; velocities and "
            "efforts are told in 256 and 1024 times as many SI units. 0: as simulated."
        ),
    ] = 4.0e-6
    natural_frequency: Annotated[
        float,
        Ge(20),
        Le(NATURAL_FREQUENCY),
        Unit("rad/s"),
        doc("Of the servos, critically damped: they stay 2/this behind a ramp."),
    ] = NATURAL_FREQUENCY
    armature: Annotated[
        Annotated[float, Ge(1e-4), Le(1)] | None,
        Unit("kg·m²"),
        doc(
            "Rotor of a turning joint, behind its gear. null: 0.01, of grippers 0.001."
        ),
    ] = None
    gravcomp: Annotated[bool, doc("The drives carry the arm's own weight.")] = True
    table: Annotated[
        bool,
        doc("Arms stand on a table; robots with legs get none in any case."),
    ] = True
    block: Annotated[
        bool, doc("A block lies under the first hand, where something carries it.")
    ] = True
    scenario: Annotated[
        ScenarioConfig | None,
        doc("A target for the block, which appears elsewhere once it lies there."),
    ] = None
    friction_scale: Annotated[
        float, Ge(0), Le(100), Unit("1"), doc("On the joints' dry friction.")
    ] = 1.0
    payload: Annotated[
        float,
        Ge(0),
        Le(20),
        Unit("kg"),
        doc("At each end effector; the drives know nothing of it."),
    ] = 0.0
    randomise: Annotated[RandomiseConfig, doc("What differs from run to run.")] = field(
        default_factory=RandomiseConfig
    )
    viewer: Annotated[bool, doc("Open a live view, in a process of its own.")] = False

    def __post_init__(self) -> None:
        if self.scenario is not None and not self.block:
            raise ValueError("block=true for a scenario, which is about it")
        steps = 1.0 / (self.rate * self.step)
        if round(steps) < 1 or abs(steps - round(steps)) > _WHOLE * steps:
            raise ValueError(
                "a period of whole time steps, to which rate or timestep are changed: "
                f"{self.rate:g} [Hz] is {steps:g} steps of {self.step:g} [s]"
            )

    @property
    def step(self) -> float:
        """Time step of the simulation, [s]."""
        if self.timestep is not None:
            return self.timestep
        period = 1.0 / self.rate
        return period / math.ceil(period / _LONGEST_STEP * (1.0 - _WHOLE))

    @property
    def objects(self) -> tuple[str, ...]:
        """The block, if graspable, and the target."""
        if self.scenario is not None:
            return (BLOCK, TARGET)
        return (BLOCK,) if self.block else ()

    @property
    def n_steps(self) -> int:
        """Simulation steps per period."""
        return round(1.0 / (self.rate * self.step))
