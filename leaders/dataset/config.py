"""YAML settings of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.types import Reposture

Format = Literal["lerobot", "umi", "aloha"]
Rotation = Literal["rotation_vector", "quat_xyzw", "quat_wxyz", "rpy_xyz_extrinsic"]


@settings
class ColumnSettings:
    """Columns of a limb: joints or poses."""

    joints: Annotated[
        Mapping[str, str], doc("The column of each joint, in the joints' order.")
    ] = field(default_factory=dict)
    position: Annotated[tuple[str, ...], doc("The columns of x, y and z.")] = ()
    rotation: Annotated[
        tuple[str, ...], doc("The columns of the rotation, three or four.")
    ] = ()
    rotation_as: Annotated[Rotation, doc("What the columns of the rotation mean.")] = (
        "rotation_vector"
    )
    tool: Annotated[
        Literal["rep103", "optical"],
        doc(
            "Axes of the hand. rep103: x forward, y left, z up; optical: x right, "
            "y down, z forward, as cameras and UMI's gripper have them."
        ),
    ] = "rep103"
    gripper: Annotated[str, doc("The column of the gripper; empty: it has none.")] = ""
    closed: Annotated[
        float, Unit("of the column"), doc("What stands there when it is closed.")
    ] = 0.0
    open: Annotated[
        float, Unit("of the column"), doc("What stands there when it is open.")
    ] = 1.0


@settings
class DatasetConfig:
    """Episodes of a dataset, and their conventions."""

    path: Annotated[
        str,
        Unit("path"),
        doc("LeRobot: its folder; UMI: .zarr or .zarr.zip; ALOHA: .hdf5 or a folder."),
    ] = ""
    format: Annotated[Format, doc("How it is stored.")] = "lerobot"
    episodes: Annotated[
        str, doc("Which of them, in this order: 3 or 0:10 or 7,2,20:30; empty: all.")
    ] = ""
    repeat: Annotated[int, Ge(0), doc("How often all are played; 0: for ever.")] = 1
    sources: Annotated[
        tuple[str, ...],
        doc(
            "What is played of each row: action, observation.state; action or "
            "observations/qpos of ALOHA; UMI has one alone."
        ),
    ] = ("action",)
    limbs: Annotated[
        Mapping[str, ColumnSettings], doc("Which columns move each limb.")
    ] = field(default_factory=dict)
    angle: Annotated[
        Literal["rad", "deg"] | None, doc("Unit of joints and angles; empty: rad.")
    ] = None
    length: Annotated[
        Literal["m", "cm", "mm"] | None, doc("Unit of positions; empty: m.")
    ] = None
    frame: Annotated[
        Literal["relative", "absolute"],
        doc("absolute: poses stand in the base of the follower's limb as they are."),
    ] = "relative"
    rate: Annotated[
        float | None,
        Gt(0),
        Le(1000),
        Unit("Hz"),
        doc("Rows a second, where the dataset has no stamps."),
    ] = None
    speed: Annotated[
        float, Gt(0), Le(4), Unit("1"), doc("How much faster it is played.")
    ] = 1.0
    reposture: Annotated[
        Reposture,
        doc(
            "Where a limb is stuck and another posture reaches its target: ask the "
            "operator, or change over slowly without being asked."
        ),
    ] = "ask"
    robot: Annotated[
        str,
        doc("The robot whose own joints these are: then equal names mean the same."),
    ] = ""
