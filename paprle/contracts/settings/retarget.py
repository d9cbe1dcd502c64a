"""Settings of section ``retarget``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings


@settings
class JointMapSettings:
    """Follower joint from a leader joint: q = sign·scale·q_leader + offset."""

    joint: Annotated[str, doc("Leader joint.")]
    sign: Annotated[Literal[-1, 1], doc("Sign.")] = 1
    scale: Annotated[float, Gt(0), Unit("1"), doc("Scale.")] = 1.0
    offset: Annotated[float, Unit("rad"), doc("Offset.")] = 0.0


@settings
class LookSettings:
    """Motion of a camera that looks at a hand, or of a limb that follows an object.

    The paper's 0.1 m/s² and 0.1 m/s³ take 5.6 s for half a metre.
    """

    max_speed: Annotated[float, Gt(0), Le(2), Unit("m/s"), doc("Aimed at.")] = 0.5
    max_acceleration: Annotated[
        float, Gt(0), Le(20), Unit("m/s²"), doc("Of what is asked of the limb.")
    ] = 1.0
    max_jerk: Annotated[
        float, Gt(0), Le(1000), Unit("m/s³"), doc("Of what is asked of the limb.")
    ] = 10.0
    max_turn: Annotated[
        float, Gt(0), Le(10), Unit("rad/s"), doc("How fast it turns.")
    ] = 1.5
    max_turn_acceleration: Annotated[
        float, Gt(0), Le(100), Unit("rad/s²"), doc("How fast it begins to turn.")
    ] = 6.0
    prediction: Annotated[
        float, Ge(0), Le(2), Unit("s"), doc("It looks where the hand will be then.")
    ] = 0.3
    nearest: Annotated[
        float, Gt(0), Unit("m"), doc("To what it looks at, where a hand zooms.")
    ] = 0.4
    farthest: Annotated[
        float, Gt(0), Unit("m"), doc("From what it looks at, where a hand zooms.")
    ] = 1.4

    def __post_init__(self) -> None:
        if self.nearest > self.farthest:
            raise ValueError(
                f"nearest at most farthest, {self.farthest:g} [m], got "
                f"{self.nearest:g} [m]"
            )


def _find_key(name: str) -> str:
    return name.rstrip("_")


@settings(rename=_find_key)
class LimbRuleSettings:
    """Rule and source of a follower limb's motion."""

    rule: Annotated[
        Literal[
            "auto",
            "joints",
            "relative",
            "absolute",
            "axes",
            "look_at",
            "follow",
            "hold",
        ],
        doc(
            "As retarget.mode, for this limb; look_at: it carries a camera and watches "
            "another; follow: it goes after an object while its leader holds the "
            "dead-man; hold: nothing drives it."
        ),
    ] = "auto"
    from_: Annotated[
        str | tuple[str, ...],
        doc(
            "Leader limb, or several: the first that may drive does. In a mix, "
            "leader.limb, or the leader's name where it has one limb. Absent: the limb "
            "of equal name."
        ),
    ] = ()
    scale: Annotated[float | None, Ge(0), Unit("1"), doc("Absent: retarget.scale.")] = (
        None
    )
    alignment: Annotated[
        Literal["world", "body", "view"] | None,
        doc(
            "Whose axes motion is in: the world's, the tool's, or the images' of the "
            "camera that looks at this limb. Absent: retarget.alignment."
        ),
    ] = None
    rpy_xyz_extrinsic: Annotated[
        tuple[float, float, float] | None,
        Unit("rad"),
        doc("Absent: retarget.rpy_xyz_extrinsic."),
    ] = None
    modes: Annotated[str | None, doc("Absent: retarget.modes.")] = None
    of: Annotated[
        str | None, doc("look_at: the limb whose hand it watches, and whose leader.")
    ] = None
    advice: Annotated[
        str | None,
        doc("look_at: the advisor that says where to be. Absent: it only turns."),
    ] = None
    object: Annotated[
        str | None,
        doc(
            "follow: what it goes after: ADVISOR.ID as of a marker, or one of "
            "session.objects, which an operator drags at the page."
        ),
    ] = None
    camera: Annotated[
        str | None,
        doc(
            "look_at: the camera on its hand. Absent: the only one there; where there "
            "is none, its eef looks along z, x to the right."
        ),
    ] = None
    zoom: Annotated[
        str | None,
        doc("look_at: a leader's limb/axis that takes the camera away and back."),
    ] = None
    motion: Annotated[LookSettings, doc("look_at, follow: how it moves.")] = field(
        default_factory=LookSettings
    )
    input: Annotated[
        Literal["continuous", "discrete", "absolute"] | None,
        doc("Absent: retarget.input."),
    ] = None


@settings
class FilterSettings:
    """One-Euro filter of a noisy leader (Casiez et al., CHI 2012)."""

    min_cutoff: Annotated[
        float,
        Gt(0),
        Unit("Hz"),
        doc("Cutoff of a hand at rest; it is 1/(2 pi min_cutoff) late there."),
    ] = 2.0
    beta: Annotated[
        float, Ge(0), Unit("1/m"), doc("How much the cutoff grows with the speed.")
    ] = 20.0
    beta_turn: Annotated[
        float,
        Ge(0),
        Unit("1/rad"),
        doc("The same for orientations and for joints."),
    ] = 4.0


@settings
class RetargetSettings:
    """Mapping of the leader's motion to the follower's."""

    mode: Annotated[
        Literal["auto", "joints", "relative", "absolute", "axes"],
        doc(
            "The rule of all limbs. joints: joint by joint; relative: SE(3) motion "
            "since engaging; absolute: poses as they are; axes: sticks, keys or "
            "sliders say how fast; auto: axes where the leader has some, joints where "
            "two arms are built alike or their joints have the same telling names, "
            "absolute where the leader says so, relative otherwise."
        ),
    ] = "auto"
    modes: Annotated[
        str,
        doc(
            "What the axes of a device move, mode by mode. manual: x, y, z, roll, "
            "pitch, yaw and the gripper, as many at a time as there are axes; "
            "classic: translation, wrist and finger apart; or the name of an advisor "
            "that suggests directions, with classic where it says nothing."
        ),
    ] = "manual"
    input: Annotated[
        Literal["continuous", "discrete", "absolute"],
        doc(
            "What the numbers of axes say. continuous: how fast; discrete: each press "
            "is a step of 0.2 s at full speed; absolute: how far, as a slider that "
            "goes from its middle to its end in 2 s of full speed."
        ),
    ] = "continuous"
    scale: Annotated[
        float, Ge(0), Unit("1"), doc("Scale s of translations; rotation is unscaled.")
    ] = 1.0
    max_travel: Annotated[
        float,
        Gt(0),
        Unit("m"),
        doc("How far a target may go from where its limb engaged (A5)."),
    ] = 1.5
    alignment: Annotated[
        Literal["world", "body"],
        doc("Whether motion is the same in the world's axes or in the tool's."),
    ] = "world"
    rpy_xyz_extrinsic: Annotated[
        tuple[float, float, float],
        Unit("rad"),
        doc(
            "Rotation from leader base axes to follower base axes (world), or from "
            "leader tool to follower tool (body)."
        ),
    ] = (0.0, 0.0, 0.0)
    through: Annotated[
        str | None,
        doc(
            "Follower that the leader's arms are copies of: its hand, at the leader's "
            "joints, drives instead of the leader's own. Absent: the leader's own."
        ),
    ] = None
    limb_map: Annotated[
        Mapping[str, str],
        doc(
            "Follower limb → leader limb. Absent: equal names, or the only leader limb "
            "drives one follower limb, which is no leg."
        ),
    ] = field(default_factory=dict)
    limbs: Annotated[
        Mapping[str, LimbRuleSettings],
        doc("Rule and source by follower limb, in place of limb_map; others hold."),
    ] = field(default_factory=dict)
    joint_map: Annotated[
        Mapping[str, JointMapSettings], doc("Follower joint → leader joint.")
    ] = field(default_factory=dict)
    samples: Annotated[
        Literal["auto", "off", "latest", "ordered"],
        doc(
            "How samples become motion. auto: a leader slower than 150 Hz is "
            "reconstructed by its own policy, one period and 5 ms late, others are "
            "followed as they are, as with off; latest: newer captures alone count; "
            "ordered: late ones too, in the order of their capture."
        ),
    ] = "auto"
    filter: Annotated[
        FilterSettings | None,
        doc("Smooths a noisy leader; retarget.filter.min_cutoff=2 is a start."),
    ] = None
