"""YAML settings of the offline leader."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.core import GripperSettings
from paprle.contracts.types import Reposture


@settings
class KeySettings:
    """Arrays of an NPZ by content; usual names are found."""

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


Delimiter = Literal["auto", "comma", "semicolon", "tab", "space", "bar"]


@settings
class ColumnSettings:
    """Columns of a table by content; usual names are found."""

    delimiter: Annotated[
        Delimiter, doc("What stands between columns; auto: found.")
    ] = "auto"
    names: Annotated[
        tuple[str, ...], doc("Names of all columns, in a file without a header line.")
    ] = ()
    time: Annotated[str | None, doc("Stamps.")] = None
    position: Annotated[
        tuple[str, ...], doc("x, y, z; without an orientation it stays as it is.")
    ] = ()
    quat_xyzw: Annotated[tuple[str, ...], doc("Orientation, w last.")] = ()
    quat_wxyz: Annotated[tuple[str, ...], doc("Orientation, w first.")] = ()
    euler: Annotated[
        tuple[str, ...], doc("Orientation as three angles, in the order of the turns.")
    ] = ()
    euler_order: Annotated[
        str | None,
        doc(
            "Axes of the three turns, and whether they stand still: xyz_extrinsic "
            "(roll, pitch, yaw), or turn along: zyx_intrinsic (yaw, pitch, roll)."
        ),
    ] = None
    opening: Annotated[str | None, doc("Gripper opening 0 … 1.")] = None

    def __post_init__(self) -> None:
        lengths = {"position": 3, "quat_xyzw": 4, "quat_wxyz": 4, "euler": 3}
        for role, n in lengths.items():
            if len(getattr(self, role)) not in {0, n}:
                raise ValueError(f"{n} columns in '{role}'")
        if sum(map(bool, (self.quat_xyzw, self.quat_wxyz, self.euler))) > 1:
            raise ValueError("one of 'quat_xyzw', 'quat_wxyz' and 'euler'")
        if bool(self.euler) != (self.euler_order is not None):
            raise ValueError("both or none of 'euler' and 'euler_order'")
        if self.euler_order is not None and not _ORDER.fullmatch(self.euler_order):
            raise ValueError(
                "an 'euler_order' such as xyz_extrinsic, zyx_intrinsic, zyz_intrinsic"
            )


_ORDER = re.compile(r"(?!(.)\1|.(.)\2)[xyz]{3}_(extrinsic|intrinsic)")
"""Three axes, none of them twice in a row."""


@settings
class UnitSettings:
    """Units; a header's ``x [mm]`` is read."""

    time: Annotated[
        Literal["s", "ms", "us", "ns"] | None, doc("Of stamps; absent: s.")
    ] = None
    length: Annotated[
        Literal["m", "cm", "mm"] | None, doc("Of positions; absent: m.")
    ] = None
    angle: Annotated[
        Literal["rad", "deg"] | None, doc("Of angles and joints; absent: rad.")
    ] = None


@settings
class BagSettings:
    """Topics of a bag; a single one is found."""

    topics: Annotated[
        Mapping[str, str],
        doc("Topic of PoseStamped, JointState or JointTrajectory, by limb."),
    ] = field(default_factory=dict)
    gripper: Annotated[
        GripperSettings | None,
        doc("The joint in the limb's topic that is the gripper, and its positions."),
    ] = None
    base_frame: Annotated[
        str,
        doc(
            "Frame that poses are brought into by the bag's /tf_static; empty: that of "
            "the first pose."
        ),
    ] = ""
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


@settings
class OfflineConfig:
    """Recorded motion, its conventions and playback."""

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
    columns: Annotated[ColumnSettings, doc("Which column of a CSV holds what.")] = (
        field(default_factory=ColumnSettings)
    )
    units: Annotated[UnitSettings, doc("Units of a CSV or an NPZ.")] = field(
        default_factory=UnitSettings
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
    hook: Annotated[
        str,
        doc(
            "Code of yours, module:name, that is given each frame of a recording of "
            "AdaptiX once it is played; empty: none."
        ),
    ] = ""
    allow_loss: Annotated[
        bool,
        doc("Play a file that loses more than 20 % of its rows or 10 % of its time."),
    ] = False
    reposture: Annotated[
        Reposture,
        doc(
            "Where a limb is stuck and another posture reaches its target: ask the "
            "operator, or change over slowly without being asked."
        ),
    ] = "ask"
    max_gap: Annotated[
        float,
        Gt(0),
        Unit("s"),
        doc("A longer gap between rows, in the file's time, ends validity."),
    ] = 0.25  # spec: the issue; recordings at 30 Hz show single gaps up to 0.17 s
