"""YAML settings of a leader behind ROS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.types import Reposture
from paprle.hardware.ros.transports.choice import NodeSettings


@settings
class GripperConfig:
    """A joint of the device, for the gripper."""

    joint: Annotated[str, doc("Its name in the JointState of this limb.")]
    closed: Annotated[float, Unit("rad or m"), doc("Its position at opening 0.")]
    open: Annotated[float, Unit("rad or m"), doc("Its position at opening 1.")]

    def __post_init__(self) -> None:
        if self.closed == self.open:
            raise ValueError("an open position that differs from the closed one")


@settings
class LimbConfig:
    """One limb: a topic of joints or of poses."""

    topic: Annotated[str, doc("Topic of its JointState or PoseStamped.")]
    joints: Annotated[
        tuple[str, ...],
        doc("Joints in order, for a JointState; empty for a PoseStamped."),
    ] = ()
    gripper: Annotated[
        GripperConfig | None, doc("Its gripper, in the same JointState.")
    ] = None

    def __post_init__(self) -> None:
        if self.gripper is not None and not self.joints:
            raise ValueError("no gripper on a limb of poses: they hold no joint")


@settings
class JoyConfig:
    """The operator's controls on a Joy: buttons by number from 0."""

    topic: Annotated[str, doc("Topic of the Joy.")] = "/joy"
    deadman: Annotated[
        int | None, Ge(0), doc("Button held while moving; absent: always engaged.")
    ] = None
    start: Annotated[int | None, Ge(0), doc("Button that starts an episode.")] = None
    end: Annotated[int | None, Ge(0), doc("Button that ends it.")] = None
    gripper_axis: Annotated[
        int | None, Ge(0), doc("Axis of the opening of all limbs: −1 closed … 1 open.")
    ] = None


@settings
class RosLeaderConfig(NodeSettings):
    """Settings of the node and its topics."""

    limbs: Annotated[Mapping[str, LimbConfig], doc("Limbs by name.")] = field(
        default_factory=dict
    )
    joy: Annotated[JoyConfig | None, doc("The operator's buttons, if there are.")] = (
        None
    )
    is_absolute: Annotated[
        bool, doc("Poses are meant in the follower's limb base as they are.")
    ] = False
    base_frame: Annotated[
        str,
        doc(
            "Frame that poses are brought into by /tf_static; empty: that of each "
            "limb's first pose."
        ),
    ] = ""
    is_human: Annotated[
        bool, doc("A person holds it: engaging again needs a deliberate press (S3).")
    ] = True
    reposture: Annotated[
        Reposture,
        doc(
            "Where a limb is stuck and another posture reaches its target: ask the "
            "operator, or change over slowly without being asked."
        ),
    ] = "ask"
    rate: Annotated[
        float, Gt(0), Le(1000), Unit("Hz"), doc("Nominal rate of its messages.")
    ] = 100.0
    max_age: Annotated[
        float, Gt(0), Le(1), Unit("s"), doc("Topics silent for longer are not valid.")
    ] = 0.1
    timeout: Annotated[
        float, Gt(0), Le(60), Unit("s"), doc("How long the device is looked for.")
    ] = 5.0

    def __post_init__(self) -> None:
        kinds = {bool(limb.joints) for limb in self.limbs.values()}
        if len(kinds) > 1:
            raise ValueError("limbs that all give joints, or all give poses")
