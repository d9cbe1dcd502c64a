"""What the YAML of the offline leader may say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings import STRICT, GripperSettings


@dataclass(frozen=True, kw_only=True, slots=True)
class KeySettings:
    """Which array of an NPZ holds what; usual names are found without being told."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    time: Annotated[str | None, doc("Stamps, shape (n,), [s].")] = None
    q: Annotated[str | None, doc("Joint positions, shape (n, m), [rad].")] = None
    joint_names: Annotated[str | None, doc("Names of the m joints.")] = None
    opening: Annotated[str | None, doc("Gripper opening 0 … 1, shape (n,).")] = None
    position: Annotated[str | None, doc("Positions, shape (n, 3), [m].")] = None
    quat_xyzw: Annotated[str | None, doc("Orientations, shape (n, 4), w last.")] = None
    quat_wxyz: Annotated[str | None, doc("Orientations, shape (n, 4), w first.")] = None
    pose_xyzw: Annotated[
        str | None, doc("Positions and orientations, shape (n, 7), w last.")
    ] = None
    pose_wxyz: Annotated[
        str | None,
        doc("Positions and orientations, shape (n, 7), w of the four first."),
    ] = None


@dataclass(frozen=True, kw_only=True, slots=True)
class BagSettings:
    """Which topics of a bag hold what; a bag with one usable topic needs nothing."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    topics: Annotated[
        Mapping[str, str],
        doc("Topic of PoseStamped, JointState or JointTrajectory, by limb."),
    ] = field(default_factory=dict)
    gripper: Annotated[
        GripperSettings | None,
        doc("The joint in the limb's topic that is the gripper, and its positions."),
    ] = None
    joy: Annotated[str, doc("Topic of a Joy; empty: none.")] = ""
    deadman: Annotated[
        int | None, Ge(0), doc("Button of it that was held while moving.")
    ] = None
    gripper_axis: Annotated[
        int | None, Ge(0), doc("Axis of it that is the opening: −1 closed … 1 open.")
    ] = None

    def __post_init__(self) -> None:
        if not self.joy and (self.deadman, self.gripper_axis) != (None, None):
            raise ValueError("the topic of the Joy in 'joy', for deadman, gripper_axis")


@dataclass(frozen=True, kw_only=True, slots=True)
class OfflineConfig:
    """Which motion, how it is meant, and how it is played."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    path: Annotated[
        str | None,
        Unit("path"),
        doc(
            "File: CSV, TUM trajectory, .npz, an episode of ours (.mcap), or a bag of "
            "ROS (.mcap, .db3, .bag, or the folder of ros2 bag)."
        ),
    ] = None
    paths: Annotated[
        Mapping[str, Annotated[str, Unit("path")]],
        doc("One file a limb, by limb name, instead of path."),
    ] = field(default_factory=dict)
    limbs: Annotated[
        tuple[str, ...],
        doc("Limbs in one file: columns or arrays begin with '<limb>_' (or . or /)."),
    ] = ()
    limb: Annotated[str, doc("Name of the limb of a file that has only one.")] = "hand"
    joints: Annotated[
        tuple[str, ...],
        doc(
            "CSV: columns that are joints; NPZ: names of the first columns of q; bag: "
            "joints of its messages."
        ),
    ] = ()
    keys: Annotated[KeySettings, doc("Which array of an NPZ holds what.")] = field(
        default_factory=KeySettings
    )
    bag: Annotated[BagSettings, doc("Which topics of a bag hold what.")] = field(
        default_factory=BagSettings
    )
    dt: Annotated[
        float | None, Gt(0), Unit("s"), doc("Period of a file without stamps.")
    ] = None
    frame: Annotated[
        Literal["auto", "absolute", "relative"],
        doc(
            "absolute: poses are meant in the limb's base as they are; relative: as "
            "motion since engaging; auto: absolute for ARBot CSV and for episodes "
            "whose leader was, else relative."
        ),
    ] = "auto"
    speed: Annotated[float, Gt(0), Le(100), Unit("1"), doc("Speed factor.")] = 1.0
    loop: Annotated[
        int | None, Ge(0), doc("Plays, one an episode; 0: endless; absent: one.")
    ] = None
    max_gap: Annotated[
        float,
        Gt(0),
        Unit("s"),
        doc("A longer gap between rows, in the file's time, ends validity."),
    ] = 0.25  # spec: the issue; recordings at 30 Hz show single gaps up to 0.17 s
