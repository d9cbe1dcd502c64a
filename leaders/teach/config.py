"""YAML settings of a teach-in."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import SightSettings


@settings(slots=False)
class TeachConfig(SightSettings):
    """File and playback of poses."""

    path: Annotated[
        str, Unit("path"), doc("YAML of the poses; made when the first one is kept.")
    ]
    starts: Annotated[
        Literal["at_once", "on_key"],
        doc(
            "at_once: an episode plays the poses; on_key: it drives from one press of "
            "the key y to the next or the last pose, beside a leader that guides."
        ),
    ] = "at_once"
    emits: Annotated[
        Literal["joints", "pose"],
        doc(
            "joints: through the joint positions of the file; pose: through its poses "
            "of the eef, by straight lines in each turn, and IK."
        ),
    ] = "joints"
    limbs: Annotated[
        tuple[str, ...], doc("Limbs that are taught; empty: all but legs.")
    ] = ()
    pace: Annotated[
        float, Gt(0), Le(1), Unit("1"), doc("Share of joint limits V and A.")
    ] = 0.25  # chosen: as slow as reduced mode
    speed: Annotated[float, Gt(0), Le(2), Unit("m/s"), doc("Of the eef, at most.")] = (
        0.15  # chosen: as observers.view.speed
    )
    turn_speed: Annotated[
        float, Gt(0), Le(6), Unit("rad/s"), doc("Of its turn, at most.")
    ] = 0.8  # chosen: the same
    acceleration: Annotated[
        float, Gt(0), Le(20), Unit("m/s²"), doc("Of the eef, at most.")
    ] = 0.5  # chosen: full speed in 0.3 s
    turn_acceleration: Annotated[
        float, Gt(0), Le(60), Unit("rad/s²"), doc("Of its turn, at most.")
    ] = 2.5  # chosen: the same
    gripper_speed: Annotated[
        float, Gt(0), Le(10), Unit("1/s"), doc("Openings a second, at most.")
    ] = 1.0  # chosen: a full stroke a second
    episodes: Annotated[
        int | None, Ge(0), doc("Plays, one an episode; 0: endless; absent: one.")
    ] = None
